"""Probabilities in NumPy, bit-identical to those of ``lookup``, without compiled code.

Loading compiled code takes a second of CPU, and more the first time. With NumPy ``ebnc predict``
needs 0.6 s instead of 1.6 for few rows, and 2.0 s instead of 2.7 for a million. The operations are
those of the kernel, in the same order, without fusing.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebnc.kernels.series import EXP, LN2_HIGH, LN2_LOW, LOG2_E, MAGIC, SMALLEST
from ebnc.typing import CodeArray, FloatArray, IntArray

# As arrays, which NumPy need not convert in every call: a third of the time of a single row.
_EXP = tuple(map(np.array, EXP))
_LN2_HIGH, _LN2_LOW, _LOG2_E, _MAGIC, _SMALLEST = map(
    np.array, (LN2_HIGH, LN2_LOW, LOG2_E, MAGIC, SMALLEST)
)
_FRACTION_BITS = np.array(52)


class FlatTables(NamedTuple):
    """λ_k = Σ_b tables[k, offsets[b] + cell_b]; cell_b is a mixed-radix number of a row's codes.

    Table b reads the codes ``columns[starts[b]:starts[b + 1]]`` with the same ``strides``, and owns
    the cells ``offsets[b]:offsets[b + 1]``, fewer than 2^32. ``tables``: log odds against class 0,
    shape (K − 1, cells of all tables).
    """

    columns: IntArray
    strides: IntArray
    starts: IntArray
    offsets: IntArray
    tables: FloatArray


def numpy_probabilities(codes: CodeArray, flat: FlatTables) -> FloatArray:
    """The same as ``lookup.look_up_probabilities``."""
    return softmax(_log_odds(codes, flat))


def numpy_log_odds(codes: CodeArray, flat: FlatTables) -> FloatArray:
    """The same as ``lookup.look_up_log_odds``."""
    return np.ascontiguousarray(_log_odds(codes, flat)[1:].T)


def numpy_log_probability(codes: CodeArray, flat: FlatTables, classes: CodeArray) -> FloatArray:
    """The same as ``lookup.look_up_log_probability``, up to rounding."""
    log_odds = _log_odds(codes, flat)
    of_class = log_odds[classes, np.arange(len(classes))]
    return np.asarray(of_class - np.logaddexp.reduce(log_odds, axis=0))


def _log_odds(codes: CodeArray, flat: FlatTables) -> FloatArray:
    """(0, λ), shape (K, rows)."""
    columns, strides, starts, offsets, tables = flat
    cell_type = np.int32 if tables.shape[1] < 2**31 else np.int64
    n_rows = codes.shape[1]
    cells = []
    for a, b in pairwise(starts):
        cell: NDArray[Any] = np.zeros(n_rows, dtype=cell_type)
        for column, stride in zip(columns[a:b], strides[a:b], strict=True):
            cell += np.multiply(codes[column], stride, dtype=cell_type)
        cells.append(cell)
    log_odds = np.zeros((1 + len(tables), n_rows))
    for total, table in zip(log_odds[1:], tables, strict=True):
        parts = [table[a:b] for a, b in pairwise(offsets)]
        add_up([part.take(cell) for part, cell in zip(parts, cells, strict=True)], total)
    return log_odds


def softmax(log_odds: FloatArray) -> FloatArray:
    """Softmax of log odds, shape (K, rows) and 0 for the first class; the result is (rows, K)."""
    return _sigmoid(log_odds[1]) if len(log_odds) == 2 else _softmax(log_odds)


def add_up(terms: list[FloatArray], total: FloatArray) -> None:
    """Add the terms in the order of ``tiles.gather``: four at a time."""
    whole = len(terms) // 4 * 4
    for i in range(0, whole, 4):
        total += (terms[i] + terms[i + 1]) + (terms[i + 2] + terms[i + 3])
    for term in terms[whole:]:
        total += term


def _sigmoid(log_odds: FloatArray) -> FloatArray:
    e = _exp_of_negative(-np.abs(log_odds))
    larger = 1.0 / (1.0 + e)
    e *= larger
    is_one = log_odds >= 0.0
    p = np.empty((len(log_odds), 2))
    p[:, 0] = np.where(is_one, e, larger)
    p[:, 1] = np.where(is_one, larger, e)
    return p


def _softmax(log_odds: FloatArray) -> FloatArray:
    p = _exp_of_negative(log_odds - log_odds.max(axis=0))
    total = p[0].copy()
    for row in p[1:]:
        total += row
    p *= 1.0 / total
    return np.ascontiguousarray(p.T)


def _exp_of_negative(x: FloatArray) -> FloatArray:
    """The same as ``exponential.exp_of_negative``; in place, to stay in the processor's cache."""
    is_zero = x < _SMALLEST
    r = np.maximum(x, _SMALLEST)
    shifted: FloatArray = r * _LOG2_E
    shifted += _MAGIC
    n = shifted - _MAGIC
    r -= n * _LN2_HIGH
    n *= _LN2_LOW
    r -= n
    p = r * _EXP[-1]
    for coefficient in _EXP[-2:0:-1]:
        p += coefficient
        p *= r
    p += _EXP[0]
    power = shifted.view(np.int64)
    power <<= _FRACTION_BITS
    power += p.view(np.int64)
    power[is_zero] = 0
    return shifted
