"""Discretisers: cut points for a column of numbers: fine bins, MDLP, or quantiles.

The result is a tuple of ``Interval`` states. They are part of the domain, so a model saves and
prints its bins, and accepts numbers for these variables. Fine bins carry curves, which are smooth
(``parameters.coding``); MDLP and quantiles make a few intervals, each with an effect of its own.
"""

import math
from itertools import pairwise, starmap

import numpy as np

from ebnc.domain import Interval
from ebnc.typing import FloatArray, IntArray


def intervals(cuts: FloatArray) -> tuple[Interval, ...]:
    """Return the intervals between ascending cut points: low < x ≤ high."""
    return tuple(starmap(Interval, pairwise([-np.inf, *map(float, cuts), np.inf])))


MOST_BINS = 31  # odd, so that no boundary lies at the median and bins can be symmetric
ROWS_OF_BIN = 4

MOST_TARGET_BINS = 31
ROWS_OF_TARGET_BIN = 8
MOST_HALVINGS = 3  # of an outer bin
LEAST_TARGET_BINS = 5  # as far as few rows have as many values


def fine_cuts(
    values: FloatArray,
    weights: FloatArray | None = None,
    most_bins: int = MOST_BINS,
    rows_of_bin: float = ROWS_OF_BIN,
) -> FloatArray:
    """Return the cut points of some 31 bins, which do not depend on the target; ignore NaN.

    A value that holds 1/31 of the rows or more, and at least 4, is a bin of its own: a zero, or a
    limit of the scale. The other values are cut by their ranks into bins of about the same number
    of rows, about 4 or more; such a value in the middle of a bin divides it. ``most_bins`` and
    ``rows_of_bin`` are these limits. If the sign of all values changes, the bins are the same in
    reverse order: a value whose rank is at a boundary belongs to the bin that is nearer to the
    median.
    """
    present = ~np.isnan(values)
    distinct, inverse = np.unique(values[present], return_inverse=True)
    if len(distinct) < 2:
        return np.empty(0)
    weight = np.bincount(inverse, None if weights is None else weights[present]).astype(np.float64)
    is_atom = weight >= max(weight.sum() / most_bins, rows_of_bin)
    rest = np.where(is_atom, 0.0, weight)
    n_bins = int(min(most_bins - is_atom.sum(), rest.sum() // rows_of_bin))
    n_bins |= 1  # odd
    place = (np.cumsum(rest) - rest / 2) * (n_bins / max(rest.sum(), 1e-300))
    upper = np.ceil(place - 1e-9) - 1
    bins = np.where(place > n_bins / 2, upper, np.floor(place + 1e-9))
    differ = is_atom[1:] | is_atom[:-1] | (bins[1:] != bins[:-1])
    return _between(distinct, np.flatnonzero(differ))


def _between(distinct: FloatArray, last: IntArray) -> FloatArray:
    """Return the middles of the values with these places and the next ones."""
    lower, upper = distinct[last], distinct[last + 1]
    middle = lower / 2 + upper / 2  # no overflow, and symmetric
    return np.where(middle < upper, middle, lower)  # neighbouring floats have none between them


def target_cuts(values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the cut points of the bins of a number to predict; none if it has only one value.

    They are fine bins of 8 rows or more, because widths of bins are noisy. With enough rows, the
    outer bins are halved, up to three times: a long tail differs much inside of one bin.
    """
    total = float(len(values)) if weights is None else float(weights.sum())
    rows_of_bin = min(ROWS_OF_TARGET_BIN, total / LEAST_TARGET_BINS)
    cuts = fine_cuts(values, weights, MOST_TARGET_BINS, rows_of_bin)
    if not len(cuts):
        return quantile_cuts(values, 2, weights)
    distinct, inverse = np.unique(values, return_inverse=True)
    weight = np.bincount(inverse, weights).astype(np.float64)
    n_low, n_inside = np.searchsorted(distinct, cuts[[0, -1]], side="right").tolist()
    low = n_low - 1 - _halvings(weight[:n_low][::-1], rows_of_bin)
    high = n_inside - 1 + _halvings(weight[n_inside:], rows_of_bin)
    return np.concatenate([_between(distinct, low[::-1]), cuts, _between(distinct, high)])


def _halvings(weight: FloatArray, rows_of_bin: float) -> IntArray:
    """Return how many values precede each cut in a tail, from the inside.

    Each cut leaves half of the rest beyond it or a little less, and ``rows_of_bin`` at least.
    """
    beyond = np.append(np.cumsum(weight[::-1])[::-1], 0.0)
    places = [0]
    while len(places) <= MOST_HALVINGS:
        start = places[-1]
        place = start + int(np.argmax(beyond[start:] <= beyond[start] / 2))
        if beyond[place] < rows_of_bin:
            break
        places.append(place)
    return np.array(places[1:], dtype=np.int64)


def quantile_cuts(values: FloatArray, n_bins: int, weights: FloatArray | None = None) -> FloatArray:
    """Return cut points of at most ``n_bins`` intervals of about equal weight; ignore NaN."""
    present = ~np.isnan(values)
    distinct, inverse = np.unique(values[present], return_inverse=True)
    if len(distinct) < 2:
        return np.empty(0)
    weight = np.bincount(inverse, None if weights is None else weights[present])
    below = np.cumsum(weight) / weight.sum()
    wanted = np.arange(1, n_bins) / n_bins
    last = np.unique(np.searchsorted(below, wanted - 1e-12))
    last = last[last < len(distinct) - 1]
    return (distinct[last] + distinct[last + 1]) / 2


def mdlp_cuts(
    values: FloatArray, classes: IntArray, n_classes: int, weights: FloatArray | None = None
) -> FloatArray:
    """Cut points of Fayyad & Irani (1993): minimal entropy, stopped by description length.

    A cut of n rows into two, with k, k₁, k₂ classes present, is accepted when

        gain > (log₂(n − 1) + log₂(3ᵏ − 2) − k·H + k₁·H₁ + k₂·H₂) / n

    H: class entropies in bits. Cuts lie half-way between neighbouring values; NaN is ignored. A
    weight counts as that many rows.
    """
    present = ~np.isnan(values)
    distinct, inverse = np.unique(values[present], return_inverse=True)
    weight = None if weights is None else weights[present]
    cells = np.bincount(
        inverse * n_classes + classes[present], weight, minlength=len(distinct) * n_classes
    )
    # A row of zeros before the cumulative class counts makes every range one difference.
    cumulative = np.zeros((len(distinct) + 1, n_classes))
    np.cumsum(cells.reshape(len(distinct), n_classes), axis=0, out=cumulative[1:])
    accepted: list[int] = []
    waiting = [(0, len(distinct))]
    while waiting:
        start, stop = waiting.pop()
        cut = _best_cut(cumulative, start, stop)
        if cut is not None:
            accepted.append(cut)
            waiting += [(start, cut), (cut, stop)]
    places = np.array(sorted(accepted), dtype=np.int64)
    return (distinct[places - 1] + distinct[places]) / 2


def _best_cut(cumulative: FloatArray, start: int, stop: int) -> int | None:
    """Return the number of the first distinct value above the best accepted cut, or None."""
    if stop - start < 2:
        return None
    left = cumulative[start + 1 : stop] - cumulative[start]
    whole = cumulative[stop] - cumulative[start]
    right = whole - left
    n = whole.sum()
    entropy = _entropy(whole[None])[0]
    entropies = _entropy(left), _entropy(right)
    after = (left.sum(axis=1) * entropies[0] + right.sum(axis=1) * entropies[1]) / n
    best = int(np.argmin(after))
    if n <= 1:
        return None
    k, k_left, k_right = (int((side > 0).sum()) for side in (whole, left[best], right[best]))
    described = k * entropy - k_left * entropies[0][best] - k_right * entropies[1][best]
    cost = (np.log2(n - 1) + math.log2(3**k - 2) - described) / n
    return start + 1 + best if entropy - after[best] > cost else None


def _entropy(counts: FloatArray) -> FloatArray:
    """Class entropy in bits of each row of counts; 0 for an empty row."""
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    bits = np.log2(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(-(share * bits).sum(axis=1))
