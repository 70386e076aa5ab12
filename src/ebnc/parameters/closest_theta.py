"""The closest θ where φ has no exact one: minimum Kullback–Leibler divergence, several starts.

    min_θ  Σ_x w(x) Σ_k p(y^k|x, φ) log p(y^k|x, φ) / p(y^k|x, θ),   w uniform over configurations

That is maximum likelihood in θ with the probabilities under φ as counts.
"""

from typing import NamedTuple

import numpy as np

from ebnc.data.rows import all_configurations
from ebnc.domain import Domain
from ebnc.parameters.embedded_network import EmbeddedNetwork
from ebnc.parameters.phi_to_theta import factor_tables
from ebnc.parameters.tables import TableSum
from ebnc.parameters.theta_likelihood import ThetaLikelihood
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

__all__ = ["ClosestNetwork", "climb", "closest_theta"]

LARGEST_LOGIT = 300.0


class ClosestNetwork(NamedTuple):
    """An embedded network and how far it is: mean divergence per configuration, in nats.

    ``converged``: whether the best of the starts ended at a local minimum.
    """

    network: EmbeddedNetwork
    divergence: float
    converged: bool


def closest_theta(
    structure: EmbeddedStructure,
    domain: Domain,
    tables: TableSum,
    *,
    n_starts: int = 10,
    random_state: int = 0,
) -> ClosestNetwork:
    """θ on this very structure that is closest to the p(y|x) of ``tables``.

    Lists all configurations of the Markov blanket, so it is for small ones; refused beyond memory.
    """
    rows = all_configurations(domain, structure.markov_blanket)
    wanted = tables.probabilities(rows) / len(rows)
    logs = np.log(wanted * len(rows), out=np.zeros_like(wanted), where=wanted > 0)
    likelihood = ThetaLikelihood(structure, domain, rows, wanted)
    values = factor_tables(structure, domain, tables)
    starts = [np.concatenate([values[factor.head].ravel() for factor in structure.factors])]
    generator = np.random.default_rng(random_state)
    starts += [generator.normal(size=likelihood.size) for _ in range(n_starts - 1)]
    climbs = [climb(likelihood, start) for start in starts]
    best = max(climbs, key=lambda found: found.value)
    network = EmbeddedNetwork(structure, domain, likelihood.theta(best.logits))
    divergence = float(np.sum(wanted * logs)) - best.value
    return ClosestNetwork(network, max(0.0, divergence), best.converged)


class Climb(NamedTuple):
    """Where one climb of the likelihood ended."""

    logits: FloatArray
    value: float
    converged: bool


def climb(likelihood: ThetaLikelihood, start: FloatArray) -> Climb:
    """A local maximum of the likelihood in θ, by L-BFGS.

    Often the supremum lies at infinite logits (some θ → 0): the approach ends where a step gains
    less than 1e-13 of the value, or at ``LARGEST_LOGIT``, where every θ is still a number.
    """
    from scipy.optimize import minimize

    def negative(logits: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = likelihood.value_and_gradient(logits)
        return -value, -gradient

    options = {"maxiter": 2_000, "maxfun": 10_000, "ftol": 1e-13, "gtol": 1e-10}
    bounds = [(-LARGEST_LOGIT, LARGEST_LOGIT)] * len(start)
    found = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return Climb(found.x, -float(found.fun), bool(found.success))
