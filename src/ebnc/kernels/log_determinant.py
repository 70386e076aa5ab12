"""Loops over rows for the gradient of log |A|; arguments are as in ``likelihood``."""

import numpy as np

from ebnc.kernels.compiling import compiled
from ebnc.kernels.tiles import TILE, probabilities, room_for_tile, scatter


@compiled
def look_up_pair(ones, others, width, table, out):  # type: ignore[no-untyped-def]
    """out[i] += table[others[i] · width + ones[i]].   table: (cells, Q); out: (rows, Q)."""
    n_values = table.shape[1]
    if n_values == 1:
        flat, sums = table[:, 0], out[:, 0]
        for i in range(ones.size):
            sums[i] += flat[np.uint64(others[i]) * np.uint64(width) + np.uint64(ones[i])]
    else:
        for i in range(ones.size):
            source = table[np.uint64(others[i]) * np.uint64(width) + np.uint64(ones[i])]
            target = out[i]
            for q in range(n_values):
                target[q] += source[q]


@compiled
def add_gradient(cells, offsets, tables, weights, spread, start, begin, end, out):  # type: ignore[no-untyped-def]
    """out[k, offsets[b] + c] += Σ_{i: cells[b, i] = c} n_i p_k (u_k − Σ_l p_l u_l).

        u = diag H − 2 H p

    spread[i − start]: H_kk and 2 H_kl of row i, pairs k ≤ l as in ``np.triu_indices``.
    """
    n_others = tables.shape[0]
    p, log_z, scratch = room_for_tile(tables)
    u = np.empty((n_others, TILE))
    for first in range(begin, end, TILE):
        n = min(TILE, end - first)
        probabilities(cells, offsets, tables, first, n, p, log_z, scratch)
        for i in range(n):
            weight = weights[first + i] if weights.size else 1.0
            row = first - start + i
            if n_others == 1:  # p_0 is accurate where 1 − p_1 would not be
                difference = p[0, i] - p[1, i]
                u[0, i] = weight * p[0, i] * p[1, i] * difference * spread[row, 0]
                continue
            u[:, i] = 0.0
            pair = 0
            for a in range(n_others):
                u[a, i] += spread[row, pair] * (1.0 - 2.0 * p[a + 1, i])
                pair += 1
                for b in range(a + 1, n_others):
                    u[a, i] -= spread[row, pair] * p[b + 1, i]
                    u[b, i] -= spread[row, pair] * p[a + 1, i]
                    pair += 1
            mean = 0.0
            for a in range(n_others):
                mean += p[a + 1, i] * u[a, i]
            for a in range(n_others):
                u[a, i] = weight * p[a + 1, i] * (u[a, i] - mean)
        for k in range(n_others):
            scatter(cells, offsets, u[k], first, n, out[k])
