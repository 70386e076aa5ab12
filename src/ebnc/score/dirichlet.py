"""Exact log evidence of multinomial counts under Dirichlet priors, and their predictive means.

    log p(N | α) = Σ_j [ log Γ(α_j) − log Γ(α_j + N_j) + Σ_k log Γ(α_jk + N_jk) − log Γ(α_jk) ]

j: configurations of the parents, or leaves; α_j = Σ_k α_jk. With α_jk = s/(q K), where q is the
number of configurations, that is BDeu with equivalent sample size s.
"""

import numpy as np
from numpy.typing import ArrayLike

from ebnc.typing import FloatArray, IntArray

__all__ = ["SAMPLE_SIZES", "best_alpha", "dirichlet_log_evidence", "table_alphas"]

SAMPLE_SIZES = tuple(2.0**i for i in range(-1, 9))
"""Equivalent sample sizes that evidence chooses from."""


def dirichlet_log_evidence(counts: FloatArray, alpha: float) -> float:
    """Log evidence of ``counts``, shape (configurations, K), with every α_jk = ``alpha``.

    Configurations without cases add nothing and need not be listed.
    """
    return float(_log_evidences(counts, np.array([alpha]))[0])


def best_alpha(counts: FloatArray, alphas: ArrayLike) -> tuple[float, float]:
    """The one of ``alphas`` with the largest evidence, the first of equals; and that evidence."""
    given = np.asarray(alphas, dtype=np.float64)
    found = _log_evidences(counts, given)
    best = int(np.argmax(found))
    return float(given[best]), float(found[best])


def table_alphas(n_cells: int | IntArray, sample_size: float | None) -> FloatArray:
    """α_jk = s/(q K) of a table with q K cells: for s, or for all that evidence chooses from.

    What σ by evidence is to an EBNC, this is to a table. For several tables one row each.
    """
    sizes = np.array(SAMPLE_SIZES if sample_size is None else (sample_size,))
    return np.asarray(sizes / np.expand_dims(n_cells, -1))


def _log_evidences(counts: FloatArray, alphas: FloatArray) -> FloatArray:
    """Log evidence for every α, shape (alphas,)."""
    from ebnc.kernels.dirichlet import log_evidences_of_counts

    out = np.empty(len(alphas))
    log_evidences_of_counts(np.ascontiguousarray(counts)[:, :, None], alphas, out)
    return out
