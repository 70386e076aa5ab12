"""Laplace approximation of the marginal likelihood of one local model, one summand of eq. 8."""

import math
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from ebnc.errors import ParameterError, SingularHessianError
from ebnc.fitting.cholesky import Cholesky
from ebnc.fitting.fit import Fit

Curvature: TypeAlias = Literal["posterior", "likelihood"]
"""The function whose Hessian is A: the log posterior, or (as in the paper) the log-likelihood."""

LOG_2PI = math.log(2 * math.pi)
SINGULAR = 1e-9


def laplace_log_evidence(fit: Fit, curvature: Curvature = "posterior") -> float:
    """Return log p(D | m) ≈ L(φ̃) + log p(φ̃) + (d/2) log 2π − ½ log |A|.

    The middle term is *half* of d log 2π (errata E4). The paper takes the Hessian of the
    log-likelihood, which is singular if data do not determine a parameter. The Hessian of the
    posterior has the same order of error and is never singular under a proper prior.
    """
    if not fit.prior.is_proper:
        raise ParameterError(
            "there is no evidence under a flat prior (prior_scale=inf); use BIC, or fit with a "
            "finite prior_scale"
        )
    if curvature not in ("posterior", "likelihood"):
        raise ParameterError(f"curvature must be 'posterior' or 'likelihood', got {curvature!r}")
    factor = fit.curvature if curvature == "posterior" else _likelihood_factor(fit)
    log_joint = fit.log_likelihood + fit.prior.log_density(fit.design, fit.solution.phi)
    return log_joint + 0.5 * fit.design.dimension * LOG_2PI - 0.5 * factor.log_determinant


def with_log_evidence(fit: Fit) -> Fit:
    """Return the fit with its evidence, if the prior is proper and A is factored."""
    if fit.factor is None or not fit.prior.is_proper:
        return fit
    return replace(fit, log_evidence=laplace_log_evidence(fit))


def _likelihood_factor(fit: Fit) -> Cholesky:
    """Return the factor of the negative Hessian of the log-likelihood, as in eq. 8 of the paper.

    If the data do not determine every parameter, this Hessian is singular and eq. 8 has no value.
    An eigenvalue below 10⁻⁹ of the largest entry of A therefore raises an error.
    """
    if not isinstance(fit.curvature, Cholesky):
        raise ParameterError(
            "this fit has separate classes, so it has no Hessian of the log-likelihood; use "
            "curvature='posterior'"
        )
    lower = np.tril(fit.curvature.lower)
    whole = lower @ lower.T
    own = whole - np.diag(np.repeat(fit.prior.precision(fit.design), fit.design.n_outputs))
    rounding = SINGULAR * float(np.abs(whole).max(initial=0.0))
    n_flat = int(np.count_nonzero(np.linalg.eigvalsh(own) <= rounding))
    if n_flat:
        raise SingularHessianError(
            f"the data do not determine {n_flat} of {len(own)} parameters, so the Hessian of the "
            "log-likelihood is singular and eq. 8 with it has no value; use curvature='posterior'"
        )
    return Cholesky.of(own)
