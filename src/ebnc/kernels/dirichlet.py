"""Log evidence of counts under symmetric Dirichlet priors, for several α at once."""

import math

import numpy as np

from ebnc.kernels.compiling import compiled
from ebnc.kernels.log_gamma import log_gamma


@compiled
def _sum_of_log_gammas(values, shift, scratch):  # type: ignore[no-untyped-def]
    """Σ_i log Γ(values_i + shift).   scratch: of the length of values."""
    for i in range(values.size):
        scratch[i] = log_gamma(values[i] + shift)
    total = 0.0
    for i in range(values.size):
        total += scratch[i]
    return total


@compiled
def log_evidences_of_counts(counts, alphas):  # type: ignore[no-untyped-def]
    """Log evidence of counts for every α of a symmetric Dirichlet prior, shape as ``alphas``.

    counts: (q, K, r), K the classes of q · r multinomials; those without counts add 0.
    """
    n_outer, n_classes, n_inner = counts.shape
    totals = np.empty(n_outer * n_inner)
    present = np.empty(counts.size)
    n_totals = n_present = 0
    for j in range(n_outer):
        for s in range(n_inner):
            total = 0.0
            for k in range(n_classes):
                count = counts[j, k, s]
                total += count
                if count > 0.0:
                    present[n_present] = count
                    n_present += 1
            if total > 0.0:
                totals[n_totals] = total
                n_totals += 1
    scratch = np.empty(max(n_totals, n_present))
    out = np.empty(alphas.size)
    for a in range(alphas.size):
        alpha = alphas[a]
        cells = _sum_of_log_gammas(present[:n_present], alpha, scratch)
        sums = _sum_of_log_gammas(totals[:n_totals], n_classes * alpha, scratch)
        prior = n_totals * math.lgamma(n_classes * alpha) - n_present * math.lgamma(alpha)
        out[a] = prior + (cells - sums)
    return out
