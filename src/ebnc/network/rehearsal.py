"""What a new process does before its first job: networks so small that only loading takes time."""

from ebnc.network.constraints import Constraints
from ebnc.network.dense import DenseSettings, learn_dense_nodes
from ebnc.network.nodes import DEFAULT_KINDS, Settings
from ebnc.network.sparse import SparseSearch
from ebnc.search.rehearsal import few_cases

__all__ = ["rehearse"]


def rehearse() -> None:
    """A sparse and a dense one, with weights and without."""
    for weighted in (False, True):
        cases = few_cases(3, weighted=weighted)
        names = cases.rows.names
        SparseSearch(cases, Settings(), Constraints.of(names)).run(max_steps=2)
        binary = few_cases(2, weighted=weighted)
        learn_dense_nodes(binary, names, DenseSettings(DEFAULT_KINDS, 4096, {}), known={})
