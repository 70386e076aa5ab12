"""Exact log evidence of multinomial counts under Dirichlet priors, and their predictive means.

    log p(N | α) = Σ_j [ log Γ(α_j) − log Γ(α_j + N_j) + Σ_k log Γ(α_jk + N_jk) − log Γ(α_jk) ]

j: configurations of the parents, or leaves; α_j = Σ_k α_jk. With α_jk = s/(q K), where q is the
number of configurations, that is BDeu with equivalent sample size s.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from ebnc.typing import FloatArray

__all__ = ["SAMPLE_SIZES", "best_alpha", "dirichlet_log_evidence", "table_alphas"]

SAMPLE_SIZES = tuple(2.0**i for i in range(-1, 9))
"""Equivalent sample sizes that evidence chooses from."""


def dirichlet_log_evidence(counts: FloatArray, alpha: float) -> float:
    """Log evidence of ``counts``, shape (configurations, K), with every α_jk = ``alpha``.

    Configurations without cases add nothing and need not be listed.
    """
    return float(_log_evidences(counts, np.array([alpha]))[0])


def best_alpha(counts: FloatArray, alphas: Sequence[float]) -> tuple[float, float]:
    """The one of ``alphas`` with the largest evidence, the first of equals; and that evidence."""
    found = _log_evidences(counts, np.array(alphas))
    best = int(np.argmax(found))
    return alphas[best], float(found[best])


def table_alphas(n_cells: int, sample_size: float | None) -> list[float]:
    """α_jk = s/(q K) of a table with q K cells: for s, or for all that evidence chooses from.

    What σ by evidence is to an EBNC, this is to a table.
    """
    sizes = SAMPLE_SIZES if sample_size is None else (sample_size,)
    return [s / n_cells for s in sizes]


def _log_evidences(counts: FloatArray, alphas: FloatArray) -> FloatArray:
    """Log evidence for every α, shape (alphas,): all at once, since most tables are small."""
    n_classes = counts.shape[1]
    totals = counts.sum(axis=1)
    present = counts[counts > 0]
    found: FloatArray = (
        len(totals) * gammaln(n_classes * alphas)
        - gammaln(n_classes * alphas[:, None] + totals).sum(axis=1)
        + gammaln(alphas[:, None] + present).sum(axis=1)
        - present.size * gammaln(alphas)
    )
    return found
