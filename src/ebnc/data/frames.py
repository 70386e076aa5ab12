"""Convert results to a DataFrame of an installed library."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebnc.domain import Domain, State
from ebnc.typing import CodeArray, FloatArray

LIBRARIES = ("pandas", "polars", "pyarrow")

Column: TypeAlias = NDArray[Any]


def columns_to_frame(columns: Iterable[tuple[str, Column]]) -> Any:
    """A DataFrame of the first of pandas, polars, pyarrow that is installed.

    A name that an earlier column has gets an underscore. Only pandas takes labels of any type:
    polars and pyarrow get text where the labels of a column are intervals or of several types.
    """
    distinct: dict[str, Column] = {}
    for given_name, column in columns:
        name = given_name
        while name in distinct:
            name += "_"
        distinct[name] = column
    library_name = next(name for name in LIBRARIES if find_spec(name))
    library = import_module(library_name)
    if library_name == "pandas":
        return library.DataFrame(distinct)
    make = library.DataFrame if library_name == "polars" else library.table
    return make({name: _one_type(column.tolist()) for name, column in distinct.items()})


def codes_to_frame(
    domain: Domain, codes: Mapping[str, CodeArray], numbers: Mapping[str, FloatArray]
) -> Any:
    """Rows of codes as a DataFrame of labels, one column for each variable.

    ``numbers``: the columns of variables that are shown as numbers instead.
    """
    return columns_to_frame(
        (name, numbers[name] if name in numbers else labels_to_column(domain[name])[column])
        for name, column in codes.items()
    )


def cells_to_frame(states: Mapping[str, Sequence[State]], values: Mapping[str, FloatArray]) -> Any:
    """Arrays with one axis for each variable as a DataFrame with one row for each cell.

    ``states``: the labels along each axis, by variable. ``values``: arrays of shape (r_1, …, r_n),
    by the names of their columns; these come after the variables.
    """
    labels = [labels_to_column(states[name]) for name in states]
    cells = np.indices([len(column) for column in labels]).reshape(len(labels), -1)
    return columns_to_frame(
        [
            *((name, column[i]) for name, column, i in zip(states, labels, cells, strict=True)),
            *((name, value.ravel()) for name, value in values.items()),
        ]
    )


def labels_to_column(labels: Sequence[State]) -> Column:
    """Labels as an array: of numbers or booleans where all of them are, otherwise of objects."""
    column = np.empty(len(labels), dtype=object)
    for i, label in enumerate(labels):
        column[i] = label
    kinds = {type(label) for label in labels}
    for kind in (bool, int, float):
        if kinds == {kind}:
            return column.astype(kind)
    return column


def _one_type(labels: list[Any]) -> list[Any]:
    """The labels, as text where they are intervals or of several types; None stays None."""
    kinds = {type(label) for label in labels} - {type(None)}
    if len(kinds) <= 1 and not any(issubclass(kind, tuple) for kind in kinds):
        return labels
    return [None if label is None else str(label) for label in labels]
