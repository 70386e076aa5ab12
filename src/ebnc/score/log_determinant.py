"""The exact gradient of log |A| with respect to φ, at about the cost of A itself.

    ∇ log |A| = Σ_i n_i J_i W_i (diag H_i − 2 H_i p_i),      W_i = diag p_i − p_i p_iᵀ

H_i = J_iᵀ A⁻¹ J_i, the covariance of the log odds of a row, is a sum over pairs of bags. It is
looked up in tables of A⁻¹ by the cells of both bags, or computed from dense or sparse rows of the
design if A is cheaper that way too.
"""

from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement, pairwise

import numpy as np

from ebnc.fitting.cholesky import ClassCholesky
from ebnc.fitting.fit import Fit
from ebnc.kernels.likelihood import tabulate
from ebnc.kernels.log_determinant import add_gradient, look_up_pair
from ebnc.likelihood.counts import CellCounts
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.row_sums import probabilities_of_rows, row_chunks
from ebnc.score.row_covariance import class_probabilities, rows_with_covariance
from ebnc.threads import in_parallel, one_blas_thread, row_blocks
from ebnc.typing import CodeArray, FloatArray

Rows = tuple[int, int]
Spread = Callable[[CellCounts, FloatArray, int, int], FloatArray]


@one_blas_thread()
def log_determinant_gradient(posterior: Posterior, fit: Fit) -> FloatArray:
    """Return ∂ log |A| / ∂φ at φ̃, shape (columns, t_Y)."""
    design, add_up = fit.design, posterior.data.add_up
    if posterior.writes_rows_out and not posterior.lists_rows:
        return add_up(_sum_gradient_of_rows, fit) @ design.class_map
    tables, curvature = design.phi_to_tables(fit.solution.phi), fit.curvature
    if isinstance(curvature, ClassCholesky):
        inverses = np.stack(in_parallel(lambda block: block.inverse(), curvature.blocks))
        return design.pull_back(add_up(_sum_gradient_of_classes, tables, inverses))
    spread = _spread_of_lists if posterior.lists_rows else _spread
    return design.pull_back(add_up(_sum_gradient, tables, curvature.inverse(), spread))


def _sum_gradient(
    counts: CellCounts, tables: FloatArray, covariance: FloatArray, spread_of: Spread
) -> FloatArray:
    """Return the gradient in tables, (K − 1, cells); ``spread_of`` computes H."""
    total = np.zeros_like(tables)
    for start, stop in row_chunks(counts.n_rows, counts.design.n_class_pairs):
        spread = spread_of(counts, covariance, start, stop)

        def part(rows: Rows, start: int = start, spread: FloatArray = spread) -> FloatArray:
            out = np.zeros_like(tables)
            places = start + rows[0], start + rows[1]
            offsets = counts.design.offsets
            add_gradient(counts.cells, offsets, tables, counts.weights, spread, start, *places, out)
            return out

        total += np.sum(in_parallel(part, row_blocks(stop - start)), axis=0)
    return total


def _sum_gradient_of_classes(
    counts: CellCounts, tables: FloatArray, inverses: FloatArray
) -> FloatArray:
    """Return the gradient in tables, (K − 1, cells), for separate classes.

        n_i p_k (u_k − Σ_j p_j u_j),    u_k = h_k (1 − 2 p_k),    h_k = z_iᵀ V_k⁻¹ z_i

    ``inverses``: V_k⁻¹, shape (K, columns, columns); h is looked up in tables of pairs of bags.
    """
    design = counts.design
    total = np.zeros(tables.shape[::-1])
    places = list(pairwise(design.offsets.tolist()))
    for start, stop in row_chunks(counts.n_rows, 3 * len(inverses)):
        cells = counts.cells[:, start:stop]
        h = np.zeros((stop - start, len(inverses)))
        for b, c in combinations_with_replacement(range(len(design.bags)), 2):
            blocks = inverses[:, design.columns[b], design.columns[c]].transpose(1, 2, 0)
            table = _table_of_block(design, blocks, b, c)
            width = 0 if b == c else design.bags[b].n_cells
            look_up = partial(_look_up, cells[b], cells[c], width, table, h)
            in_parallel(look_up, row_blocks(stop - start))
        p = probabilities_of_rows(counts, tables, start, stop)
        u = h * (1.0 - 2.0 * p)
        gradient = p * (u - (p * u).sum(axis=1, keepdims=True))
        if counts.weights.size:
            gradient *= counts.weights[start:stop, None]
        of_others = np.ascontiguousarray(gradient[:, 1:])
        for own, (first, last) in zip(cells, places, strict=True):
            tabulate(own, of_others, total[first:last])
    return total.T


def _spread(counts: CellCounts, covariance: FloatArray, start: int, stop: int) -> FloatArray:
    """Return H_kk and 2 H_kl of the rows start … stop, shape (rows, pairs k ≤ l)."""
    design, cells = counts.design, counts.cells[:, start:stop]
    spread = np.zeros((stop - start, design.n_class_pairs))
    for b, c in combinations_with_replacement(range(len(design.bags)), 2):
        table = _table_of_pair(design, covariance, b, c)
        width = 0 if b == c else design.bags[b].n_cells
        look_up = partial(_look_up, cells[b], cells[c], width, table, spread)
        in_parallel(look_up, row_blocks(stop - start))
    return spread


def _spread_of_lists(
    counts: CellCounts, covariance: FloatArray, start: int, stop: int
) -> FloatArray:
    """Return the same as ``_spread``, from rows that list inputs in unusual states."""
    design = counts.design
    blocks = covariance.reshape(2 * (design.n_columns, design.n_outputs)).transpose(0, 2, 1, 3)
    spread = np.empty((stop - start, design.n_class_pairs))
    for pair, weights in enumerate(design.class_pairs):
        matrix = blocks.reshape(design.n_columns, design.n_columns, -1) @ weights
        spread[:, pair] = counts.sparse_rows.quadratic_forms(matrix, start, stop)
    return spread


def _look_up(
    ones: CodeArray, others: CodeArray, width: int, table: FloatArray, out: FloatArray, rows: Rows
) -> None:
    own = slice(*rows)
    look_up_pair(ones[own], others[own], width, table, out[own])


def _sum_gradient_of_rows(counts: CellCounts, fit: Fit) -> FloatArray:
    """Return the gradient in φ Qᵀ, (columns, K − 1); H is computed from dense rows."""
    total = np.zeros((fit.design.n_columns, fit.design.n_others))
    for chunk in rows_with_covariance(fit, counts.cells):
        p = class_probabilities(chunk.log_odds)
        u = np.diagonal(chunk.covariance, axis1=1, axis2=2)
        u = u - 2.0 * (chunk.covariance @ p[:, :, None])[:, :, 0]
        gradient = p * (u - (p * u).sum(axis=1, keepdims=True))
        if counts.weights.size:
            gradient *= counts.weights[chunk.rows, None]
        total += chunk.design_rows.T @ gradient
    return total


def _table_of_pair(design: Design, covariance: FloatArray, b: int, c: int) -> FloatArray:
    """Return the contributions of bags b ≤ c to H_kk and 2 H_kl, by cells of c and b.

    The table covers both orders of the pair. A pair b = b is looked up by one cell.
    """
    left, right = design.bags[b], design.bags[c]
    blocks = covariance.reshape(2 * (design.n_columns, design.n_outputs))
    block = blocks[design.columns[b], :, design.columns[c]].transpose(0, 2, 1, 3)
    pairs = block.reshape(-1, design.n_outputs**2) @ design.class_pairs.T
    return _table_of_block(design, pairs.reshape(left.keep.size, right.keep.size, -1), b, c)


def _table_of_block(design: Design, block: FloatArray, b: int, c: int) -> FloatArray:
    """Return z_bᵀ block z_c by cells of c and b, for every q.

    ``block``: (d_b, d_c, q). The table covers both orders of the pair.
    """
    left, right = design.bags[b], design.bags[c]
    half = left.to_cells(block.reshape(left.keep.size, -1))
    half = half.reshape(left.n_cells, right.keep.size, -1)
    if b == c:
        return np.asarray(np.einsum("cjq,cj->cq", half, left.to_cells(np.eye(left.keep.size))))
    half = 2.0 * half.transpose(1, 0, 2).reshape(right.keep.size, -1)
    return right.to_cells(half).reshape(-1, block.shape[2])
