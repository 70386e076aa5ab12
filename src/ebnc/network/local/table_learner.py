"""Tables as a kind of node: exact scores, and exact gains of every possible extra parent."""

from collections.abc import Mapping, Sequence
from typing import Any

from ebnc.domain import Domain
from ebnc.network.local.candidate_tables import CandidateTables
from ebnc.network.local.configurations import largest_log_likelihood
from ebnc.network.local.kind import Kind
from ebnc.network.local.node import LocalFit, Node, NodeState
from ebnc.network.local.plain import FieldType, shaped
from ebnc.network.local.table import Table, count_configurations
from ebnc.score.bic import bic
from ebnc.score.dirichlet import best_alpha, table_alphas
from ebnc.typing import FloatArray

__all__ = ["TABLE", "TableLearner"]


class TableLearner:
    """Fits tables to a node; the model of a fit is the tuple of parents."""

    is_table_without_parents = False

    def __init__(self, node: Node) -> None:
        self.node = node

    def learn(
        self,
        parents: tuple[str, ...],
        near: LocalFit | None = None,  # noqa: ARG002
    ) -> LocalFit | None:
        """Score a full table; None if it is too large."""
        node, settings = self.node, self.node.settings
        n_cells = node.n_cells(parents)
        if n_cells > settings.most_cells:
            return None
        _, counts = count_configurations(node.cases, parents)
        if settings.score == "bic":
            fit = self._bic(counts, n_cells)
        else:
            _, fit = best_alpha(counts, table_alphas(n_cells, settings.sample_size))
        return LocalFit(fit + node.log_prior(len(parents)), parents)

    def gains(self, state: NodeState, names: Sequence[str]) -> dict[str, float]:
        """Return the exact gain of each of ``names`` as an extra parent, unless too large."""
        node, settings, parents = self.node, self.node.settings, state.parents
        n_cells = node.n_cells(parents)
        small = [x for x in names if n_cells * node.n_states[x] <= settings.most_cells]
        tables = CandidateTables(node.cases, parents, small)
        if settings.score == "bic":
            fits = [self._bic(counts, counts.size) for counts in tables.counts()]
        else:
            fits = tables.log_evidences(settings.sample_size).tolist()
        prior, score = node.log_prior(len(parents) + 1), state.score
        return {x: fit + prior - score for x, fit in zip(small, fits, strict=True)}

    def local(self, fit: LocalFit) -> Table:
        """Return the table at its posterior mean."""
        return Table.learn(self.node.cases, fit.model, self.node.settings.sample_size)

    def _bic(self, counts: FloatArray, n_cells: int) -> float:
        """Return BIC. Axis 1 of ``counts`` is the target; ``n_cells`` includes empty cells."""
        dimension = n_cells - n_cells // counts.shape[1]
        return bic(largest_log_likelihood(counts), dimension, self.node.cases.total_weight)


def _from_plain(target: str, domain: Domain, plain: Mapping[str, Any]) -> Table:
    parents = plain["parents"]
    shape = tuple(domain.n_states(x) for x in (*parents, target))
    return Table(target, parents, domain, shaped("theta", plain["theta"], shape))


TABLE = Kind(
    name="table",
    words="full table",
    fields={"parents": FieldType.VARIABLES, "theta": FieldType.PROBABILITIES},
    to_plain=Table.to_plain,
    from_plain=_from_plain,
    learner=TableLearner,
)
