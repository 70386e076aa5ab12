"""A fast fit of the naive EBNC of a binary variable, with all predecessors as main effects.

    λ(x) = b + Σ_j w_j x_j,     x_j the indicator of parent j's rarer state

The prior is that of all EBNCs: with φ the orthonormal coordinates (±1 for both states),
w_j = ±4 φ_j and b + ½ Σ w_j = 2 φ_0, so that φ_j ~ N(0, σ²), φ_0 ~ N(0, s₀²) has the precision

    P = diag(0, 1/16σ², …) + vvᵀ/4s₀²,     v = (1, ½, …, ½)

Evidence chooses σ by MacKay's (1992) fixed point: at the maximum σ² = |φ|²/γ, where
γ = d − tr(A⁻¹)/σ² is the number of well-determined parameters. The dependence of log |A| on φ̃ is
neglected, which saves about one Hessian per step. The hyperprior and the steps are those of
``score.scales``.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from ebnc.errors import SingularHessianError
from ebnc.kernels.indicators import logistic_terms
from ebnc.likelihood.prior import INTERCEPT_SCALE
from ebnc.network.learning.indicators import Indicators
from ebnc.score.scales import HYPER_MEAN, LEAST_FORCE
from ebnc.typing import FloatArray

ROUGH, FINE = 1e-2, 1e-8  # final Newton decrements, in nats: while σ changes, and at the end
ENOUGH = 0.02  # predicted gain in evidence, in nats, below which σ is final
MOST_ROUNDS, MOST_STEPS, MOST_HALVINGS = 20, 100, 40
LONGEST_STEP = 1.0  # in log σ


@dataclass(frozen=True, eq=False)
class DenseFit:
    """b and w on indicators of *state 1* (the coding ``indicator``), σ, and the evidence."""

    phi: FloatArray
    scale: float
    log_evidence: float
    log_hyperprior: float

    @property
    def score(self) -> float:
        """The score to compare with other kinds of nodes."""
        return self.log_evidence + self.log_hyperprior


class _Prior:
    """P and log |P| for d parents and one σ."""

    def __init__(self, d: int, scale: float) -> None:
        self.parents = 1.0 / (16.0 * scale**2)
        self.intercept = 1.0 / (4.0 * INTERCEPT_SCALE**2)
        # log |P| = log |P_φ| + 2 log |∂φ/∂(b, w)|
        own = -2.0 * math.log(2.0 * INTERCEPT_SCALE)
        self.log_determinant = own - 2.0 * d * math.log(4.0 * scale)

    def times(self, beta: FloatArray) -> FloatArray:
        product = self.parents * beta
        product[0] = 0.0
        level = self.intercept * (beta[0] + 0.5 * beta[1:].sum())
        product += 0.5 * level
        product[0] += 0.5 * level
        return product

    def add_to(self, lower: FloatArray) -> None:
        lower += 0.25 * self.intercept
        lower[:, 0] += 0.25 * self.intercept
        lower[0, :] += 0.25 * self.intercept
        diagonal = np.einsum("ii->i", lower)
        diagonal[1:] += self.parents


@dataclass(eq=False)
class _Iterate:
    """One iterate of Newton's method: β = (b, w) and the row sums at β."""

    beta: FloatArray
    log_odds: FloatArray
    residual: FloatArray
    information: FloatArray
    likelihood: float


def fit_dense_node(data: Indicators, d: int, scale: float = math.exp(HYPER_MEAN)) -> DenseFit:
    """Fit variable d of ``data`` given the d before it; ``scale``: the first σ."""
    classes = data.states[d].astype(np.float64)
    share = (float(classes @ data.counts) + 0.5) / (float(data.counts.sum()) + 1.0)
    beta = np.zeros(d + 1)
    beta[0] = math.log(share / (1.0 - share))
    here = _iterate_at(data, classes, beta, data.log_odds(beta))
    log_scale = math.log(scale)
    for _ in range(MOST_ROUNDS if d else 0):
        prior = _Prior(d, math.exp(log_scale))
        here, factor = _climb(data, classes, here, prior, ROUGH)
        inverse, info = dpotri(factor, lower=1)
        assert info == 0
        determined = d - prior.parents * float(np.diagonal(inverse)[1:].sum())
        pull = prior.parents * float(here.beta[1:] @ here.beta[1:])
        hyper = log_scale - HYPER_MEAN
        raising = max(pull + max(-hyper, 0.0), LEAST_FORCE)
        lowering = max(determined + max(hyper, 0.0), LEAST_FORCE)
        step = 0.5 * math.log(raising / lowering)
        if 0.5 * (raising - lowering) * step < ENOUGH:
            break
        log_scale += min(LONGEST_STEP, max(-LONGEST_STEP, step))
    prior = _Prior(d, math.exp(log_scale))
    here, factor = _climb(data, classes, here, prior, FINE)
    quadratic = float(here.beta @ prior.times(here.beta))
    log_root = float(np.log(np.diagonal(factor)).sum())
    evidence = here.likelihood - 0.5 * quadratic + 0.5 * prior.log_determinant - log_root
    hyper = -0.5 * (log_scale - HYPER_MEAN) ** 2 if d else 0.0
    return DenseFit(_to_state_one(here.beta, data.rare), math.exp(log_scale), evidence, hyper)


def _iterate_at(
    data: Indicators, classes: FloatArray, beta: FloatArray, log_odds: FloatArray
) -> _Iterate:
    residual, information = np.empty_like(log_odds), np.empty_like(log_odds)
    likelihood = logistic_terms(log_odds, classes, data.counts, residual, information)
    return _Iterate(beta, log_odds, residual, information, likelihood)


def _climb(
    data: Indicators, classes: FloatArray, here: _Iterate, prior: _Prior, tolerance: float
) -> tuple[_Iterate, FloatArray]:
    """Run Newton's method to a decrement below ``tolerance``; also return the last factor of A."""
    d = len(here.beta) - 1
    for _ in range(MOST_STEPS):
        gradient = data.add_up(here.residual, d) - prior.times(here.beta)
        hessian = data.cross_products(here.information, d)
        prior.add_to(hessian)
        factor, info = dpotrf(hessian, lower=1, clean=0)
        if info:
            raise SingularHessianError(
                f"the negative Hessian of {data.names[d]!r} given {d} parents is not positive "
                "definite"
            )
        step, _ = dpotrs(factor, gradient, lower=1)
        slope = float(gradient @ step)
        value = here.likelihood - 0.5 * float(here.beta @ prior.times(here.beta))
        if slope < 2.0 * max(tolerance, 1e-13 * abs(value)):
            beta = here.beta + step
            return _iterate_at(data, classes, beta, data.log_odds(beta)), factor
        ahead = data.log_odds(step)
        length = 1.0
        for _ in range(MOST_HALVINGS):
            beta = here.beta + length * step
            there = _iterate_at(data, classes, beta, here.log_odds + length * ahead)
            gained = there.likelihood - 0.5 * float(beta @ prior.times(beta)) - value
            if gained >= 1e-4 * length * slope:
                break
            length *= 0.5
        here = there
    return here, factor


def _to_state_one(beta: FloatArray, rare: tuple[int, ...]) -> FloatArray:
    """Convert indicators of rarer states to indicators of state 1: w (1 − x) = w − w x."""
    flipped = np.array(rare[: len(beta) - 1]) == 0
    phi = beta.copy()
    phi[0] += beta[1:][flipped].sum()
    phi[1:][flipped] *= -1.0
    return phi
