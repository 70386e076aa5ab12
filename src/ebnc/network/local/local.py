"""The interface of a local distribution p(z | parents) of a network (§2).

``EBNC``, ``CountingEBNC``, ``Table``, ``Tree``, ``DecisionGraph`` and ``NoisyMax`` implement it; a
network mixes them freely. ``network.local.node`` adds what is needed to learn, save and report a
kind.
"""

from dataclasses import dataclass
from typing import Protocol

from ebnc.data.table import TableLike as Rows
from ebnc.domain import Domain
from ebnc.typing import FloatArray


class Local(Protocol):
    """p(z | parents) of one node."""

    @property
    def kind(self) -> str:
        """Name of the kind: ebnc, table, tree, graph, noisy-max."""

    @property
    def target(self) -> str:
        """Z, the node."""

    @property
    def parents(self) -> tuple[str, ...]:
        """The variables that p(z | ·) depends on."""

    @property
    def domain(self) -> Domain:
        """States of the node and of its parents."""

    @property
    def dimension(self) -> int:
        """Number of free parameters."""

    def probabilities(self, data: Rows) -> FloatArray:
        """Return p(z | parents) of every row, shape (rows, K)."""

    def log_probability(self, data: Rows) -> FloatArray:
        """Return log p of the observed z of every row, shape (rows,)."""


@dataclass(frozen=True, eq=False)
class LearnedLocal:
    """A local distribution with its log evidence and the logarithm of its structure prior.

    ``log_likelihood``: the maximum over all parameters, for BIC; ``local`` may have a lower one.
    """

    local: Local
    log_evidence: float
    log_prior: float
    log_likelihood: float

    @property
    def dimension(self) -> int:
        """Number of free parameters."""
        return self.local.dimension
