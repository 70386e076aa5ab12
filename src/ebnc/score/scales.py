"""Scales of the prior by evidence: σ of each order where Laplace evidence is largest.

    maximise over ρ = log σ:   log p(D | m, σ) + log hyperprior(ρ),     ρ_s ~ N(log ½, 1)

by quasi-Newton steps with the exact gradient

    dE/dρ_s = τ|φ_s|² − d_s + τ tr (A⁻¹)_ss − ½ ∂_v log |A|
    v = dφ̃/dρ_s = A⁻¹ (2τ φ_s),     τ = 1/σ²

where the last term, the movement of the optimum, is a central difference of two Hessians, or from
the exact gradient of log |A| where that costs less.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ebnc.fitting.metric import Factor
from ebnc.fitting.optimum import Optimum, find_optimum
from ebnc.fitting.solution import Solution
from ebnc.kernels.parallel import one_blas_thread
from ebnc.likelihood.counts import CellCounts
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.score.laplace import laplace_log_evidence, log_joint
from ebnc.score.posterior_mean import log_determinant_gradient
from ebnc.score.row_covariance import MOST_COLLECTED
from ebnc.typing import FloatArray

__all__ = ["HYPER_MEAN", "HYPER_SPREAD", "EvidenceFit", "maximise_evidence"]

HYPER_MEAN, HYPER_SPREAD = math.log(0.5), 1.0
MOST_ROUNDS = 50
FEW_PARAMETERS = 300
LONGEST_STEP = 1.5  # in log σ: a factor of 4.5


@dataclass(frozen=True, eq=False)
class EvidenceFit:
    """The posterior under the best scales, its optimum, the factor of A there, and the evidence."""

    posterior: Posterior
    solution: Solution
    factor: Factor
    log_evidence: float
    log_hyperprior: float
    n_fits: int

    @property
    def total(self) -> float:
        """What was maximised: evidence plus the hyperprior of the scales (its mode counts 0)."""
        return self.log_evidence + self.log_hyperprior


@one_blas_thread()
def maximise_evidence(
    posterior: Posterior,
    tolerance: float = 1e-3,
    *,
    scales: Sequence[float] = (),
    start: FloatArray | Optimum | None = None,
) -> EvidenceFit:
    """Fit φ and the prior's scales together; the prior of ``posterior`` is not used.

    ``scales``, one for each order as far as they are known, and ``start``, a φ, to begin with; or
    the optimum with these scales of the same likelihood.
    ``tolerance``: predicted gain, in nats, at which to stop. Every fit starts at the tangent
    prediction φ̃ + v Δρ. The curvature to begin with is 2γ_s + 1, where γ_s = d_s − τ tr (A⁻¹)_ss is
    the number of well-determined parameters (MacKay 1992).
    """
    n_orders = int(posterior.design.order_of_interaction.max())
    if n_orders == 0:
        prior = NormalPrior((math.exp(HYPER_MEAN),))
        return _Place.at(posterior.with_prior(prior), np.empty(0), None, None).as_fit(1)
    rho = np.full(n_orders, HYPER_MEAN)
    known = np.log(np.array(scales[:n_orders], dtype=np.float64))
    rho[: len(known)] = known
    if isinstance(start, Optimum) and len(known) == n_orders:
        here = _Place.of(Optimum(posterior.with_prior(start.posterior.prior), *start[1:]), rho)
    else:
        phi = start.solution.phi if isinstance(start, Optimum) else start
        here = _Place.at(posterior, rho, phi, None)
    n_fits = 1
    inverse_curvature = np.diag(1.0 / here.curvature)
    for _ in range(MOST_ROUNDS):
        step = inverse_curvature @ here.gradient
        if 0.5 * float(step @ here.gradient) <= tolerance:
            break
        step *= min(1.0, LONGEST_STEP / float(np.abs(step).max()))
        there = None
        for _ in range(10):
            trial = _Place.at(posterior, here.rho + step, here.predicted(step), here.factor)
            n_fits += 1
            if trial.total >= here.total + 1e-4 * float(step @ here.gradient):
                there = trial
                break
            step *= 0.5
        if there is None:
            break
        bend = here.gradient - there.gradient
        inverse_curvature = _bfgs(inverse_curvature, step, bend)
        here = there
    return here.as_fit(n_fits)


@dataclass(frozen=True, eq=False)
class _Place:
    """Evidence, its gradient and what goes with them at one ρ."""

    rho: FloatArray
    posterior: Posterior
    solution: Solution
    factor: Factor
    log_evidence: float
    total: float
    gradient: FloatArray
    curvature: FloatArray
    tangents: list[FloatArray]

    @classmethod
    def at(
        cls,
        likelihood: Posterior,
        rho: FloatArray,
        start: FloatArray | None,
        metric: Factor | None,
    ) -> "_Place":
        """A fit there; without orders, with the scales of the likelihood's prior."""
        scales = tuple(np.exp(rho).tolist()) or likelihood.prior.scales
        return cls.of(find_optimum(likelihood.with_prior(NormalPrior(scales)), start, metric), rho)

    @classmethod
    def of(cls, optimum: Optimum, rho: FloatArray) -> "_Place":
        """What belongs to a fit."""
        posterior, solution, factor = optimum
        scales = posterior.prior.scales
        log_evidence = laplace_log_evidence(log_joint(posterior, solution.phi), factor)
        shape = solution.phi.shape
        inverse_diagonal = (factor.inverse_root() ** 2).sum(axis=1).reshape(shape)
        slope = _log_determinant_slopes(optimum, len(rho))
        gradient, determined = np.empty(len(rho)), np.empty(len(rho))
        tangents = []
        for s in range(len(rho)):
            members = posterior.design.order_of_interaction == s + 1
            tau, phi = scales[s] ** -2, solution.phi[members]
            pull = np.zeros(shape)
            pull[members] = 2.0 * tau * phi
            tangent = factor.solve(pull)
            tangents.append(tangent)
            determined[s] = phi.size - tau * float(inverse_diagonal[members].sum())
            movement = slope(tangent)
            gradient[s] = tau * float((phi**2).sum()) - determined[s] - 0.5 * movement
        z = (rho - HYPER_MEAN) / HYPER_SPREAD
        return cls(
            rho,
            posterior,
            solution,
            factor,
            log_evidence,
            log_evidence - 0.5 * float(z @ z),
            gradient - z / HYPER_SPREAD,
            2.0 * determined + HYPER_SPREAD**-2,
            tangents,
        )

    def predicted(self, step: FloatArray) -> FloatArray:
        """φ̃ at ρ + step, to first order."""
        moved = self.solution.phi.copy()
        for length, tangent in zip(step.tolist(), self.tangents, strict=True):
            moved += length * tangent
        return moved

    def as_fit(self, n_fits: int) -> EvidenceFit:
        hyper = self.total - self.log_evidence
        what = (self.posterior, self.solution, self.factor, self.log_evidence)
        return EvidenceFit(*what, hyper, n_fits)


def _log_determinant_slopes(optimum: Optimum, n_wanted: int) -> Callable[[FloatArray], float]:
    """∂_v log |A| as a function of v, by the cheaper way for so many v."""
    posterior = optimum.posterior
    exact_price = 0.1 * posterior.data.n_rows * posterior.design.dimension**2
    at_hand = isinstance(posterior.data, CellCounts) or posterior.data.n_rows <= MOST_COLLECTED
    # Few parameters go one way always: the two differ by rounding, which parts of the same data,
    # with other numbers of distinct rows, must not see.
    large = posterior.design.dimension > FEW_PARAMETERS
    if at_hand and large and exact_price < 2 * n_wanted * posterior.hessian_price:
        gradient = log_determinant_gradient(optimum, posterior.data.n_rows)
        return lambda tangent: float(np.vdot(gradient, tangent))
    return lambda tangent: _log_determinant_slope(posterior, optimum.solution.phi, tangent)


def _log_determinant_slope(posterior: Posterior, phi: FloatArray, tangent: FloatArray) -> float:
    """∂_v log |A| by a central difference."""
    largest = float(np.abs(tangent).max())
    if largest == 0.0:
        return 0.0
    h = 1e-3 / max(1.0, largest)
    ahead, behind = (
        Factor.of(posterior.upper_neg_hessian(phi + sign * h * tangent)).log_determinant
        for sign in (1, -1)
    )
    return (ahead - behind) / (2 * h)


def _bfgs(inverse: FloatArray, step: FloatArray, bend: FloatArray) -> FloatArray:
    """The BFGS update of an inverse curvature; unchanged where the bend has the wrong sign."""
    product = float(bend @ step)
    if product <= 0.0:
        return inverse
    left = np.eye(len(step)) - np.outer(step, bend) / product
    return np.asarray(left @ inverse @ left.T + np.outer(step, step) / product)
