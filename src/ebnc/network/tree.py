"""A decision tree as local distribution: splits x = s or not, and a distribution in each leaf.

One of the rivals that the paper's introduction names. Grown greedily by the same score as the
others: leaves have exact Dirichlet evidence, and every split pays the logarithm of the number of
splits there were to choose from.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from ebnc.data.cases import Cases
from ebnc.data.encoding import Table as Rows
from ebnc.data.encoding import encode
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain, DomainLike, State, as_domain
from ebnc.errors import ParameterError
from ebnc.kernels.trees import count_states, find_leaves
from ebnc.score.dirichlet import dirichlet_log_evidence
from ebnc.typing import FloatArray, IntArray

__all__ = ["GrownTree", "Tree", "grow_tree", "split_gains"]

JEFFREYS = 0.5
ALPHAS = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
"""α of the leaves, chosen by evidence once the tree is grown (with ``JEFFREYS``)."""


class Tree:
    """p(z | x): node i asks x = s, goes on at ``equal[i]`` or ``other[i]``; leaves hold θ.

    ``variables[i]`` is the name asked for, None in a leaf; ``states[i]`` the code of s; ``theta``
    has a row for every node, used in leaves only. Node 0 is the root.
    """

    kind = "tree"

    def __init__(
        self,
        target: str,
        domain: DomainLike,
        variables: Sequence[str | None],
        states: ArrayLike,
        equal: ArrayLike,
        other: ArrayLike,
        theta: ArrayLike,
    ) -> None:
        declared = as_domain(domain)
        self.target = target
        self.variables = tuple(variables)
        self.parents = tuple(dict.fromkeys(x for x in self.variables if x is not None))
        self.domain = Domain({name: declared[name] for name in (*self.parents, target)})
        self.states, self.equal, self.other = (
            np.array(given, dtype=np.int64) for given in (states, equal, other)
        )
        self.theta = np.array(theta, dtype=np.float64)
        self._check()

    def __repr__(self) -> str:
        return f"Tree({self.target!r}, {list(self.parents)}, leaves={self.n_leaves})"

    def __str__(self) -> str:
        """The tree to read: questions, and in its leaves the distribution of the node."""
        lines: list[str] = []
        waiting = [(0, 0, "")]
        while waiting:  # not by recursion: trees may be deep
            node, depth, start = waiting.pop()
            name = self.variables[node]
            if name is None:
                leaf = zip(self.domain[self.target], self.theta[node].tolist(), strict=True)
                start += ", ".join(f"{_label(s)} {p:.3f}" for s, p in leaf)
                lines.append("  " * depth + start)
                continue
            if start:
                lines.append("  " * depth + start.rstrip())
                depth += 1
            state = _label(self.domain[name][int(self.states[node])])
            waiting.append((int(self.other[node]), depth, f"{name} ≠ {state}: "))
            waiting.append((int(self.equal[node]), depth, f"{name} = {state}: "))
        return "\n".join(lines)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return sum(x is None for x in self.variables)

    @property
    def dimension(self) -> int:
        """Number of free parameters: leaves·(K − 1)."""
        return self.n_leaves * (self.domain.n_states(self.target) - 1)

    def probabilities(self, data: Rows) -> FloatArray:
        """p(z | parents), shape (rows, K)."""
        return self.theta[self.leaves(encode(data, self.domain, self.parents))]

    def log_probability(self, data: Rows) -> FloatArray:
        """log p of every row's own z, shape (rows,)."""
        rows = encode(data, self.domain, tuple(self.domain))
        with np.errstate(divide="ignore"):
            logarithms = np.log(self.theta)
        return logarithms[self.leaves(rows), rows.column(self.target)]

    def leaves(self, rows: CodedRows) -> IntArray:
        """The number of the leaf that every row falls in."""
        place = {name: v for v, name in enumerate(rows.names)}
        columns = np.array([-1 if x is None else place[x] for x in self.variables], dtype=np.int64)
        return find_leaves(rows.codes, columns, self.states, self.equal, self.other)

    def _check(self) -> None:
        """Every node but the root has one parent that stands before it; leaves hold θ."""
        n, n_classes = len(self.variables), self.domain.n_states(self.target)
        shapes = {a.shape for a in (self.states, self.equal, self.other)}
        if n == 0 or shapes != {(n,)} or self.theta.shape != (n, n_classes):
            raise ParameterError(
                f"the tree of {self.target!r} needs states, equal and other of length {n} and "
                f"theta of shape ({n}, {n_classes})"
            )
        seen = [0]
        for i, name in enumerate(self.variables):
            if name is None:
                row = self.theta[i]
                if not (np.isfinite(row).all() and (row >= 0).all() and abs(row.sum() - 1) < 1e-6):
                    raise ParameterError(f"leaf {i} of {self.target!r} holds no distribution")
                continue
            if not 0 <= self.states[i] < self.domain.n_states(name):
                raise ParameterError(f"node {i} of {self.target!r}: {name!r} has no such state")
            branches = [int(self.equal[i]), int(self.other[i])]
            if min(branches) <= i or max(branches) >= n:
                raise ParameterError(f"node {i} of {self.target!r} must lead to later nodes")
            seen += branches
        if sorted(seen) != list(range(n)):
            raise ParameterError(f"the nodes of {self.target!r} are not one tree")


def _label(state: State) -> str:
    return "(missing)" if state is None else str(state)


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree with its log evidence and the logarithm of its structure prior."""

    tree: Tree
    log_evidence: float
    log_prior: float


@dataclass(frozen=True, eq=False)
class _Split:
    gain: float
    column: int
    state: int


def grow_tree(cases: Cases, parents: Sequence[str], most_leaves: int = 4096) -> GrownTree:
    """Grow from the root, the most profitable split first, while splits raise the score."""
    domain, target = cases.domain, cases.target
    names = [x for x in parents if domain.n_states(x) > 1]
    grower = _Grower(cases, names)
    variables: list[str | None] = [None]
    states, equal, other = [0], [0], [0]
    rows = {0: np.arange(len(cases), dtype=np.int64)}
    counts = {0: np.bincount(cases.classes, cases.weights, domain.n_states(target)).astype(float)}
    order = count()
    waiting: list[tuple[float, int, int, _Split]] = []

    def consider(node: int) -> None:
        split = grower.best_split(rows[node], counts[node])
        if split is not None:
            heapq.heappush(waiting, (-split.gain, next(order), node, split))

    consider(0)
    n_splits = 0
    while waiting and n_splits < most_leaves - 1:
        _, _, node, split = heapq.heappop(waiting)
        mine = rows.pop(node)
        counts.pop(node)
        chosen = grower.codes[split.column][mine] == split.state
        variables[node], states[node] = names[split.column], split.state
        equal[node], other[node] = len(variables), len(variables) + 1
        for part in (mine[chosen], mine[~chosen]):
            rows[len(variables)] = part
            counts[len(variables)] = grower.count(part)
            variables.append(None)
            states.append(0)
            equal.append(0)
            other.append(0)
        n_splits += 1
        consider(equal[node])
        consider(other[node])
    leaves = np.array([counts[i] for i in sorted(counts)])
    alpha = max(ALPHAS, key=lambda a: dirichlet_log_evidence(leaves, a))
    theta = np.zeros((len(variables), domain.n_states(target)))
    theta[sorted(counts)] = (leaves + alpha) / (leaves + alpha).sum(axis=1, keepdims=True)
    tree = Tree(target, domain, variables, states, equal, other, theta)
    return GrownTree(tree, dirichlet_log_evidence(leaves, alpha), -n_splits * grower.price)


def split_gains(cases: Cases, tree: Tree | None, names: Sequence[str]) -> dict[str, float]:
    """What each of ``names`` adds to a tree, estimated: the splits of its leaves that pay."""
    grower = _Grower(cases, names)
    leaves = np.zeros(len(cases), np.int64) if tree is None else tree.leaves(cases.rows)
    total = np.zeros(len(names))
    for leaf in np.unique(leaves):
        rows = np.flatnonzero(leaves == leaf)
        best = grower.gains(rows, grower.count(rows)).max(axis=1, initial=-np.inf)
        total += np.maximum(best, 0.0)
    return dict(zip(names, total.tolist(), strict=True))


class _Grower:
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
        # x = s and x ≠ s are one question; with two states only the second is asked for.
        numbers = np.arange(self.n_states)
        self.asked = (numbers < sizes[:, None]) & ((sizes[:, None] > 2) | (numbers == 1))
        self.price = math.log(max(2, int(self.asked.sum())))

    def count(self, rows: IntArray) -> FloatArray:
        weights = self.weights[rows] if self.weights.size else None
        return np.bincount(self.cases.classes[rows], weights, self.n_classes).astype(float)

    def gains(self, rows: IntArray, here: FloatArray) -> FloatArray:
        """What every split of these rows is worth, shape (columns, states)."""
        how = (self.cases.rows.codes, self.columns, rows, self.cases.classes, self.weights)
        inside = count_states(*how, self.n_states, self.n_classes)
        # Weighted counts may leave a rounding error where nothing is left.
        outside = np.maximum(here - inside, 0.0)
        gain = _leaf_evidence(inside) + _leaf_evidence(outside) - float(_leaf_evidence(here))
        return np.where(self.asked, gain - self.price, -np.inf)

    def best_split(self, rows: IntArray, here: FloatArray) -> _Split | None:
        if not len(self.columns) or np.count_nonzero(here) < 2:
            return None
        gain = self.gains(rows, here)
        best = int(np.argmax(gain))
        column, state = divmod(best, self.n_states)
        found = float(gain[column, state])
        return _Split(found, column, state) if found > 0.0 else None


def _leaf_evidence(counts: FloatArray) -> FloatArray:
    """Log evidence of leaves, the last axis classes, α = ½: as ``dirichlet_log_evidence``."""
    n_classes = counts.shape[-1]
    total = counts.sum(axis=-1)
    constant = math.lgamma(n_classes * JEFFREYS) - n_classes * math.lgamma(JEFFREYS)
    found: FloatArray = (
        constant - gammaln(n_classes * JEFFREYS + total) + gammaln(JEFFREYS + counts).sum(axis=-1)
    )
    return found
