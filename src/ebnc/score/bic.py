"""The Bayesian information criterion of one local model, one summand of eq. 9."""

import math
from dataclasses import replace

from ebnc.errors import ParameterError
from ebnc.fitting.fit import Fit
from ebnc.fitting.optimum import find_optimum
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.typing import FloatArray

__all__ = ["bic", "likelihood_supremum", "with_bic"]

RIDGE = 1e-12
"""Precision of the prior, in cases, under which a likelihood is maximised: so small that the value
is the supremum to about 10⁻¹⁰ of the number of cases, so large that Hessians have a factor."""


def bic(log_likelihood: float, dimension: int, n_cases: float) -> float:
    """L(φ̂) − (d/2) log N: a log number, higher is better (not the −2 L convention).

    Parameters
    ----------
    log_likelihood : float
        The largest log-likelihood, a sum of *log* p (errata E2).
    dimension : int
        d, that of the span.
    n_cases : float
        N, the sum of the cases' weights; at least 1.
    """
    if n_cases < 1:
        raise ParameterError(
            f"BIC needs at least one case, but the weights add up to {n_cases:g}; scale them up"
        )
    return log_likelihood - 0.5 * dimension * math.log(n_cases)


def likelihood_supremum(likelihood: Posterior, start: FloatArray | None = None) -> Fit:
    """The supremum of the likelihood, as the maximum under a prior that is nearly flat.

    Where the classes are separated no φ reaches the supremum, but it is finite, and eq. 9 needs
    nothing else. The prior of ``likelihood`` is not used; ``start``: a φ to begin with.
    """
    scale = 1.0 / math.sqrt(RIDGE * likelihood.data.n_cases)
    return find_optimum(likelihood.with_prior(NormalPrior((scale,), scale)), start)


def with_bic(fit: Fit, likelihood: Posterior) -> Fit:
    """The fit with its BIC, at maximum likelihood whatever the prior of the fit.

    Without where A is too large, so that the supremum is not looked for, and for N < 1, where
    eq. 9 says nothing.
    """
    if fit.n_cases < 1:
        return fit
    largest = fit
    if fit.prior.is_proper:
        if fit.factor is None:
            return fit
        largest = likelihood_supremum(likelihood, fit.solution.phi)
    return replace(fit, bic=bic(largest.log_likelihood, fit.design.dimension, fit.n_cases))
