"""Exact log evidence of multinomial counts under Dirichlet priors, and their predictive means.

    log p(N | α) = Σ_j [ log Γ(α_j) − log Γ(α_j + N_j) + Σ_k log Γ(α_jk + N_jk) − log Γ(α_jk) ]

j: configurations of the parents, or leaves; α_j = Σ_k α_jk. With α_jk = s/(q K), where q is the
number of configurations, that is BDeu with equivalent sample size s.
"""

import math

from scipy.special import gammaln

from ebnc.typing import FloatArray

__all__ = ["SAMPLE_SIZES", "best_sample_size", "dirichlet_log_evidence"]

SAMPLE_SIZES = tuple(2.0**i for i in range(-1, 9))
"""Equivalent sample sizes that ``best_sample_size`` chooses from."""


def dirichlet_log_evidence(counts: FloatArray, alpha: float) -> float:
    """Log evidence of ``counts``, shape (configurations, K), with every α_jk = ``alpha``.

    Configurations without cases add nothing and need not be listed.
    """
    n_classes = counts.shape[1]
    totals = counts.sum(axis=1)
    present = counts[counts > 0]
    return float(
        len(totals) * math.lgamma(n_classes * alpha)
        - gammaln(n_classes * alpha + totals).sum()
        + gammaln(alpha + present).sum()
        - present.size * math.lgamma(alpha)
    )


def best_sample_size(counts: FloatArray, n_cells: int) -> float:
    """The equivalent sample size of ``SAMPLE_SIZES`` with the largest evidence.

    ``n_cells``: q·K, which it is spread over. What σ by evidence is to an EBNC, this is to a table.
    """
    return max(SAMPLE_SIZES, key=lambda s: dirichlet_log_evidence(counts, s / n_cells))
