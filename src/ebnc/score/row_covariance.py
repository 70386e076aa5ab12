"""The covariance of the log odds of single rows: H_i = J_iᵀ A⁻¹ J_i, J_i = ∂λ_i/∂φ."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ebnc.fitting.fit import Fit
from ebnc.typing import CodeArray, FloatArray

CHUNK_BYTES = 64 * 2**20


class RowChunk(NamedTuple):
    """Positions and design of some rows, with λ (rows, K − 1) and H (rows, K − 1, K − 1)."""

    rows: slice
    design_rows: FloatArray
    log_odds: FloatArray
    covariance: FloatArray


def rows_with_covariance(fit: Fit, cells: CodeArray) -> Iterator[RowChunk]:
    """Yield chunks of rows; ``cells``: the cell of every bag and row, shape (bags, rows).

    λ = Z Φ Qᵀ, so H_i = S Sᵀ for S = Z_i R, shape (K − 1, d), where Z_i is a row of the design and
    R, shape (columns, (K − 1) d), has the columns of a root of A⁻¹, times Q. The work is O(d²) per
    row and class.
    """
    design, root = fit.design, fit.curvature.inverse_root()
    n_others, dimension = design.n_others, design.dimension
    root = root.reshape(design.n_columns, design.n_outputs, dimension)
    root = np.einsum("cad,ka->ckd", root, design.class_map).reshape(design.n_columns, -1)
    values = fit.solution.phi @ design.class_map.T
    chunk = max(16, CHUNK_BYTES // (8 * n_others * dimension))
    for start in range(0, cells.shape[1], chunk):
        rows = slice(start, start + chunk)
        design_rows = design.rows_of(cells[:, rows])
        spread = (design_rows @ root).reshape(len(design_rows), n_others, dimension)
        covariance = spread @ spread.transpose(0, 2, 1)
        yield RowChunk(rows, design_rows, design_rows @ values, covariance)


def class_probabilities(log_odds: FloatArray) -> FloatArray:
    """Return p of all classes but the first, shape (rows, K − 1)."""
    largest = np.maximum(log_odds.max(axis=1, keepdims=True), 0.0)
    shares = np.exp(log_odds - largest)
    return np.asarray(shares / (np.exp(-largest) + shares.sum(axis=1, keepdims=True)))
