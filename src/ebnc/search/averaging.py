"""Averages: over the models met in a search, and over the posterior of φ.

Models whose score is within Occam's window of the best are weighted by exp(score). The posterior
of φ is taken as the normal N(E φ, A⁻¹), by a few fixed draws in antithetic pairs: deterministic,
and as many look-ups as there are draws.
"""

import math
from collections.abc import Sequence

import numpy as np

from ebnc.fitting.optimum import Optimum
from ebnc.score.posterior_mean import posterior_mean
from ebnc.search.scorer import Scored
from ebnc.typing import FloatArray

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


def posterior_draws(optimum: Optimum) -> list[FloatArray]:
    """Draws of φ from N(E φ, A⁻¹), in the order of the basis; what they predict is averaged."""
    design, root = optimum.posterior.design, optimum.factor.inverse_root()
    centre = posterior_mean(optimum)
    generator = np.random.default_rng(0)
    draws = []
    for _ in range(N_DRAWS // 2):
        away = (root @ generator.standard_normal(len(root))).reshape(centre.shape)
        draws += [design.to_basis(centre + sign * away) for sign in (1.0, -1.0)]
    return draws
