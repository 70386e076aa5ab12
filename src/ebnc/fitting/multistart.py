"""Local maxima of the strict model, in θ, from many starts, and their summed evidence (§5).

The likelihood in θ has several maxima. The paper advises to find many of them and to sum their
contributions to p(D | m), by eq. 9 at maxima of the likelihood or by eq. 8 at those of the
posterior.

θ is redundant, so two maxima of the likelihood are distinct if their p(y|x) differ. Under a prior
maxima are points: two maxima of the posterior are distinct if their θ differ, even if their p(y|x)
agree. The sum is right if the maxima are far apart, and too large if they overlap.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ebnc.data.cases import Cases
from ebnc.errors import NoMaximumError, ParameterError
from ebnc.fitting.theta_likelihood import ThetaLikelihood, climb
from ebnc.fitting.theta_posterior import ThetaPosterior
from ebnc.parameters.embedded_network import EmbeddedNetwork
from ebnc.parameters.generic import generic_dimension
from ebnc.parameters.kappa import log_theta_of_factors
from ebnc.parameters.theta import random_theta
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

SAME = 1e-3
"""Two climbs reached the same maximum if their difference costs at most this many nats. The cost
ignores differences, however large, of p(y|x) or θ that hardly affect the data."""


@dataclass(frozen=True, eq=False)
class ThetaMaximum:
    """One local maximum.

    Attributes
    ----------
    network : EmbeddedNetwork
        The embedded network with this θ.
    log_likelihood : float
        ℓ at the maximum.
    n_starts : int
        Number of starts that led to it.
    log_evidence : float or None
        The logarithm of its contribution to p(D | m) by eq. 8; None for maxima of the likelihood.
    """

    network: EmbeddedNetwork
    log_likelihood: float
    n_starts: int
    log_evidence: float | None = None


@dataclass(frozen=True, eq=False)
class ThetaFit:
    """The distinct maxima, the highest first.

    Attributes
    ----------
    maxima : tuple of ThetaMaximum
        Each with its network, log-likelihood and contribution to the evidence.
    n_failed : int
        Number of starts that did not converge.
    n_cases : float
        N, the sum of the weights.
    alpha : float or None
        α of the Dirichlet prior; None for maxima of the likelihood.
    """

    maxima: tuple[ThetaMaximum, ...]
    n_failed: int
    n_cases: float
    alpha: float | None = None

    @property
    def network(self) -> EmbeddedNetwork:
        """The network of the highest maximum."""
        return self.maxima[0].network

    @property
    def log_likelihood(self) -> float:
        """ℓ at the highest maximum."""
        return self.maxima[0].log_likelihood

    def summed_bic(self, dimension: int | None = None, n_cases: float | None = None) -> float:
        """log Σ_maxima exp BIC, the paper's sum of contributions to p(D | m) with eq. 9.

        Parameters
        ----------
        dimension : int, optional
            d. Default: that of the strict model, ``generic_dimension``.
        n_cases : float, optional
            N. Default: that of the data.
        """
        if self.alpha is not None:
            raise ParameterError(
                "BIC needs maxima of the likelihood; fit without alpha, or use summed_log_evidence"
            )
        if dimension is None:
            dimension = generic_dimension(self.network.structure, self.network.domain)
        total = self.n_cases if n_cases is None else n_cases
        heights = [maximum.log_likelihood for maximum in self.maxima]
        return float(np.logaddexp.reduce(heights)) - 0.5 * dimension * math.log(total)

    @property
    def summed_log_evidence(self) -> float:
        """log Σ_maxima of the contributions to p(D | m) by eq. 8, under Dirichlet priors of θ."""
        if self.alpha is None:
            raise ParameterError("the evidence needs a prior; fit with alpha, or use summed_bic")
        summands = [m.log_evidence for m in self.maxima if m.log_evidence is not None]
        return float(np.logaddexp.reduce(summands))


def fit_theta_to_cases(
    structure: EmbeddedStructure,
    cases: Cases,
    *,
    alpha: float | None = None,
    n_starts: int = 10,
    random_state: int = 0,
) -> ThetaFit:
    """Climb from ``n_starts`` random θ and return the distinct maxima."""
    counted = cases.counted()
    counts = np.zeros((len(counted), cases.domain.n_states(structure.target)))
    weights = 1.0 if counted.weights is None else counted.weights
    counts[np.arange(len(counted)), counted.classes] = weights
    likelihood = ThetaLikelihood(structure, cases.domain, counted.rows, counts)
    generator = np.random.default_rng(random_state)
    starts = []
    for _ in range(n_starts):
        theta = random_theta(structure, cases.domain, generator)
        logs = log_theta_of_factors(structure, theta)
        starts.append(np.concatenate([table.ravel() for table in logs.values()]))
    if alpha is None:
        maxima, n_failed = _of_likelihood(likelihood, starts)
    else:
        maxima, n_failed = _of_posterior(ThetaPosterior(likelihood, alpha), starts)
    return ThetaFit(maxima, n_failed, cases.total_weight, alpha)


def _of_likelihood(
    likelihood: ThetaLikelihood, starts: Sequence[FloatArray]
) -> tuple[tuple[ThetaMaximum, ...], int]:
    climbs = [climb(likelihood, start) for start in starts]
    climbs.sort(key=lambda top: -top.value)
    logs = [likelihood.log_probabilities(top.logits) for top in climbs]

    def is_same(i: int, j: int) -> bool:
        """Σ_l n_l KL(p_l of i ‖ p_l of j)."""
        return float(np.sum(likelihood.totals * np.exp(logs[i]) * (logs[i] - logs[j]))) <= SAME

    maxima = tuple(
        ThetaMaximum(_network(likelihood, climbs[i].logits), climbs[i].value, n)
        for i, n in _distinct(len(climbs), is_same)
    )
    return maxima, sum(not top.converged for top in climbs)


def _of_posterior(
    posterior: ThetaPosterior, starts: Sequence[FloatArray]
) -> tuple[tuple[ThetaMaximum, ...], int]:
    from scipy.optimize import minimize

    def negative(u: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = posterior.value_and_gradient(u)
        return -value, -gradient

    tops: list[tuple[float, FloatArray, float]] = []
    for start in starts:
        # Newton's method in a trust region leaves saddle points and converges to rounding errors.
        end = minimize(
            negative,
            posterior.coordinates(start),
            jac=True,
            hess=posterior.neg_hessian,
            method="trust-exact",
            options={"gtol": 1e-7, "maxiter": 2_000},
        )
        # The last steps gain less than rounding errors, so the gradient decides on convergence.
        _, gradient = posterior.value_and_gradient(end.x)
        log_evidence = posterior.log_evidence_at(end.x)
        if np.abs(gradient).max(initial=0.0) < 1e-4 and math.isfinite(log_evidence):
            tops.append((-float(end.fun), end.x, log_evidence))
    if not tops:
        raise NoMaximumError(
            f"none of {len(starts)} starts led to a maximum of the posterior of θ; "
            "increase n_starts"
        )
    tops.sort(key=lambda top: -top[0])
    curvatures = [posterior.neg_hessian(u) for _, u, _ in tops]

    def is_same(i: int, j: int) -> bool:
        """½ (u − u′)ᵀ A (u − u′) with the A of j."""
        apart = tops[i][1] - tops[j][1]
        return float(0.5 * apart @ curvatures[j] @ apart) <= SAME

    likelihood = posterior.likelihood
    maxima = []
    for i, n in _distinct(len(tops), is_same):
        _, u, log_evidence = tops[i]
        logits = posterior.logits(u)
        value, _ = likelihood.value_and_gradient(logits)
        maxima.append(ThetaMaximum(_network(likelihood, logits), value, n, log_evidence))
    return tuple(maxima), len(starts) - len(tops)


def _distinct(n: int, is_same: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """Group 0 … n − 1 by ``is_same``; return the first member and the size of every group."""
    sizes: dict[int, int] = {}
    for i in range(n):
        like = next((first for first in sizes if is_same(i, first)), i)
        sizes[like] = sizes.get(like, 0) + 1
    return list(sizes.items())


def _network(likelihood: ThetaLikelihood, logits: FloatArray) -> EmbeddedNetwork:
    return EmbeddedNetwork(likelihood.structure, likelihood.domain, likelihood.theta(logits))
