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

    λ = Z Φ Qᵀ, so H_i = Q S Sᵀ Qᵀ for S = Z_i R, shape (t_Y, d), where Z_i is a row of the design
    and R, shape (columns, t_Y d), a root of A⁻¹. The work is O(d²) per row and coordinate.
    """
    design, root = fit.design, fit.curvature.inverse_root()
    n_outputs, dimension = design.n_outputs, design.dimension
    root = root.reshape(design.n_columns, design.n_outputs * dimension)
    values = fit.solution.phi @ design.class_map.T
    chunk = max(16, CHUNK_BYTES // (8 * (n_outputs * dimension + design.n_others**2)))
    for start in range(0, cells.shape[1], chunk):
        rows = slice(start, start + chunk)
        design_rows = design.rows_of(cells[:, rows])
        spread = (design_rows @ root).reshape(len(design_rows), n_outputs, dimension)
        of_outputs = spread @ spread.transpose(0, 2, 1)
        covariance = design.class_map @ of_outputs @ design.class_map.T
        yield RowChunk(rows, design_rows, design_rows @ values, covariance)


def class_probabilities(log_odds: FloatArray) -> FloatArray:
    """Return p of all classes but the first, shape (rows, K − 1)."""
    largest = np.maximum(log_odds.max(axis=1, keepdims=True), 0.0)
    shares = np.exp(log_odds - largest)
    return np.asarray(shares / (np.exp(-largest) + shares.sum(axis=1, keepdims=True)))
