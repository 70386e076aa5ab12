"""Loops over rows for value, gradient and Hessian of a softmax of summed tables.

Arguments are as in ``tiles``; ``weights`` is (N,), or (0,) if all weights are 1. A kernel works on
the rows begin … end.
"""

import numpy as np

from ebnc.kernels import few_rows
from ebnc.kernels.compiling import compiled, compiled_for_many
from ebnc.kernels.tiles import TILE, mix, probabilities, room_for_tile, scatter


@compiled_for_many(few_rows.mix_cells)
def mix_cells(codes, columns, strides, starts, begin, end, cells):  # type: ignore[no-untyped-def]
    """cells[b, i] of the rows begin … end, mixed-radix numbers of their codes."""
    for first in range(begin, end, TILE):
        n = min(TILE, end - first)
        mix(codes, columns, strides, starts, first, n, cells[:, first : first + n])


@compiled_for_many(few_rows.count_classes)
def count_classes(cells, offsets, classes, weights, begin, end, counts):  # type: ignore[no-untyped-def]
    """counts[classes[i], offsets[b] + cells[b, i]] += n_i."""
    for b in range(cells.shape[0]):
        for i in range(begin, end):
            weight = weights[i] if weights.size else 1.0
            counts[classes[i], offsets[b] + np.int64(cells[b, i])] += weight


@compiled
def draw_rows(cells, offsets, rates, weights, begin, end, chosen, new_weights):  # type: ignore[no-untyped-def]
    """Systematic sample of the rows begin … end; returns the number of drawn rows.

    A row is drawn with probability min(1, n_i · the largest rate of its cells). Its weight is n_i
    divided by that probability, so sums over the sample estimate sums over the rows.
    """
    kept = 0
    level = 0.5
    for i in range(begin, end):
        rate = 0.0
        for b in range(cells.shape[0]):
            rate = max(rate, rates[offsets[b] + np.int64(cells[b, i])])
        weight = weights[i] if weights.size else 1.0
        share = min(1.0, weight * rate)
        level += share
        if level >= 1.0:
            level -= 1.0
            chosen[kept] = i
            new_weights[kept] = weight / share
            kept += 1
    return kept


@compiled_for_many(few_rows.log_partition)
def log_partition(cells, offsets, tables, weights, begin, end, expected):  # type: ignore[no-untyped-def]
    """Σ_i n_i log Z_i, and the expected class counts of every cell, in one pass.

        expected[k, offsets[b] + c] += Σ_{i: cells[b, i] = c} n_i p_{k+1}(i)

    Class counts minus ``expected`` is the gradient of the log-likelihood in ``tables``, and
    ⟨class counts, tables⟩ minus the returned sum is the log-likelihood.
    """
    n_others = tables.shape[0]
    p, log_z, scratch = room_for_tile(tables)
    result = 0.0
    for first in range(begin, end, TILE):
        n = min(TILE, end - first)
        probabilities(cells, offsets, tables, first, n, p, log_z, scratch)
        subtotal = 0.0
        if weights.size:
            for i in range(n):
                subtotal += weights[first + i] * log_z[i]
            for k in range(1, n_others + 1):
                for i in range(n):
                    p[k, i] *= weights[first + i]
        else:
            for i in range(n):
                subtotal += log_z[i]
        result += subtotal
        for k in range(n_others):
            scatter(cells, offsets, p[k + 1], first, n, expected[k])
    return result


@compiled_for_many(few_rows.information)
def information(cells, offsets, tables, weights, begin, end, out):  # type: ignore[no-untyped-def]
    """n_i (δ_ab p_a − p_a p_b) of the rows begin … end, pairs a ≤ b as in ``np.triu_indices``.

    out: (end − begin, L(L + 1)/2)
    """
    n_others = tables.shape[0]
    p, log_z, scratch = room_for_tile(tables)
    for first in range(begin, end, TILE):
        n = min(TILE, end - first)
        probabilities(cells, offsets, tables, first, n, p, log_z, scratch)
        for i in range(n):
            row = out[first - begin + i]
            weight = weights[first + i] if weights.size else 1.0
            if n_others == 1:  # p_0 is accurate where 1 − p_1 would not be
                row[0] = weight * p[0, i] * p[1, i]
                continue
            pair = 0
            for a in range(1, n_others + 1):
                row[pair] = weight * p[a, i] * (1.0 - p[a, i])
                pair += 1
                for b in range(a + 1, n_others + 1):
                    row[pair] = -weight * p[a, i] * p[b, i]
                    pair += 1


@compiled
def class_probabilities(cells, offsets, tables, begin, end, out):  # type: ignore[no-untyped-def]
    """p_k of the rows begin … end, all classes.   out: (end − begin, L + 1)."""
    p, log_z, scratch = room_for_tile(tables)
    for first in range(begin, end, TILE):
        n = min(TILE, end - first)
        probabilities(cells, offsets, tables, first, n, p, log_z, scratch)
        for i in range(n):
            out[first - begin + i] = p[:, i]


@compiled_for_many(few_rows.residuals)
def residuals(cells, offsets, tables, classes, weights, begin, end, out):  # type: ignore[no-untyped-def]
    """n_i (I(y_i = k) − p_k) of the rows begin … end, k = 1 … L.   out: (end − begin, L)."""
    n_others = tables.shape[0]
    p, log_z, scratch = room_for_tile(tables)
    for first in range(begin, end, TILE):
        n = min(TILE, end - first)
        probabilities(cells, offsets, tables, first, n, p, log_z, scratch)
        for i in range(n):
            weight = weights[first + i] if weights.size else 1.0
            row = out[first - begin + i]
            for k in range(n_others):
                row[k] = -weight * p[k + 1, i]
            if classes[first + i] > 0:
                row[classes[first + i] - 1] += weight


@compiled
def cross_tabulate(cells_a, cells_b, n_b, values, table):  # type: ignore[no-untyped-def]
    """table[cells_a[i] · n_b + cells_b[i], :] += values[i, :].   table: (n_a · n_b, Q)."""
    n_values = values.shape[1]
    if n_values == 1:
        flat = table[:, 0]
        column = values[:, 0]
        for i in range(cells_a.size):
            flat[np.uint64(cells_a[i]) * np.uint64(n_b) + np.uint64(cells_b[i])] += column[i]
    else:
        for i in range(cells_a.size):
            target = table[np.uint64(cells_a[i]) * np.uint64(n_b) + np.uint64(cells_b[i])]
            source = values[i]
            for q in range(n_values):
                target[q] += source[q]


@compiled
def count_with_column(cells, column, n_states, weights, table):  # type: ignore[no-untyped-def]
    """table[cells[i] · n_states + column[i]] += weights[i]; without weights every row counts 1."""
    n = np.uint64(n_states)
    if weights.size:
        for i in range(cells.size):
            table[np.uint64(cells[i]) * n + np.uint64(column[i])] += weights[i]
    else:
        for i in range(cells.size):
            table[np.uint64(cells[i]) * n + np.uint64(column[i])] += 1.0


@compiled_for_many(few_rows.tabulate, 2**10)
def tabulate(cells, values, table):  # type: ignore[no-untyped-def]
    """table[cells[i], :] += values[i, :].   table: (n, Q); values: (rows, Q)."""
    n_values = values.shape[1]
    if n_values == 1:
        flat = table[:, 0]
        column = values[:, 0]
        # With few cells, additions to one table wait for each other; four tables in turn are up to
        # three times as fast.
        parts = np.zeros((4, flat.size))
        t0, t1, t2, t3 = parts[0], parts[1], parts[2], parts[3]
        end = cells.size - cells.size % 4
        for i in range(0, end, 4):
            t0[cells[i]] += column[i]
            t1[cells[i + 1]] += column[i + 1]
            t2[cells[i + 2]] += column[i + 2]
            t3[cells[i + 3]] += column[i + 3]
        for i in range(end, cells.size):
            t0[cells[i]] += column[i]
        for c in range(flat.size):
            flat[c] += (t0[c] + t1[c]) + (t2[c] + t3[c])
    else:
        for i in range(cells.size):
            target = table[cells[i]]
            source = values[i]
            for q in range(n_values):
                target[q] += source[q]
