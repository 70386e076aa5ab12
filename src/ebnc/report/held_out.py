"""Cross-validated predictions and their measures: losses, confusion matrix, reliability bins."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.report.summary import Bin, HeldOut
from ebnc.typing import FloatArray, IntArray

__all__ = ["Labelled", "Predict", "held_out", "reliability_bins", "split", "wilson_interval"]

N_BINS = 10
Z_95 = 1.959963984540054

Predict = Callable[[IntArray, IntArray], FloatArray]
"""(training rows, test rows) → p(y|x) of the test rows, shape (rows, K).

Classes that do not occur in the training rows have probability 0; their rows are left out.
"""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows, each input with an extra state for unknown entries, and classes as numbers."""

    rows: CodedRows
    classes: IntArray
    n_classes: int
    weights: FloatArray | None
    predict: Predict


def split(classes: IntArray, n_folds: int, random_state: int) -> list[tuple[IntArray, IntArray]]:
    """Stratified folds: ``n_folds``, or as many as the largest class has rows."""
    import warnings

    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(
        min(n_folds, int(np.bincount(classes).max())), shuffle=True, random_state=random_state
    )
    with warnings.catch_warnings():  # scikit-learn warns of classes with fewer rows than folds
        warnings.simplefilter("ignore", UserWarning)
        return list(folds.split(np.zeros(len(classes)), classes))


def held_out(data: Labelled, *, n_folds: int = 5, random_state: int = 0) -> HeldOut | None:
    """Cross-validated measures; None if the data have too few rows to hold any out."""
    classes, shape = data.classes, (len(data.classes), data.n_classes)
    if n_folds < 2 or np.bincount(classes).max(initial=0) < 2:
        return None
    probabilities, shares = np.zeros(shape), np.zeros(shape)
    known = np.zeros(len(classes), dtype=bool)
    weight = np.ones(len(classes)) if data.weights is None else data.weights
    folds = split(classes, n_folds, random_state)
    for seen, unseen in folds:
        counts = np.bincount(classes[seen], weight[seen], minlength=data.n_classes)
        if np.count_nonzero(counts) < 2:
            return None
        probabilities[unseen] = data.predict(seen, unseen)
        shares[unseen] = counts / counts.sum()
        known[unseen] = counts[classes[unseen]] > 0
    return _measured(
        probabilities[known],
        shares[known],
        classes[known],
        weight[known],
        len(folds),
        int((~known).sum()),
    )


def _measured(
    probabilities: FloatArray,
    shares: FloatArray,
    classes: IntArray,
    weight: FloatArray,
    n_folds: int,
    n_unknown: int,
) -> HeldOut:
    n_classes, total = probabilities.shape[1], float(weight.sum())
    rows = np.arange(len(classes))
    with np.errstate(divide="ignore"):
        losses = -np.log(probabilities[rows, classes])
    mean = float(np.average(losses, weights=weight))
    hits = np.eye(n_classes)[classes]
    predicted = probabilities.argmax(axis=1)
    confusion = np.zeros((n_classes, n_classes))
    np.add.at(confusion, (classes, predicted), weight)
    bins = tuple(
        reliability_bins(probabilities[:, k], hits[:, k], weight) for k in range(n_classes)
    )
    gaps = [b.weight * abs(b.predicted - b.observed) for curve in bins for b in curve]
    return HeldOut(
        n_folds=n_folds,
        n_cases=total,
        log_loss=_finite(mean),
        log_loss_error=_finite(_standard_error(losses, mean, weight)),
        base_loss=_finite(float(np.average(-np.log(shares[rows, classes]), weights=weight))),
        accuracy=float(np.average(predicted == classes, weights=weight)),
        brier=float(np.average(((probabilities - hits) ** 2).sum(axis=1), weights=weight)),
        calibration_error=sum(gaps) / (total * n_classes),
        confusion=tuple(tuple(row) for row in confusion.tolist()),
        reliability=bins,
        n_unknown=n_unknown,
    )


def reliability_bins(
    predicted: FloatArray, hits: FloatArray, weight: FloatArray | None = None
) -> tuple[Bin, ...]:
    """Group rows by predicted probability into ten equal intervals; omit empty ones."""
    w = np.ones(len(predicted)) if weight is None else weight
    place = np.minimum((predicted * N_BINS).astype(np.int64), N_BINS - 1)
    bins = []
    for b in range(N_BINS):
        here = place == b
        total = float(w[here].sum())
        if total > 0:
            observed = float(np.average(hits[here], weights=w[here]))
            low, high = wilson_interval(observed, total)
            mean = float(np.average(predicted[here], weights=w[here]))
            bins.append(Bin(total, mean, observed, low, high))
    return tuple(bins)


def wilson_interval(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of n rows; it lies inside [0, 1]."""
    z2 = Z_95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def _standard_error(losses: FloatArray, mean: float, weight: FloatArray) -> float:
    """Standard error of the mean loss, for independent rows."""
    if not math.isfinite(mean):
        return math.inf
    total = weight.sum()
    variance: Any = np.average((losses - mean) ** 2, weights=weight)
    return float(np.sqrt(variance / max(total, 1.0)))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
