"""Averages over the models of a search: those inside Occam's window, weighted by exp(score)."""

import math
from collections.abc import Sequence

import numpy as np

from ebnc.search.scorer import Scored, Scorer

WINDOW = math.log(100.0)
MOST_MODELS = 20


def occams_window(scorer: Scorer, met: Sequence[Scored]) -> list[tuple[float, Scored]]:
    """Return weights and models, best first: at most 20 within a factor of 100 of the best.

    A search scores most models at the scales of the model before them. The scales of models inside
    the window are tuned here, so that all weights come from the same score.
    """
    near = [scorer.tuned(scored.structure, scored) for scored in _inside(met)]
    inside = _inside(near)
    weights = np.exp([scored.score - inside[0].score for scored in inside])
    weights /= weights.sum()
    return list(zip(weights.tolist(), inside, strict=True))


def _inside(models: Sequence[Scored]) -> list[Scored]:
    ranked = sorted(models, key=lambda scored: (-scored.score, str(scored.structure)))
    return [each for each in ranked[:MOST_MODELS] if each.score >= ranked[0].score - WINDOW]
