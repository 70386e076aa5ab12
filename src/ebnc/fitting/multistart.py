"""Maximum likelihood of the strict model, in θ, from many starts (§5).

In θ the likelihood has several maxima. The paper's advice: find many of them and sum their
contributions to p(D | m). Maxima are told apart by the p(y|x) they give, not by θ, which is
redundant.
"""

from dataclasses import dataclass

import numpy as np

from ebnc.data.cases import Cases
from ebnc.parameters.closest_theta import climb
from ebnc.parameters.embedded_network import EmbeddedNetwork
from ebnc.parameters.theta import random_theta
from ebnc.parameters.theta_likelihood import ThetaLikelihood
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

__all__ = ["ThetaFit", "ThetaMaximum", "fit_theta_to_cases"]

SAME = 1e-3  # largest difference of fitted probabilities between climbs to one maximum


@dataclass(frozen=True, eq=False)
class ThetaMaximum:
    """One local maximum: its network, log-likelihood, and how many of the starts led to it."""

    network: EmbeddedNetwork
    log_likelihood: float
    n_starts: int


@dataclass(frozen=True, eq=False)
class ThetaFit:
    """The distinct maxima found, the highest first. ``n_failed``: starts that did not converge."""

    maxima: tuple[ThetaMaximum, ...]
    n_failed: int

    @property
    def network(self) -> EmbeddedNetwork:
        """The network of the highest maximum."""
        return self.maxima[0].network

    @property
    def log_likelihood(self) -> float:
        """L(θ̂) at the highest maximum."""
        return self.maxima[0].log_likelihood

    def summed_bic(self, dimension: int, n_cases: float) -> float:
        """log Σ_maxima exp BIC, the paper's sum of contributions to p(D | m) with eq. 9.

        ``dimension``: that of the strict model, ``generic_dimension``.
        """
        heights = np.array([maximum.log_likelihood for maximum in self.maxima])
        summed = heights.max() + np.log(np.exp(heights - heights.max()).sum())
        return float(summed - 0.5 * dimension * np.log(n_cases))


def fit_theta_to_cases(
    structure: EmbeddedStructure, cases: Cases, *, n_starts: int = 10, random_state: int = 0
) -> ThetaFit:
    """Climb from ``n_starts`` random θ and keep the distinct maxima."""
    counted = cases.counted()
    counts = np.zeros((len(counted), cases.domain.n_states(structure.target)))
    weights = 1.0 if counted.weights is None else counted.weights
    counts[np.arange(len(counted)), counted.classes] = weights
    likelihood = ThetaLikelihood(structure, cases.domain, counted.rows, counts)
    generator = np.random.default_rng(random_state)
    climbs = [
        climb(likelihood, _random_logits(structure, cases, generator)) for _ in range(n_starts)
    ]
    climbs.sort(key=lambda found: -found.value)
    groups: list[tuple[FloatArray, list[int]]] = []
    for i, found in enumerate(climbs):
        fitted = np.exp(likelihood.log_probabilities(found.logits))
        for other, members in groups:
            if np.abs(fitted - other).max() <= SAME:
                members.append(i)
                break
        else:
            groups.append((fitted, [i]))
    maxima = tuple(
        ThetaMaximum(
            EmbeddedNetwork(structure, cases.domain, likelihood.theta(climbs[members[0]].logits)),
            climbs[members[0]].value,
            len(members),
        )
        for _, members in groups
    )
    return ThetaFit(maxima, sum(not found.converged for found in climbs))


def _random_logits(
    structure: EmbeddedStructure, cases: Cases, generator: np.random.Generator
) -> FloatArray:
    """Logits of a θ drawn uniformly, in the order of ``ThetaLikelihood``."""
    theta = random_theta(structure, cases.domain, generator)
    parts = []
    for factor in structure.factors:
        table = np.log(theta[factor.head])
        if factor.head != structure.target:
            table = np.moveaxis(table, structure.parents(factor.head).index(structure.target), -1)
        parts.append(table.ravel())
    return np.concatenate(parts)
