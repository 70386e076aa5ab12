"""Probabilities of few rows, in NumPy: what ``lookup`` computes, to the last bit, at once.

Loading compiled code takes half a second, the first time some more; for few rows that is all one
would wait for. Each operation is the kernel's, in its order, and none is fused with another.
"""

import numpy as np

from ebnc.kernels.series import EXP, LN2_HIGH, LN2_LOW, LOG2_E, MAGIC, SMALLEST
from ebnc.typing import CodeArray, FloatArray, IntArray

__all__ = ["FEW_ROWS", "probabilities_of_few"]

FEW_ROWS = 4_096


def probabilities_of_few(
    codes: CodeArray,
    columns: IntArray,
    strides: IntArray,
    starts: IntArray,
    offsets: IntArray,
    tables: FloatArray,
) -> FloatArray:
    """As ``lookup.look_up_probabilities``."""
    weighted = codes[columns] * strides[:, None]
    cells = [
        weighted[a:b].sum(axis=0, dtype=np.int64) + offset
        for a, b, offset in zip(starts[:-1], starts[1:], offsets, strict=False)
    ]
    log_odds = [_sum([table[cell] for cell in cells], codes.shape[1]) for table in tables]
    if len(log_odds) == 1:
        return _sigmoid(log_odds[0])
    return _softmax(np.array([np.zeros(codes.shape[1]), *log_odds]))


def _sum(terms: list[FloatArray], n_rows: int) -> FloatArray:
    """In the order of ``tiles.gather``: four at a time."""
    total = np.zeros(n_rows)
    whole = len(terms) // 4 * 4
    for i in range(0, whole, 4):
        total += (terms[i] + terms[i + 1]) + (terms[i + 2] + terms[i + 3])
    for term in terms[whole:]:
        total += term
    return total


def _sigmoid(log_odds: FloatArray) -> FloatArray:
    e = _exp_of_negative(-np.abs(log_odds))
    larger = 1.0 / (1.0 + e)
    smaller = e * larger
    is_one = log_odds >= 0.0
    return np.stack([np.where(is_one, smaller, larger), np.where(is_one, larger, smaller)], axis=1)


def _softmax(log_odds: FloatArray) -> FloatArray:
    p = _exp_of_negative(log_odds - log_odds.max(axis=0))
    total = p[0].copy()
    for row in p[1:]:
        total += row
    return np.ascontiguousarray((p * (1.0 / total)).T)


def _exp_of_negative(x: FloatArray) -> FloatArray:
    """As ``exponential.exp_of_negative``."""
    shifted = np.maximum(x, SMALLEST) * LOG2_E + MAGIC
    n = shifted - MAGIC
    r = (np.maximum(x, SMALLEST) - n * LN2_HIGH) - n * LN2_LOW
    p = np.full_like(r, EXP[-1])
    for coefficient in EXP[-2::-1]:
        p = p * r + coefficient
    power = (p.view(np.int64) + (shifted.view(np.int64) << 52)).view(np.float64)
    return np.where(x >= SMALLEST, power, 0.0)
