"""The posterior mean of φ, to second order (Tierney & Kadane 1986): the mode lies off-centre.

    E φ ≈ φ̃ − ½ A⁻¹ ∇ log |A|,      ∇ log |A| = Σ_i n_i J_i W_i (diag H_i − 2 H_i p_i)

Where cases are nearly separated the posterior leans away from 0, and draws around its mode would
be far too unsure of everything.
"""

import numpy as np

from ebnc.fitting.optimum import Optimum
from ebnc.kernels.parallel import one_blas_thread
from ebnc.score.row_covariance import class_probabilities, row_chunks, rows_in_memory
from ebnc.typing import FloatArray

__all__ = ["log_determinant_gradient", "posterior_mean"]

MOST_ROWS = 20_000
"""Rows looked at, evenly spaced: with so many, mean and mode are close anyway."""


@one_blas_thread()
def posterior_mean(optimum: Optimum) -> FloatArray:
    """E φ, shape (columns, K − 1)."""
    solution, factor = optimum.solution, optimum.factor
    return solution.phi - 0.5 * factor.solve(log_determinant_gradient(optimum, MOST_ROWS))


def log_determinant_gradient(optimum: Optimum, most_rows: int) -> FloatArray:
    """∂ log |A| / ∂φ at φ̃, shape (columns, K − 1); exact if ``most_rows`` are all rows."""
    design = optimum.posterior.design
    data = rows_in_memory(optimum.posterior, most_rows)
    total, looked_at = np.zeros((design.n_columns, design.n_others)), 0.0
    for chunk in row_chunks(optimum, most_rows):
        weights = data.weights[chunk.rows] if data.weights.size else np.ones(len(chunk.rows))
        p = class_probabilities(chunk.log_odds)
        lean = np.diagonal(chunk.covariance, axis1=1, axis2=2)
        lean = lean - 2.0 * (chunk.covariance @ p[:, :, None])[:, :, 0]
        mean = (p * lean).sum(axis=1, keepdims=True)
        total += chunk.design_rows.T @ (weights[:, None] * p * (lean - mean))
        looked_at += float(weights.sum())
    return total @ design.class_map * (data.n_cases / looked_at)
