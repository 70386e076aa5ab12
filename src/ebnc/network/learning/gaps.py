"""Rows with gaps, and what a network says about the entries that are missing.

The hidden variables of a row fall into *components*: two are connected if one node has both of them
among itself and its parents. Given the observed variables, components are independent, and a
component depends only on the observed members of its nodes:

    log p(observed) = Σ_{complete nodes i} log p(z_i | pa_i)
                    + Σ_components log Σ_hidden Π_i p(z_i | pa_i)

So the same component with the same members is computed once for all rows that have it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ebnc.data.cases import Cases, distinct_rows
from ebnc.data.read import learn_joint_cases
from ebnc.data.rows import CodedRows, code_type
from ebnc.data.summaries import Values
from ebnc.data.table import Categories, Coding, Frame
from ebnc.domain import Domain, as_domain
from ebnc.errors import DataError, TooLargeError
from ebnc.network.inference.elimination import Eliminator
from ebnc.network.inference.two_passes import TwoPasses
from ebnc.network.model.joint import Joint
from ebnc.typing import CodeArray, FloatArray, IntArray

LEAST_WEIGHT = 1e-12  # an expected row with less of a row's weight does not count
TOGETHER = 2**20  # maximum cells of the expected rows of one component that are made at once


@dataclass(frozen=True, eq=False)
class Gaps:
    """Distinct rows with missing entries.

    ``codes``: (variables, rows); a missing entry has the code r, one beyond the states of the
    variable. ``weights``: how often each row occurs.
    """

    domain: Domain
    codes: CodeArray
    weights: FloatArray

    @classmethod
    def of(cls, cases: Cases) -> "Gaps":
        """Make rows with gaps from cases that have a state None for missing entries."""
        states = {x: cases.domain[x] for x in cases.rows.names}
        known = {x: s[:-1] if s[-1] is None else s for x, s in states.items()}
        empty = next((x for x, s in known.items() if not s), None)
        if empty is not None:
            raise DataError(
                f"column {empty!r} has no entries; declare its states to learn it as a hidden "
                f"variable: categories={{{empty!r}: [...]}}"
            )
        distinct = cases.distinct()
        weights = np.ones(len(distinct)) if distinct.weights is None else distinct.weights
        return cls(Domain(known, cases.domain.ordered), distinct.rows.codes, weights)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return tuple(self.domain)

    @cached_property
    def hidden(self) -> NDArray[np.bool_]:
        """Whether an entry is missing, shape (variables, rows)."""
        n_states = np.array([self.domain.n_states(x) for x in self.names])
        return np.asarray(self.codes >= n_states[:, None])

    @property
    def total_weight(self) -> float:
        """N, the sum of the weights."""
        return float(self.weights.sum())

    def cases_of(
        self, names: Sequence[str], target: str, codes: NDArray[np.integer], weights: FloatArray
    ) -> Cases:
        """Return complete cases of some variables, (names, rows), equal ones counted together.

        Rows with hardly any weight are left out.
        """
        present = weights > LEAST_WEIGHT
        n_states = tuple(self.domain.n_states(x) for x in names)
        present_codes = codes[:, present].astype(code_type(n_states))
        first, inverse = distinct_rows(list(present_codes), n_states)
        summed = np.bincount(inverse, weights[present], len(first)).astype(np.float64)
        chosen = np.ascontiguousarray(present_codes[:, first])
        rows = CodedRows(tuple(names), n_states, chosen)
        return Cases(self.domain, target, rows, chosen[rows.place(target)], summed)

    def filled(self, codes: CodeArray, weights: FloatArray) -> Cases:
        """Return complete rows of all variables as cases."""
        return self.cases_of(self.names, self.names[0], codes, weights)

    def shares(self, name: str) -> FloatArray:
        """Return how often each state of a variable is observed, equally often if none ever is."""
        v, n_states = self.names.index(name), self.domain.n_states(name)
        observed = ~self.hidden[v]
        seen = np.bincount(self.codes[v][observed], self.weights[observed], n_states)
        return seen / seen.sum() if seen.any() else np.full(n_states, 1 / n_states)

    def drawn_from_shares(self, generator: np.random.Generator) -> CodeArray:
        """Return all rows, each gap filled with a state as often as that is observed."""
        codes = self.codes.copy()
        for v, name in enumerate(self.names):
            n_gaps, n_states = int(self.hidden[v].sum()), self.domain.n_states(name)
            codes[v, self.hidden[v]] = generator.choice(n_states, n_gaps, p=self.shares(name))
        return codes


@dataclass(frozen=True, eq=False)
class Component:
    """Hidden variables that a network must sum out together, in all rows that have them.

    ``nodes``: the nodes with a hidden variable among themselves and their parents. ``rows``: the
    distinct observed members, with their ``weights``; ``member``: the number of the distinct row
    of each of the rows ``places``.
    """

    hidden: tuple[str, ...]
    nodes: tuple[str, ...]
    rows: CodedRows
    weights: FloatArray
    places: IntArray
    member: IntArray

    def passes(self, eliminator: Eliminator) -> TwoPasses:
        """Return the sums over the hidden variables; raise in words if they are too large."""
        observed = set(self.rows.names) - set(self.hidden)
        try:
            return TwoPasses(eliminator, observed, nodes=self.nodes)
        except TooLargeError as error:
            shown = ", ".join(map(repr, self.hidden[:6])) + (", …" if self.hidden[6:] else "")
            raise TooLargeError(
                f"{error}: {len(self.hidden)} variables ({shown}) are missing together in a row, "
                "and the network connects them. Use missing='state', limit the number of parents, "
                "fill in some of these entries, or leave such rows out"
            ) from None

    def parts(self, n_cells: int) -> Iterator[tuple[CodedRows, FloatArray]]:
        """Yield rows and weights, few enough that ``n_cells`` numbers for each fit in memory."""
        step = max(1, TOGETHER // n_cells)
        for start in range(0, len(self.rows), step):
            codes = self.rows.codes[:, start : start + step]
            rows = CodedRows(self.rows.names, self.rows.n_states, codes)
            yield rows, self.weights[start : start + step]


class Expectations:
    """What networks of one graph say about rows with gaps.

    ``parents``: the parents of every variable.
    """

    def __init__(self, gaps: Gaps, parents: Mapping[str, tuple[str, ...]]) -> None:
        self.gaps = gaps
        self.families = {x: (*parents[x], x) for x in gaps.names}
        place = {x: v for v, x in enumerate(gaps.names)}
        self.components = list(self._components(place))
        self.complete = {}
        for x, family in self.families.items():
            of_family = [place[u] for u in family]
            chosen = ~gaps.hidden[of_family].any(axis=0)
            codes = gaps.codes[of_family][:, chosen]
            self.complete[x] = gaps.cases_of(family, x, codes, gaps.weights[chosen])

    def _components(self, place: Mapping[str, int]) -> Iterator[Component]:
        gaps = self.gaps
        patterns, member = np.unique(gaps.hidden, axis=1, return_inverse=True)
        numbers = member.reshape(-1)
        in_order = np.argsort(numbers, kind="stable")
        of_pattern = np.split(in_order, np.cumsum(np.bincount(numbers))[:-1])
        rows_of: dict[tuple[str, ...], list[int]] = {}
        for i, pattern in enumerate(patterns.T):
            hidden = [x for x, lacking in zip(gaps.names, pattern, strict=True) if lacking]
            for together in connected(self.families, hidden):
                rows_of.setdefault(together, []).append(i)
        for together, of_patterns in rows_of.items():
            chosen = np.concatenate([of_pattern[i] for i in of_patterns])
            hidden_ones = set(together)
            nodes = tuple(x for x in gaps.names if hidden_ones & {*self.families[x]})
            inside = {u for x in nodes for u in self.families[x]}
            names = tuple(x for x in gaps.names if x in inside)
            codes = gaps.codes[[place[x] for x in names]][:, chosen]
            codes[[x in hidden_ones for x in names]] = 0
            n_states = tuple(gaps.domain.n_states(x) for x in names)
            first, inverse = distinct_rows(list(codes), n_states)
            rows = CodedRows(names, n_states, np.ascontiguousarray(codes[:, first]))
            weights = np.bincount(inverse, gaps.weights[chosen], len(first)).astype(np.float64)
            yield Component(together, nodes, rows, weights, chosen, inverse)

    def expected(self, network: Joint) -> tuple[float, dict[str, Cases]]:
        """Return Σ log p(observed), and for every node the expected rows of it and its parents."""
        total = 0.0
        found: dict[str, list[tuple[NDArray[np.integer], FloatArray]]] = {}
        for x, cases in self.complete.items():
            found[x] = [(cases.rows.codes, _weights(cases))]
            if len(cases):
                total += float(network[x].log_probability(cases.rows) @ _weights(cases))
        eliminator = Eliminator(network)
        for component in self.components:
            passes = component.passes(eliminator)
            for rows, weights in component.parts(passes.largest):
                log_p, tables = passes.families(rows)
                total += float(log_p @ weights)
                for x, (hidden, p) in tables.items():
                    codes, shares = _spread(rows, self.families[x], hidden, p)
                    found[x].append((codes, shares * np.repeat(weights, p[0].size)))
        return total, {
            x: self.gaps.cases_of(
                self.families[x],
                x,
                np.concatenate([codes for codes, _ in parts], axis=1),
                np.concatenate([shares for _, shares in parts]),
            )
            for x, parts in found.items()
        }

    def drawn(self, network: Joint, generator: np.random.Generator) -> CodeArray:
        """Return all rows, each with its gaps filled by a draw from p(hidden | observed)."""
        codes, eliminator = self.gaps.codes.copy(), Eliminator(network)
        place = {x: v for v, x in enumerate(self.gaps.names)}
        for component in self.components:
            rows = component.rows
            each = CodedRows(rows.names, rows.n_states, rows.codes[:, component.member])
            for x, column in component.passes(eliminator).drawn(each, generator).items():
                codes[place[x], component.places] = column
        return codes


def connected(
    families: Mapping[str, Sequence[str]], hidden: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the components of some hidden variables, each in their order."""
    left = set(hidden)
    scopes = [left.intersection(family) for family in families.values()]
    scopes = [scope for scope in scopes if scope]
    components = []
    while left:
        reached: set[str] = set()
        waiting = {next(x for x in hidden if x in left)}
        while waiting:
            reached |= waiting
            waiting = set().union(*(s for s in scopes if s & waiting)) - reached
        left -= reached
        components.append(tuple(x for x in hidden if x in reached))
    return components


def read_gaps(
    data: Frame, categories: Categories | None, weights: object, coding: Coding
) -> tuple[Gaps, dict[str, Values]]:
    """Read all columns except the weights, as ``learn_joint_cases`` does, with their gaps.

    A declared variable may have no entry at all.
    """
    declared = as_domain(categories or {})
    with_gaps = {x: s if s[-1] is None else (*s, None) for x, s in declared.items()}
    states = Domain(with_gaps, declared.ordered)
    cases, values = learn_joint_cases(data, states, "state", weights, coding)
    return Gaps.of(cases), values


def _weights(cases: Cases) -> FloatArray:
    return np.ones(len(cases)) if cases.weights is None else cases.weights


def _spread(
    rows: CodedRows, family: Sequence[str], hidden: Sequence[str], p: FloatArray
) -> tuple[NDArray[np.integer], FloatArray]:
    """Return the rows of a family with every state of its hidden members, and their shares.

    ``p``: shape (rows, states of the hidden members …).
    """
    each = np.indices(p.shape[1:]).reshape(len(hidden), -1)
    codes = np.repeat(rows.codes[[rows.place(x) for x in family]], each.shape[1], axis=1)
    for x, states in zip(hidden, each, strict=True):
        codes[family.index(x)] = np.tile(states, len(rows))
    return codes, p.reshape(-1)
