"""One node whose local distribution is learned, and the protocol of what learns it.

Every kind is fitted to the same parents and scored on the same scale,

    score = log p(D | parents, kind) + log p(parents) + log p(structure inside the node)

(the priors: ``search.structure_prior``), so that the best one can represent the node.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Protocol

from ebnc.data.cases import Cases
from ebnc.network.local.local import LearnedLocal, Local
from ebnc.score.bic import bic
from ebnc.search.structure_prior import log_input_prior

__all__ = ["LearnedAnew", "LocalFit", "LocalLearner", "Node", "NodeState", "Settings"]


@dataclass(frozen=True)
class Settings:
    """How nodes are fitted.

    Attributes
    ----------
    score
        "laplace" or "bic".
    kinds
        Names of the kinds that a node may be.
    structure_prior
        Whether the priors of parents and structures are part of the score.
    sample_size
        The equivalent sample size of the tables' Dirichlet prior; None chooses it by evidence.
    most_cells
        Cells of the largest table, and of the largest table inside an EBNC.
    chooses_parents
        Whether the parents are a choice, with a prior; in a dense network they are not.
    """

    score: str = "laplace"
    kinds: tuple[str, ...] = ("ebnc", "table", "tree")
    structure_prior: bool = True
    sample_size: float | None = None
    most_cells: int = 4096
    chooses_parents: bool = True


class Node:
    """The data of one node, and the scale that all its kinds are scored on.

    Parameters
    ----------
    cases
        All variables as rows, this one as target.
    settings
        How nodes are fitted.
    required
        Parents that the node must depend on.
    """

    def __init__(self, cases: Cases, settings: Settings, required: Sequence[str] = ()) -> None:
        self.cases, self.settings = cases, settings
        self.required = frozenset(required)
        self.target = cases.target
        self.n_states = {x: cases.domain.n_states(x) for x in cases.rows.names}
        others = (x for x in cases.rows.names if x != self.target)
        self.candidates = tuple(x for x in others if self.n_states[x] > 1)

    @property
    def is_constant(self) -> bool:
        """Whether the node has one state only: nothing to learn."""
        return self.n_states[self.target] < 2

    def n_cells(self, parents: Sequence[str]) -> int:
        """Cells of a full table of these parents."""
        return prod(self.n_states[x] for x in (*parents, self.target))

    def log_prior(self, n_parents: int) -> float:
        """log p of k parents out of n, see ``search.structure_prior``."""
        if not (self.settings.structure_prior and self.settings.chooses_parents):
            return 0.0
        return log_input_prior(len(self.candidates), n_parents)

    def fit_score(self, learned: LearnedLocal[Local]) -> float:
        """The score of a distribution without the prior of its parents."""
        fit = learned.log_evidence
        if self.settings.score == "bic":
            fit = bic(learned.log_likelihood, learned.local.dimension, self.cases.total_weight)
        return fit + (learned.log_prior if self.settings.structure_prior else 0.0)


@dataclass(frozen=True, eq=False)
class LocalFit:
    """One kind, fitted to a node: its score, and what its learner needs to go on.

    ``score`` is None where the distribution does not depend on all required parents.
    """

    score: float | None
    model: Any


@dataclass(frozen=True, eq=False)
class NodeState:
    """A node with its parents, and the fit of every kind."""

    parents: tuple[str, ...]
    fits: Mapping[str, LocalFit]

    @cached_property
    def scores(self) -> dict[str, float]:
        """The score of every kind that the node may be."""
        return {kind: fit.score for kind, fit in self.fits.items() if fit.score is not None}

    @cached_property
    def kind(self) -> str:
        """The best kind; ties go to the first."""
        return max(self.scores, key=lambda kind: self.scores[kind])

    @cached_property
    def score(self) -> float:
        """The score of the best kind."""
        return self.scores[self.kind]


class LocalLearner(Protocol):
    """Fits one kind of local distribution to a node."""

    @property
    def is_table_without_parents(self) -> bool:
        """Whether a node without parents is this kind only where no other is allowed."""

    def learn(self, parents: tuple[str, ...], near: LocalFit | None = None) -> LocalFit | None:
        """Fit the kind to these parents; None where it would be too large.

        ``near``: the fit to one parent more or less, to start from.
        """

    def gains(self, state: NodeState, names: Sequence[str]) -> dict[str, float]:
        """Estimate by how much the node's score rises with each of ``names`` as one more parent."""

    def local(self, fit: LocalFit) -> Local:
        """The distribution of a fit."""


class LearnedAnew:
    """The learner of a kind that starts afresh for every set of parents, such as a tree.

    Parameters
    ----------
    name
        The name of the kind.
    learn
        From cases and parents to the distribution with its evidence.
    gains
        From cases, the present distribution (or None) and names to what each name would add.
    """

    is_table_without_parents = True

    def __init__(
        self,
        name: str,
        learn: Callable[[Cases, Sequence[str]], LearnedLocal[Local]],
        gains: Callable[[Cases, Any, Sequence[str]], dict[str, float]],
        node: Node,
    ) -> None:
        self.name, self.node = name, node
        self._learn, self._gains = learn, gains

    def learn(self, parents: tuple[str, ...], near: LocalFit | None = None) -> LocalFit:  # noqa: ARG002
        """Fit the kind to these parents."""
        node, learned = self.node, self._learn(self.node.cases, parents)
        score = None
        if node.required <= set(learned.local.parents):
            score = node.fit_score(learned) + node.log_prior(len(parents))
        return LocalFit(score, learned.local)

    def gains(self, state: NodeState, names: Sequence[str]) -> dict[str, float]:
        """Estimate the gain of each of ``names`` as one more parent."""
        node, n_parents = self.node, len(state.parents)
        more = node.log_prior(n_parents + 1) - node.log_prior(n_parents)
        present = state.fits[self.name].model if self.name in state.fits else None
        behind = state.scores.get(self.name, state.score) - state.score
        gains = self._gains(node.cases, present, names)
        return {x: gain + more + behind for x, gain in gains.items()}

    def local(self, fit: LocalFit) -> Local:
        """The distribution of a fit."""
        local: Local = fit.model
        return local
