"""Sums over one part of the rows, from which value, gradient and Hessian are computed.

Each function takes ``CellCounts`` and the tables of log odds (K − 1, cells), and returns arrays (or
tuples and lists of them) that can be added over parts. ``separate``: whether each class has a block
of A of its own (``class_form``).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.kernels.likelihood import (
    class_probabilities,
    cross_tabulate,
    draw_rows,
    information,
    log_partition,
    residuals,
    tabulate,
)
from ebnc.likelihood.class_form import ClassForm
from ebnc.likelihood.counts import CellCounts
from ebnc.likelihood.design import Bag, Design
from ebnc.parameters.tables import recipe
from ebnc.threads import in_parallel, row_blocks
from ebnc.typing import CodeArray, FloatArray, IntArray

RowTerms = list[tuple[FloatArray, FloatArray]]
"""Cache of at most one (information, residuals) pair; empty if it would not fit in memory."""

PRODUCTS = 2**22  # numbers in a block of weighted rows

CHUNK_BYTES = 64 * 2**20  # limit of the information that is in memory at a time


def sum_log_partition(counts: CellCounts, tables: FloatArray) -> tuple[float, FloatArray]:
    """Σ_l n_l log Z_l, and the expected class counts of every cell (K − 1, cells)."""
    offsets = counts.design.offsets

    def part(block: tuple[int, int]) -> tuple[float, FloatArray]:
        expected = np.zeros_like(tables)
        log_z = log_partition(counts.cells, offsets, tables, counts.weights, *block, expected)
        return log_z, expected

    parts = in_parallel(part, row_blocks(counts.n_rows))
    return math.fsum(log_z for log_z, _ in parts), np.sum([part for _, part in parts], axis=0)


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Consecutive rows with their weights in the blocks of A, (rows, weights)."""

    form: ClassForm
    counts: CellCounts
    start: int
    stop: int
    information: FloatArray

    def cells(self, bag: int) -> CodeArray:
        """Cells of the rows in one bag of the design."""
        return self.counts.cells[bag, self.start : self.stop]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.stop - self.start

    @cached_property
    def design_rows(self) -> FloatArray:
        """Explicit rows of the design matrix."""
        return self.counts.design.rows_of(self.counts.cells[:, self.start : self.stop])


def sum_hessian(counts: CellCounts, tables: FloatArray, separate: bool = False) -> FloatArray:
    """The likelihood's part of A by cross-tabulations, (blocks, columns, t, columns, t).

    t: the coordinates of the class in a block. Blocks of bags above the diagonal are zero.
    """
    design = counts.design
    form = ClassForm(design, separate)
    result = np.zeros((form.n_blocks, *2 * (design.n_columns, form.n_coupled)))
    pairs = [(b, c) for b in range(len(design.bags)) for c in range(b, len(design.bags))]
    for start, stop in row_chunks(counts.n_rows, form.row_floats):
        chunk = _Chunk(form, counts, start, stop, _information(form, counts, tables, start, stop))
        in_parallel(partial(_add_block, result, chunk), pairs)
    return result


def _add_block(result: FloatArray, chunk: _Chunk, pair: tuple[int, int]) -> None:
    """Add the blocks of one pair of bags, (blocks, d_b, t, d_c, t), from a chunk of rows."""
    b, c = pair
    design = chunk.counts.design
    left, right = design.bags[b], design.bags[c]
    if b == c:
        block = _block_of_bag(left, chunk.cells(b), chunk.information)
    else:
        cells = chunk.cells(c), chunk.cells(b)
        block = _block_of_pair(left, right, cells, chunk.information)
    result[:, design.columns[b], :, design.columns[c]] += chunk.form.blocks(block)


def sum_hessian_dense(counts: CellCounts, tables: FloatArray, separate: bool = False) -> FloatArray:
    """The likelihood's part of A as ZᵀWZ with explicit rows Z of the design, by chunks.

    This is cheaper than cross-tabulations for hundreds of bags and few rows.
    """
    design = counts.design
    form = ClassForm(design, separate)
    products = np.zeros((form.n_weights, design.n_columns, design.n_columns))
    chunk = max(256, CHUNK_BYTES // (16 * design.n_columns))
    for start in range(0, counts.n_rows, chunk):
        stop = min(start + chunk, counts.n_rows)
        weights = _information(form, counts, tables, start, stop)
        rows = design.rows_of(counts.cells[:, start:stop])

        def add(number: int, weights: FloatArray = weights, rows: FloatArray = rows) -> None:
            own = weights[:, number, None]
            if own.min(initial=0.0) < 0.0:
                products[number] += rows.T @ (own * rows)
            else:  # NumPy recognises the product of a matrix with itself: half the work
                rooted = np.sqrt(own) * rows
                products[number] += rooted.T @ rooted

        in_parallel(add, range(form.n_weights))
    return np.ascontiguousarray(form.blocks(products.transpose(1, 2, 0)))


def sum_hessian_sparse(
    counts: CellCounts, tables: FloatArray, separate: bool = False
) -> FloatArray:
    """The likelihood's part of A by the lists of ``counts.sparse_rows``, for main effects."""
    design = counts.design
    form = ClassForm(design, separate)
    products = np.zeros((form.n_weights, design.n_columns, design.n_columns))
    for start, stop in row_chunks(counts.n_rows, form.row_floats):
        weights = _information(form, counts, tables, start, stop)
        for number in range(form.n_weights):
            products[number] += counts.sparse_rows.cross_products(weights[:, number], start)
    return np.ascontiguousarray(form.blocks(products.transpose(1, 2, 0)))


def sum_diagonals(counts: CellCounts, tables: FloatArray) -> list[FloatArray]:
    """Information in every cell of every bag, (cells, pairs of coordinates) each."""
    design = counts.design
    form = ClassForm(design, separate=False)
    totals = [np.zeros((bag.n_cells, design.n_output_pairs)) for bag in design.bags]
    for start, stop in row_blocks(counts.n_rows):
        weights = _information(form, counts, tables, start, stop)
        for b, total in enumerate(totals):
            tabulate(counts.cells[b, start:stop], weights, total)
    return totals


@dataclass(frozen=True, eq=False)
class OutsideBlock:
    """Derivatives of the likelihood for a bag outside the design, by blocks of A.

    ``gradient``: (blocks, d_B). ``own``: the negative Hessian (blocks, d_B, d_B). ``cross``: the
    negative mixed derivatives with parameters of the design, (blocks, d_B, up to d).
    """

    gradient: FloatArray
    own: FloatArray
    cross: FloatArray

    @classmethod
    def zeros(cls, form: ClassForm, bag: Bag, beside: Sequence[int]) -> "OutsideBlock":
        """A block of zeros; ``beside``: the design's bags in the cross block."""
        n, size = form.n_blocks, bag.keep.size * form.n_coupled
        width = form.n_coupled * sum(form.design.bags[b].keep.size for b in beside)
        return cls(np.zeros((n, size)), np.zeros((n, size, size)), np.zeros((n, size, width)))

    def __add__(self, other: "OutsideBlock") -> "OutsideBlock":
        return OutsideBlock(
            self.gradient + other.gradient, self.own + other.own, self.cross + other.cross
        )

    def add_rows(
        self, chunk: _Chunk, residual: FloatArray, bag: Bag, beside: Sequence[int]
    ) -> None:
        """Add the sums over a chunk of rows; ``residual``: of these rows, (rows, K − 1)."""
        form, design = chunk.form, chunk.counts.design
        cells = _cells_of(chunk.counts.rows, bag.names, chunk.start, chunk.stop)
        scatter = np.zeros((bag.n_cells, design.n_others))
        tabulate(cells, residual, scatter)
        self.gradient[:] += form.gradients(bag.from_cells(scatter))
        if _rows_are_cheaper(chunk.n_rows, bag, [design.bags[b] for b in beside]):
            self._add_products(chunk, bag.rows_of(cells), beside)
            return
        own = form.blocks(_block_of_bag(bag, cells, chunk.information))
        self.own[:] += own.reshape(self.own.shape)
        shape = form.n_blocks, bag.keep.size, form.n_coupled, -1, form.n_coupled
        blocks = self.cross.reshape(shape)
        column = 0
        for b in beside:
            other = design.bags[b]
            block = _block_of_pair(bag, other, (chunk.cells(b), cells), chunk.information)
            blocks[:, :, :, column : column + other.keep.size] += form.blocks(block)
            column += other.keep.size

    def _add_products(self, chunk: _Chunk, rows: FloatArray, beside: Sequence[int]) -> None:
        """Add the curvature by products of explicit rows, (rows, d_B), with those of the design."""
        form, design, width = chunk.form, chunk.counts.design, rows.shape[1]
        columns = np.concatenate(
            [np.empty(0, np.int64), *(np.r_[design.columns[b]] for b in beside)]
        )
        others = chunk.design_rows
        if columns.size < design.n_columns:
            others = others[:, columns]
        step = max(1, PRODUCTS // (width * form.n_weights))
        for start in range(0, chunk.n_rows, step):
            some = slice(start, start + step)
            weighted = chunk.information[some, :, None] * rows[some, None, :]
            weighted = weighted.reshape(len(weighted), -1)
            self.own[:] += _products(form, rows[some], weighted).reshape(self.own.shape)
            self.cross[:] += _products(form, others[some], weighted).reshape(self.cross.shape)


def _products(form: ClassForm, rows: FloatArray, weighted: FloatArray) -> FloatArray:
    """Products of rows (n, d_c) with weighted rows (n, weights · d_b), (blocks, d_b, t, d_c, t)."""
    block = (rows.T @ weighted).reshape(rows.shape[1], form.n_weights, -1)
    return form.blocks(block.transpose(2, 0, 1))


def _rows_are_cheaper(n_rows: int, bag: Bag, others: Sequence[Bag]) -> bool:
    """Whether products of explicit rows cost less than cross-tabulations, which have many cells."""
    n_columns = bag.keep.size + sum(other.keep.size for other in others)
    tables = sum(n_rows + 0.2 * bag.n_cells * b.n_cells * b.keep.size for b in others)
    return 0.06 * n_rows * bag.keep.size * n_columns < tables


def sum_outside(
    counts: CellCounts,
    tables: FloatArray,
    bags: Sequence[tuple[Bag, tuple[int, ...]]],
    separate: bool = False,
    kept: RowTerms | None = None,
) -> list[OutsideBlock]:
    """The blocks of bags outside the design.

    ``bags``: each with the numbers of the design's bags in its cross block. ``kept``: a cache,
    empty at first, for further calls with the same rows and tables.
    """
    form = ClassForm(counts.design, separate)
    totals = [OutsideBlock.zeros(form, bag, beside) for bag, beside in bags]
    for start, stop in row_chunks(counts.n_rows, form.row_floats + counts.design.n_others):
        if kept:
            information_here, residual = kept[0]
        else:
            information_here = _information(form, counts, tables, start, stop)
            residual = _residuals(counts, tables, start, stop)
            if kept is not None and stop - start == counts.n_rows:
                kept.append((information_here, residual))
        chunk = _Chunk(form, counts, start, stop, information_here)
        in_parallel(partial(_add_outside, totals, bags, chunk, residual), range(len(bags)))
    return totals


def _add_outside(
    totals: Sequence[OutsideBlock],
    bags: Sequence[tuple[Bag, tuple[int, ...]]],
    chunk: _Chunk,
    residual: FloatArray,
    number: int,
) -> None:
    bag, beside = bags[number]
    own = replace(bag)  # its matrix is not kept: all pairs of 100 inputs would take 1 GB
    totals[number].add_rows(chunk, residual, own, beside)


def draw_sample(counts: CellCounts, rates: FloatArray) -> CellCounts:
    """Draw each row at the largest rate of its cells, and weight it by the inverse rate."""
    offsets = counts.design.offsets

    def draw(block: tuple[int, int]) -> tuple[IntArray, FloatArray]:
        chosen, weights = np.empty(block[1] - block[0], np.int64), np.empty(block[1] - block[0])
        kept = draw_rows(counts.cells, offsets, rates, counts.weights, *block, chosen, weights)
        return chosen[:kept].copy(), weights[:kept].copy()

    parts = in_parallel(draw, row_blocks(counts.n_rows))
    chosen = np.concatenate([part[0] for part in parts])
    weights = np.concatenate([part[1] for part in parts])
    cells: CodeArray = np.take(counts.cells, chosen, axis=1)
    rows = counts.rows
    drawn = CodedRows(rows.names, rows.n_states, np.take(rows.codes, chosen, axis=1))
    return CellCounts(counts.design, drawn, cells, counts.classes[chosen], weights)


def pull_back_diagonal(design: Design, bag: Bag, diagonal: FloatArray) -> FloatArray:
    """One bag's block of A from the information in its cells, shape (d_b, t_Y, d_b, t_Y)."""
    squares = bag.pull_back_squares(diagonal).transpose(1, 2, 0)
    block: FloatArray = ClassForm(design, separate=False).blocks(squares)[0]
    return block


def _block_of_bag(bag: Bag, cells: CodeArray, weights: FloatArray) -> FloatArray:
    """One bag's sums of weighted products of columns, shape (d_b, d_b, weights)."""
    diagonal = np.zeros((bag.n_cells, weights.shape[1]))
    tabulate(cells, weights, diagonal)
    return bag.pull_back_squares(diagonal).transpose(1, 2, 0)


def _block_of_pair(
    left: Bag,
    right: Bag,
    cells: tuple[CodeArray, CodeArray],
    weights: FloatArray,
) -> FloatArray:
    """The sums M_leftᵀ · cross-tabulation · M_right, shape (d_left, d_right, weights).

    ``cells``: cells of the rows in the right bag, then in the left one.
    """
    n_pairs = weights.shape[1]
    table = np.zeros((right.n_cells * left.n_cells, n_pairs))
    cross_tabulate(*cells, left.n_cells, weights, table)
    half = right.from_cells(table.reshape(right.n_cells, -1))
    half = half.reshape(-1, left.n_cells, n_pairs).transpose(1, 0, 2)
    whole = left.from_cells(half.reshape(left.n_cells, -1))
    return whole.reshape(-1, right.keep.size, n_pairs)


def _information(
    form: ClassForm, counts: CellCounts, tables: FloatArray, start: int, stop: int
) -> FloatArray:
    """The weights of a chunk of rows in the blocks of A, shape (rows, weights).

    All classes: Qᵀ n_l (diag p − p pᵀ) Q for coordinates s ≤ t. Separate: c n_l p_k (1 − p_k).
    """
    design = counts.design
    if not form.separate:
        out = np.empty((stop - start, design.n_class_pairs))
        kernel = partial(information, counts.cells, design.offsets, tables, counts.weights)
        _fill(out, start, kernel)
        return out @ design.output_pairs
    p = probabilities_of_rows(counts, tables, start, stop)
    p *= 1.0 - p
    p *= form.n_blocks / (form.n_blocks - 1.0)
    if counts.weights.size:
        p *= counts.weights[start:stop, None]
    return p


def probabilities_of_rows(
    counts: CellCounts, tables: FloatArray, start: int, stop: int
) -> FloatArray:
    """p(y|x_l) of a chunk of rows, shape (rows, K)."""
    p = np.empty((stop - start, counts.design.n_others + 1))
    _fill(p, start, partial(class_probabilities, counts.cells, counts.design.offsets, tables))
    return p


def _residuals(counts: CellCounts, tables: FloatArray, start: int, stop: int) -> FloatArray:
    """n_l (I(y_l = k) − p_k) of a chunk of rows, shape (rows, K − 1)."""
    out = np.empty((stop - start, counts.design.n_others))
    kernel = partial(residuals, counts.cells, counts.design.offsets, tables, counts.classes)
    _fill(out, start, partial(kernel, counts.weights))
    return out


def _fill(out: FloatArray, start: int, kernel: Callable[[int, int, FloatArray], None]) -> None:
    """Fill ``out``, which begins at row ``start``, by a kernel, in parallel blocks of rows."""

    def fill(block: tuple[int, int]) -> None:
        first, last = block
        kernel(start + first, start + last, out[first:last])

    in_parallel(fill, row_blocks(len(out)))


def _cells_of(rows: CodedRows, names: Sequence[str], start: int, stop: int) -> CodeArray:
    """Cell numbers of rows for another bag."""
    columns, strides, _ = recipe([names], rows)
    cells = np.zeros(stop - start, dtype=np.uint32)
    for column, stride in zip(columns.tolist(), strides.tolist(), strict=True):
        cells += rows.codes[column, start:stop].astype(np.uint32) * np.uint32(stride)
    return cells


def row_chunks(n_rows: int, row_floats: int) -> list[tuple[int, int]]:
    """Chunks of consecutive rows that fit into memory at ``row_floats`` numbers per row."""
    length = max(2**16, CHUNK_BYTES // (8 * row_floats))
    return [(start, min(start + length, n_rows)) for start in range(0, n_rows, length)]
