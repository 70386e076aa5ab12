"""Data in files or partitions for the classifier: y is the name of the target's column."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ebnc.data.columns import require
from ebnc.data.dask_parts import is_dask_frame
from ebnc.data.file_cases import column_names
from ebnc.data.file_rows import stream_rows
from ebnc.data.files import as_files
from ebnc.data.parts import Parts
from ebnc.data.rows import CodedRows
from ebnc.data.sources import learn_cases
from ebnc.domain import Domain
from ebnc.errors import DataError

__all__ = ["cases_by_name", "is_by_name", "rows_by_name"]


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
    files = as_files(data)
    names = [str(name) for name in data.columns] if files is None else column_names(files)
    require([y, *([] if sample_weight is None else [str(sample_weight)])], names)
    inputs = [name for name in names if name not in (y, sample_weight)]
    cases = learn_cases(data, inputs, y, weights=sample_weight)
    estimator.feature_names_in_ = np.array(inputs, dtype=object)
    estimator.n_features_in_ = len(inputs)
    estimator.classes_ = np.array(cases.domain[y])
    return cases


def rows_by_name(data: Any, domain: Domain, inputs: list[str]) -> Iterator[CodedRows]:
    """Coded rows in the order of the files, some at a time."""
    files = as_files(data)
    if files is None:
        raise DataError(
            "predictions for a Dask DataFrame are made on its partitions: "
            "frame.map_partitions(model.predict_proba)"
        )
    return stream_rows(files, domain, inputs, unseen_as_extra=True)
