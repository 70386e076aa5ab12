"""Growth of trees and graphs by exact Dirichlet evidence: splits of leaves, merges of two leaves.

    gain of a split  = log p(N_equal) + log p(N_other) − log p(N) − log(4 · number of questions)
    gain of a merge  = log p(N_a + N_b) − log p(N_a) − log p(N_b) − log(2 · number of pairs)

p(N): evidence of a leaf's counts with α = ½. Trees split only; decision graphs also merge.

The prior of trees sums to 1: every node is a split or a leaf with probability ½, and all questions
of a split have equal probability. A tree with L leaves has 2L − 1 such decisions, so it costs log 2
in total and log 4 per split, besides the question. A merge happens with probability ½, and all
pairs of leaves have equal probability.
"""

import heapq
import math
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ebnc.data.cases import Cases
from ebnc.kernels.trees import count_states
from ebnc.network.local.configurations import largest_log_likelihood
from ebnc.network.local.decision_nodes import DecisionNodes
from ebnc.network.local.local import LearnedLocal
from ebnc.score.dirichlet import best_alpha
from ebnc.typing import FloatArray, IntArray

JEFFREYS = 0.5
ALPHAS = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Values of α for the leaves; evidence chooses one after growth, which uses ``JEFFREYS``."""


class Split(NamedTuple):
    """A question that splits a leaf: is ``column`` in ``state``?"""

    gain: float
    node: int
    column: int
    state: int


class Merge(NamedTuple):
    """Two leaves that become one."""

    gain: float
    nodes: tuple[int, int]


class _Leaf(NamedTuple):
    """``cells``: counts by column, state and class; None where counting again is as quick."""

    rows: IntArray
    counts: FloatArray
    evidence: float
    cells: FloatArray | None


class Growth:
    """The decision nodes so far, and the best split and merge of their leaves.

    A merged leaf is a new last node, so questions always lead to later nodes.
    """

    def __init__(self, cases: Cases, parents: Sequence[str], *, merging: bool = False) -> None:
        self.domain, self.target = cases.domain, cases.target
        self.names = [x for x in parents if self.domain.n_states(x) > 1]
        self.merging = merging
        self.leaves: dict[int, _Leaf] = {}
        self.log_prior = -math.log(2) if self.names else 0.0
        self._splits = _Splits(cases, self.names)
        self._variables: list[str | None] = []
        self._states: list[int] = []
        self._equal: list[int] = []
        self._other: list[int] = []
        self._order = count()  # breaks ties between equal gains
        self._waiting: list[tuple[float, int, Split]] = []
        self._pairs: list[tuple[float, int, tuple[int, int]]] = []
        self._add_leaf(np.arange(len(cases), dtype=np.int64))

    def best_split(self) -> Split | None:
        """Return the split with the highest gain; None if no split raises the score."""
        while self._waiting and self._waiting[0][2].node not in self.leaves:
            heapq.heappop(self._waiting)
        return self._waiting[0][2] if self._waiting else None

    def best_merge(self) -> Merge | None:
        """Return the merge with the highest gain; None if no merge raises the score."""
        while self._pairs and not set(self._pairs[0][2]) <= self.leaves.keys():
            heapq.heappop(self._pairs)
        if not self._pairs:
            return None
        gain = -self._pairs[0][0] - self._price_of_merge()
        return Merge(gain, self._pairs[0][2]) if gain > 0.0 else None

    def split(self, split: Split) -> None:
        """Replace a leaf by a question with two new leaves."""
        node, leaf = split.node, self.leaves.pop(split.node)
        chosen = self._splits.codes[split.column][leaf.rows] == split.state
        self._variables[node], self._states[node] = self.names[split.column], split.state
        self.log_prior -= self._splits.price
        equal, other = leaf.rows[chosen], leaf.rows[~chosen]
        of_equal, of_other = self._splits.divided(leaf.cells, equal, other)
        self._equal[node] = self._add_leaf(equal, of_equal)
        self._other[node] = self._add_leaf(other, of_other)

    def merge(self, merge: Merge) -> None:
        """Replace two leaves by one, and redirect all their questions to it."""
        self.log_prior -= self._price_of_merge()
        parts = [self.leaves.pop(node).rows for node in merge.nodes]
        together = self._add_leaf(np.sort(np.concatenate(parts)))
        for branch in (self._equal, self._other):
            for i, end in enumerate(branch):
                if end in merge.nodes and self._variables[i] is not None:
                    branch[i] = together

    def _price_of_merge(self) -> float:
        return math.log(2 * math.comb(len(self.leaves), 2))

    def finished(self, make: type[DecisionNodes]) -> LearnedLocal:
        """Return the tree or graph, with α chosen by evidence.

        Questions whose two answers lead to the same node are left out; they arise if a leaf is
        merged with its sibling or with all descendants of its sibling.
        """
        nodes = sorted(self.leaves)
        counts = np.array([self.leaves[node].counts for node in nodes])
        alpha, log_evidence = best_alpha(counts, ALPHAS)
        theta = np.zeros((len(self._variables), self.domain.n_states(self.target)))
        theta[nodes] = (counts + alpha) / (counts + alpha).sum(axis=1, keepdims=True)
        kept, equal, other = self._renumbered()
        made = make(
            self.target,
            self.domain,
            [self._variables[i] for i in kept],
            [self._states[i] for i in kept],
            equal,
            other,
            theta[kept],
        )
        return LearnedLocal(made, log_evidence, self.log_prior, largest_log_likelihood(counts))

    def _add_leaf(self, rows: IntArray, cells: FloatArray | None = None) -> int:
        node = len(self._variables)
        self._variables.append(None)
        for values in (self._states, self._equal, self._other):
            values.append(0)
        counts = self._splits.count(rows)
        split = None
        if self.names and np.count_nonzero(counts) > 1:
            cells = self._splits.cells(rows) if cells is None else cells
            split = self._splits.best(node, cells, counts)
        if split is not None:
            heapq.heappush(self._waiting, (-split.gain, next(self._order), split))
        kept = cells if split is not None and self._splits.n_cells < len(rows) else None
        leaf = _Leaf(rows, counts, float(leaf_evidence(counts)), kept)
        if self.merging and self.leaves:
            others = list(self.leaves)
            apart = np.array([self.leaves[i].evidence for i in others]) + leaf.evidence
            together = np.array([self.leaves[i].counts for i in others]) + leaf.counts
            gains = leaf_evidence(together) - apart
            for i in np.flatnonzero(gains > 0.0):
                pair = (others[i], node)
                heapq.heappush(self._pairs, (-float(gains[i]), next(self._order), pair))
        self.leaves[node] = leaf
        return node

    def _renumbered(self) -> tuple[list[int], list[int], list[int]]:
        """Return the nodes that a row can reach, and the renumbered ends of their branches."""
        final = list(range(len(self._variables)))
        for i in reversed(final):  # branches lead to later nodes, which are final already
            if self._variables[i] is not None:
                ends = {final[self._equal[i]], final[self._other[i]]}
                if len(ends) == 1:
                    final[i] = ends.pop()
        reached = {final[0]}
        for i in range(len(final)):
            if i in reached and self._variables[i] is not None:
                reached |= {final[self._equal[i]], final[self._other[i]]}
        kept = sorted(reached)
        number = {node: i for i, node in enumerate(kept)}
        asking = [self._variables[i] is not None for i in kept]
        equal, other = (
            [number[final[ends[i]]] if asks else 0 for i, asks in zip(kept, asking, strict=True)]
            for ends in (self._equal, self._other)
        )
        return kept, equal, other


def split_gains(
    cases: Cases, grown: DecisionNodes | None, names: Sequence[str]
) -> dict[str, float]:
    """Estimate the gain of each of ``names``: the sum of the positive gains of splitting leaves."""
    splits = _Splits(cases, names)
    leaves = np.zeros(len(cases), np.int64) if grown is None else grown.leaves(cases.rows)
    total = np.zeros(len(names))
    for leaf in np.unique(leaves):
        rows = np.flatnonzero(leaves == leaf)
        gains = splits.gains(splits.cells(rows), splits.count(rows))
        best = gains.max(axis=1, initial=-np.inf)
        total += np.maximum(best, 0.0)
    return dict(zip(names, total.tolist(), strict=True))


class _Splits:
    """The data of one node, and the best split of a set of its rows."""

    def __init__(self, cases: Cases, names: Sequence[str]) -> None:
        self.cases = cases
        places = [cases.rows.place(x) for x in names]
        self.codes = [cases.rows.codes[v] for v in places]
        self.columns = np.array(places, dtype=np.int64)
        self.weights = np.empty(0) if cases.weights is None else cases.weights
        sizes = np.array([cases.domain.n_states(x) for x in names], dtype=np.int64)
        self.n_states = int(sizes.max(initial=1))
        self.n_classes = cases.domain.n_states(cases.target)
        # x = s and x ≠ s are one question; a variable with two states has only x = 1.
        numbers = np.arange(self.n_states)
        self.asked = (numbers < sizes[:, None]) & ((sizes[:, None] > 2) | (numbers == 1))
        self.price = math.log(4 * max(1, int(self.asked.sum())))

    def count(self, rows: IntArray) -> FloatArray:
        weights = self.weights[rows] if self.weights.size else None
        return np.bincount(self.cases.classes[rows], weights, self.n_classes).astype(float)

    @property
    def n_cells(self) -> int:
        return len(self.columns) * self.n_states * self.n_classes

    def cells(self, rows: IntArray) -> FloatArray:
        """Count these rows by column, state and class."""
        codes, classes = self.cases.rows.codes, self.cases.classes
        counts: FloatArray = count_states(
            codes, self.columns, rows, classes, self.weights, self.n_states, self.n_classes
        )
        return counts

    def divided(
        self, together: FloatArray | None, first: IntArray, second: IntArray
    ) -> tuple[FloatArray | None, FloatArray | None]:
        """Divide the cells of a leaf: the fewer rows are counted, the others are the rest."""
        if together is None:
            return None, None
        if len(first) > len(second):
            of_second, of_first = self.divided(together, second, first)
            return of_first, of_second
        counted = self.cells(first)
        # Rounding may make a difference of weighted counts slightly negative.
        return counted, np.maximum(together - counted, 0.0)

    def gains(self, inside: FloatArray, here: FloatArray) -> FloatArray:
        """Return the gain of every split of rows with these cells, shape (columns, states)."""
        outside = np.maximum(here - inside, 0.0)  # as above
        gain = leaf_evidence(inside) + leaf_evidence(outside) - float(leaf_evidence(here))
        return np.where(self.asked, gain - self.price, -np.inf)

    def best(self, node: int, cells: FloatArray, here: FloatArray) -> Split | None:
        gain = self.gains(cells, here)
        column, state = divmod(int(np.argmax(gain)), self.n_states)
        highest = float(gain[column, state])
        return Split(highest, node, column, state) if highest > 0.0 else None


def leaf_evidence(counts: FloatArray) -> FloatArray:
    """Return the log evidence of leaves for α = ½, as ``dirichlet_log_evidence``.

    The last axis of ``counts`` is the classes.
    """
    n_classes = counts.shape[-1]
    total = counts.sum(axis=-1)
    constant = math.lgamma(n_classes * JEFFREYS) - n_classes * math.lgamma(JEFFREYS)
    evidence: FloatArray = (
        constant - gammaln(n_classes * JEFFREYS + total) + gammaln(JEFFREYS + counts).sum(axis=-1)
    )
    return evidence
