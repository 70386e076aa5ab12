"""Sums over binary variables in sparse rows, which list the columns that are 1, ascending.

The sums use only the first ``d`` columns, so that one set of rows serves every node of an ordered
network: node d has the columns before it as inputs. Row ``l`` lists ``columns[starts[l]:starts[l +
1]]``. Coordinate 0 is the intercept, coordinate j + 1 is column j.
"""

import numpy as np
from numba import njit

from ebnc.kernels.compiling import compiled
from ebnc.kernels.exponential import exp_of_negative, log1p_of_fraction
from ebnc.kernels.tiles import TILE


@compiled
def log_odds_of(starts, columns, d, beta):  # type: ignore[no-untyped-def]
    """λ of every row: beta[0] + Σ beta[j + 1] over its columns j < d."""
    out = np.empty(len(starts) - 1)
    for row in range(len(starts) - 1):
        total = beta[0]
        for t in range(starts[row], starts[row + 1]):
            j = columns[t]
            if j >= d:
                break
            total += beta[j + 1]
        out[row] = total
    return out


@compiled
def add_up(starts, columns, d, values):  # type: ignore[no-untyped-def]
    """Σ_l values[l] (1, x_l): the transpose of ``log_odds_of``, shape (d + 1,)."""
    out = np.zeros(d + 1)
    for row in range(len(starts) - 1):
        value = values[row]
        out[0] += value
        for t in range(starts[row], starts[row + 1]):
            j = columns[t]
            if j >= d:
                break
            out[j + 1] += value
    return out


@compiled
def cross_products(starts, columns, d, weights):  # type: ignore[no-untyped-def]
    """Σ_l weights[l] (1, x_l)(1, x_l)ᵀ, lower triangle, shape (d + 1, d + 1)."""
    out = np.zeros((d + 1, d + 1))
    for row in range(len(starts) - 1):
        weight = weights[row]
        out[0, 0] += weight
        for t in range(starts[row], starts[row + 1]):
            j = columns[t]
            if j >= d:
                break
            line = out[j + 1]
            line[0] += weight
            for u in range(starts[row], t + 1):
                line[columns[u] + 1] += weight
    return out


@compiled
def logistic_terms(log_odds, classes, counts, residual, information):  # type: ignore[no-untyped-def]
    """Log-likelihood Σ n log p(y); fills n (y − p) and n p (1 − p) by row."""
    total = 0.0
    log_p = np.empty(TILE)
    for first in range(0, len(log_odds), TILE):
        last = min(first + TILE, len(log_odds))
        _terms_of_tile(
            log_odds[first:last],
            classes[first:last],
            counts[first:last],
            log_p,
            residual[first:last],
            information[first:last],
        )
        subtotal = 0.0
        for i in range(last - first):
            subtotal += log_p[i]
        total += subtotal
    return total


@njit(nogil=True, error_model="numpy")
def _terms_of_tile(log_odds, classes, counts, log_p, residual, information):  # type: ignore[no-untyped-def]
    """The terms of one tile; a separate function is vectorised, which halves the time."""
    for i in range(len(log_odds)):
        x, y, n = log_odds[i], classes[i], counts[i]
        small = exp_of_negative(-abs(x))
        larger = 1.0 / (1.0 + small)
        p = larger if x >= 0.0 else small * larger
        log_p[i] = n * (x * y - max(x, 0.0) - log1p_of_fraction(small))
        residual[i] = n * (y - p)
        information[i] = n * small * larger * larger
