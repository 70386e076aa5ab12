"""Sums over rows, as functions of one part of the rows: what value, gradient and Hessian are of.

Each takes ``CellCounts`` and the tables of log odds (K − 1, cells), and returns arrays (or tuples
and lists of them) that may be added up over parts.
"""

import math
from collections.abc import Sequence

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.kernels.likelihood import (
    cross_tabulate,
    draw_rows,
    information,
    log_partition,
    residuals,
    tabulate,
)
from ebnc.likelihood.counts import CellCounts
from ebnc.likelihood.design import Bag, Design
from ebnc.parameters.tables import recipe
from ebnc.threads import in_parallel, row_blocks
from ebnc.typing import CodeArray, FloatArray, IntArray

__all__ = [
    "RowTerms",
    "draw_sample",
    "pull_back_diagonal",
    "row_chunks",
    "sum_diagonals",
    "sum_hessian",
    "sum_hessian_dense",
    "sum_log_partition",
    "sum_outside",
]

RowTerms = list[tuple[FloatArray, FloatArray]]  # information and residuals, if they fit: one

CHUNK_BYTES = 64 * 2**20  # information of so many bytes at a time, whatever the number of rows


def sum_log_partition(counts: CellCounts, tables: FloatArray) -> tuple[float, FloatArray]:
    """Σ_l n_l log Z_l, and the expected class counts of every cell (K − 1, cells)."""
    offsets = counts.design.offsets

    def part(block: tuple[int, int]) -> tuple[float, FloatArray]:
        expected = np.zeros_like(tables)
        log_z = log_partition(counts.cells, offsets, tables, counts.weights, *block, expected)
        return log_z, expected

    parts = in_parallel(part, row_blocks(counts.n_rows))
    return math.fsum(log_z for log_z, _ in parts), np.sum([part for _, part in parts], axis=0)


def sum_hessian(counts: CellCounts, tables: FloatArray) -> FloatArray:
    """The likelihood's part of A by cross-tabulations, shape (columns, K − 1, columns, K − 1).

    Blocks of bags above the diagonal are left at zero.
    """
    design = counts.design
    n_others = design.n_others
    result = np.zeros((design.n_columns, n_others, design.n_columns, n_others))
    pairs = [(b, c) for b in range(len(design.bags)) for c in range(b, len(design.bags))]
    for start, stop in row_chunks(counts.n_rows, design.n_class_pairs):
        weights = _information(counts, tables, start, stop)

        def cross(
            pair: tuple[int, int],
            start: int = start,
            stop: int = stop,
            weights: FloatArray = weights,
        ) -> None:
            b, c = pair
            block = _cross(counts, b, c, start, stop, weights)
            result[design.columns[b], :, design.columns[c]] += block

        in_parallel(cross, pairs)
    return result


def sum_hessian_dense(counts: CellCounts, tables: FloatArray) -> FloatArray:
    """The same as ZᵀWZ with rows Z of the design written out, by chunks.

    Cheaper than cross-tabulations where there are hundreds of bags and few rows.
    """
    design = counts.design
    n_others, n_pairs = design.n_others, design.n_class_pairs
    matrices = [bag.to_cells(np.eye(bag.keep.size)) for bag in design.bags]
    products = np.zeros((n_pairs, design.n_columns, design.n_columns))
    chunk = max(256, CHUNK_BYTES // (16 * design.n_columns))
    for start in range(0, counts.n_rows, chunk):
        stop = min(start + chunk, counts.n_rows)
        weights = _information(counts, tables, start, stop)
        rows = np.concatenate(
            [matrix[counts.cells[b, start:stop]] for b, matrix in enumerate(matrices)], axis=1
        )
        for pair in range(n_pairs):
            products[pair] += rows.T @ (weights[:, pair, None] * rows)
    if n_others == 1:
        whole = products[0] * design.class_pairs[0, 0]
        return np.asarray(whole).reshape(design.n_columns, 1, design.n_columns, 1)
    classes = design.class_pairs.reshape(n_pairs, n_others, n_others)
    whole = np.tensordot(products, classes, axes=(0, 0))  # a matrix product, unlike einsum's
    return np.ascontiguousarray(whole.transpose(0, 2, 1, 3))


def sum_diagonals(counts: CellCounts, tables: FloatArray) -> list[FloatArray]:
    """Information in every cell of every bag, (cells, pairs of classes) each."""
    design = counts.design
    totals = [np.zeros((bag.n_cells, design.n_class_pairs)) for bag in design.bags]
    for start, stop in row_blocks(counts.n_rows):
        weights = _information(counts, tables, start, stop)
        for b, total in enumerate(totals):
            tabulate(counts.cells[b, start:stop], weights, total)
    return totals


def sum_outside(
    counts: CellCounts,
    tables: FloatArray,
    bags: Sequence[tuple[Bag, tuple[int, ...]]],
    kept: RowTerms | None = None,
) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Of bags outside of the design: gradient (d_B,), own (d_B, d_B) and cross block (d_B, d′).

    Each comes with the numbers of the design's bags that the cross block is taken with. ``kept``,
    empty at first: what is the same in every call with these rows and tables.
    """
    design = counts.design
    n_others = design.n_others
    totals = [_nothing(design, *each) for each in bags]
    for start, stop in row_chunks(counts.n_rows, design.n_class_pairs + n_others):
        if kept:
            weights, residual = kept[0]
        else:
            weights = _information(counts, tables, start, stop)
            residual = _residuals(counts, tables, start, stop)
            if kept is not None and stop - start == counts.n_rows:
                kept.append((weights, residual))

        def outside(
            number: int,
            start: int = start,
            stop: int = stop,
            residual: FloatArray = residual,
            weights: FloatArray = weights,
        ) -> None:
            (bag, beside), (gradient, own, cross) = bags[number], totals[number]
            cells = _cells_of(counts.rows, bag.names, start, stop)
            scatter = np.zeros((bag.n_cells, n_others))
            tabulate(cells, residual, scatter)
            gradient += (bag.from_cells(scatter) @ design.class_map).ravel()
            diagonal = np.zeros((bag.n_cells, weights.shape[1]))
            tabulate(cells, weights, diagonal)
            own += pull_back_diagonal(design, bag, diagonal).reshape(own.shape)
            blocks = cross.reshape(bag.keep.size, n_others, -1, n_others)
            column = 0
            for b in beside:
                other = design.bags[b]
                table = np.zeros((other.n_cells, bag.n_cells, weights.shape[1]))
                flat = table.reshape(-1, weights.shape[1])
                cross_tabulate(counts.cells[b, start:stop], cells, bag.n_cells, weights, flat)
                width = other.keep.size
                blocks[:, :, column : column + width] += _pull_back(design, bag, other, table)
                column += width

        in_parallel(outside, range(len(bags)))
    return totals


def draw_sample(counts: CellCounts, rates: FloatArray) -> CellCounts:
    """A sample of the rows, each kept at the largest rate of its cells and weighted for it."""
    offsets = counts.design.offsets

    def draw(block: tuple[int, int]) -> tuple[IntArray, FloatArray]:
        chosen, weights = np.empty(block[1] - block[0], np.int64), np.empty(block[1] - block[0])
        how = (counts.cells, offsets, rates, counts.weights)
        kept = draw_rows(*how, *block, chosen, weights)
        return chosen[:kept].copy(), weights[:kept].copy()

    parts = in_parallel(draw, row_blocks(counts.n_rows))
    chosen = np.concatenate([part[0] for part in parts])
    weights = np.concatenate([part[1] for part in parts])
    cells: CodeArray = np.take(counts.cells, chosen, axis=1)
    rows = counts.rows
    drawn = CodedRows(rows.names, rows.n_states, np.take(rows.codes, chosen, axis=1))
    return CellCounts(counts.design, drawn, cells, counts.classes[chosen], weights)


def pull_back_diagonal(design: Design, bag: Bag, diagonal: FloatArray) -> FloatArray:
    """One bag's block of A from the information in its cells, shape (d_b, K − 1, d_b, K − 1)."""
    squares = bag.pull_back_squares(diagonal).transpose(1, 2, 0)
    return _with_classes(design, squares)


def _pull_back(design: Design, left: Bag, right: Bag, table: FloatArray) -> FloatArray:
    """M_leftᵀ table M_right, classes mapped by Q; table: (right cells, left cells, pairs)."""
    n_pairs = table.shape[2]
    half = right.from_cells(table.reshape(right.n_cells, -1))
    half = half.reshape(-1, left.n_cells, n_pairs).transpose(1, 0, 2)
    whole = left.from_cells(half.reshape(left.n_cells, -1))
    return _with_classes(design, whole.reshape(-1, right.keep.size, n_pairs))


def _with_classes(design: Design, block: FloatArray) -> FloatArray:
    """(d_b, d_c, pairs of classes) → (d_b, K − 1, d_c, K − 1), classes mapped by Q."""
    n_others = design.n_others
    pairs = design.class_pairs
    whole = block * pairs[0] if n_others == 1 else block @ pairs
    return whole.reshape(*whole.shape[:2], n_others, n_others).transpose(0, 2, 1, 3)


def _cross(
    counts: CellCounts, b: int, c: int, start: int, stop: int, weights: FloatArray
) -> FloatArray:
    """One block of A from a chunk of rows, shape (d_b, K − 1, d_c, K − 1)."""
    design = counts.design
    left, right = design.bags[b], design.bags[c]
    cells_b, cells_c = counts.cells[b, start:stop], counts.cells[c, start:stop]
    n_pairs = weights.shape[1]
    if b == c:
        diagonal = np.zeros((left.n_cells, n_pairs))
        tabulate(cells_b, weights, diagonal)
        return pull_back_diagonal(design, left, diagonal)
    table = np.zeros((right.n_cells, left.n_cells, n_pairs))
    cross_tabulate(cells_c, cells_b, left.n_cells, weights, table.reshape(-1, n_pairs))
    return _pull_back(design, left, right, table)


def _information(counts: CellCounts, tables: FloatArray, start: int, stop: int) -> FloatArray:
    """n_l (δ_ab p_a − p_a p_b) of a chunk of rows, shape (rows, pairs a ≤ b)."""
    design = counts.design
    out = np.empty((stop - start, design.n_class_pairs))

    def weigh(block: tuple[int, int]) -> None:
        first, last = block
        rows = start + first, start + last
        information(counts.cells, design.offsets, tables, counts.weights, *rows, out[first:last])

    in_parallel(weigh, row_blocks(stop - start))
    return out


def _residuals(counts: CellCounts, tables: FloatArray, start: int, stop: int) -> FloatArray:
    """n_l (I(y_l = k) − p_k) of a chunk of rows, shape (rows, K − 1)."""
    design = counts.design
    out = np.empty((stop - start, design.n_others))

    def fill(block: tuple[int, int]) -> None:
        first, last = block
        how = (counts.cells, design.offsets, tables, counts.classes, counts.weights)
        residuals(*how, start + first, start + last, out[first:last])

    in_parallel(fill, row_blocks(stop - start))
    return out


def _cells_of(rows: CodedRows, names: Sequence[str], start: int, stop: int) -> CodeArray:
    """Cell numbers of rows for another bag."""
    how = recipe([names], rows)
    cells = np.zeros(stop - start, dtype=np.uint32)
    for column, stride in zip(how.columns.tolist(), how.strides.tolist(), strict=True):
        cells += rows.codes[column, start:stop].astype(np.uint32) * np.uint32(stride)
    return cells


def _nothing(
    design: Design, bag: Bag, beside: Sequence[int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    size = bag.keep.size * design.n_others
    width = design.n_others * sum(design.bags[b].keep.size for b in beside)
    return np.zeros(size), np.zeros((size, size)), np.zeros((size, width))


def row_chunks(n_rows: int, row_floats: int) -> list[tuple[int, int]]:
    """Consecutive rows, so few that ``row_floats`` numbers for each of them fit into memory."""
    length = max(2**16, CHUNK_BYTES // (8 * row_floats))
    return [(start, min(start + length, n_rows)) for start in range(0, n_rows, length)]
