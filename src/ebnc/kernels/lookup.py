"""Prediction from coded rows: log odds and probabilities, a tile at a time."""

import numpy as np

from ebnc.kernels.compiling import compiled
from ebnc.kernels.numpy_lookup import FlatTables
from ebnc.kernels.tiles import TILE, gather, mix, probabilities, room_for_tile
from ebnc.threads import in_parallel, row_blocks
from ebnc.typing import CodeArray, FloatArray


@compiled
def _log_odds(codes, columns, strides, starts, offsets, tables, begin, end, out):  # type: ignore[no-untyped-def]
    cells = np.empty((len(starts) - 1, TILE), dtype=np.uint32)
    sums = np.empty(TILE)
    for first in range(begin, end, TILE):
        n = min(TILE, end - first)
        mix(codes, columns, strides, starts, first, n, cells)
        for k in range(tables.shape[0]):
            gather(cells, offsets, tables[k], 0, n, sums)
            for i in range(n):
                out[first + i, k] = sums[i]


@compiled
def _probabilities(codes, columns, strides, starts, offsets, tables, begin, end, out):  # type: ignore[no-untyped-def]
    cells = np.empty((len(starts) - 1, TILE), dtype=np.uint32)
    p, log_z, scratch = room_for_tile(tables)
    for first in range(begin, end, TILE):
        n = min(TILE, end - first)
        mix(codes, columns, strides, starts, first, n, cells)
        probabilities(cells, offsets, tables, 0, n, p, log_z, scratch)
        for i in range(n):
            for k in range(p.shape[0]):
                out[first + i, k] = p[k, i]


@compiled
def _log_probability(codes, columns, strides, starts, offsets, tables, classes, begin, end, out):  # type: ignore[no-untyped-def]
    cells = np.empty((len(starts) - 1, TILE), dtype=np.uint32)
    p, log_z, scratch = room_for_tile(tables)
    for first in range(begin, end, TILE):
        n = min(TILE, end - first)
        mix(codes, columns, strides, starts, first, n, cells)
        probabilities(cells, offsets, tables, 0, n, p, log_z, scratch)
        for i in range(n):
            out[first + i] = -log_z[i]
        for k in range(tables.shape[0]):
            gather(cells, offsets, tables[k], 0, n, scratch)
            for i in range(n):
                if classes[first + i] == k + 1:
                    out[first + i] += scratch[i]


def look_up_log_odds(codes: CodeArray, flat: FlatTables) -> FloatArray:
    """λ, shape (rows, K − 1). ``codes``: (variables, rows), with every cell inside its table."""
    out = np.empty((codes.shape[1], len(flat.tables)))
    in_parallel(lambda block: _log_odds(codes, *flat, *block, out), row_blocks(len(out)))
    return out


def look_up_probabilities(codes: CodeArray, flat: FlatTables) -> FloatArray:
    """Softmax of (0, λ), shape (rows, K)."""
    out = np.empty((codes.shape[1], len(flat.tables) + 1))
    in_parallel(lambda block: _probabilities(codes, *flat, *block, out), row_blocks(len(out)))
    return out


def look_up_log_probability(codes: CodeArray, flat: FlatTables, classes: CodeArray) -> FloatArray:
    """log p of the class of each row, λ_y − log Z, shape (rows,); exact even if p underflows."""
    out = np.empty(codes.shape[1])
    in_parallel(
        lambda block: _log_probability(codes, *flat, classes, *block, out), row_blocks(len(out))
    )
    return out
