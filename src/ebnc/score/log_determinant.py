"""The exact gradient of log |A| with respect to φ, at about the cost of A itself.

    ∇ log |A| = Σ_i n_i J_i W_i (diag H_i − 2 H_i p_i),      W_i = diag p_i − p_i p_iᵀ

H_i = J_iᵀ A⁻¹ J_i, the covariance of the log odds of a row, is a sum over pairs of bags. It is
looked up in tables of A⁻¹ by the cells of both bags, or computed from dense rows of the design if
A is cheaper that way too.
"""

from collections.abc import Iterator

import numpy as np

from ebnc.fitting.fit import Fit
from ebnc.kernels.log_determinant import lean, look_up_pairs
from ebnc.likelihood.counts import CellCounts
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.row_sums import row_chunks
from ebnc.score.row_covariance import class_probabilities, rows_with_covariance
from ebnc.threads import in_parallel, one_blas_thread, row_blocks
from ebnc.typing import FloatArray, IntArray

__all__ = ["log_determinant_gradient"]

TABLE_BYTES = 256 * 2**20  # maximum size of the tables of pairs of bags in memory
Pair = tuple[int, int]


@one_blas_thread()
def log_determinant_gradient(posterior: Posterior, fit: Fit) -> FloatArray:
    """Return ∂ log |A| / ∂φ at φ̃, shape (columns, K − 1)."""
    design, add_up = fit.design, posterior.data.add_up
    if posterior.writes_rows_out:
        return add_up(_sum_leaning_dense, fit) @ design.class_map
    tables = design.phi_to_tables(fit.solution.phi)
    return design.pull_back(add_up(_sum_leaning, tables, fit.curvature.inverse()))


def _sum_leaning(counts: CellCounts, tables: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the gradient in tables, (K − 1, cells); H is looked up."""
    design = counts.design
    n_pairs = design.n_class_pairs
    batches = list(_batches(design))
    look_ups = _look_ups(design, covariance, batches[0])
    total = np.zeros_like(tables)
    for start, stop in row_chunks(counts.n_rows, n_pairs):
        spread = np.zeros((stop - start, n_pairs))
        for batch in batches:
            if len(batches) > 1:
                look_ups = _look_ups(design, covariance, batch)
            _add_spread(counts, look_ups, start, spread)

        def part(
            block: tuple[int, int], start: int = start, spread: FloatArray = spread
        ) -> FloatArray:
            rows = start + block[0], start + block[1]
            out = np.zeros_like(tables)
            lean(counts.cells, design.offsets, tables, counts.weights, spread, start, *rows, out)
            return out

        total += np.sum(in_parallel(part, row_blocks(stop - start)), axis=0)
    return total


def _sum_leaning_dense(counts: CellCounts, fit: Fit) -> FloatArray:
    """Return the gradient in φ Qᵀ, (columns, K − 1); H is computed from dense rows."""
    total = np.zeros_like(fit.solution.phi)
    for chunk in rows_with_covariance(fit, counts.cells):
        p = class_probabilities(chunk.log_odds)
        u = np.diagonal(chunk.covariance, axis1=1, axis2=2)
        u = u - 2.0 * (chunk.covariance @ p[:, :, None])[:, :, 0]
        leaning = p * (u - (p * u).sum(axis=1, keepdims=True))
        if counts.weights.size:
            leaning *= counts.weights[chunk.rows, None]
        total += chunk.design_rows.T @ leaning
    return total


LookUps = tuple[IntArray, IntArray, IntArray, FloatArray]  # pairs, widths, starts, tables


def _batches(design: Design) -> Iterator[list[Pair]]:
    """Yield batches of pairs of bags whose tables fit into memory together."""
    n_bags = len(design.bags)
    batch: list[Pair] = []
    size = 0
    for pair in ((b, c) for b in range(n_bags) for c in range(b, n_bags)):
        own = 8 * design.n_class_pairs * _n_cells(design, pair)
        if batch and size + own > TABLE_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(pair)
        size += own
    yield batch


def _n_cells(design: Design, pair: Pair) -> int:
    b, c = pair
    return design.bags[b].n_cells * (1 if b == c else design.bags[c].n_cells)


def _look_ups(design: Design, covariance: FloatArray, batch: list[Pair]) -> LookUps:
    """Return the contributions of pairs of bags b ≤ c to H_kk and 2 H_kl, by cells of c and b.

    A table covers both orders of a pair. A pair b = b is looked up by one cell.
    """
    n_others = design.n_others
    blocks = covariance.reshape(design.n_columns, n_others, design.n_columns, n_others)
    sizes = [_n_cells(design, pair) for pair in batch]
    widths = np.array([0 if b == c else design.bags[b].n_cells for b, c in batch])
    starts = np.cumsum([0, *sizes])
    tables = np.empty((starts[-1], design.n_class_pairs))

    def fill(number: int) -> None:
        b, c = batch[number]
        left, right = design.bags[b], design.bags[c]
        block = blocks[design.columns[b], :, design.columns[c]].transpose(0, 2, 1, 3)
        block = block.reshape(-1, n_others**2) @ design.class_pairs.T
        half = left.to_cells(block.reshape(left.keep.size, -1))
        half = half.reshape(left.n_cells, right.keep.size, -1)
        table = tables[starts[number] : starts[number + 1]]
        if b == c:
            np.einsum("cjq,cj->cq", half, left.to_cells(np.eye(left.keep.size)), out=table)
        else:
            half = 2.0 * half.transpose(1, 0, 2).reshape(right.keep.size, -1)
            table[:] = right.to_cells(half).reshape(table.shape)

    in_parallel(fill, range(len(batch)))
    return np.array(batch), widths, starts, tables


def _add_spread(counts: CellCounts, look_ups: LookUps, start: int, spread: FloatArray) -> None:
    """Add H_kk and 2 H_kl of a chunk of rows, from one batch of pairs of bags, to ``spread``."""
    pairs, widths, starts, tables = look_ups

    def look_up(block: tuple[int, int]) -> None:
        rows = start + block[0], start + block[1]
        look_up_pairs(counts.cells, pairs, widths, starts, tables, *rows, spread[slice(*block)])

    in_parallel(look_up, row_blocks(len(spread)))
