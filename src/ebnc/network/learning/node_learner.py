"""One node of a network that is being learned: its local distributions given its parents.

Every kind (EBNC, table, tree, …) is fitted to the same parents and scored on the same scale,

    score = log p(D | parents, kind) + log p(parents) + log p(structure inside the node)

(the priors: ``search.structure_prior``), and the best one represents the node. All kinds have the
same intercept, the distribution of the node without parents, but an EBNC's has a very wide prior,
which helps to predict and costs evidence. For the comparison it is replaced by Jeffreys' prior,
Dirichlet(½, …, ½), by the ratio of the evidences without parents, where both are known:

    log p(D | parents, EBNC) = log p_EBNC(D | parents) + log p_Jeffreys(D | ∅) − log p_EBNC(D | ∅)

With BIC there is no prior and no correction.

A state is a function of the one before it and the change alone, so a search can be repeated exactly
from the list of its changes.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ebnc.data.cases import Cases, distinct_rows
from ebnc.data.parts import Parts
from ebnc.data.rows import CodedRows
from ebnc.errors import SearchError
from ebnc.learn import Fitted, FittedEBNC, maximise_posterior
from ebnc.network.learning.constraints import Constraints
from ebnc.network.local.candidate_tables import CandidateTables
from ebnc.network.local.configurations import count_cells
from ebnc.network.local.decision_graph import grow_graph
from ebnc.network.local.local import LearnedLocal, Local
from ebnc.network.local.noisy_max_learning import cause_gains, learn_noisy_max
from ebnc.network.local.table import Table, count_configurations
from ebnc.network.local.tree import grow_tree
from ebnc.network.local.tree_growth import JEFFREYS, split_gains
from ebnc.parameters.phi import Basis
from ebnc.score.bic import bic
from ebnc.score.dirichlet import best_alpha, dirichlet_log_evidence, table_alphas
from ebnc.search.limits import Limits
from ebnc.search.moves import Move, moves
from ebnc.search.scorer import Scored, Scorer
from ebnc.search.screening import screen
from ebnc.search.structure_prior import log_input_prior
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

__all__ = [
    "DEFAULT_KINDS",
    "KINDS",
    "NodeLearner",
    "NodeState",
    "Settings",
    "refuse_unused_parent",
]

DEFAULT_KINDS = ("ebnc", "table", "tree")


class _Rival(NamedTuple):
    """A kind that is learned anew for every set of parents.

    ``learn(cases, parents)``; ``gains(cases, the present one or None, names)``: what one parent
    more would add, estimated.
    """

    learn: Callable[[Cases, Sequence[str]], LearnedLocal[Local]]
    gains: Callable[[Cases, Any, Sequence[str]], dict[str, float]]


RIVALS: Mapping[str, _Rival] = {
    "tree": _Rival(grow_tree, split_gains),
    "graph": _Rival(grow_graph, split_gains),
    "noisy-max": _Rival(learn_noisy_max, cause_gains),
}

KINDS = ("ebnc", "naive", "table", *RIVALS)
"""What a node may be; ``naive``: an EBNC that stays naive, without interactions."""


@dataclass(frozen=True)
class Settings:
    """How nodes are fitted. ``sample_size``: of the tables' Dirichlet prior, None by evidence."""

    score: str = "laplace"
    kinds: tuple[str, ...] = DEFAULT_KINDS
    structure_prior: bool = True
    sample_size: float | None = None
    most_cells: int = 4096
    """Largest table, and largest table inside an EBNC."""

    @property
    def has_tables_only(self) -> bool:
        """Whether nodes can be nothing but tables."""
        return self.kinds == ("table",)


class NodeState(NamedTuple):
    """A node with its parents: what each kind scores, and the fits that are needed to go on."""

    parents: tuple[str, ...]
    scores: Mapping[str, float]
    embedded: Scored | None
    rivals: Mapping[str, LearnedLocal[Local]]

    @property
    def kind(self) -> str:
        """The best kind; ties go to the one that is named first."""
        return max(self.scores, key=lambda kind: self.scores[kind])

    @property
    def score(self) -> float:
        """The best kind's score."""
        return self.scores[self.kind]


def refuse_unused_parent(target: str, local: Local, required: Collection[str]) -> NoReturn:
    """Raise where the only kind that a node may be does not depend on a required parent."""
    unused = min(set(required) - set(local.parents))
    raise SearchError(
        f"the arc {unused!r} → {target!r} is required, but the {local.kind} of {target!r} does not "
        "ask for it; allow another kind too, for example local=('ebnc', 'table', 'tree')"
    )


class _NodeScorer(Scorer):
    """Scores of the embedded structures of a node.

    ``cases``: all rows of the learner, to screen other variables, or the distinct rows of some
    parents, to fit structures over these. A score depends on the structure that its fit started
    at, so every fit has a scorer of its own, without a memory of others.
    """

    def __init__(self, learner: "NodeLearner", cases: Cases) -> None:
        super().__init__(
            cases,
            learner.settings.score,
            structure_prior=learner.settings.structure_prior,
            n_inputs=len(learner.candidates),
        )

    def cases_of(self, structure: EmbeddedStructure) -> Parts:  # noqa: ARG002
        """The cases as they are."""
        return self.cases


class NodeLearner:
    """Fits of one node. ``cases``: all variables as rows, this one as target. ``required``: parents
    that the node must depend on; a tree or graph that does not ask for them is not considered."""

    def __init__(self, cases: Cases, settings: Settings, required: Sequence[str] = ()) -> None:
        self.cases, self.settings = cases, settings
        self.required = frozenset(required)
        self.target = cases.target
        self.others = tuple(x for x in cases.rows.names if x != self.target)
        self.n_states = {x: cases.domain.n_states(x) for x in cases.rows.names}
        self.candidates = tuple(x for x in self.others if self.n_states[x] > 1)

    @classmethod
    def of(
        cls, cases: Cases, target: str, settings: Settings, constraints: Constraints
    ) -> "NodeLearner":
        """One node of a network; ``cases``: all variables as rows, whatever their target."""
        rows = cases.rows
        mine = Cases(cases.domain, target, rows, rows.column(target), cases.weights)
        return cls(mine, settings, constraints.required_parents(target))

    @property
    def is_constant(self) -> bool:
        """Whether the node has one state only: nothing to learn."""
        return self.n_states[self.target] < 2

    def log_prior(self, n_parents: int) -> float:
        """log p of k parents out of n, see ``search.structure_prior``."""
        if not self.settings.structure_prior:
            return 0.0
        return log_input_prior(len(self.candidates), n_parents)

    @cached_property
    def intercept_correction(self) -> float:
        """log p(D | ∅) under Jeffreys' prior less that of an EBNC; see the module's text."""
        if self.settings.score == "bic":
            return 0.0
        _, counts = count_configurations(self.cases, ())
        own = _NodeScorer(self, self.counted(())).tuned(EmbeddedStructure.naive(self.target, ()))
        return dirichlet_log_evidence(counts, JEFFREYS) - own.fit_score

    def counted(self, parents: Sequence[str]) -> Cases:
        """The distinct configurations of these parents and the target, with their counts."""
        rows = self.cases.rows
        sizes = [self.n_states[x] for x in (*parents, self.target)]
        columns: Sequence[NDArray[np.integer[Any]]]
        classes: NDArray[np.integer[Any]]
        if prod(sizes) <= max(1024, len(self.cases)):
            counts = count_cells(self.cases, parents).ravel()
            present = np.flatnonzero(counts)
            weights = counts[present]
            *columns, classes = np.unravel_index(present, sizes)
        else:
            given = [*(rows.column(x) for x in parents), self.cases.classes]
            first, inverse = distinct_rows(given, sizes)
            weights = np.bincount(inverse, self.cases.weights, len(first)).astype(np.float64)
            *columns, classes = (column[first] for column in given)
        codes = np.empty((len(parents), len(weights)), dtype=rows.codes.dtype)
        for v, column in enumerate(columns):
            codes[v] = column
        kept = CodedRows(tuple(parents), tuple(sizes[:-1]), codes)
        mine = classes.astype(self.cases.classes.dtype)
        return Cases(self.cases.domain, self.target, kept, mine, weights)

    # -- states -------------------------------------------------------------------------------

    def start(self, parents: Sequence[str] = ()) -> NodeState:
        """The node with these parents, side by side."""
        structure = EmbeddedStructure.naive(self.target, parents)
        return self._state(tuple(parents), structure, None)

    def with_parent(self, state: NodeState, name: str) -> NodeState:
        """One parent more, a child of the target in the embedded structure."""
        parents = (*state.parents, name)
        if state.embedded is None:
            return self._state(parents, None, None)
        families = state.embedded.structure.families
        structure = EmbeddedStructure(self.target, (*families, (name, (self.target,))))
        return self._state(parents, structure, state.embedded)

    def without_parent(self, state: NodeState, name: str) -> NodeState:
        """One parent less."""
        parents = tuple(x for x in state.parents if x != name)
        if state.embedded is None:
            return self._state(parents, None, None)
        families = tuple(
            (x, tuple(p for p in given if p != name))
            for x, given in state.embedded.structure.families
            if x != name
        )
        structure = EmbeddedStructure(self.target, families)
        lost = [x for x in parents if x not in structure.markov_blanket]
        if lost:  # it was in only through the parent that goes
            families = tuple((x, (*g, self.target) if x in lost else g) for x, g in families)
            structure = EmbeddedStructure(self.target, families)
        return self._state(parents, structure, state.embedded)

    def without_each(self, state: NodeState, names: Sequence[str]) -> list[NodeState]:
        """One parent less, for each of ``names``; a table alone is counted once for all of them."""
        parents = state.parents
        if not self.settings.has_tables_only or self._cells(parents) > self.settings.most_cells:
            return [self.without_parent(state, x) for x in names]
        counts = count_cells(self.cases, parents)
        counts = counts.reshape([self.n_states[x] for x in (*parents, self.target)])
        found = []
        for x in names:
            rest = tuple(p for p in parents if p != x)
            left = counts.sum(axis=parents.index(x)).reshape(-1, counts.shape[-1])
            found.append(self.as_table(rest, self._score_of_counts(left, rest)))
        return found

    @staticmethod
    def as_table(parents: tuple[str, ...], score: float) -> NodeState:
        """The node as a table whose score is known."""
        return NodeState(parents, {"table": score}, None, {})

    def refined(self, state: NodeState, structure: EmbeddedStructure) -> NodeState:
        """The same parents with another embedded structure."""
        near = state.embedded
        embedded = self._fit_embedded(structure, near)
        scores = {**state.scores, "ebnc": embedded.score + self.intercept_correction}
        return NodeState(state.parents, scores, embedded, state.rivals)

    def _state(
        self, parents: tuple[str, ...], structure: EmbeddedStructure | None, near: Scored | None
    ) -> NodeState:
        kinds = self.settings.kinds
        scores: dict[str, float] = {}
        embedded = None
        rivals: dict[str, LearnedLocal[Local]] = {}
        if self.is_constant:
            return NodeState((), {"table": 0.0}, None, {})
        if "ebnc" in kinds or "naive" in kinds:
            structure = structure or EmbeddedStructure.naive(self.target, parents)
            embedded = self._fit_embedded(structure, near)
            scores["ebnc"] = embedded.score + self.intercept_correction
        if "table" in kinds:
            found = self.table_score(parents)
            if found is not None:
                scores["table"] = found
        for kind, rival in RIVALS.items():
            if kind in kinds and (parents or not scores):
                rivals[kind] = rival.learn(self.cases, parents)
                if self.required <= set(rivals[kind].local.parents):
                    scores[kind] = self._rival_score(rivals[kind], len(parents))
        if not scores and "table" in kinds:  # it is too large
            scores["table"] = -math.inf
        elif not scores:  # no tree or graph asks for all required parents: a table does
            table = self.table_score(parents)
            if table is None:
                refuse_unused_parent(self.target, next(iter(rivals.values())).local, self.required)
            scores["table"] = table
        return NodeState(parents, scores, embedded, rivals)

    def _fit_embedded(self, structure: EmbeddedStructure, near: Scored | None) -> Scored:
        """A fit on the distinct rows of the parents, started at a similar structure."""
        return _NodeScorer(self, self.counted(structure.markov_blanket)).tuned(structure, near)

    def _rival_score(self, learned: LearnedLocal[Local], n_parents: int) -> float:
        fit, prior = learned.log_evidence, learned.log_prior
        if self.settings.score == "bic":
            fit = bic(learned.log_likelihood, learned.local.dimension, self.cases.total_weight)
        return fit + (prior if self.settings.structure_prior else 0.0) + self.log_prior(n_parents)

    def table_score(self, parents: Sequence[str]) -> float | None:
        """The score of a full table; None where it is too large."""
        if self._cells(parents) > self.settings.most_cells:
            return None
        _, counts = count_configurations(self.cases, parents)
        return self._score_of_counts(counts, parents)

    def _cells(self, parents: Sequence[str]) -> int:
        return prod(self.n_states[x] for x in (*parents, self.target))

    def _score_of_counts(self, counts: FloatArray, parents: Sequence[str]) -> float:
        n_cells = self._cells(parents)
        if self.settings.score == "bic":
            fit = self._bic_of_counts(counts, n_cells)
        else:
            _, fit = best_alpha(counts, table_alphas(n_cells, self.settings.sample_size))
        return fit + self.log_prior(len(parents))

    def _bic_of_counts(self, counts: FloatArray, n_cells: int) -> float:
        """``counts``: axis 1 is the target's; ``n_cells``: also of what does not occur."""
        totals = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
        present = counts > 0
        likelihood = counts[present] @ np.log(counts[present] / totals[present])
        dimension = n_cells - n_cells // counts.shape[1]
        return bic(float(likelihood), dimension, self.cases.total_weight)

    # -- what may come next -------------------------------------------------------------------

    def table_gains(self, state: NodeState, names: Sequence[str]) -> dict[str, float]:
        """Exact gains of a table with one of ``names`` more, where it is not too large."""
        parents, most = state.parents, self.settings.most_cells
        n_cells = self._cells(parents)
        small = [x for x in names if n_cells * self.n_states[x] <= most]
        tables = CandidateTables(self.cases, parents, small)
        if self.settings.score == "bic":
            fits = [self._bic_of_counts(counts, counts.size) for counts in tables.counts()]
        else:
            fits = tables.log_evidences(self.settings.sample_size).tolist()
        prior, score = self.log_prior(len(parents) + 1), state.score
        return {x: fit + prior - score for x, fit in zip(small, fits, strict=True)}

    def rival_gains(self, state: NodeState, kind: str, names: Sequence[str]) -> dict[str, float]:
        """Estimated gains of a tree or the like with one of ``names``, which are all there are."""
        more = self.log_prior(len(state.parents) + 1) - self.log_prior(len(state.parents))
        present = state.rivals[kind].local if kind in state.rivals else None
        behind = state.scores.get(kind, state.score) - state.score
        gains = RIVALS[kind].gains(self.cases, present, names)
        return {x: gain + more + behind for x, gain in gains.items()}

    def embedded_gains(self, state: NodeState, names: Sequence[str]) -> dict[str, float]:
        """Estimated gains of an EBNC with one of ``names`` more."""
        assert state.embedded is not None
        families = dict(state.embedded.structure.families)
        steps = [
            Move(x, self.target, families | {x: (self.target,)}, frozenset([x])) for x in names
        ]
        behind = state.scores["ebnc"] - state.score
        screened = screen(_NodeScorer(self, self.cases), state.embedded, steps)
        return {step.move.description: step.gain + behind for step in screened}

    def refinements(self, state: NodeState) -> list[tuple[float, Move]]:
        """Moves inside the embedded structure that keep its parents, with estimated gains."""
        if state.embedded is None or len(state.parents) < 2 or "ebnc" not in self.settings.kinds:
            return []
        structure = state.embedded.structure
        limits = Limits(max_cluster_cells=self.settings.most_cells)
        found = [
            move
            for move in moves(structure, self.n_states, limits)
            if set(move.structure.markov_blanket) == set(state.parents)
        ]
        behind = state.scores["ebnc"] - state.score
        screened = screen(_NodeScorer(self, self.cases), state.embedded, found)
        return [(s.gain + behind, s.move) for s in screened]

    # -- the result -----------------------------------------------------------------------------

    def local(self, state: NodeState) -> Local:
        """The best kind as a local distribution."""
        if self.is_constant:
            return Table(self.target, [], self.cases.domain, [1.0])
        if state.kind == "ebnc":
            assert state.embedded is not None
            structure, domain = state.embedded.structure, self.cases.domain
            counted = self.counted(structure.markov_blanket)
            if self.settings.score == "bic":  # compares likelihoods; predictions need a prior
                fitted = maximise_posterior(Basis(structure, domain), counted, "evidence")
            else:
                fitted = Fitted(*_NodeScorer(self, counted).optimum(state.embedded), None)
            return FittedEBNC(fitted, self.cases.total_weight)
        if state.kind in state.rivals:
            return state.rivals[state.kind].local
        return Table.learn(self.cases, state.parents, self.settings.sample_size)
