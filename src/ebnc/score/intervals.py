"""Intervals of contributions and probabilities from the curvature at φ̃ (delta method)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.errors import ParameterError
from ebnc.fitting.fit import Fit
from ebnc.parameters.contributions import block_to_table
from ebnc.parameters.phi import Basis, Term
from ebnc.score.row_covariance import root_of_log_odds
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray

__all__ = [
    "ProbabilityIntervals",
    "contribution_errors",
    "probability_intervals",
    "root_in_basis",
]

CHUNK_ROWS = 256
CHUNK_COLUMNS = 256


class ProbabilityIntervals(NamedTuple):
    """Arrays of shape (rows, K): p(y|x) and the ends of its interval, all inside [0, 1]."""

    probability: FloatArray
    low: FloatArray
    high: FloatArray


@one_blas_thread()
def probability_intervals(fit: Fit, rows: CodedRows, level: float) -> ProbabilityIntervals:
    """logit p_k ± z · se, taken back to probabilities, with A⁻¹ as the covariance of φ.

    se² = gᵀ Cov(λ) g, where g_j = ∂ logit p_k / ∂λ_j = δ_kj − [j ≠ k] p_j / Σ_{i≠k} p_i
    """
    from scipy.special import expit, ndtri

    if not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, got {level}")
    z = float(ndtri(0.5 + level / 2))
    design = fit.design
    root = root_of_log_odds(design, fit.curvature).reshape(design.n_columns, design.n_others, -1)
    cells = design.cells(rows)
    shape = (len(rows), design.n_others + 1)
    result = ProbabilityIntervals(np.empty(shape), np.empty(shape), np.empty(shape))
    values = fit.solution.phi @ design.class_map.T
    for start in range(0, len(rows), CHUNK_ROWS):
        chunk = slice(start, min(start + CHUNK_ROWS, len(rows)))
        design_rows = design.rows_of(cells[:, chunk])
        log_odds = np.column_stack([np.zeros(len(design_rows)), design_rows @ values])
        spread = np.tensordot(design_rows, root, axes=(1, 0))  # (rows, K − 1, d)
        logit, error = _logit_and_error(log_odds, spread)
        result.probability[chunk] = expit(logit)
        result.low[chunk] = expit(logit - z * error)
        result.high[chunk] = expit(logit + z * error)
    return result


def root_in_basis(fit: Fit) -> Iterator[FloatArray]:
    """L⁻ᵀ, where A⁻¹ = L⁻ᵀ L⁻¹, its rows in the order of the basis; some columns at a time."""
    design, root = fit.design, fit.curvature.inverse_root()
    for start in range(0, len(root), CHUNK_COLUMNS):
        part = root[:, start : start + CHUNK_COLUMNS].reshape(design.n_columns, design.n_others, -1)
        in_basis = np.empty_like(part)
        in_basis[design.order] = part
        yield in_basis.reshape(len(root), -1)


def contribution_errors(
    basis: Basis, root: Iterable[FloatArray], term: Term, weights: Mapping[str, FloatArray]
) -> FloatArray:
    """Standard errors of c_k(S, ·), shape (r_i …, K).

    ``root``: columns of L⁻ᵀ, ``centred`` like Φ. c is linear in Φ_S: its covariance is that of Φ_S,
    taken through the same map on both sides.
    """
    blocks = (part[term.start : term.stop] for part in root)
    tables = (block_to_table(basis, term, block, weights) for block in blocks)
    return np.asarray(np.sqrt(sum((table**2).sum(axis=-1) for table in tables)))


def _logit_and_error(log_odds: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """logit p_k and its standard error, shape (rows, K), without ever forming 1 − p_k."""
    n_classes = log_odds.shape[1]
    logit, error = np.empty_like(log_odds), np.empty_like(log_odds)
    for k in range(n_classes):
        others = np.delete(log_odds, k, axis=1)
        largest = others.max(axis=1, keepdims=True)
        shares = np.exp(others - largest)
        total = shares.sum(axis=1, keepdims=True)
        logit[:, k] = log_odds[:, k] - (largest + np.log(total))[:, 0]
        gradient = -np.insert(shares / total, k, -1.0, axis=1)[:, 1:]
        error[:, k] = np.sqrt((np.einsum("rk,rkd->rd", gradient, spread) ** 2).sum(axis=1))
    return logit, error
