"""Intervals of contributions and probabilities from the curvature at φ̃ (delta method)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.errors import ParameterError
from ebnc.fitting.fit import Fit
from ebnc.parameters.contributions import block_to_table
from ebnc.parameters.phi import Basis, Term
from ebnc.score.row_covariance import rows_with_covariance
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray

CHUNK_COLUMNS = 256


class ProbabilityIntervals(NamedTuple):
    """Probabilities p(y|x) with the ends of their intervals, all inside [0, 1].

    Attributes
    ----------
    probability : array
        p(y|x), shape (rows, K).
    low : array
        Lower ends, shape (rows, K).
    high : array
        Upper ends, shape (rows, K).
    """

    probability: FloatArray
    low: FloatArray
    high: FloatArray


@one_blas_thread()
def probability_intervals(fit: Fit, rows: CodedRows, level: float) -> ProbabilityIntervals:
    """Return logit p_k ± z · se, converted to probabilities, with A⁻¹ as the covariance of φ.

    se² = gᵀ Cov(λ) g, where g_j = ∂ logit p_k / ∂λ_j = δ_kj − [j ≠ k] p_j / Σ_{i≠k} p_i
    """
    from scipy.special import expit, ndtri

    if not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, got {level}")
    z = float(ndtri(0.5 + level / 2))
    shape = (len(rows), fit.design.n_others + 1)
    result = ProbabilityIntervals(np.empty(shape), np.empty(shape), np.empty(shape))
    for chunk in rows_with_covariance(fit, fit.design.cells(rows)):
        logit, error = _logit_and_error(chunk.log_odds, chunk.covariance)
        result.probability[chunk.rows] = expit(logit)
        result.low[chunk.rows] = expit(logit - z * error)
        result.high[chunk.rows] = expit(logit + z * error)
    return result


def root_in_basis(fit: Fit) -> Iterator[FloatArray]:
    """Yield L⁻ᵀ of A⁻¹ = L⁻ᵀ L⁻¹ in chunks of columns, with rows in the order of the basis."""
    design, root = fit.design, fit.curvature.inverse_root()
    for start in range(0, len(root), CHUNK_COLUMNS):
        part = root[:, start : start + CHUNK_COLUMNS]
        part = part.reshape(design.n_columns, design.n_outputs, -1)
        in_basis = np.empty_like(part)
        in_basis[design.order] = part
        yield in_basis.reshape(len(root), -1)


def contribution_errors(
    basis: Basis, root: Iterable[FloatArray], term: Term, weights: Mapping[str, FloatArray]
) -> FloatArray:
    """Return standard errors of c_k(S, ·), shape (r_i …, K).

    ``root``: columns of L⁻ᵀ, ``centred`` like Φ. c is linear in Φ_S, so the same linear map on both
    sides of the covariance of Φ_S gives the covariance of c.
    """
    blocks = (part[term.start : term.stop] for part in root)
    tables = (block_to_table(basis, term, block, weights) for block in blocks)
    return np.asarray(np.sqrt(sum((table**2).sum(axis=-1) for table in tables)))


def _logit_and_error(log_odds: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return logit p_k and its standard error, shape (rows, K), without computing 1 − p_k."""
    full = np.insert(log_odds, 0, 0.0, axis=1)
    logit, error = np.empty_like(full), np.empty_like(full)
    for k in range(full.shape[1]):
        others = np.delete(full, k, axis=1)
        largest = others.max(axis=1, keepdims=True)
        shares = np.exp(others - largest)
        total = shares.sum(axis=1, keepdims=True)
        logit[:, k] = full[:, k] - (largest + np.log(total))[:, 0]
        gradient = -np.insert(shares / total, k, -1.0, axis=1)[:, 1:]
        error[:, k] = np.sqrt(np.einsum("rk,rkj,rj->r", gradient, covariance, gradient))
    return logit, error
