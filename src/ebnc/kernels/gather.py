"""Sums of small tables looked up by codes: out[row] = Σ_t table_t[cell_t(row)]."""

import numpy as np
from numba import njit

from ebnc.kernels.parallel import for_each_block
from ebnc.typing import CodeArray, FloatArray, IntArray

__all__ = ["sum_tables"]

TILE = 512  # rows whose cells and sums stay in the first-level cache


@njit(cache=True, nogil=True, boundscheck=False)
def _sum_tables(codes, columns, strides, starts, offsets, values, n_outputs, begin, end, out):  # type: ignore[no-untyped-def]
    cells = np.empty(TILE, dtype=np.uint32)
    for tile in range(begin, end, TILE):
        width = min(TILE, end - tile)
        sums = out[tile : tile + width]
        sums[:] = 0.0
        for t in range(len(offsets)):
            cells[:width] = 0
            for entry in range(starts[t], starts[t + 1]):
                column = codes[columns[entry], tile : tile + width]
                stride = np.uint32(strides[entry])
                for r in range(width):
                    cells[r] += np.uint32(column[r]) * stride
            table = values[offsets[t] :]
            if n_outputs == 1:
                sums_of_one = sums[:, 0]
                for r in range(width):
                    sums_of_one[r] += table[cells[r]]
            else:
                for r in range(width):
                    cell = np.uint64(cells[r]) * np.uint64(n_outputs)
                    for k in range(n_outputs):
                        sums[r, k] += table[cell + np.uint64(k)]


def sum_tables(
    codes: CodeArray,
    columns: IntArray,
    strides: IntArray,
    starts: IntArray,
    offsets: IntArray,
    values: FloatArray,
    n_outputs: int,
) -> FloatArray:
    """Σ_t table_t[cell_t], shape (rows, n_outputs); cell_t = Σ_v stride · code (mixed radix).

    ``codes``: shape (variables, rows). Table t reads ``columns[starts[t]:starts[t+1]]`` with the
    ``strides`` beside them, and its cells, ``n_outputs`` numbers each, begin at ``offsets[t]`` of
    ``values``. Every cell must lie inside its table, and tables have fewer than 2^32 cells.
    """
    n_rows = codes.shape[1]
    out = np.empty((n_rows, n_outputs))
    for_each_block(
        n_rows,
        lambda begin, end: _sum_tables(
            codes, columns, strides, starts, offsets, values, n_outputs, begin, end, out
        ),
    )
    return out
