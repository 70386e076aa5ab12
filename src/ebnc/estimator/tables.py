"""Between scikit-learn's X and named columns."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from ebnc.data.columns import Frame, read_columns
from ebnc.errors import DataError

__all__ = ["named_columns", "taking_labels"]


def named_columns(estimator: BaseEstimator, x: Any, *, reset: bool) -> dict[str, Frame]:
    """The columns of X by name, after scikit-learn's own checks of names, number and shape.

    Columns of a frame keep their names (as strings); those of an array are called x0, x1, …
    A mapping from names to columns is a frame without more ado.
    """
    if isinstance(x, Mapping) and not issparse(x):  # some sparse matrices are mappings
        return _of_mapping(estimator, x, reset=reset)
    if hasattr(x, "columns") or hasattr(x, "column_names"):
        validate_data(estimator, x, reset=reset, skip_check_array=True)
        names = list(x.column_names if hasattr(x, "column_names") else x.columns)
        return {str(name): x[name] for name in names}
    array = validate_data(
        estimator, x, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_features=1
    )
    array = np.asarray(array)
    return {f"x{i}": array[:, i] for i in range(array.shape[1])}


def _of_mapping(
    estimator: BaseEstimator, x: Mapping[str, Frame], *, reset: bool
) -> dict[str, Frame]:
    if reset:
        if not x or not all(isinstance(name, str) for name in x):
            raise DataError(f"columns must be named by strings, at least one, got {list(x)[:8]}")
        estimator.n_features_in_ = len(x)
        estimator.feature_names_in_ = np.array(list(x), dtype=object)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise DataError("this model was fitted without names of columns; give an array")
    return dict(read_columns(x, names.tolist()))


def taking_labels(tags: Tags) -> Tags:
    """Tags of an estimator that takes labels, categories and gaps as they are."""
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    return tags
