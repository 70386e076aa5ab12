"""The covariance of the log odds of single rows: H_i = J_iᵀ A⁻¹ J_i, J_i = ∂λ_i/∂φ."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ebnc.fitting.cholesky import Cholesky, ClassCholesky, Factor
from ebnc.fitting.fit import Fit
from ebnc.likelihood.design import Design
from ebnc.threads import in_parallel
from ebnc.typing import CodeArray, FloatArray

CHUNK_BYTES = 64 * 2**20


class RowChunk(NamedTuple):
    """Positions and design of some rows, with λ (rows, K − 1) and H (rows, K − 1, K − 1).

    ``variances``: those of the scores f_k of separate classes, (rows, K); else None.
    """

    rows: slice
    design_rows: FloatArray
    log_odds: FloatArray
    covariance: FloatArray
    variances: FloatArray | None


def rows_with_covariance(fit: Fit, cells: CodeArray) -> Iterator[RowChunk]:
    """Yield chunks of rows; ``cells``: the cell of every bag and row, shape (bags, rows).

    λ = Z Φ Qᵀ, so H_i = Q S Sᵀ Qᵀ for S = Z_i R, shape (t_Y, d), where Z_i is a row of the design
    and R, shape (columns, t_Y d), a root of A⁻¹. The work is O(d²) per row and coordinate.
    If A has one column for each of the design's, or a block for each class, it is O(columns²) per
    row and block.
    """
    design, curvature = fit.design, fit.curvature
    is_coupled = isinstance(curvature, Cholesky) and design.n_outputs > 1
    root = curvature.inverse_root() if is_coupled else None
    row_floats = design.n_outputs * design.dimension if is_coupled else design.n_columns
    values = fit.solution.phi @ design.class_map.T
    chunk = max(16, CHUNK_BYTES // (8 * (row_floats + design.n_others**2)))
    for start in range(0, cells.shape[1], chunk):
        rows = slice(start, start + chunk)
        design_rows = design.rows_of(cells[:, rows])
        variances = None
        if root is not None:
            covariance = _of_all_classes(design, design_rows, root)
        elif isinstance(curvature, ClassCholesky):
            variances = _of_blocks(design_rows, curvature)
            covariance = _of_log_odds(variances)
        else:
            squared = float(design.class_map[0, 0]) ** 2
            covariance = squared * _of_blocks(design_rows, curvature)[:, :, None]
        yield RowChunk(rows, design_rows, design_rows @ values, covariance, variances)


def _of_all_classes(design: Design, design_rows: FloatArray, root: FloatArray) -> FloatArray:
    """Return Q S Sᵀ Qᵀ, shape (rows, K − 1, K − 1)."""
    root = root.reshape(design.n_columns, design.n_outputs * design.dimension)
    spread = (design_rows @ root).reshape(len(design_rows), design.n_outputs, design.dimension)
    of_outputs = spread @ spread.transpose(0, 2, 1)
    return np.asarray(design.class_map @ of_outputs @ design.class_map.T)


def _of_blocks(design_rows: FloatArray, curvature: Factor) -> FloatArray:
    """Return z_iᵀ V_k⁻¹ z_i of every block, which is the variance of f_k, shape (rows, blocks)."""
    of_blocks = in_parallel(lambda block: block.inverse_forms(design_rows), curvature.blocks)
    return np.column_stack(of_blocks)


def _of_log_odds(h: FloatArray) -> FloatArray:
    """Return the covariance h_0 + δ_ab h_a of λ_a = f_a − f_0."""
    n_rows, n_classes = h.shape
    covariance = np.repeat(h[:, :1], (n_classes - 1) ** 2, axis=1)
    covariance[:, ::n_classes] += h[:, 1:]
    return covariance.reshape(n_rows, n_classes - 1, -1)


def class_probabilities(log_odds: FloatArray) -> FloatArray:
    """Return p of all classes but the first, shape (rows, K − 1)."""
    largest = np.maximum(log_odds.max(axis=1, keepdims=True), 0.0)
    shares = np.exp(log_odds - largest)
    return np.asarray(shares / (np.exp(-largest) + shares.sum(axis=1, keepdims=True)))
