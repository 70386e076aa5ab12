"""The kernels of ``likelihood`` in NumPy, for tables so small that compiling would take longer.

Arguments and results are those of the compiled kernels, up to rounding. With them the first fit of
a small table does not wait seconds for a compiler.
"""

from typing import Any

import numpy as np

from ebnc.kernels.numpy_lookup import add_up, softmax
from ebnc.typing import CodeArray, FloatArray, IntArray

Rows = tuple[int, int]


def mix_cells(
    codes: CodeArray,
    columns: IntArray,
    strides: IntArray,
    starts: IntArray,
    begin: int,
    end: int,
    cells: CodeArray,
) -> None:
    """See ``likelihood.mix_cells``."""
    of_type = strides.astype(cells.dtype)
    cells[:, begin:end] = 0
    for b in range(len(cells)):
        for j in range(starts[b], starts[b + 1]):
            cells[b, begin:end] += of_type[j] * codes[columns[j], begin:end]


def count_classes(
    cells: CodeArray,
    offsets: IntArray,
    classes: CodeArray,
    weights: FloatArray,
    begin: int,
    end: int,
    counts: FloatArray,
) -> None:
    """See ``likelihood.count_classes``."""
    places = (
        _places(cells, offsets, begin, end) + classes[begin:end].astype(np.int64) * counts.shape[1]
    )
    _add_at(counts.reshape(-1), places, _weights(weights, begin, end))


def log_partition(
    cells: CodeArray,
    offsets: IntArray,
    tables: FloatArray,
    weights: FloatArray,
    begin: int,
    end: int,
    expected: FloatArray,
) -> float:
    """See ``likelihood.log_partition``."""
    places, of_rows = _places(cells, offsets, begin, end), _weights(weights, begin, end)
    log_odds = _log_odds(places, tables)
    for k, p in enumerate(softmax(log_odds).T[1:]):
        _add_at(expected[k], places, of_rows * p)
    return float(of_rows @ np.logaddexp.reduce(log_odds, axis=0))


def information(
    cells: CodeArray,
    offsets: IntArray,
    tables: FloatArray,
    weights: FloatArray,
    begin: int,
    end: int,
    out: FloatArray,
) -> None:
    """See ``likelihood.information``."""
    p = softmax(_log_odds(_places(cells, offsets, begin, end), tables))
    of_rows = _weights(weights, begin, end)[:, None]
    if len(tables) == 1:
        out[: end - begin] = of_rows * p[:, :1] * p[:, 1:]
        return
    a, b = np.triu_indices(len(tables))
    other = np.where(a == b, p[:, b + 1] - 1.0, p[:, b + 1])
    out[: end - begin] = -of_rows * p[:, a + 1] * other


def residuals(
    cells: CodeArray,
    offsets: IntArray,
    tables: FloatArray,
    classes: CodeArray,
    weights: FloatArray,
    begin: int,
    end: int,
    out: FloatArray,
) -> None:
    """See ``likelihood.residuals``."""
    p = softmax(_log_odds(_places(cells, offsets, begin, end), tables))
    is_class = classes[begin:end, None] == np.arange(1, p.shape[1])
    out[: end - begin] = _weights(weights, begin, end)[:, None] * (is_class - p[:, 1:])


def tabulate(cells: CodeArray, values: FloatArray, table: FloatArray) -> None:
    """See ``likelihood.tabulate``."""
    for q in range(values.shape[1]):
        table[:, q] += np.bincount(cells, values[:, q], len(table))


def _places(cells: CodeArray, offsets: IntArray, begin: int, end: int) -> IntArray:
    """The columns of ``tables`` in which each bag finds each row, shape (bags, rows)."""
    return offsets[:-1, None] + cells[:, begin:end].astype(np.int64)


def _log_odds(places: IntArray, tables: FloatArray) -> FloatArray:
    """(0, λ) of every row, shape (K, rows); terms are added in the order of ``tiles.gather``."""
    log_odds = np.zeros((1 + len(tables), places.shape[1]))
    for total, table in zip(log_odds[1:], tables, strict=True):
        add_up(list(table.take(places)), total)
    return log_odds


def _weights(weights: FloatArray, begin: int, end: int) -> FloatArray:
    return weights[begin:end] if weights.size else np.ones(end - begin)


def _add_at(table: FloatArray, places: IntArray, values: FloatArray) -> None:
    """table[places[b, i]] += values[i]."""
    repeated: Any = np.broadcast_to(values, places.shape).ravel()
    table += np.bincount(places.ravel(), repeated, len(table))
