"""Cross-validated predictions and their measures: losses, confusion matrix, reliability bins."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebnc.data.rows import CodedRows
from ebnc.report.summary import N_THRESHOLDS, Bin, HeldOut
from ebnc.typing import FloatArray, IntArray

N_BINS = 10
Progress = Callable[[int, int], None]
Z_95 = 1.959963984540054


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows, each input with an extra state for unknown entries, and classes as numbers.

    ``predict``: (training rows, test rows) → p(y|x) of the test rows, shape (rows, K). Classes that
    do not occur in the training rows have probability 0.
    """

    rows: CodedRows
    classes: IntArray
    n_classes: int
    weights: FloatArray | None
    predict: Callable[[IntArray, IntArray], FloatArray]


def _split(classes: IntArray, n_folds: int, random_state: int) -> list[tuple[IntArray, IntArray]]:
    """Stratified folds: ``n_folds``, or as many as the largest class has rows."""
    import warnings

    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(
        min(n_folds, int(np.bincount(classes).max())), shuffle=True, random_state=random_state
    )
    with warnings.catch_warnings():  # scikit-learn warns of classes with fewer rows than folds
        warnings.simplefilter("ignore", UserWarning)
        return list(folds.split(np.zeros(len(classes)), classes))


def held_out(
    data: LabelledRows,
    n_folds: int = 5,
    random_state: int = 0,
    *,
    n_run: int | None = None,
    progress: Progress | None = None,
) -> HeldOut | None:
    """Cross-validated measures; None if the data have too few rows to hold any out.

    ``n_run``: run only so many of the folds, and measure on their rows. ``progress``: is called
    with the number of each fold, from 1, and that of all folds.
    """
    classes, shape = data.classes, (len(data.classes), data.n_classes)
    if n_folds < 2 or np.bincount(classes).max(initial=0) < 2:
        return None
    probabilities, shares = np.zeros(shape), np.zeros(shape)
    known = np.zeros(len(classes), dtype=bool)
    weight = np.ones(len(classes)) if data.weights is None else data.weights
    predicted = np.zeros(len(classes), dtype=bool)
    folds = _split(classes, n_folds, random_state)[:n_run]
    for number, (seen, unseen) in enumerate(folds, 1):
        if progress is not None:
            progress(number, len(folds))
        counts = np.bincount(classes[seen], weight[seen], minlength=data.n_classes)
        if np.count_nonzero(counts) < 2:
            return None
        probabilities[unseen] = data.predict(seen, unseen)
        shares[unseen] = counts / counts.sum()
        known[unseen] = counts[classes[unseen]] > 0
        predicted[unseen] = True
    return measured(
        probabilities[known],
        classes[known],
        weight[known],
        shares[known],
        n_folds=len(folds),
        n_unknown=int((predicted & ~known).sum()),
    )


def measured(
    p: FloatArray,
    classes: IntArray,
    weight: FloatArray,
    shares: FloatArray,
    *,
    n_folds: int = 0,
    n_unknown: int = 0,
) -> HeldOut:
    """Measures of predictions p(y|x) (rows, K) of the classes that came; all have a weight.

    ``shares``: of the classes, (rows, K), as a prediction without inputs. ``n_folds``: 0 if the
    rows are a data set of their own. ``n_unknown``: number of rows that were left out.
    """
    n_classes = p.shape[1]
    rows, hits, predicted = np.arange(len(p)), np.eye(n_classes)[classes], p.argmax(axis=1)

    def mean(values: Any) -> float:
        return float(np.average(values, weights=weight))

    with np.errstate(divide="ignore"):
        losses = -np.log(p[rows, classes])
    loss, error, total = mean(losses), math.inf, float(weight.sum())
    if math.isfinite(loss) and len(losses) > 1:
        error = math.sqrt(mean((losses - loss) ** 2) / max(total, 1.0))
    confusion = np.zeros((n_classes, n_classes))
    np.add.at(confusion, (classes, predicted), weight)
    curves = reliability(p, classes, weight)
    gaps = [b.weight * abs(b.predicted - b.observed) for curve in curves for b in curve]
    return HeldOut(
        n_folds=n_folds,
        n_cases=total,
        log_loss=_finite(loss),
        log_loss_error=_finite(error),
        base_loss=_finite(mean(-np.log(shares[rows, classes]))),
        accuracy=mean(predicted == classes),
        brier=mean(((p - hits) ** 2).sum(axis=1)),
        calibration_error=sum(gaps) / (total * n_classes),
        confusion=tuple(tuple(row) for row in confusion.tolist()),
        reliability=curves,
        n_unknown=n_unknown,
        auc=tuple(area_under_roc(p[:, k], classes == k, weight) for k in range(n_classes)),
        passed=_passed(p[:, 1], classes, weight) if n_classes == 2 else (),
    )


def area_under_roc(
    scores: FloatArray, hits: NDArray[np.bool_], weights: FloatArray
) -> float | None:
    """The weighted share of pairs of a hit and another row in which the hit has the larger score.

    Pairs with equal scores count one half. None without hits, or with nothing else.
    """
    places, at = np.unique(scores, return_inverse=True)
    of_hits = np.bincount(at, weights * hits, len(places))
    others = np.bincount(at, weights * ~hits, len(places))
    pairs = float(of_hits.sum() * others.sum())
    if not pairs:
        return None
    below = np.cumsum(others) - others
    return float(of_hits @ (below + others / 2)) / pairs


def _passed(
    p: FloatArray, classes: IntArray, weights: FloatArray
) -> tuple[tuple[float, float], ...]:
    """The weights of both classes beyond every threshold of the second one's probability."""
    thresholds = np.arange(N_THRESHOLDS) / (N_THRESHOLDS - 1)
    above = p[:, None] > thresholds
    sums = [(weights * (classes == k)) @ above for k in (0, 1)]
    return tuple(zip(*(each.tolist() for each in sums), strict=True))


def reliability(
    probabilities: FloatArray, classes: IntArray, weights: FloatArray | None = None
) -> tuple[tuple[Bin, ...], ...]:
    """For each class, group rows by its probability into ten equal intervals; omit empty ones."""
    w = np.ones(len(probabilities)) if weights is None else weights
    curves = []
    for k, predicted in enumerate(probabilities.T):
        hits = (classes == k).astype(np.float64)
        place = np.minimum((predicted * N_BINS).astype(np.int64), N_BINS - 1)
        bins = []
        for b in np.unique(place[w > 0]):
            here = place == b
            total = float(w[here].sum())
            observed = float(np.average(hits[here], weights=w[here]))
            mean = float(np.average(predicted[here], weights=w[here]))
            bins.append(Bin(total, mean, observed, *wilson_interval(observed, total)))
        curves.append(tuple(bins))
    return tuple(curves)


def wilson_interval(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of n rows; it lies inside [0, 1]."""
    z2 = Z_95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
