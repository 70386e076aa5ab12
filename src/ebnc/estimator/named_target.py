"""Data in files for the classifier: X is a path, and y the name of the target's column."""

from collections.abc import Iterator
from typing import Any

from ebnc.data.cases import Cases
from ebnc.data.columns import require
from ebnc.data.file_cases import column_names
from ebnc.data.file_rows import stream_rows
from ebnc.data.files import DataFiles
from ebnc.data.rows import CodedRows
from ebnc.data.sources import learn_cases
from ebnc.domain import Domain
from ebnc.errors import StorageError

__all__ = ["cases_by_name", "rows_by_name"]


def cases_by_name(estimator: Any, files: DataFiles, y: Any, sample_weight: Any) -> Cases:
    """Cases of all columns but the target's and the weights', which are given by their names."""
    if not isinstance(y, str):
        raise ValueError(
            f"with data in files y must be the name of the target's column, got {type(y).__name__}"
        )
    if estimator.class_weight is not None:
        raise ValueError(
            "class_weight does not go with data in files; give sample_weight, the name of a column"
        )
    names = column_names(files)
    require([y, *([] if sample_weight is None else [str(sample_weight)])], names)
    inputs = [name for name in names if name not in (y, sample_weight)]
    cases = learn_cases(files, inputs, y, weights=sample_weight)
    if not isinstance(cases, Cases):
        raise StorageError(f"{cases.n_rows} distinct rows do not fit in memory; raise memory_limit")
    return cases


def rows_by_name(files: DataFiles, domain: Domain, inputs: list[str]) -> Iterator[CodedRows]:
    """Coded rows in the order of the files, some at a time."""
    return stream_rows(files, domain, inputs, unseen_as_extra=True)
