"""Laplace approximation of the marginal likelihood of one local model, one summand of eq. 8."""

import math
from typing import Literal, TypeAlias

import numpy as np

from ebnc.errors import ParameterError, SingularHessianError
from ebnc.fitting.cholesky import Cholesky
from ebnc.likelihood.posterior import Posterior
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray

__all__ = [
    "Curvature",
    "curvature_at",
    "laplace_log_evidence",
    "likelihood_factor",
    "log_joint",
]

Curvature: TypeAlias = Literal["posterior", "likelihood"]
"""Whose Hessian A is: that of the log posterior, or, as in the paper, of the log-likelihood."""

LOG_2PI = math.log(2 * math.pi)
SINGULAR = 1e-9


def laplace_log_evidence(log_joint: float, factor: Cholesky) -> float:
    """log p(D | m) ≈ log p(D, φ̃ | m) + (d/2) log 2π − ½ log |A|.

    ``log_joint``: log prior plus log-likelihood at φ̃, normalising constants included.
    ``factor``: of A, the negative Hessian there. The middle term is *half* of d log 2π (errata E4).
    """
    dimension = int(factor.lower.shape[0])
    return log_joint + 0.5 * dimension * LOG_2PI - 0.5 * factor.log_determinant


def log_joint(posterior: Posterior, phi: FloatArray) -> float:
    """log p(D, φ | m) = log-likelihood + log prior density; needs a proper prior."""
    if not posterior.prior.is_proper:
        raise ParameterError(
            "there is no evidence under a flat prior (infinite prior_scale): use a finite "
            "prior_scale, or score with BIC"
        )
    return posterior.log_likelihood(phi) + posterior.prior.log_density(posterior.design, phi)


def likelihood_factor(factor: Cholesky, precision: FloatArray) -> Cholesky:
    """The factor of the negative Hessian of the log-likelihood alone, the paper's choice in eq. 8.

    Parameters
    ----------
    factor : Cholesky
        Of A, the prior included.
    precision : FloatArray
        The diagonal that the prior added to A.

    Where the data do not determine every parameter this Hessian is singular, and eq. 8 as printed
    has no value. That is refused: an eigenvalue of less than 10⁻⁹ of the largest entry of A.
    """
    lower = np.tril(factor.lower)
    whole = lower @ lower.T
    own = whole - np.diag(precision)
    rounding = SINGULAR * float(np.abs(whole).max(initial=0.0))
    n_flat = int(np.count_nonzero(np.linalg.eigvalsh(own) <= rounding))
    if n_flat:
        raise SingularHessianError(
            f"the data do not determine {n_flat} of {len(own)} parameters, so the Hessian of the "
            "log-likelihood is singular and eq. 8 with it has no value; use curvature='posterior'"
        )
    return Cholesky.of(own)


@one_blas_thread()
def curvature_at(posterior: Posterior, phi: FloatArray) -> Cholesky:
    """The factor of A at φ, minus the Hessian of the log posterior.

    The paper takes the Hessian of the log-likelihood, which is singular where data do not determine
    a parameter; the posterior's has the same order of error and never is, under a proper prior.
    """
    return Cholesky.of(posterior.upper_neg_hessian(phi))
