"""The closest θ to a φ that no θ matches exactly: minimum Kullback–Leibler divergence.

    min_θ  Σ_x w(x) Σ_k p(y^k|x, φ) log p(y^k|x, φ) / p(y^k|x, θ),   w uniform over configurations

That is maximum likelihood in θ with the probabilities under φ as counts.
"""

from typing import NamedTuple

import numpy as np

from ebnc.data.rows import all_configurations
from ebnc.fitting.theta_likelihood import ThetaLikelihood, climb
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.embedded_network import EmbeddedNetwork
from ebnc.parameters.phi_to_theta import factor_tables


class ClosestNetwork(NamedTuple):
    """The embedded network closest to an EBNC.

    Attributes
    ----------
    network : EmbeddedNetwork
        The network with the closest θ.
    divergence : float
        Mean Kullback–Leibler divergence per configuration, in nats.
    converged : bool
        Whether the best of the starts ended at a local minimum.
    """

    network: EmbeddedNetwork
    divergence: float
    converged: bool


def closest_embedded_network(
    model: EBNC, *, n_starts: int = 10, random_state: int = 0
) -> ClosestNetwork:
    """Return the embedded network whose p(y|x) is closest to that of an EBNC.

    Use it for structures that are not decomposable, where θ reaches only a part of the span
    (errata E6); for all others ``EBNC.to_embedded_network`` is exact.

    Parameters
    ----------
    model : EBNC
        The model. All configurations of its Markov blanket must fit into memory.
    n_starts : int
        Number of starts: one θ near φ, the others random. The best result is returned.
    random_state : int
        The seed of the random starts.

    Returns
    -------
    ClosestNetwork
        The network, its divergence in nats, and whether the fit converged.
    """
    structure, domain, tables = model.structure, model.domain, model.tables
    rows = all_configurations(domain, structure.markov_blanket)
    wanted = tables.probabilities(rows) / len(rows)
    logs = np.log(wanted * len(rows), out=np.zeros_like(wanted), where=wanted > 0)
    likelihood = ThetaLikelihood(structure, domain, rows, wanted)
    values = factor_tables(structure, domain, tables)
    starts = [np.concatenate([values[factor.head].ravel() for factor in structure.factors])]
    generator = np.random.default_rng(random_state)
    starts += [generator.normal(size=likelihood.size) for _ in range(n_starts - 1)]
    best = max((climb(likelihood, start) for start in starts), key=lambda top: top.value)
    network = EmbeddedNetwork(structure, domain, likelihood.theta(best.logits))
    divergence = float(np.sum(wanted * logs)) - best.value
    return ClosestNetwork(network, max(0.0, divergence), best.converged)
