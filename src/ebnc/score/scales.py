"""Scales of the prior by evidence: the σ of each order that maximises Laplace's evidence.

    maximise over ρ = log σ:   E(ρ) = log p(D | m, σ) − ½ Σ_s z_s²,     z_s = ρ_s − μ

ρ_s ~ N(μ, 1) with μ = log ½ is the hyperprior for terms of s = 1, 2, … inputs.

The gradient of E is exact:

    dE/dρ_s = τ|φ_s|² − d_s + τ tr (A⁻¹)_ss − ½ ∂_v log |A| − z_s
    v = dφ̃/dρ_s = A⁻¹ (2τ φ_s)

where the term with ∂_v comes from the movement of the optimum. The positive terms, mainly τ|φ_s|²,
fall like τ, and the negative ones hardly change. So the logarithm of their ratio, the *imbalance*,
is nearly linear in ρ with a slope of −2 (a step with this slope is MacKay's (1992) fixed point),
and quasi-Newton steps use it.

MacKay neglects ∂_v log |A|. His fixed point has smaller scales than the maximum of E if parameters
are many for the data, and there E is too optimistic: on ``tmovie`` (500 binary variables, 4 524
rows) the dense network at the maximum has 700 nats more, and loses 0.4 nats per test row.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ebnc.fitting.cholesky import Factor
from ebnc.fitting.fit import Fit
from ebnc.fitting.optimum import find_optimum
from ebnc.fitting.solve import solve_exactly
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.phi import WEAK
from ebnc.score.laplace import laplace_log_evidence
from ebnc.score.log_determinant import log_determinant_gradient
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray

HYPER_MEAN = math.log(0.5)
MOST_ROUNDS = 50
LONGEST_STEP = 1.5  # in log σ: a factor of 4.5
FEW_CASES = 200  # up to this N, several maxima were observed
OTHER_STARTS = (0.08, 3.0)  # further starts: σ of the first order
TANGENT = 1e-3  # relative error of dφ̃/dρ, if A is not factored as a whole
NEARLY = 1e-6  # nats: φ̃ at MacKay's scales, before its last Newton step
LEAST_FORCE = 1e-9  # lower bound, in nats, of the sums of positive and of negative terms


def log_hyperprior(design: Design, prior: NormalPrior) -> float:
    """Return −½ Σ_s z_s² over the groups of a design; 0 at the hyperprior's mode."""
    z = np.log([prior.scale_of(s) for s in design.scale_groups]) - HYPER_MEAN
    return -0.5 * float(z @ z)


def maximise_evidence(
    posterior: Posterior,
    tolerance: float = 1e-3,
    *,
    near: NormalPrior | None = None,
    start: FloatArray | Fit | None = None,
    fixed_curvature: bool = False,
) -> Fit:
    """Fit φ and the prior's scales together; the prior of ``posterior`` is not used.

    ``log_evidence`` of the fit is the maximum E(ρ̂). Every fit starts at the tangent prediction
    φ̃ + v Δρ. Without ``near``, small data are fitted from several starts.

    ``tolerance``: predicted gain, in nats, at which to stop. ``near``: the first scales, for the
    orders that it has. ``start``: the first φ, or the fit of the same likelihood under ``near``.
    ``fixed_curvature``: end at MacKay's fixed point instead of the maximum.
    """
    n_orders = posterior.design.max_order
    if fixed_curvature and n_orders:
        return _fixed_point(posterior, tolerance, near)
    first = _climb(posterior, tolerance, near, start)
    if near is not None or n_orders == 0 or posterior.data.n_cases > FEW_CASES:
        return first
    # On small data evidence may have several maxima, and a saddle point at equal scales.
    ladders = [np.arange(1.0, n_orders + 1.0), np.arange(n_orders, 0.0, -1.0)]
    begins = [NormalPrior(tuple(scale / ladder)) for scale in OTHER_STARTS for ladder in ladders]
    if n_orders == 1:
        begins = begins[::2]
    others = [_climb(posterior, tolerance, begin, None) for begin in begins]
    best = max([first, *others], key=_evidence)
    return replace(best, n_fits=sum(fit.n_fits for fit in (first, *others)))


def _evidence(fit: Fit) -> float:
    assert fit.log_evidence is not None  # ``_climb`` always sets it
    return fit.log_evidence


@one_blas_thread()
def _climb(
    posterior: Posterior,
    tolerance: float,
    near: NormalPrior | None,
    start: FloatArray | Fit | None,
) -> Fit:
    """Return the maximum of E that is reached from ``near``."""
    groups = posterior.design.scale_groups
    if not groups:
        prior = NormalPrior((math.exp(HYPER_MEAN),))
        return _FitAtScales.at(posterior.with_prior(prior), np.empty(0), None, None).as_fit(1)
    rho = _first_scales(groups, near)
    n_known = 0 if near is None else len(near.scales)
    if isinstance(start, Fit) and near is not None and n_known >= posterior.design.max_order:
        here = _FitAtScales.of(posterior, start, rho)
    else:
        phi = start.solution.phi if isinstance(start, Fit) else start
        here = _FitAtScales.at(posterior, rho, phi, None)
    n_fits = 1
    inverse_curvature = np.diag(0.5 / here.mean_force)
    for _ in range(MOST_ROUNDS):
        step = inverse_curvature @ here.gradient
        if 0.5 * float(step @ here.gradient) <= tolerance:
            break
        step *= min(1.0, LONGEST_STEP / float(np.abs(step).max()))
        there = None
        for _ in range(10):
            trial = _FitAtScales.at(
                posterior, here.rho + step, here.predicted(step), here.fit.factor
            )
            n_fits += 1
            if trial.total >= here.total + 1e-4 * float(step @ here.gradient):
                there = trial
                break
            step *= 0.5
        if there is None:
            break
        # The change of the gradient if both points had the mean force of the new one.
        bend = there.mean_force * (here.imbalance - there.imbalance)
        inverse_curvature = _bfgs(inverse_curvature, step, bend)
        here = there
    return here.as_fit(n_fits)


@one_blas_thread()
def _fixed_point(posterior: Posterior, tolerance: float, near: NormalPrior | None) -> Fit:
    """Return the fit at MacKay's fixed point, to a predicted gain of ``tolerance``."""
    rho = _first_scales(posterior.design.scale_groups, near)
    here = _FitAtScales.at(posterior, rho, None, None, fixed_curvature=True)
    n_fits = 1
    while n_fits < MOST_ROUNDS:
        step = np.clip(0.5 * here.imbalance, -LONGEST_STEP, LONGEST_STEP)
        if 0.5 * float(step @ here.gradient) <= tolerance:
            break
        start, metric = here.predicted(step), here.fit.factor
        here = _FitAtScales.at(posterior, here.rho + step, start, metric, fixed_curvature=True)
        n_fits += 1
    return here.as_fit(n_fits)


def _first_scales(groups: Sequence[int], near: NormalPrior | None) -> FloatArray:
    """Return ρ of the groups: those of ``near``, which may have fewer orders, or μ."""
    n_known = 0 if near is None else len(near.scales)
    rho = np.full(len(groups), HYPER_MEAN)
    for i, group in enumerate(groups):
        if group == WEAK or group <= n_known:
            rho[i] = math.log((near or NormalPrior(())).scale_of(group))
    return rho


@dataclass(frozen=True, eq=False)
class _FitAtScales:
    """One ρ with its fit, evidence, gradient and tangents.

    ``raising``, ``lowering``: the sums of the positive and of the negative terms of dE/dρ.
    """

    rho: FloatArray
    fit: Fit
    total: float
    raising: FloatArray
    lowering: FloatArray
    tangents: list[FloatArray]

    @classmethod
    def at(
        cls,
        likelihood: Posterior,
        rho: FloatArray,
        start: FloatArray | None,
        metric: Factor | None,
        *,
        fixed_curvature: bool = False,
    ) -> "_FitAtScales":
        """Fit at ρ; if ρ is empty, with the scales of the likelihood's prior."""
        scales = tuple(np.exp(rho).tolist()) or likelihood.prior.scales
        posterior = likelihood.with_prior(
            NormalPrior.of_groups(likelihood.design.scale_groups, scales)
        )
        tolerance = NEARLY if fixed_curvature else 1e-12  # E has to be smooth, a fixed point not
        fit = find_optimum(posterior, start, metric, tolerance)
        return cls.of(posterior, fit, rho, fixed_curvature)

    @classmethod
    def of(
        cls, likelihood: Posterior, fit: Fit, rho: FloatArray, fixed_curvature: bool = False
    ) -> "_FitAtScales":
        """Compute evidence, gradient and tangents of a fit at ρ."""
        posterior, factor = likelihood.with_prior(fit.prior), fit.curvature
        shape = fit.solution.phi.shape
        inverse_diagonal = factor.variances().reshape(shape)
        log_det_gradient = np.zeros(shape)
        if not fixed_curvature:
            log_det_gradient = log_determinant_gradient(likelihood, fit)
        raising, lowering = np.empty(len(rho)), np.empty(len(rho))
        tangents = []
        for s, group in enumerate(fit.design.scale_groups[: len(rho)]):
            members = fit.design.groups == group
            tau, phi = math.exp(-2.0 * rho[s]), fit.solution.phi[members]
            pull = np.zeros(shape)
            pull[members] = 2.0 * tau * phi
            tangent = solve_exactly(posterior, fit.solution.phi, factor, pull, TANGENT)
            tangents.append(tangent)
            movement = 0.5 * float(np.vdot(log_det_gradient, tangent))
            raising[s] = tau * float((phi**2).sum()) + max(-movement, 0.0)
            determined = phi.size - tau * float(inverse_diagonal[members].sum())
            lowering[s] = determined + max(movement, 0.0)
        z = rho - HYPER_MEAN
        raising += np.maximum(-z, 0.0)
        lowering += np.maximum(z, 0.0)
        return cls(
            rho,
            fit,
            laplace_log_evidence(fit) - 0.5 * float(z @ z),
            np.maximum(raising, LEAST_FORCE),
            np.maximum(lowering, LEAST_FORCE),
            tangents,
        )

    @property
    def gradient(self) -> FloatArray:
        """dE/dρ."""
        return self.raising - self.lowering

    @property
    def imbalance(self) -> FloatArray:
        """log(raising / lowering)."""
        return np.asarray(np.log(self.raising / self.lowering))

    @property
    def mean_force(self) -> FloatArray:
        """The logarithmic mean of raising and lowering: gradient / imbalance."""
        even = np.abs(self.imbalance) < 1e-6
        ratio = self.gradient / np.where(even, 1.0, self.imbalance)
        return np.asarray(np.where(even, self.raising, ratio))

    def predicted(self, step: FloatArray) -> FloatArray:
        """Predict φ̃ at ρ + step, to first order."""
        moved = self.fit.solution.phi.copy()
        for length, tangent in zip(step.tolist(), self.tangents, strict=True):
            moved += length * tangent
        return moved

    def as_fit(self, n_fits: int) -> Fit:
        """Return the fit with E(ρ) as its evidence."""
        return replace(self.fit, log_evidence=self.total, n_fits=n_fits)


def _bfgs(inverse: FloatArray, step: FloatArray, bend: FloatArray) -> FloatArray:
    """Return the BFGS update of an inverse curvature; unchanged if bend · step ≤ 0."""
    product = float(bend @ step)
    if product <= 0.0:
        return inverse
    left = np.eye(len(step)) - np.outer(step, bend) / product
    return np.asarray(left @ inverse @ left.T + np.outer(step, step) / product)
