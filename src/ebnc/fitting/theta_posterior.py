"""Posterior of θ under Dirichlet priors, with its Hessian, for eq. 8 at a local maximum.

    log p(D, u) = ℓ(θ(u)) + Σ_g [ log Γ(r α) − r log Γ(α) + α Σ_s log θ_gs ]

g runs over the distributions in θ, one for each configuration of a variable's parents in m′, with r
states each; all are Dirichlet(α, …, α), independent. u are log-ratio coordinates, which are free:

    u_gs = log θ_gs / θ_g0,  s = 1 … r − 1,       |∂θ_g/∂u_g| = Π_s θ_gs.

The Jacobian turns the exponents α − 1 of the density of θ into the α above, so every maximum in u
is interior for all α > 0. Laplace's approximation does not depend on the choice of the baseline
state, which changes u by a linear map of determinant ±1. θ whose terms cancel (eq. 4) integrate
to 1.

θ is redundant: along directions that change no p(y|x) the posterior has the width of the prior, so
the error of Laplace's approximation there, some tenths of a nat, does not vanish with more data.
"""

import math

import numpy as np
from scipy.special import gammaln

from ebnc.errors import ParameterError
from ebnc.fitting.theta_likelihood import ThetaLikelihood
from ebnc.memory import refuse_if_too_large
from ebnc.typing import FloatArray, IntArray

LOG_2PI = math.log(2 * math.pi)


class ThetaPosterior:
    """log p(D, u), gradient and negative Hessian as functions of the concatenated u_g."""

    def __init__(self, likelihood: ThetaLikelihood, alpha: float) -> None:
        if not (isinstance(alpha, int | float) and 0 < alpha < math.inf):
            raise ParameterError(f"alpha must be a positive number, got {alpha!r}")
        self.likelihood, self.alpha = likelihood, float(alpha)
        size = likelihood.size
        refuse_if_too_large(24 * size**2, f"the Hessian of {size} probabilities θ", "use ebnc.fit")
        self._groups = _groups(likelihood)
        self._first = np.unique(self._groups, return_index=True)[1]
        self.free = np.setdiff1d(np.arange(size), self._first)  # the logits that are coordinates u
        self._sizes = np.bincount(self._groups)  # r of every distribution
        constants = gammaln(self._sizes * self.alpha) - self._sizes * gammaln(self.alpha)
        self._log_constant = float(np.sum(constants))

    def logits(self, u: FloatArray) -> FloatArray:
        """u with a 0 for the first state of every distribution."""
        full = np.zeros(self.likelihood.size)
        full[self.free] = u
        return full

    def coordinates(self, logits: FloatArray) -> FloatArray:
        """u of any logits: their differences from the logits of the first states."""
        return np.asarray((logits - logits[self._first][self._groups])[self.free])

    def value_and_gradient(self, u: FloatArray) -> tuple[float, FloatArray]:
        """log p(D, u), the prior's constant included, and its gradient."""
        logits = self.logits(u)
        value, gradient = self.likelihood.value_and_gradient(logits)
        log_theta = self.likelihood.log_theta(logits)
        value += self._log_constant + self.alpha * float(log_theta.sum())
        gradient = gradient + self.alpha * (1 - self._sizes[self._groups] * np.exp(log_theta))
        return value, gradient[self.free]

    def neg_hessian(self, u: FloatArray) -> FloatArray:
        """A, minus the second derivatives in u.

        With v = log θ and J = ∂v/∂logits = I − 1 θᵀ in each distribution,

            A = Jᵀ (−∂²ℓ/∂v²) J + Σ_g (Σ_s ∂ℓ/∂v_gs + r α)(diag θ_g − θ_g θ_gᵀ).
        """
        logits, groups = self.logits(u), self._groups
        theta = np.exp(self.likelihood.log_theta(logits))
        slope, curvature = self.likelihood.derivatives_in_log_theta(logits)
        same = groups[:, None] == groups
        jacobian = np.eye(len(theta)) - same * theta
        pull = np.bincount(groups, slope) + self._sizes * self.alpha
        spread = (pull[groups] * theta)[:, None] * jacobian
        whole = jacobian.T @ curvature @ jacobian + spread
        return np.asarray(whole[np.ix_(self.free, self.free)])

    def log_evidence_at(self, u: FloatArray) -> float:
        """Log of the contribution of a maximum at u to p(D | m), eq. 8.

        It is −∞ if A is not positive definite, because then u is not a maximum.
        """
        sign, log_determinant = np.linalg.slogdet(self.neg_hessian(u))
        if sign <= 0:
            return -math.inf
        value, _ = self.value_and_gradient(u)
        return float(value + 0.5 * len(u) * LOG_2PI - 0.5 * log_determinant)


def _groups(likelihood: ThetaLikelihood) -> IntArray:
    """For every logit the number of its distribution."""
    groups, n_groups = [], 0
    for shape, axis in zip(likelihood.shapes, likelihood.axes, strict=True):
        kept = list(shape)
        kept[axis] = 1
        numbers = n_groups + np.arange(math.prod(kept)).reshape(kept)
        groups.append(np.broadcast_to(numbers, shape).ravel())
        n_groups += math.prod(kept)
    return np.concatenate(groups)
