"""Approximate leave-one-out log-loss of a fit, without refitting (Rad & Maleki 2020).

Without case i the optimum moves, to second order, so that the case's own log odds become

    λ₋ᵢ = λ_i − H_i (I − W_i H_i)⁻¹ (e_y − p_i),      W_i = diag p_i − p_i p_iᵀ

H_i = J_iᵀ A⁻¹ J_i: how uncertain λ_i is, A the curvature with all cases. A case is one unit of
weight; what a row of weight n says is counted n times.
"""

import numpy as np

from ebnc.fitting.optimum import Optimum
from ebnc.kernels.parallel import one_blas_thread
from ebnc.score.row_covariance import (
    RowChunk,
    class_probabilities,
    root_of_log_odds,
    rows_in_memory,
    rows_with_covariance,
)
from ebnc.typing import FloatArray, IntArray

__all__ = ["leave_one_out_log_loss"]

MOST_ROWS = 2_000
"""Rows looked at, evenly spaced. With more, d/N is small and little is to be learned from them."""


@one_blas_thread()
def leave_one_out_log_loss(optimum: Optimum) -> float:
    """−Σ n_i log p(y_i|x_i, D without case i), over all cases, in nats."""
    posterior, solution, factor = optimum
    data = rows_in_memory(posterior, MOST_ROWS)
    rows = np.linspace(0, data.n_rows - 1, min(data.n_rows, MOST_ROWS)).astype(np.int64)
    root = root_of_log_odds(posterior.design, factor)
    total = looked_at = 0.0
    for chunk in rows_with_covariance(data, solution.phi, root, rows):
        weights = data.weights[chunk.rows] if data.weights.size else np.ones(len(chunk.rows))
        classes = data.classes[chunk.rows].astype(np.int64)
        total += float(weights @ _losses(chunk, classes, np.minimum(weights, 1.0)))
        looked_at += float(weights.sum())
    return total * data.n_cases / looked_at


def _losses(chunk: RowChunk, classes: IntArray, weights: FloatArray) -> FloatArray:
    """−log p(y_i|x_i, D without ``weights`` of the case), shape (rows,)."""
    n_rows, n_others = chunk.log_odds.shape
    p = class_probabilities(chunk.log_odds)
    information = p[:, :, None] * (np.eye(n_others) - p[:, None, :])
    own_class = np.arange(1, n_others + 1) == classes[:, None]
    lost = np.eye(n_others) - weights[:, None, None] * (information @ chunk.covariance)
    pull = np.linalg.solve(lost, (weights[:, None] * (own_class - p))[:, :, None])
    log_odds = np.zeros((n_rows, n_others + 1))
    log_odds[:, 1:] = chunk.log_odds - (chunk.covariance @ pull)[:, :, 0]
    log_odds -= log_odds.max(axis=1, keepdims=True)
    log_z = np.log(np.exp(log_odds).sum(axis=1))
    return np.asarray(log_z - log_odds[np.arange(n_rows), classes])
