"""Exact log evidence of multinomial counts under Dirichlet priors.

    log p(N | α) = Σ_j [ log Γ(α_j) − log Γ(α_j + N_j) + Σ_k log Γ(α_jk + N_jk) − log Γ(α_jk) ]

j: configurations of the parents, or leaves; α_j = Σ_k α_jk. With α_jk = s/(q K), where q is the
number of configurations, this is BDeu with equivalent sample size s.
"""

import numpy as np
from numpy.typing import ArrayLike

from ebnc.typing import FloatArray

SAMPLE_SIZES = tuple(2.0**i for i in range(-1, 9))
"""Candidate equivalent sample sizes; evidence chooses one."""


def dirichlet_log_evidence(counts: FloatArray, alpha: float) -> float:
    """Return the log evidence of ``counts``, shape (configurations, K), with α_jk = ``alpha``.

    Configurations without rows contribute 0 and may be left out.
    """
    return float(_log_evidences(counts, np.array([alpha]))[0])


def best_alpha(counts: FloatArray, alphas: ArrayLike) -> tuple[float, float]:
    """Return the first of ``alphas`` with the largest evidence, and that evidence.

    ``counts``: shape (configurations, K) or (configurations, K, states of one more parent).
    """
    candidates = np.asarray(alphas, dtype=np.float64)
    evidences = _log_evidences(counts, candidates)
    best = evidences.argmax()
    return float(candidates[best]), float(evidences[best])


def table_alphas(n_cells: int, sample_size: float | None) -> FloatArray:
    """Return α_jk = s/(q K) of a table with q K cells, for s or for all ``SAMPLE_SIZES``."""
    return np.array(SAMPLE_SIZES if sample_size is None else (sample_size,)) / n_cells


def _log_evidences(counts: FloatArray, alphas: FloatArray) -> FloatArray:
    from ebnc.kernels.dirichlet import log_evidences_of_counts

    whole = np.ascontiguousarray(counts)
    return np.asarray(
        log_evidences_of_counts(whole[:, :, None] if whole.ndim == 2 else whole, alphas)
    )
