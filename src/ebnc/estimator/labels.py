"""Classes in memory: labels and weights of rows, coded together with the columns of X."""

import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, column_or_1d

from ebnc.data.columns import Labels
from ebnc.data.entries import read_column
from ebnc.data.parts import Parts
from ebnc.data.read import learn_cases
from ebnc.data.table import Coding
from ebnc.domain import Interval, State
from ebnc.errors import DataWarning
from ebnc.estimator.tables import name_of_target


def labelled_cases(
    estimator: Any, columns: dict[str, Any], y: Any, sample_weight: Any
) -> tuple[NDArray[Any], Parts]:
    """Check labels and weights as scikit-learn does; return the classes and the coded rows.

    The classes are those of rows with a positive weight: in the order of an ordered categorical
    type, else ascending.
    """
    if y is None:
        raise ValueError(
            f"requires y to be passed, but the target y is None: {type(estimator).__name__} "
            "learns from labelled data"
        )
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    check_consistent_length(next(iter(columns.values())), labels)
    weights = _weights(labels, sample_weight, estimator.class_weight)
    order = _order_of(y)
    classes = _classes(labels if weights is None else labels[weights > 0], order)
    target = name_of_target(y, columns, "class")
    data = {**columns, target: _coded(labels, classes, is_ordered=order is not None)}
    coding = Coding.of(estimator.numbers, estimator.kinds)
    cases = learn_cases(data, list(columns), target, weights=weights, leave_out=True, coding=coding)
    return classes, cases


def array_of_labels(labels: Sequence[State]) -> NDArray[Any]:
    """Return labels as an array; intervals, which NumPy would unpack, as objects."""
    if isinstance(labels[0], Interval):
        classes = np.empty(len(labels), dtype=object)
        classes[:] = labels
        return classes
    return np.array(labels)


def counts_of_rows(sample_weight: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return weights as numbers; warn if they add up to far fewer rows than have one."""
    weights: NDArray[np.float64] = _check_sample_weight(
        sample_weight, rows, ensure_non_negative=True
    )
    total, n_rows = weights.sum(), np.count_nonzero(weights)
    if 0 < total < n_rows / 10:
        warnings.warn(
            f"the weights of {n_rows} rows add up to {total:.3g}. A weight says how many rows one "
            "row stands for, so the model learns next to nothing; multiply the weights by "
            f"{n_rows / total:.3g} to count every row once on average",
            DataWarning,
            stacklevel=4,
        )
    return weights


def _weights(
    labels: NDArray[Any], sample_weight: Any, class_weight: Any
) -> NDArray[np.float64] | None:
    """Return the product of both weights, which ignores rows of weight 0; None without weights."""
    weights = None
    if sample_weight is not None:
        weights = counts_of_rows(sample_weight, labels)
    if class_weight is not None:
        by_class = compute_sample_weight(class_weight, labels)
        weights = by_class if weights is None else weights * by_class
    if weights is not None and not weights.any():
        raise ValueError("all weights are zero; at least one must be positive")
    return weights


def _order_of(y: Any) -> tuple[Hashable, ...] | None:
    """Return the labels of an ordered categorical type in order; None for other types."""
    if hasattr(y, "categories"):  # pandas.Categorical
        return tuple(y.categories) if y.ordered else None
    if not hasattr(y, "iloc") and not hasattr(y, "__arrow_c_stream__"):
        return None
    column = read_column("y", y, declared=True)
    return column.labels if isinstance(column, Labels) and column.ordered else None


def _classes(present: NDArray[Any], order: tuple[Hashable, ...] | None) -> NDArray[Any]:
    if order is None:
        classes = np.unique(present)
    else:
        seen = set(present.tolist())
        classes = np.array([label for label in order if label in seen])
    if len(classes) < 2:
        raise ValueError(f"the target has only one class, {classes[0]!r}; at least two are needed")
    return classes


def _coded(labels: NDArray[Any], classes: NDArray[Any], *, is_ordered: bool) -> Labels:
    """Return labels as places in ``classes``; rows of weight 0 may have any other label."""
    known = tuple(classes.tolist())
    if is_ordered:
        place_of = {label: place for place, label in enumerate(known)}
        places = np.array([place_of.get(label, 0) for label in labels.tolist()])
    else:
        places = np.searchsorted(classes, labels).clip(max=len(known) - 1)
    return Labels(places, known, declared=True, ordered=is_ordered)
