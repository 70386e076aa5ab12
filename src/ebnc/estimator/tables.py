"""Between scikit-learn's X and named columns; data that hold the target as well."""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from ebnc.data.batches import is_dask_frame, require
from ebnc.data.coder import Coder, Unknown, coded_batches
from ebnc.data.files import as_files
from ebnc.data.parts import Parts
from ebnc.data.read import learn_cases
from ebnc.data.rows import CodedRows
from ebnc.data.sources import column_names, source_of
from ebnc.data.table import Frame
from ebnc.domain import Domain
from ebnc.errors import DataError, DataWarning

__all__ = ["cases_by_name", "is_by_name", "named_columns", "rows_by_name", "taking_labels"]
__all__ += ["warn_of_unknown"]


def named_columns(estimator: BaseEstimator, x: Any, *, reset: bool) -> dict[str, Frame]:
    """The columns of X by name, after scikit-learn's own checks of names, number and shape.

    Columns of a frame keep their names (as strings); those of an array are called x0, x1, … Where a
    model was fitted on the one and is given the other, columns go by their position.
    A mapping from names to columns is a frame without more ado.
    """
    if isinstance(x, Mapping) and not issparse(x):  # some sparse matrices are mappings
        found = _of_mapping(estimator, x, reset=reset)
    elif hasattr(x, "columns") or hasattr(x, "column_names"):
        validate_data(estimator, x, reset=reset, skip_check_array=True)
        names = list(x.column_names if hasattr(x, "column_names") else x.columns)
        found = {str(name): x[name] for name in names}
    else:
        array = validate_data(
            estimator,
            x,
            reset=reset,
            dtype=None,
            ensure_all_finite="allow-nan",
            ensure_min_features=1,
        )
        array = np.asarray(array)
        found = {f"x{i}": array[:, i] for i in range(array.shape[1])}
    if reset:
        estimator._names = tuple(found)  # feature_names_in_ is removed by tools such as SHAP
        return found
    fitted = getattr(estimator, "_names", None) or tuple(found)
    return dict(zip(fitted, found.values(), strict=True))


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
    require(names.tolist(), list(x))
    return {name: x[name] for name in names.tolist()}


def is_by_name(data: object) -> bool:
    """Whether data hold the target as well: a path or a Dask DataFrame."""
    return as_files(data) is not None or is_dask_frame(data)


def cases_by_name(estimator: Any, data: Any, y: Any, sample_weight: Any) -> Parts:
    """Cases of all columns but the target's and the weights', which are given by their names."""
    if not isinstance(y, str):
        raise ValueError(
            "with data in files or partitions y must be the name of the target's column, got "
            f"{type(y).__name__}"
        )
    if estimator.class_weight is not None:
        raise ValueError(
            "class_weight does not go with data in files or partitions; give sample_weight, the "
            "name of a column"
        )
    inputs = [name for name in column_names(data) if name not in (y, sample_weight)]
    return learn_cases(data, inputs, y, weights=sample_weight, leave_out=True)


def rows_by_name(data: Any, domain: Domain, inputs: list[str]) -> Iterator[CodedRows]:
    """Coded rows in the order of the files, some at a time."""
    if is_dask_frame(data):
        raise DataError(
            "predictions for a Dask DataFrame are made on its partitions: "
            "frame[list(model.feature_names_in_)].map_partitions(model.predict_proba, meta=…)"
        )
    coder = Coder(domain, inputs, "extra")
    yield from coded_batches(source_of(data), coder)
    warn_of_unknown(coder.unknown)


def warn_of_unknown(unknown: Unknown) -> None:
    """Say how many entries are no state of the model."""
    if unknown:
        warnings.warn(str(unknown), DataWarning, stacklevel=4)


def taking_labels(tags: Tags) -> Tags:
    """Tags of an estimator that takes labels, categories and gaps as they are."""
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    return tags
