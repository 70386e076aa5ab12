"""A node whose local distribution is learned, the interface of its learners, and their kinds.

Every kind is fitted to the same parents and scored on the same scale, so that the best can be
chosen (``search.structure_prior`` defines the priors):

    score = log p(D | parents, kind) + log p(parents) + log p(structure inside the node)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Protocol

from ebnc.data.cases import Cases
from ebnc.domain import Domain
from ebnc.network.local.local import LearnedLocal, Local
from ebnc.network.local.plain import FieldType
from ebnc.score.criterion import CRITERIA, Criterion
from ebnc.search.structure_prior import log_input_prior


@dataclass(frozen=True)
class Settings:
    """How nodes are fitted: the arguments of ``Network.learn``, and two more.

    ``most_cells``: maximum cells of a table, and of a table inside an EBNC. ``chooses_parents``:
    whether the search chooses the parents, which then have a prior (false if dense).
    """

    score: str = "laplace"
    kinds: tuple[str, ...] = ("ebnc", "table", "tree")
    structure_prior: bool = True
    sample_size: float | None = None
    most_cells: int = 4096
    chooses_parents: bool = True

    @property
    def criterion(self) -> Criterion:
        """The score as an object."""
        return CRITERIA[self.score](None)


class Node:
    """The data of all variables with one node as target, and the score that all its kinds share."""

    def __init__(self, cases: Cases, settings: Settings, required: Sequence[str] = ()) -> None:
        self.cases, self.settings = cases, settings
        self.required = frozenset(required)
        self.target = cases.target
        self.n_states = {x: cases.domain.n_states(x) for x in cases.rows.names}
        others = (x for x in cases.rows.names if x != self.target)
        self.candidates = tuple(x for x in others if self.n_states[x] > 1)

    @property
    def is_constant(self) -> bool:
        """Whether the node has only one state, so that nothing is to be learned."""
        return self.n_states[self.target] < 2

    def has_every_function(self, name: str) -> bool:
        """Whether every function of a variable's states is a curve; not if its states are many."""
        return self.cases.domain.levels(name).n_columns == self.n_states[name] - 1

    def n_cells(self, parents: Sequence[str]) -> int:
        """Return the number of cells of a full table with these parents."""
        return prod(self.n_states[x] for x in (*parents, self.target))

    def log_prior(self, n_parents: int) -> float:
        """Return log p of k parents out of n; see ``search.structure_prior``."""
        if not (self.settings.structure_prior and self.settings.chooses_parents):
            return 0.0
        return log_input_prior(len(self.candidates), n_parents)

    def fit_score(self, learned: LearnedLocal) -> float:
        """Return the score of a distribution without the prior of its parents."""
        fit = self.settings.criterion.of_local(learned, self.cases.total_weight)
        return fit + (learned.log_prior if self.settings.structure_prior else 0.0)


@dataclass(frozen=True, eq=False)
class LocalFit:
    """One kind fitted to a node: its score, and a ``model`` that its learner can start from.

    ``score`` is None if the distribution does not depend on all required parents.
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
        """The score of every admissible kind."""
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
        """Whether this kind equals a table if the node has no parents, so that others go first."""

    def learn(self, parents: tuple[str, ...], near: LocalFit | None = None) -> LocalFit | None:
        """Fit the kind to these parents; None if it would be too large.

        ``near``: a fit with one parent more or less, to start from.
        """

    def gains(self, state: NodeState, names: Sequence[str]) -> dict[str, float]:
        """Estimate how much the node's score rises with each of ``names`` as an extra parent."""

    def local(self, fit: LocalFit) -> Local:
        """Return the distribution of a fit."""


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of local distribution: how it is learned, saved in files, and named in reports.

    ``network.local.kinds.KINDS`` is the only list of kinds. ``ebnc.formats`` writes the plain
    values of ``to_plain`` (``network.local.plain``) to files and checks them on reading.

    Attributes
    ----------
    name
        The name in ``Network.learn``, in files, and as ``kind`` of the distributions.
    words
        The name in reports, in the singular: "decision tree".
    fields
        The fields of a file besides kind and target; those in ``optional`` may be absent.
    to_plain
        Converts a distribution to its fields.
    from_plain
        Converts a target, a domain and fields to the distribution; raises an ``EBNCError`` if they
        contradict each other.
    learner
        Makes the ``LocalLearner`` that fits this kind to a node.
    is_readable
        Whether reports show ``str(local)``.
    """

    name: str
    words: str
    fields: Mapping[str, FieldType]
    to_plain: Callable[[Any], dict[str, Any]]
    from_plain: Callable[[str, Domain, Mapping[str, Any]], Local]
    learner: Callable[[Node], LocalLearner]
    optional: frozenset[str] = frozenset()
    is_readable: bool = False


class FromScratchLearner:
    """The learner of a kind, such as a tree, that is learned from scratch for every set of parents.

    ``learn`` returns the distribution for cases and parents. ``gains`` estimates the gain of each
    name, given cases and the present distribution (or None).
    """

    is_table_without_parents = True

    def __init__(
        self,
        name: str,
        learn: Callable[[Cases, Sequence[str]], LearnedLocal],
        gains: Callable[[Cases, Any, Sequence[str]], dict[str, float]],
        node: Node,
    ) -> None:
        self.name, self.node = name, node
        self._learn, self._gains = learn, gains

    def learn(self, parents: tuple[str, ...], near: LocalFit | None = None) -> LocalFit | None:  # noqa: ARG002
        """Fit the kind to these parents."""
        node, learned = self.node, self._learn(self.node.cases, parents)
        score = None
        if node.required <= set(learned.local.parents):
            score = node.fit_score(learned) + node.log_prior(len(parents))
        return LocalFit(score, learned.local)

    def gains(self, state: NodeState, names: Sequence[str]) -> dict[str, float]:
        """Estimate the gain of each of ``names`` as an extra parent."""
        node, n_parents = self.node, len(state.parents)
        more = node.log_prior(n_parents + 1) - node.log_prior(n_parents)
        present = state.fits[self.name].model if self.name in state.fits else None
        behind = state.scores.get(self.name, state.score) - state.score
        gains = self._gains(node.cases, present, names)
        return {x: gain + more + behind for x, gain in gains.items()}

    def local(self, fit: LocalFit) -> Local:
        """Return the distribution of a fit."""
        local: Local = fit.model
        return local
