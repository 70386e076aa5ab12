"""One tile of rows: cells from codes, log odds by gather, probabilities, scatter.

The kernels of prediction and likelihood share it; a tile's arrays fit in the first-level cache.

    cells      (m, ≥ n) unsigned: for every table and row the number of the row's cell
    offsets    (m + 1,): table b owns columns offsets[b]:offsets[b + 1] of ``tables``
    tables     (L, offsets[-1]): L = K − 1 log odds against class 0 in each cell
"""

import math

import numpy as np
from numba import njit

from ebnc.kernels.exponential import exp_of_negative, log1p_of_fraction

TILE = 1024


@njit(nogil=True)
def mix(codes, columns, strides, starts, first, n, cells):  # type: ignore[no-untyped-def]
    """cells[b, i] = Σ_j stride_j · codes[column_j, first + i], j in starts[b]:starts[b + 1]."""
    for b in range(cells.shape[0]):
        target = cells[b, :n]
        target[:] = 0
        for j in range(starts[b], starts[b + 1]):
            source = codes[columns[j], first : first + n]
            stride = cells.dtype.type(strides[j])
            for i in range(n):
                target[i] += stride * source[i]


@njit(nogil=True)
def gather(cells, offsets, table, first, n, out):  # type: ignore[no-untyped-def]
    """out[i] = Σ_b table[offsets[b] + cells[b, first + i]]; four at a time halve memory traffic."""
    out[:n] = 0.0
    m = cells.shape[0]
    b = 0
    while b + 4 <= m:
        t0 = table[offsets[b] : offsets[b + 1]]
        t1 = table[offsets[b + 1] : offsets[b + 2]]
        t2 = table[offsets[b + 2] : offsets[b + 3]]
        t3 = table[offsets[b + 3] : offsets[b + 4]]
        c0 = cells[b, first : first + n]
        c1 = cells[b + 1, first : first + n]
        c2 = cells[b + 2, first : first + n]
        c3 = cells[b + 3, first : first + n]
        for i in range(n):
            out[i] += (t0[c0[i]] + t1[c1[i]]) + (t2[c2[i]] + t3[c3[i]])
        b += 4
    while b < m:
        t = table[offsets[b] : offsets[b + 1]]
        c = cells[b, first : first + n]
        for i in range(n):
            out[i] += t[c[i]]
        b += 1


@njit(nogil=True)
def scatter(cells, offsets, values, first, n, table):  # type: ignore[no-untyped-def]
    """table[offsets[b] + cells[b, first + i]] += values[i] for every table b."""
    m = cells.shape[0]
    b = 0
    while b + 2 <= m:
        t0 = table[offsets[b] : offsets[b + 1]]
        t1 = table[offsets[b + 1] : offsets[b + 2]]
        c0 = cells[b, first : first + n]
        c1 = cells[b + 1, first : first + n]
        for i in range(n):
            t0[c0[i]] += values[i]
            t1[c1[i]] += values[i]
        b += 2
    if b < m:
        t = table[offsets[b] : offsets[b + 1]]
        c = cells[b, first : first + n]
        for i in range(n):
            t[c[i]] += values[i]


@njit(nogil=True)
def room_for_tile(tables):  # type: ignore[no-untyped-def]
    """Arrays for ``probabilities`` to write to: p (L + 1, TILE), log Z (TILE,), scratch (TILE,)."""
    return np.empty((tables.shape[0] + 1, TILE)), np.empty(TILE), np.empty(TILE)


@njit(nogil=True)
def probabilities(cells, offsets, tables, first, n, p, log_z, scratch):  # type: ignore[no-untyped-def]
    """p[k, i] = p(y^k) of row first + i, k = 0 … L, and log Z; p: (L + 1, TILE)."""
    if tables.shape[0] == 1:
        # Computing in place would prevent vectorisation (16 ns per row instead of 4).
        gather(cells, offsets, tables[0], first, n, scratch)
        _sigmoid(scratch, n, p[0], p[1], log_z)
    else:
        for k in range(tables.shape[0]):
            gather(cells, offsets, tables[k], first, n, p[k + 1])
        _softmax(p, n, log_z, scratch)


@njit(nogil=True, error_model="numpy")
def _sigmoid(log_odds, n, p0, p1, log_z):  # type: ignore[no-untyped-def]
    """p_1 = 1/(1 + exp −λ), p_0 = 1 − p_1, log Z = max(λ, 0) + log(1 + exp −|λ|)."""
    for i in range(n):
        x = log_odds[i]
        e = exp_of_negative(-abs(x))
        larger = 1.0 / (1.0 + e)
        smaller = e * larger
        p1[i] = larger if x >= 0.0 else smaller
        p0[i] = smaller if x >= 0.0 else larger
        log_z[i] = max(x, 0.0) + log1p_of_fraction(e)


@njit(nogil=True, error_model="numpy")
def _softmax(p, n, log_z, total):  # type: ignore[no-untyped-def]
    """Replace the log odds in p[1:] by probabilities, in place, after a shift by the largest."""
    n_classes = p.shape[0]
    peak = log_z
    peak[:n] = 0.0
    for k in range(1, n_classes):
        row = p[k]
        for i in range(n):
            peak[i] = max(peak[i], row[i])
    for i in range(n):
        e = exp_of_negative(-peak[i])
        p[0, i] = e
        total[i] = e
    for k in range(1, n_classes):
        row = p[k]
        for i in range(n):
            e = exp_of_negative(row[i] - peak[i])
            row[i] = e
            total[i] += e
    for i in range(n):
        log_z[i] = peak[i] + math.log(total[i])
        total[i] = 1.0 / total[i]
    for k in range(n_classes):
        row = p[k]
        for i in range(n):
            row[i] *= total[i]
