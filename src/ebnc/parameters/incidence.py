"""The matrix of a sum of tables, and configurations whose rows in it are independent.

A function that is a sum of tables, g(x) = Σ_F t_F(x_F), is linear in the tables' cells. Its matrix
has one row per configuration x, with a 1 for each table F in the column of the cell x_F. Both
procedures of the paper eliminate such a matrix: κ → λ in §4 and η_i → ψ_i in §6.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from ebnc.memory import refuse_if_too_large
from ebnc.parameters.rank import RowSpace


def independent_configurations(
    n_states: Mapping[str, int], scopes: Sequence[Sequence[str]], what: str
) -> list[tuple[int, ...]]:
    """The lexicographically first configurations whose rows are a basis of the row space.

    ``n_states``: the variables of a configuration, in order, with their numbers of states.
    ``scopes``: the variables of each table. ``what``: the name of the matrix in the error for one
    that is too large.
    """
    place = {name: i for i, name in enumerate(n_states)}
    sizes = list(n_states.values())
    n_columns = 0
    tables: list[tuple[int, list[tuple[int, int]]]] = []  # first column, (place, stride) per input
    for scope in scopes:
        strides, width = [], 1
        for name in scope:
            strides.append((place[name], width))
            width *= n_states[name]
        tables.append((n_columns, strides))
        n_columns += width
    refuse_if_too_large(
        8 * prod(sizes) * n_columns,
        f"{what}, {len(sizes)} inputs,",
        "use dimension, the closed form",
    )
    rows = RowSpace()
    return [
        x
        for x in product(*map(range, sizes))
        if rows.insert({start + sum(x[i] * s for i, s in own): 1 for start, own in tables})
    ]
