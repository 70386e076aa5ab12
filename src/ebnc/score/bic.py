"""The Bayesian information criterion of one local model, one summand of eq. 9."""

import math
from dataclasses import replace

from ebnc.errors import ParameterError
from ebnc.fitting.fit import Fit
from ebnc.fitting.newton import maximise
from ebnc.fitting.optimum import find_optimum, fit_at
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.typing import FloatArray

RIDGE = 1e-12
"""Precision of the nearly flat prior, relative to N: small enough that the maximum is the supremum
to about 10⁻¹⁰ N, large enough that Hessians are numerically positive definite."""


TOLERANCE = 1e-8
"""Nats to which BIC is computed: where classes are separated, each e-fold takes a new Hessian."""


MOST_PARAMETERS = 3000
"""Dimension above which a fit has no BIC: maximum likelihood would take as long as a search,
because some classes of so large a model are nearly always separated."""


def bic(log_likelihood: float, dimension: int, n_cases: float) -> float:
    """Return L(φ̂) − (d/2) log N in nats; higher is better (not the −2 L convention).

    ``log_likelihood``: a sum of *log* p (errata E2). ``n_cases``: N, the sum of the row weights.
    """
    if n_cases < 1:
        raise ParameterError(
            f"BIC needs row weights that sum to at least 1, got {n_cases:g}; scale them up"
        )
    return log_likelihood - 0.5 * dimension * math.log(n_cases)


def likelihood_supremum(likelihood: Posterior, start: FloatArray | None = None) -> Fit:
    """Return the supremum of the likelihood, as the maximum under a nearly flat prior.

    If the classes are separated, no φ reaches the supremum, but it is finite, which is enough for
    eq. 9. The prior of ``likelihood`` is not used; ``start``: the first φ.
    """
    return find_optimum(_nearly_flat(likelihood), start)


def _nearly_flat(likelihood: Posterior) -> Posterior:
    scale = 1.0 / math.sqrt(RIDGE * likelihood.data.n_cases)
    return likelihood.with_prior(NormalPrior((scale,), scale, scale))


def with_bic(fit: Fit, likelihood: Posterior) -> Fit:
    """Return the fit with its BIC, at maximum likelihood whatever the prior of the fit.

    The fit gets no BIC above ``MOST_PARAMETERS``, or if N < 1 (eq. 9 is meaningless).
    """
    if fit.n_cases < 1:
        return fit
    largest = fit
    if fit.prior.is_proper:
        if fit.factor is None or fit.design.dimension > MOST_PARAMETERS:
            return fit
        flat = _nearly_flat(likelihood)
        largest = fit_at(flat, maximise(flat, fit.solution.phi, tolerance=TOLERANCE), None)
    return replace(fit, bic=bic(largest.log_likelihood, fit.design.dimension, fit.n_cases))
