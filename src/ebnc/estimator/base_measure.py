"""The base measure of the bins of a number to predict.

A classifier of ordered bins has at most 12 smooth columns, also for its intercept, so it cannot
give much probability to a single bin, such as a zero that half of the rows share. Numbers o_b for
the bins, which do not depend on x, make up for that:

    p(b | x) ∝ p_classifier(b | x) exp(o_b),     mean of p(b | x) = share of bin b

The mean is that over the training rows. These are the o of largest likelihood, because its gradient
is the difference of the two sides.
"""

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.parts import Parts
from ebnc.data.rows import CodedRows
from ebnc.parameters.bin_density import TINY
from ebnc.predictor import Predictor
from ebnc.typing import FloatArray

MOST_PASSES = 10
TOLERANCE = 1e-3  # of a logarithm
ROWS_AT_ONCE = 20_000


def base_offsets(predictor: Predictor, cases: Parts) -> FloatArray:
    """Return o of every bin, shape (B,).

    Every pass adds log(share) − log(mean of p), and so raises the likelihood.
    """
    offsets = np.zeros(len(predictor.classes))
    wanted = np.asarray(cases.add_up(_weights_of_bins, len(offsets)))
    for _ in range(MOST_PASSES):
        found = np.asarray(cases.add_up(_sums_of_predictions, predictor, offsets))
        step = np.log(wanted / np.maximum(found, TINY))
        offsets += step
        if np.abs(step).max() < TOLERANCE:
            break
    return offsets


def _weights_of_bins(cases: Cases, n_bins: int) -> FloatArray:
    return np.bincount(cases.classes, cases.weights, n_bins).astype(np.float64)


def _sums_of_predictions(cases: Cases, predictor: Predictor, offsets: FloatArray) -> FloatArray:
    """Return Σ_rows w p(b | x)."""
    used = predictor.used
    n_states = tuple(predictor.domain.n_states(x) + 1 for x in used)
    places = [cases.rows.place(x) for x in used]
    factors, total = np.exp(offsets), np.zeros(len(offsets))
    for start in range(0, len(cases), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        rows = CodedRows(used, n_states, cases.rows.codes[places, some])
        p = predictor.probabilities(rows) * factors
        weights = np.ones(len(p)) if cases.weights is None else cases.weights[some]
        total += (weights / p.sum(axis=1)) @ p
    return total
