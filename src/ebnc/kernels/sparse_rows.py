"""Sums over rows that are short lists of columns, for main effects of rare states.

Row ``l`` lists ``columns[starts[l]:starts[l + 1]]``, ascending; its indicators of these columns and
of column 0, the intercept, are 1, all others 0.
"""

import numpy as np

from ebnc.kernels.compiling import compiled


@compiled
def list_unusual(codes, usual, places, starts, columns):  # type: ignore[no-untyped-def]
    """List places[j] + x_j for every input j of a row that is not in state usual[j].

    States above the usual one move down, so that it takes no place. ``starts``: the first position
    of each row, which is moved to its end.
    """
    for j in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            state = np.int64(codes[j, i])
            if state != usual[j]:
                columns[starts[i]] = places[j] + state - (state > usual[j])
                starts[i] += 1


@compiled
def cross_products(starts, columns, values, out):  # type: ignore[no-untyped-def]
    """Σ_l values[l] z_l z_lᵀ, z_l the indicators of row l; the lower triangle of ``out``."""
    for row in range(len(starts) - 1):
        value = values[row]
        first, last = starts[row], starts[row + 1]
        out[0, 0] += value
        for t in range(first, last):
            line = out[columns[t]]
            line[0] += value
            for u in range(first, t + 1):
                line[columns[u]] += value


@compiled
def quadratic_forms(starts, columns, matrix, out):  # type: ignore[no-untyped-def]
    """out[l] = z_lᵀ matrix z_l of every row, for a symmetric matrix."""
    for row in range(len(starts) - 1):
        first, last = starts[row], starts[row + 1]
        total = matrix[0, 0]
        for t in range(first, last):
            line = matrix[columns[t]]
            above = line[0]
            for u in range(first, t):
                above += line[columns[u]]
            total += 2.0 * above + line[columns[t]]
        out[row] = total
