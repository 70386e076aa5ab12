"""The covariance of the log odds of single rows: H_i = J_iᵀ A⁻¹ J_i, J_i = ∂λ_i/∂φ."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ebnc.fitting.cholesky import ClassCholesky
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
    If the curvature has separate classes, it is O(columns²) per row and class.
    """
    design, curvature = fit.design, fit.curvature
    if isinstance(curvature, ClassCholesky):
        roots, row_floats = list(curvature.roots()), design.n_columns
    else:
        roots, row_floats = [curvature.inverse_root()], design.n_outputs * design.dimension
    values = fit.solution.phi @ design.class_map.T
    chunk = max(16, CHUNK_BYTES // (8 * (row_floats + design.n_others**2)))
    for start in range(0, cells.shape[1], chunk):
        rows = slice(start, start + chunk)
        design_rows = design.rows_of(cells[:, rows])
        if isinstance(curvature, ClassCholesky):
            variances = _of_separate_classes(design_rows, roots)
            covariance = _of_log_odds(variances)
        else:
            variances = None
            covariance = _of_all_classes(design, design_rows, roots[0])
        yield RowChunk(rows, design_rows, design_rows @ values, covariance, variances)


def _of_all_classes(design: Design, design_rows: FloatArray, root: FloatArray) -> FloatArray:
    """Return Q S Sᵀ Qᵀ, shape (rows, K − 1, K − 1)."""
    root = root.reshape(design.n_columns, design.n_outputs * design.dimension)
    spread = (design_rows @ root).reshape(len(design_rows), design.n_outputs, design.dimension)
    of_outputs = spread @ spread.transpose(0, 2, 1)
    return np.asarray(design.class_map @ of_outputs @ design.class_map.T)


def _of_separate_classes(design_rows: FloatArray, roots: Sequence[FloatArray]) -> FloatArray:
    """Return h_k = z_iᵀ V_k⁻¹ z_i, the variance of f_k, shape (rows, K)."""
    of_classes = in_parallel(lambda root: ((design_rows @ root) ** 2).sum(axis=1), roots)
    return np.column_stack(of_classes)


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
