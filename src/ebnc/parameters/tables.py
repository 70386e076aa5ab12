"""Log odds as a sum of small tables, compiled into flat arrays for the kernels.

    λ_k(x) = Σ_t f_{t,k}(x_t)

θ (through κ, eq. 7) and φ (through its clusters) both become a ``TableSum``, which computes λ and
p(y|x). Small tables are packed into *bags*, so that one look-up serves several of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.errors import TooLargeError
from ebnc.kernels.numpy_lookup import (
    FlatTables,
    numpy_log_odds,
    numpy_log_probability,
    numpy_probabilities,
)
from ebnc.memory import refuse_if_too_large
from ebnc.typing import CodeArray, FloatArray, IntArray

FEW_ROWS = 2**15
"""Number of rows up to which NumPy looks up, and compiled code is not loaded.

Compiling takes seconds in a new environment. NumPy takes at most some 15 ms longer for so many
rows, among them the samples and the larger tables of a query.
"""
BAG_CELLS = 1024  # a bag's table stays in the first-level cache beside the tile
NEWEST = 8


@dataclass(frozen=True, eq=False)
class TableSum:
    """Tables over ``scopes``; the array of scope (a, b) has shape (r_a, r_b, K − 1)."""

    scopes: tuple[tuple[str, ...], ...]
    tables: tuple[FloatArray, ...]
    n_outputs: int

    def log_odds(self, rows: CodedRows) -> FloatArray:
        """λ, shape (rows, K − 1). The rows must be coded with the tables' numbers of states."""
        if len(rows) <= FEW_ROWS:
            return numpy_log_odds(rows.codes, self.addressed(rows))
        from ebnc.kernels.lookup import look_up_log_odds

        return look_up_log_odds(rows.codes, self.addressed(rows))

    def probabilities(self, rows: CodedRows, *, compiled: bool | None = None) -> FloatArray:
        """Softmax of (0, λ), eq. 3, shape (rows, K); λ is shifted by its maximum: no overflow.

        ``compiled``: use compiled code or NumPy, with bit-identical results; None: by the number of
        rows.
        """
        if not (len(rows) > FEW_ROWS if compiled is None else compiled):
            return numpy_probabilities(rows.codes, self.addressed(rows))
        from ebnc.kernels.lookup import look_up_probabilities

        return look_up_probabilities(rows.codes, self.addressed(rows))

    def log_probability(self, rows: CodedRows, classes: CodeArray) -> FloatArray:
        """log p(y_l|x_l) for the class y_l of each row, shape (rows,)."""
        if len(rows) <= FEW_ROWS:
            return numpy_log_probability(rows.codes, self.addressed(rows), classes)
        from ebnc.kernels.lookup import look_up_log_probability

        return look_up_log_probability(rows.codes, self.addressed(rows), classes)

    def with_extra_state(self, state_weights: Mapping[str, FloatArray] | None = None) -> "TableSum":
        """Give every variable an extra state whose log odds are the average over its states.

        ``state_weights``: the weights of the states, by variable; equal by default. In a coding
        whose columns have the weighted mean zero, all terms with the variable vanish in that state.
        """
        weights = state_weights or {}
        tables = []
        for scope, table in zip(self.scopes, self.tables, strict=True):
            larger = table
            for axis, x in enumerate(scope):
                mean = np.average(larger, axis=axis, weights=weights.get(x), keepdims=True)
                larger = np.concatenate([larger, mean], axis=axis)
            tables.append(larger)
        return TableSum(self.scopes, tuple(tables), self.n_outputs)

    def addressed(self, rows: CodedRows) -> FlatTables:
        """The tables with the places of their inputs among the columns of ``rows``."""
        return FlatTables(*recipe(self._bags, rows), *self._flat)

    @cached_property
    def _n_states(self) -> Mapping[str, int]:
        sizes: dict[str, int] = {}
        for scope, table in zip(self.scopes, self.tables, strict=True):
            sizes.update(zip(scope, table.shape, strict=False))
        return sizes

    @cached_property
    def _bags(self) -> list[tuple[str, ...]]:
        return pack_bags(self.scopes, self._n_states, BAG_CELLS)

    @cached_property
    def _flat(self) -> tuple[IntArray, FloatArray]:
        """The offset of each bag's table, and all tables side by side, one row per class."""
        shapes = ([self._n_states[x] for x in bag] for bag in self._bags)
        totals = [np.zeros((*shape, self.n_outputs)) for shape in shapes]
        homes = first_bags(self._bags, self.scopes)
        for scope, table, b in zip(self.scopes, self.tables, homes, strict=True):
            totals[b] += spread(table, scope, self._bags[b])
        flat = [total.reshape(prod(total.shape[:-1]), self.n_outputs).T for total in totals]
        offsets = np.cumsum([0, *(part.shape[1] for part in flat)], dtype=np.int64)
        return offsets, np.ascontiguousarray(np.concatenate(flat, axis=1))


class Recipe(NamedTuple):
    """Addresses of bags: columns and strides; those of bag b are starts[b]:starts[b + 1]."""

    columns: IntArray
    strides: IntArray
    starts: IntArray


def recipe(bags: Sequence[Sequence[str]], rows: CodedRows) -> Recipe:
    """The mixed-radix addresses of bags in coded rows; a bag's last variable is the fastest."""
    place = {name: v for v, name in enumerate(rows.names)}
    columns: list[int] = []
    strides: list[int] = []
    starts = [0]
    for bag in bags:
        sizes = [rows.n_states[place[x]] for x in bag]
        columns += [place[x] for x in bag]
        strides += [prod(sizes[i + 1 :]) for i in range(len(sizes))]
        starts.append(len(columns))
    return Recipe(*(np.array(part, dtype=np.int64) for part in (columns, strides, starts)))


def pack_bags(
    scopes: Iterable[Sequence[str]], n_states: Mapping[str, int], most_cells: int
) -> list[tuple[str, ...]]:
    """Merge scopes into bags of at most ``most_cells`` cells; a larger scope is its own bag.

    The largest scope comes first. Each scope joins the bag that grows least, or starts a new one if
    no bag has room. Only bags that share a variable and the newest ones are considered, so that
    thousands of scopes take milliseconds.
    """

    def size(names: Iterable[str]) -> int:
        return prod([n_states[x] for x in names])

    bags: list[set[str]] = []
    holders: dict[str, set[int]] = {}
    for scope in sorted(scopes, key=lambda s: (-size(s), sorted(s))):
        names = set(scope)
        near = set(range(max(0, len(bags) - NEWEST), len(bags)))
        near.update(*(holders.get(x, ()) for x in scope))
        growth = [
            (size(names - bags[b]), b)
            for b in near
            if bags[b] >= names or size(bags[b] | names) <= most_cells
        ]
        chosen = min(growth)[1] if growth else len(bags)
        if not growth:
            bags.append(set())
        bags[chosen] |= names
        for x in names:
            holders.setdefault(x, set()).add(chosen)
    return [tuple(sorted(bag)) for bag in bags]


def first_bags(bags: Sequence[Sequence[str]], scopes: Iterable[Sequence[str]]) -> list[int]:
    """For every scope the number of the first bag that contains it."""
    holders: dict[str, set[int]] = {}
    for b, bag in enumerate(bags):
        for x in bag:
            holders.setdefault(x, set()).add(b)
    return [min(set.intersection(*(holders[x] for x in s))) if s else 0 for s in scopes]


def spread(table: FloatArray, names: Sequence[str], scope: Sequence[str]) -> FloatArray:
    """Reshape a table over ``names`` (and classes) to broadcast over the axes of ``scope``."""
    axes = [names.index(x) for x in scope if x in names]
    ordered = np.transpose(table, (*axes, len(names)))
    sizes = iter(ordered.shape)
    return ordered.reshape((*(next(sizes) if x in names else 1 for x in scope), table.shape[-1]))


def refuse_large_table(shape: Sequence[int], what: str) -> None:
    """Raise if a table of this shape would not fit in memory, or in 32-bit cell numbers."""
    n_cells = prod(shape)
    refuse_if_too_large(8 * n_cells, what, "use a structure with smaller clusters")
    if n_cells >= 2**32:
        raise TooLargeError(
            f"{what} would take {n_cells} cells, more than the limit of 2^32; "
            "use a structure with smaller clusters"
        )
