"""Exact sums over hidden variables by variable elimination.

    Σ_hidden Π_i p(z_i | pa_i)

Each factor is a table over its unobserved variables. Eliminating a variable multiplies all tables
that contain it and sums along its axis; the product is a table over the variable and its
neighbours. The greedy order always eliminates the variable with the smallest product.

An ``Eliminator`` serves one network, which does not change: it remembers the tables of nodes, the
order for each set of observed variables, and all products that do not depend on what was observed.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from types import MappingProxyType

import numpy as np

from ebnc.data.rows import CodedRows, all_configurations
from ebnc.errors import TooLargeError
from ebnc.network.model.joint import Joint
from ebnc.typing import FloatArray

MOST_CELLS = 2**18  # maximum cells of a table for one row; larger sums are refused
CHUNK_CELLS = 2**18  # maximum cells of a table for a chunk of rows
NODE_CELLS = 2**12  # maximum cells of a table that is remembered
N_PROGRAMS = 16  # number of programs that are remembered, the ones that were used last
NO_WEIGHTS: Mapping[str, FloatArray] = MappingProxyType({})


@dataclass(frozen=True)
class Elimination:
    """An elimination order, and the number of cells of its intermediate tables.

    ``kept``: the variables of the result. ``axes``: the unobserved variables in the order of the
    axes of every table: kept ones first, then hidden ones; the last axis is summed out first.
    ``factors``: every relevant node with the axes of its table. ``largest``, ``together``: cells of
    the largest table, and of all tables before their last axis is summed out.
    """

    kept: tuple[str, ...]
    axes: tuple[str, ...]
    factors: tuple[tuple[str, tuple[str, ...]], ...]
    largest: int
    together: int


def plan_elimination(
    network: Joint,
    kept: Sequence[str],
    observed: Collection[str],
    nodes: Sequence[str],
) -> Elimination:
    """Plan how to sum the product of ``nodes`` over all variables but ``kept`` and ``observed``.

    Raises ``TooLargeError`` if a table would exceed ``MOST_CELLS``.
    """
    hidden = [x for x in nodes if x not in observed and x not in kept]
    n_states = {x: network.domain.n_states(x) for x in (*kept, *hidden)}
    scopes = {x: {u for u in (x, *network.parents(x)) if u in n_states} for x in nodes}
    neighbours: dict[str, set[str]] = {x: {x} for x in n_states}
    for scope in scopes.values():
        for x in scope:
            neighbours[x] |= scope
    cells = {x: prod(n_states[u] for u in neighbours[x]) for x in hidden}
    order: list[str] = []
    sizes = [_checked(prod(n_states[x] for x in kept))]
    while cells:
        name = min(cells, key=cells.__getitem__)
        sizes.append(_checked(cells.pop(name)))
        order.append(name)
        clique = neighbours.pop(name) - {name}
        for x in clique:
            neighbours[x] = (neighbours[x] | clique) - {name}
            if x in cells:
                cells[x] = prod(n_states[u] for u in neighbours[x])
    axes = (*kept, *reversed(order))
    place = {x: i for i, x in enumerate(axes)}
    factors = tuple((x, tuple(sorted(scopes[x], key=place.__getitem__))) for x in nodes)
    return Elimination(tuple(kept), axes, factors, max(sizes), sum(sizes))


class Eliminator:
    """Sums of one network; ``log_sums`` may be called by several threads."""

    def __init__(self, network: Joint) -> None:
        self.network = network
        self._table_of = lru_cache(maxsize=None)(self._make_table)
        self._program = lru_cache(N_PROGRAMS)(self._make_program)

    def log_sums(
        self,
        rows: CodedRows,
        kept: Sequence[str],
        observed: Collection[str],
        log_weights: Mapping[str, FloatArray] | None = None,
    ) -> FloatArray:
        """Return log Σ_hidden Π p(z_i | pa_i) w(z) for every row, (rows, states of ``kept`` …).

        ``log_weights``: log w of each state of some hidden variables. Only ancestors of these three
        matter, because all other nodes sum to 1. Raises ``TooLargeError`` if a table would exceed
        ``MOST_CELLS``.
        """
        weights = log_weights or {}
        nodes = tuple(self.network.ancestral([*kept, *observed, *weights]))
        program = self._program(tuple(kept), frozenset(observed), nodes, frozenset(weights))
        return program.run(rows, weights)

    def log_products(
        self, rows: CodedRows, kept: Sequence[str], observed: Collection[str], nodes: Sequence[str]
    ) -> FloatArray:
        """Return the same sum of only ``nodes``, without weights."""
        return self._program(tuple(kept), frozenset(observed), tuple(nodes), frozenset()).run(rows)

    def log_probability(self, rows: CodedRows) -> FloatArray:
        """Return log p of one row in which all variables are observed, shape (1,)."""
        total = np.zeros(1)
        for name, local in self.network.items():
            table = self._table_of(name)
            if table is None:
                total = total + local.log_probability(rows)
            else:
                total = total + table[tuple(rows.column(x) for x in (*local.parents, name))]
        return total

    def look_up(self, name: str, scope: tuple[str, ...]) -> "_LookUp":
        """Return the function that makes the table of a node over ``scope`` for coded rows."""
        own = (*self.network.parents(name), name)
        table, given = self._table_of(name), tuple(x for x in own if x not in scope)
        if table is None:
            return partial(_table, self.network, name, scope)
        ordered = np.transpose(table, [own.index(x) for x in (*given, *scope)])
        return lambda rows: (
            ordered[tuple(rows.column(x) for x in given)] if given else ordered[None]
        )

    def _make_table(self, name: str) -> FloatArray | None:
        """The table log p(z | parents), with the axes parents, z; None for a large one."""
        names = (*self.network.parents(name), name)
        shape = tuple(map(self.network.domain.n_states, names))
        if prod(shape) > NODE_CELLS:
            return None
        every = all_configurations(self.network.domain, names)
        return self.network[name].log_probability(every).reshape(shape)

    def _make_program(
        self,
        kept: tuple[str, ...],
        observed: frozenset[str],
        nodes: tuple[str, ...],
        weighted: frozenset[str],
    ) -> "Program":
        return Program(
            self, plan_elimination(self.network, kept, observed, nodes), sorted(weighted)
        )


_LookUp = Callable[[CodedRows], FloatArray]


@dataclass(frozen=True)
class Step:
    """Add tables and sum out their last axis, if it belongs to a hidden variable.

    ``scope``: the variables of the axes. ``tables``: numbers of tables, each with its shape, which
    has 1 for axes that it lacks. ``result``: the number of the new table.
    """

    scope: tuple[str, ...]
    tables: tuple[tuple[int, tuple[int, ...]], ...]
    sums_out: bool
    result: int

    def total(self, tables: dict[int, FloatArray]) -> FloatArray:
        """Remove the tables of this step and return their sum, shape (rows, states of scope …)."""
        total: FloatArray = np.zeros(())
        for number, shape in self.tables:
            table = tables.pop(number)
            total = total + table.reshape(len(table), *shape)
        return total

    def apply(self, tables: dict[int, FloatArray]) -> None:
        """Replace the tables of this step by its result."""
        total = self.total(tables)
        tables[self.result] = np.logaddexp.reduce(total, axis=-1) if self.sums_out else total


class Program:
    """The look-ups and steps of a plan; those that no evidence enters are done already.

    ``weighted``: the hidden variables that get a table of weights. ``keeps_all``: do no step
    already. ``result``: the number of the last table. Table i < n is factor i of the plan.
    """

    def __init__(
        self,
        eliminator: Eliminator,
        plan: Elimination,
        weighted: Sequence[str],
        *,
        keeps_all: bool = False,
    ) -> None:
        network = eliminator.network
        self._shape = tuple(map(network.domain.n_states, plan.kept))
        self._chunk = max(1, CHUNK_CELLS // plan.largest)
        self._done: dict[int, FloatArray] = {}
        self._look_ups: dict[int, _LookUp] = {}
        self.steps: list[Step] = []
        any_row = CodedRows.from_codes(network.domain, {x: [0] for x in network.variables})
        scopes: dict[int, tuple[str, ...]] = {}
        for i, (name, scope) in enumerate(plan.factors):
            scopes[i], look_up = scope, eliminator.look_up(name, scope)
            if {name, *network.parents(name)} <= set(scope):
                self._done[i] = look_up(any_row)
            else:
                self._look_ups[i] = look_up
        self._weights = {x: len(scopes) + i for i, x in enumerate(weighted)}
        scopes |= {i: (x,) for x, i in self._weights.items()}
        n_tables = len(scopes)
        for hidden in [*reversed(plan.axes[len(plan.kept) :]), None]:
            involved = [i for i, scope in scopes.items() if hidden is None or hidden in scope]
            members = {x for i in involved for x in scopes[i]}
            axes = [x for x in plan.axes if x in members or (x in plan.kept and hidden is None)]
            sizes = [(x, network.domain.n_states(x)) for x in axes]
            shapes = [tuple(r if x in scopes[i] else 1 for x, r in sizes) for i in involved]
            joined = tuple(zip(involved, shapes, strict=True))
            step = Step(tuple(axes), joined, hidden is not None, n_tables)
            for i in involved:
                del scopes[i]
            scopes[n_tables] = tuple(x for x in axes if x != hidden)  # ``hidden`` is the last one
            n_tables += 1
            n_cells = prod(r for x, r in sizes if x != hidden)
            is_ready = all(i in self._done for i in involved) and n_cells <= NODE_CELLS
            if is_ready and not keeps_all:
                step.apply(self._done)
            else:
                self.steps.append(step)
        self.result = n_tables - 1

    def tables(
        self, rows: CodedRows, log_weights: Mapping[str, FloatArray]
    ) -> dict[int, FloatArray]:
        """Return the tables to begin with, by number, shape (rows or 1, states …)."""
        tables = dict(self._done)
        tables |= {i: look_up(rows) for i, look_up in self._look_ups.items()}
        return tables | {i: log_weights[x][None] for x, i in self._weights.items()}

    def run(
        self, rows: CodedRows, log_weights: Mapping[str, FloatArray] = NO_WEIGHTS
    ) -> FloatArray:
        """Return the result for every row, shape (rows, states of the kept variables …)."""
        result = np.empty((len(rows), *self._shape))
        for start in range(0, len(rows), self._chunk):
            some = rows.codes[:, start : start + self._chunk]
            tables = self.tables(CodedRows(rows.names, rows.n_states, some), log_weights)
            for step in self.steps:
                step.apply(tables)
            result[start : start + self._chunk] = tables[self.result]
        return result


def _checked(n_cells: int) -> int:
    if n_cells > MOST_CELLS:
        raise TooLargeError(
            f"the exact sum over hidden variables needs a table of more than {MOST_CELLS} cells"
        )
    return n_cells


def _table(network: Joint, name: str, scope: tuple[str, ...], rows: CodedRows) -> FloatArray:
    """log p(z | parents) of one node, shape (rows, states of ``scope`` …)."""
    if not scope:
        return network[name].log_probability(rows)
    listed = all_configurations(network.domain, scope)
    own = (*network.parents(name), name)
    codes = np.repeat(rows.codes[[rows.place(x) for x in own]], len(listed), axis=1)
    many = CodedRows(own, tuple(rows.n_states[rows.place(x)] for x in own), codes)
    for x, codes in zip(scope, listed.codes, strict=True):
        many.codes[many.place(x)] = np.tile(codes, len(rows))
    return network[name].log_probability(many).reshape(len(rows), *listed.n_states)
