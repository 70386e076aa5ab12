"""Convert X to named columns, and read files or Dask DataFrames that also hold the target."""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from ebnc.data.batches import require
from ebnc.data.coder import Coder, Unknown, coded_batches
from ebnc.data.dask_read import is_dask_frame
from ebnc.data.files import as_files
from ebnc.data.one_row import columns_of_one_row, is_one_row_of_pandas
from ebnc.data.parts import Parts
from ebnc.data.read import learn_cases
from ebnc.data.rows import CodedRows
from ebnc.data.sources import column_names, source_of
from ebnc.data.table import Coding, Frame
from ebnc.domain import Domain
from ebnc.errors import DataError, DataWarning


def named_columns(estimator: BaseEstimator, x: Any, *, reset: bool) -> dict[str, Frame]:
    """Return the columns of X by name, after scikit-learn's checks of names, number and shape.

    Columns of a frame keep their names (as strings); columns of an array are named x0, x1, …
    If a model was fitted on a frame and gets an array, or vice versa, columns match by position. A
    mapping of names to columns is accepted as a frame.
    """
    if hasattr(x, "collect"):
        raise DataError(
            f"X is a {type(x).__name__}, whose rows are not in memory yet; call its collect()"
        )
    if isinstance(x, Mapping) and not issparse(x):  # some sparse matrices are mappings
        columns = _of_mapping(estimator, x, reset=reset)
    elif hasattr(x, "columns") or hasattr(x, "column_names"):
        validate_data(estimator, x, reset=reset, skip_check_array=True)
        if is_one_row_of_pandas(x) and not reset:
            columns = {str(name): column for name, column in columns_of_one_row(x).items()}
        else:
            names = list(x.column_names if hasattr(x, "column_names") else x.columns)
            columns = {str(name): x[name] for name in names}
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
        columns = {f"x{i}": array[:, i] for i in range(array.shape[1])}
    if reset:
        if not all(len(column) for column in columns.values()):
            raise DataError("X has 0 rows; at least one is needed to learn from")
        estimator._names = tuple(columns)  # tools such as SHAP remove feature_names_in_
        return columns
    fitted = getattr(estimator, "_names", None) or tuple(columns)
    return dict(zip(fitted, columns.values(), strict=True))


def _of_mapping(
    estimator: BaseEstimator, x: Mapping[str, Frame], *, reset: bool
) -> dict[str, Frame]:
    if reset:
        if not x or not all(isinstance(name, str) for name in x):
            raise DataError(
                f"X must have at least one column, and names must be strings, got {list(x)[:8]}"
            )
        estimator.n_features_in_ = len(x)
        estimator.feature_names_in_ = np.array(list(x), dtype=object)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise DataError("this model was fitted without column names; pass an array")
    require(names.tolist(), list(x))
    return {name: x[name] for name in names.tolist()}


def name_of_target(y: Any, columns: Mapping[str, Frame], default: str) -> str:
    """Return the name of a series, or the default, changed until it is not one of the columns."""
    own = getattr(y, "name", None)
    target = own if isinstance(own, str) and own else default
    while target in columns:
        target += "_"
    return target


def is_by_name(data: object) -> bool:
    """Whether data are a path or a Dask DataFrame, which also hold the target."""
    return as_files(data) is not None or is_dask_frame(data)


def columns_by_name(data: Any, y: Any, sample_weight: Any) -> tuple[str, list[str]]:
    """Return the target, which ``y`` must name, and the inputs: all columns but it and weights."""
    if not isinstance(y, str):
        raise ValueError(
            "for data in files or a Dask DataFrame, y must be the name of the target column, got "
            f"{type(y).__name__}"
        )
    return y, [name for name in column_names(data) if name not in (y, sample_weight)]


def cases_by_name(estimator: Any, data: Any, y: Any, sample_weight: Any) -> Parts:
    """Read cases; ``y`` and ``sample_weight`` name columns, and all other columns are inputs."""
    target, inputs = columns_by_name(data, y, sample_weight)
    if estimator.class_weight is not None:
        raise ValueError(
            "class_weight is not supported for data in files or a Dask DataFrame; pass "
            "sample_weight, the name of a column of weights"
        )
    coding = Coding.of(estimator.numbers, estimator.kinds)
    return learn_cases(data, inputs, target, weights=sample_weight, leave_out=True, coding=coding)


def rows_by_name(data: Any, domain: Domain, inputs: list[str]) -> Iterator[CodedRows]:
    """Yield batches of coded rows in the order of the files."""
    coder = Coder(domain, inputs, "extra")
    yield from coded_batches(source_of(data), coder)
    warn_of_unknown(coder.unknown)


def warn_of_unknown(unknown: Unknown) -> None:
    """Warn with the number of entries that are not states of the model."""
    if unknown:
        warnings.warn(str(unknown), DataWarning, stacklevel=4)


def taking_labels(tags: Tags) -> Tags:
    """Return tags of an estimator that accepts strings, categories and missing values."""
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    return tags
