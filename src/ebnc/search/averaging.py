"""Averages: over the models met in a search, and over the posterior of φ.

Models whose score is within Occam's window of the best are weighted by exp(score). The posterior
of φ is taken as the normal N(φ̃, A⁻¹) of Laplace's approximation, by a few fixed draws in
antithetic pairs: deterministic, and as many look-ups as there are draws.
"""

import math
from collections.abc import Sequence

import numpy as np

from ebnc.fitting.metric import Factor
from ebnc.fitting.solution import Solution
from ebnc.likelihood.design import Design
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.phi import phi_to_tables
from ebnc.parameters.tables import TableSum
from ebnc.search.scorer import Scored

__all__ = ["occams_window", "posterior_draws"]

WINDOW = math.log(100.0)
MOST_MODELS = 20
N_DRAWS = 16


def occams_window(met: Sequence[Scored]) -> list[tuple[float, Scored]]:
    """Weights and models, the best first: all within a factor of 100 of the best, at most 20."""
    ranked = sorted(met, key=lambda scored: (-scored.score, str(scored.structure)))[:MOST_MODELS]
    inside = [scored for scored in ranked if scored.score > ranked[0].score - WINDOW]
    weights = np.exp([scored.score - ranked[0].score for scored in inside])
    weights /= weights.sum()
    return list(zip(weights.tolist(), inside, strict=True))


def posterior_draws(design: Design, solution: Solution, factor: Factor) -> list[TableSum]:
    """Tables of log odds at draws of φ from N(φ̃, A⁻¹); their probabilities are to be averaged."""
    root = factor.inverse_root()
    generator = np.random.default_rng(0)
    tables = []
    for _ in range(N_DRAWS // 2):
        away = (root @ generator.standard_normal(len(root))).reshape(solution.phi.shape)
        for sign in (1.0, -1.0):
            phi = design.to_basis(solution.phi + sign * away)
            tables.append(phi_to_tables(design.basis, phi, ORTHONORMAL))
    return tables
