"""Tables of a node with one parent more, for all that it may be: counted and scored together."""

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np

from ebnc.data.cases import Cases
from ebnc.network.local.configurations import number_configurations
from ebnc.score.dirichlet import table_alphas
from ebnc.threads import in_parallel
from ebnc.typing import FloatArray

__all__ = ["CandidateTables"]

TOGETHER = 3  # tables that a thread takes at a time


class CandidateTables:
    """N_jks: how often the target is in state k where its parents are in configuration j and one of
    ``names``, which may become a parent, is in state s. All tables must be small.

    The parents' configurations are numbered once.
    """

    def __init__(self, cases: Cases, parents: Sequence[str], names: Sequence[str]) -> None:
        domain = cases.domain
        self.cases = cases
        self.n_classes = domain.n_states(cases.target)
        self._inside = number_configurations(cases, [*parents, cases.target])
        self._columns = np.array([cases.rows.place(x) for x in names], dtype=np.int64)
        self._n_states = np.array([domain.n_states(x) for x in names], dtype=np.int64)
        n_inside = prod(map(domain.n_states, parents)) * self.n_classes
        # Tables of shape (q, K, r) one behind the other, table v from starts[v] on.
        self._starts = np.concatenate(([0], np.cumsum(n_inside * self._n_states)))
        n_tables = len(names)
        self._shares = [
            slice(first, min(first + TOGETHER, n_tables)) for first in range(0, n_tables, TOGETHER)
        ]

    def counts(self) -> list[FloatArray]:
        """Of shape (q, K, r), for each; configurations that do not occur have zeros."""
        flat = np.zeros(self._starts[-1])
        in_parallel(lambda some: self._count(some, flat), self._shares)
        return [
            flat[begin:end].reshape(-1, self.n_classes, r)
            for (begin, end), r in zip(pairwise(self._starts), self._n_states, strict=True)
        ]

    def log_evidences(self, sample_size: float | None) -> FloatArray:
        """Log evidence of each, shape (V,); the equivalent sample size by evidence unless given."""
        from ebnc.kernels.dirichlet import best_log_evidences

        flat = np.zeros(self._starts[-1])
        alphas = table_alphas(np.diff(self._starts), sample_size)
        out = np.empty(len(alphas))

        def evaluate(some: slice) -> None:
            self._count(some, flat)
            starts = self._starts[some.start : some.stop + 1]
            how = (self._n_states[some], self.n_classes, alphas[some], out[some])
            best_log_evidences(flat, starts, *how)

        in_parallel(evaluate, self._shares)
        return out

    def _count(self, some: slice, flat: FloatArray) -> None:
        from ebnc.kernels.likelihood import count_with_columns

        cases = self.cases
        weights = np.empty(0) if cases.weights is None else cases.weights
        starts = self._starts[some.start : some.stop + 1]
        how = (self._columns[some], self._n_states[some], weights, starts, flat)
        count_with_columns(self._inside, cases.rows.codes, *how)
