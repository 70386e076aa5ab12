"""Statistics of several models on several sets (Demšar 2006): ranks, tests, effect sizes.

A table of losses has a row for each set and a column for each model. Sets that share instances can
be given weights below 1 in mean ranks; tests across sets leave all but the first of them out.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

__all__ = ["Against", "against", "critical_difference", "friedman", "holm", "mean_ranks"]


class Against(NamedTuple):
    """One model against another: sets won, drawn and lost, and Wilcoxon's signed-rank test.

    ``effect`` is the matched-pairs rank-biserial correlation, −1 … 1, positive in favour of the
    first model; ``median`` the median difference of losses, negative in its favour; ``p`` is
    two-sided, corrected by Holm over the models it is compared with.
    """

    won: int
    drawn: int
    lost: int
    median: float
    effect: float
    p: float


def mean_ranks(losses: pd.DataFrame, weights: pd.Series | None = None) -> pd.Series:
    """Mean rank of every model, the best first; equal losses share their ranks."""
    ranks = losses.rank(axis=1)
    weights = pd.Series(1.0, ranks.index) if weights is None else weights[ranks.index]
    return (ranks.mul(weights, axis=0).sum() / weights.sum()).sort_values()


def friedman(losses: pd.DataFrame) -> tuple[float, float]:
    """Iman and Davenport's F = (N − 1) χ² / (N (k − 1) − χ²) of Friedman's χ², and its p.

    Infinite where all sets order the models alike.
    """
    n, k = losses.shape
    chi_square, _ = stats.friedmanchisquare(*(losses[model] for model in losses))
    rest = n * (k - 1) - chi_square
    f = np.inf if rest <= 0 else (n - 1) * chi_square / rest
    return float(f), float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))


def critical_difference(n_models: int, n_sets: int, alpha: float = 0.05) -> float:
    """Nemenyi's q_α √(k (k + 1) / 6N): mean ranks closer than that are not told apart."""
    q = stats.studentized_range.ppf(1 - alpha, n_models, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_models * (n_models + 1) / (6 * n_sets)))


def against(losses: pd.DataFrame, model: str, draw: float) -> dict[str, Against]:
    """``model`` against every other one; within ``draw`` of each other is drawn."""
    others = [other for other in losses if other != model]
    differences = {other: losses[model] - losses[other] for other in others}
    corrected = holm({other: _wilcoxon(differences[other]) for other in others})
    return {
        other: Against(
            won=int((difference < -draw).sum()),
            drawn=int((difference.abs() <= draw).sum()),
            lost=int((difference > draw).sum()),
            median=float(difference.median()),
            effect=_rank_biserial(difference),
            p=corrected[other],
        )
        for other, difference in differences.items()
    }


def holm(p_values: dict[str, float]) -> dict[str, float]:
    """Holm's step-down correction: the i-th smallest of m is multiplied by m − i, i from 0."""
    corrected, least = {}, 0.0
    for i, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        least = max(least, min(1.0, (len(p_values) - i) * p_values[name]))
        corrected[name] = least
    return corrected


def _wilcoxon(difference: pd.Series) -> float:
    if not difference.any():
        return 1.0
    return float(stats.wilcoxon(difference, zero_method="zsplit", method="approx").pvalue)


def _rank_biserial(difference: pd.Series) -> float:
    """(R⁻ − R⁺) / (R⁻ + R⁺) over the ranks of |difference|, zeros left out."""
    known = difference[difference != 0]
    if known.empty:
        return 0.0
    ranks = known.abs().rank()
    return float((ranks[known < 0].sum() - ranks[known > 0].sum()) / ranks.sum())
