"""Exact sums over hidden variables by variable elimination.

    Σ_hidden Π_i p(z_i | pa_i)

Each factor is a table over its unobserved variables. Eliminating a variable multiplies all tables
that contain it and sums along its axis; the product is a table over the variable and its
neighbours. The greedy order always eliminates the variable with the smallest product.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ebnc.data.rows import CodedRows, all_configurations
from ebnc.errors import TooLargeError
from ebnc.network.model.joint import Joint
from ebnc.typing import FloatArray

MOST_CELLS = 2**18  # maximum cells of a table for one row; larger sums are refused
CHUNK_CELLS = 2**18  # maximum cells of a table for a chunk of rows


@dataclass(frozen=True)
class Elimination:
    """An elimination order, and the number of cells of the largest intermediate table.

    ``kept``: the variables of the result. ``axes``: the unobserved variables in the order of the
    axes of every table: kept ones first, then hidden ones; the last axis is summed out first.
    ``factors``: every relevant node with the axes of its table.
    """

    kept: tuple[str, ...]
    axes: tuple[str, ...]
    factors: tuple[tuple[str, tuple[str, ...]], ...]
    largest: int


def plan_elimination(
    network: Joint,
    kept: Sequence[str],
    observed: Collection[str],
    weighted: Collection[str] = (),
) -> Elimination:
    """Plan how to sum out all variables but ``kept`` and ``observed``.

    ``weighted``: variables to sum out with weights. Only ancestors of these three matter, because
    all other nodes sum to 1. Raises ``TooLargeError`` if a table would exceed ``MOST_CELLS``.
    """
    nodes = network.ancestral([*kept, *observed, *weighted])
    hidden = [x for x in nodes if x not in observed and x not in kept]
    n_states = {x: network.domain.n_states(x) for x in (*kept, *hidden)}
    scopes = {x: {u for u in (x, *network.parents(x)) if u in n_states} for x in nodes}
    neighbours: dict[str, set[str]] = {x: {x} for x in n_states}
    for scope in scopes.values():
        for x in scope:
            neighbours[x] |= scope
    cells = {x: prod(n_states[u] for u in neighbours[x]) for x in hidden}
    order: list[str] = []
    largest = _checked(prod(n_states[x] for x in kept))
    while cells:
        name = min(cells, key=cells.__getitem__)
        largest = max(largest, _checked(cells.pop(name)))
        order.append(name)
        clique = neighbours.pop(name) - {name}
        for x in clique:
            neighbours[x] = (neighbours[x] | clique) - {name}
            if x in cells:
                cells[x] = prod(n_states[u] for u in neighbours[x])
    axes = (*kept, *reversed(order))
    place = {x: i for i, x in enumerate(axes)}
    factors = tuple((x, tuple(sorted(scopes[x], key=place.__getitem__))) for x in nodes)
    return Elimination(tuple(kept), axes, factors, largest)


def log_sums(
    network: Joint,
    rows: CodedRows,
    plan: Elimination,
    log_weights: Mapping[str, FloatArray] | None = None,
) -> FloatArray:
    """Return log Σ_hidden Π p(z_i | pa_i) w(z) for every row, shape (rows, states of ``kept`` …).

    ``log_weights``: log w of each state of some hidden variables.
    """
    weights = [((x,), each[None]) for x, each in (log_weights or {}).items()]
    result = np.empty((len(rows), *(network.domain.n_states(x) for x in plan.kept)))
    step = max(1, CHUNK_CELLS // plan.largest)
    for start in range(0, len(rows), step):
        chunk = slice(start, min(start + step, len(rows)))
        some = CodedRows(rows.names, rows.n_states, rows.codes[:, chunk])
        tables = [(scope, _table(network, x, scope, some)) for x, scope in plan.factors]
        tables += weights
        for hidden in reversed(plan.axes[len(plan.kept) :]):
            involved = [entry for entry in tables if hidden in entry[0]]
            tables = [entry for entry in tables if hidden not in entry[0]]
            members = {x for scope, _ in involved for x in scope}
            scope = tuple(x for x in plan.axes if x in members)  # ``hidden`` is the last one
            tables.append((scope[:-1], np.logaddexp.reduce(_product(involved, scope), axis=-1)))
        result[chunk] = _product(tables, plan.kept)
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
    many = CodedRows(rows.names, rows.n_states, np.repeat(rows.codes, len(listed), axis=1))
    for x, codes in zip(scope, listed.codes, strict=True):
        many.codes[many.place(x)] = np.tile(codes, len(rows))
    return network[name].log_probability(many).reshape(len(rows), *listed.n_states)


def _product(
    tables: Sequence[tuple[tuple[str, ...], FloatArray]], scope: tuple[str, ...]
) -> FloatArray:
    """Return the sum of log tables over ``scope``; their axes follow the order of ``scope``."""
    total = np.zeros(())
    for own, table in tables:
        n_states = iter(table.shape[1:])
        shape = [next(n_states) if x in own else 1 for x in scope]
        total = total + table.reshape(len(table), *shape)
    return total
