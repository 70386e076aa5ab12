"""Decision nodes x = s that lead from a root to leaves: the parts of trees and graphs.

Node i asks whether ``variables[i]`` is in state ``states[i]`` and continues at ``equal[i]`` or
``other[i]``, which is always a later node. A leaf asks no question. In a tree, one question leads
to each node but the root; in a graph, several questions may lead to the same node.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ebnc.data.coder import encode
from ebnc.data.rows import CodedRows
from ebnc.data.table import TableLike as Rows
from ebnc.domain import DomainLike, State, as_domain
from ebnc.errors import ParameterError
from ebnc.kernels.trees import find_leaves
from ebnc.markup import html_text
from ebnc.network.local.plain import FieldType, equal_by_value, frozen
from ebnc.typing import FloatArray, IntArray

FIELDS = {
    "variables": FieldType.VARIABLES_OR_NONE,
    "states": FieldType.WHOLE_NUMBERS,
    "equal": FieldType.WHOLE_NUMBERS,
    "other": FieldType.WHOLE_NUMBERS,
    "theta": FieldType.PROBABILITIES,
}
"""The fields of a tree or a graph in a file."""


class DecisionNodes:
    """p(z | x) by questions about the parents: the common base of ``Tree`` and ``DecisionGraph``.

    ``Tree`` describes the parameters.
    """

    kind: str

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
        self.domain = declared.only((*self.parents, target))
        self.states: IntArray = frozen(states, np.int64)
        self.equal: IntArray = frozen(equal, np.int64)
        self.other: IntArray = frozen(other, np.int64)
        self.theta: FloatArray = frozen(theta)
        self._check()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and equal_by_value(self, other, DecisionNodes.to_plain)

    def __hash__(self) -> int:
        return hash((self.kind, self.target, self.variables, self.theta.tobytes()))

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({self.target!r}, {list(self.parents)}, leaves={self.n_leaves})"

    def _repr_html_(self) -> str:
        return html_text(str(self), title=self.target)

    @property
    def n_leaves(self) -> int:
        """Number of leaves, each counted once even if several questions lead to it."""
        return sum(x is None for x in self.variables)

    @property
    def dimension(self) -> int:
        """Number of free parameters: leaves·(K − 1)."""
        return self.n_leaves * (self.domain.n_states(self.target) - 1)

    def probabilities(self, data: Rows) -> FloatArray:
        """Return p(z | parents) of every row, shape (rows, K).

        Parameters
        ----------
        data : table
            Rows with the parents of the node.
        """
        return self.theta[self.leaves(encode(data, self.domain, self.parents))]

    def log_probability(self, data: Rows) -> FloatArray:
        """Return log p of the observed z of every row, shape (rows,); −∞ if θ is 0.

        Parameters
        ----------
        data : table
            Rows with the node and its parents.
        """
        rows = encode(data, self.domain, tuple(self.domain))
        with np.errstate(divide="ignore"):
            logarithms = np.log(self.theta)
        return logarithms[self.leaves(rows), rows.column(self.target)]

    @cached_property
    def times_led_to(self) -> IntArray:
        """The number of questions that lead to each node."""
        asking = [i for i, name in enumerate(self.variables) if name is not None]
        ends = np.concatenate([self.equal[asking], self.other[asking]])
        return np.bincount(ends, minlength=len(self.variables))

    def leaves(self, rows: CodedRows) -> IntArray:
        """Return the node number of the leaf that each row reaches.

        Parameters
        ----------
        rows : CodedRows
            Coded rows with the parents of the node.
        """
        place = {name: v for v, name in enumerate(rows.names)}
        columns = np.array([-1 if x is None else place[x] for x in self.variables], dtype=np.int64)
        return find_leaves(rows.codes, columns, self.states, self.equal, self.other)

    def __str__(self) -> str:
        """Return the questions as text, with the distribution of the node in each leaf.

        A node that several questions lead to is printed once with a number, later by its number.
        """
        lines: list[str] = []
        numbers: dict[int, int] = {}
        waiting = [(0, 0, "")]
        while waiting:  # iterative, because chains of questions may be long
            node, depth, start = waiting.pop()
            name = self.variables[node]
            if node in numbers:
                lines.append("  " * depth + f"{start}as ({numbers[node]})")
                continue
            if self.times_led_to[node] > 1:
                numbers[node] = len(numbers) + 1
                start += f"({numbers[node]}) "
            if name is None:
                leaf = distribution_text(self.domain[self.target], self.theta[node])
                lines.append("  " * depth + start + leaf)
                continue
            if start:
                lines.append("  " * depth + start.rstrip())
                depth += 1
            state = state_text(self.domain[name][int(self.states[node])])
            waiting.append((int(self.other[node]), depth, f"{name} ≠ {state}: "))
            waiting.append((int(self.equal[node]), depth, f"{name} = {state}: "))
        return "\n".join(lines)

    def to_plain(self) -> dict[str, Any]:
        """Return the fields that a file holds."""
        return {
            "variables": self.variables,
            "states": self.states,
            "equal": self.equal,
            "other": self.other,
            "theta": self.theta.ravel(),
        }

    def _check(self) -> None:
        """Check that questions lead to later nodes, all nodes are reached, and leaves hold θ."""
        n, n_classes = len(self.variables), self.domain.n_states(self.target)
        shapes = {a.shape for a in (self.states, self.equal, self.other)}
        if n == 0 or shapes != {(n,)} or self.theta.shape != (n, n_classes):
            raise ParameterError(
                f"the questions of {self.target!r} need states, equal and other of length {n} and "
                f"theta of shape ({n}, {n_classes})"
            )
        if self.target in self.parents:
            raise ParameterError(f"{self.target!r} asks a question about itself")
        if not (np.isfinite(self.theta).all() and (self.theta >= 0).all()):
            raise ParameterError(f"theta of {self.target!r} has numbers that are not probabilities")
        for i, name in enumerate(self.variables):
            if name is None:
                row = self.theta[i]
                if not abs(row.sum() - 1) < 1e-6:
                    raise ParameterError(
                        f"theta in leaf {i} of {self.target!r} sums to {row.sum():.6g}, not to 1"
                    )
                continue
            if not 0 <= self.states[i] < self.domain.n_states(name):
                raise ParameterError(
                    f"node {i} of {self.target!r}: {name!r} has no state number {self.states[i]}"
                )
            branches = [int(self.equal[i]), int(self.other[i])]
            if min(branches) <= i or max(branches) >= n:
                raise ParameterError(f"node {i} of {self.target!r} must lead to later nodes")
        lost = np.flatnonzero(self.times_led_to[1:] == 0)
        if lost.size:
            raise ParameterError(f"no question of {self.target!r} leads to node {lost[0] + 1}")


def state_text(state: State) -> str:
    """Return a state as text."""
    return "(missing)" if state is None else str(state)


def distribution_text(states: Sequence[State], probabilities: FloatArray) -> str:
    """Return every state with its probability as text."""
    pairs = zip(states, probabilities.tolist(), strict=True)
    return ", ".join(f"{state_text(state)} {p:.3f}" for state, p in pairs)
