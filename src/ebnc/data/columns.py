"""Columns of any table, as arrays: the border to other people's data frames.

Accepts pandas and polars DataFrames and pyarrow tables (through narwhals), mappings from names to
one-dimensional arrays or series, and two-dimensional NumPy arrays whose columns stand in the order
asked for. A column is then either read as numbers (``numbers``) or factorised into codes and
labels (``factorise``).
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebnc.errors import DataError
from ebnc.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "Column",
    "Factorised",
    "Frame",
    "column_names",
    "factorise",
    "is_missing",
    "is_numeric",
    "keep_rows",
    "n_rows",
    "numbers",
    "read_columns",
    "require",
    "take_rows",
]

Frame: TypeAlias = Any
"""A DataFrame (pandas, polars, pyarrow), a mapping from names to columns, or a 2-D array."""

Column: TypeAlias = "nw.Series[Any] | NDArray[Any]"

SMALL_RANGE = 65_536  # whole numbers within such a range are counted, not sorted


@dataclass(frozen=True, eq=False)
class Factorised:
    """A column as ``codes`` into ``labels``, −1 where it is missing.

    ``declared``: the labels are those of a categorical type, in its order, observed or not;
    otherwise they are the observed ones, in ascending order.
    """

    codes: IntArray
    labels: tuple[Hashable, ...]
    declared: bool

    @property
    def has_missing(self) -> bool:
        """Whether any entry is missing."""
        return bool((self.codes < 0).any())


def read_columns(
    data: Frame, names: Sequence[str], array_names: Sequence[str] | None = None
) -> dict[str, Column]:
    """The columns asked for, all of one length; other columns are ignored.

    ``array_names``: what the columns of a two-dimensional array are; ``names`` unless given.
    """
    if isinstance(data, np.ndarray):
        expected = names if array_names is None else array_names
        if data.ndim != 2 or data.shape[1] != len(expected):
            raise DataError(
                f"an array must have one column for each of {list(expected)} "
                f"(shape (n, {len(expected)})), got shape {data.shape}"
            )
        places = {name: i for i, name in enumerate(expected)}
        return {name: data[:, places[name]] for name in names}
    import narwhals as nw

    if isinstance(data, Mapping):
        require(names, list(data))
        columns = {name: _one_dimensional(name, data[name]) for name in names}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"columns differ in length: {lengths}")
        return columns
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        raise DataError(_no_frame(data)) from None
    except ValueError as error:  # narwhals on duplicate column names
        raise DataError(f"the data frame cannot be read: {error}") from None
    require(names, frame.columns)
    return {name: frame[name] for name in names}


def column_names(data: Frame) -> list[str]:
    """The names of all columns, in their order; an array's are called X1, X2, …."""
    if isinstance(data, np.ndarray):
        if data.ndim != 2:
            raise DataError(f"an array must have two dimensions, got shape {data.shape}")
        return [f"X{i}" for i in range(1, data.shape[1] + 1)]
    if isinstance(data, Mapping):
        names = list(data)
    else:
        import narwhals as nw

        try:
            names = nw.from_native(data, eager_only=True).columns
        except TypeError:
            raise DataError(_no_frame(data)) from None
        except ValueError as error:  # narwhals on duplicate column names
            raise DataError(f"the data frame cannot be read: {error}") from None
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"column names must be strings, got {name!r}; rename the column")
    return names


def n_rows(data: Frame) -> int:
    """Number of rows, also where no column is asked for."""
    if not isinstance(data, Mapping):
        return len(data)
    return len(_one_dimensional(*next(iter(data.items())))) if data else 0


def keep_rows(columns: Mapping[str, Any], kept: NDArray[np.bool_]) -> dict[str, Column]:
    """Columns with only the rows that are True."""
    found: dict[str, Column] = {}
    for name, given in columns.items():
        column = _one_dimensional(name, given)
        found[name] = (
            column[kept] if isinstance(column, np.ndarray) else column.filter(kept.tolist())
        )
    return found


def take_rows(columns: Mapping[str, Any], chosen: IntArray) -> dict[str, Column]:
    """Columns with the rows of these numbers."""
    found: dict[str, Column] = {}
    for name, given in columns.items():
        column = _one_dimensional(name, given)
        found[name] = column[chosen if isinstance(column, np.ndarray) else chosen.tolist()]
    return found


def is_numeric(column: Column) -> bool:
    """Whether a column holds numbers (booleans are labels, not numbers)."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind == "O":
            present = [v for v in column.tolist() if not _is_missing(v)]
            return bool(present) and all(map(_is_number, present))
        return column.dtype.kind in "iuf"
    return bool(column.dtype.is_numeric())


def is_missing(name: str, column: Column) -> NDArray[np.bool_]:
    """Which entries are missing."""
    if is_numeric(column):
        return np.isnan(numbers(name, column))
    return factorise(name, column).codes < 0


def numbers(name: str, column: Column) -> FloatArray:
    """A column as floats, NaN where it is missing."""
    try:
        if not isinstance(column, np.ndarray):
            import narwhals as nw

            column = column.cast(nw.Float64).to_numpy()
        values = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"column {name!r} must hold numbers: {error}") from None
    if np.isinf(values).any():
        raise DataError(f"column {name!r} holds an infinite number; remove or replace it")
    return values


def factorise(name: str, column: Column) -> Factorised:
    """Codes and labels of one column."""
    try:
        return _factorise(name, column)
    except DataError:
        raise
    except Exception as error:  # unhashable entries, or a type the data frame cannot count
        raise DataError(f"entries of column {name!r} cannot be labels: {error}") from None


def _factorise(name: str, column: Column) -> Factorised:
    if not isinstance(column, np.ndarray) and column.dtype.is_nested():
        raise DataError(f"entries of column {name!r} cannot be labels: they are {column.dtype}")
    if isinstance(column, np.ndarray):
        return _ordered(name, *_factorise_array(column))
    if column.implementation.is_pandas_like():
        native = column.to_native()
        if hasattr(native, "cat"):
            codes = native.cat.codes.to_numpy()
            return Factorised(codes, tuple(native.cat.categories.tolist()), declared=True)
        codes, distinct = native.factorize()
        return _ordered(name, np.asarray(codes), distinct.tolist())
    import narwhals as nw

    distinct = column.drop_nulls().unique(maintain_order=False).to_list()
    dtype = column.dtype
    declared = isinstance(dtype, nw.Enum)
    if isinstance(dtype, nw.Enum):
        distinct = list(dtype.categories)
    if not distinct:
        return Factorised(np.full(len(column), -1), (), declared=False)
    codes = column.replace_strict(
        distinct, range(len(distinct)), default=-1, return_dtype=nw.Int64
    ).to_numpy()
    if declared:
        return Factorised(codes, tuple(distinct), declared=True)
    return _ordered(name, codes, distinct)


def _factorise_array(column: NDArray[Any]) -> tuple[IntArray, list[Any]]:
    """Codes into distinct labels, in any order."""
    if column.dtype.kind == "b":
        return column.astype(np.int64), [False, True]
    if column.dtype.kind in "iu" and column.size:
        low, high = int(column.min()), int(column.max())
        if high - low < SMALL_RANGE:
            # An unsigned column may lie beyond int64, a signed one may overflow its own type.
            unsigned = column.dtype.kind == "u"
            shifted = (
                (column - column.min()).astype(np.int64)
                if unsigned
                else column.astype(np.int64) - low
            )
            present = np.flatnonzero(np.bincount(shifted))
            code_of = np.zeros(high - low + 1, dtype=np.int64)
            code_of[present] = np.arange(len(present))
            return code_of[shifted], [low + i for i in present.tolist()]
    if column.dtype.kind == "O":
        seen: dict[Any, int] = {}
        codes = [
            -1 if _is_missing(value) else seen.setdefault(value, len(seen))
            for value in column.tolist()
        ]
        return np.array(codes, dtype=np.int64), list(seen)
    distinct, inverse = np.unique(column, return_inverse=True)
    return inverse, distinct.tolist()


def _ordered(name: str, codes: IntArray, labels: list[Any]) -> Factorised:
    """Labels in ascending order, those that are not observed or not a number taken out."""
    _refuse_mixed(name, labels)
    observed = np.bincount(codes[codes >= 0], minlength=len(labels)) > 0
    kept = [i for i, seen in enumerate(observed) if seen and not _is_missing(labels[i])]
    try:
        kept.sort(key=lambda i: labels[i])
    except TypeError:
        raise DataError(
            f"values of column {name!r}, of type {type(labels[0]).__name__}, have no order; "
            "turn them into strings"
        ) from None
    new_code = np.full(len(labels) + 1, -1, dtype=np.int64)  # the last one is for −1 itself
    new_code[kept] = np.arange(len(kept))
    return Factorised(new_code[codes], tuple(labels[i] for i in kept), declared=False)


def _refuse_mixed(name: str, labels: list[Any]) -> None:
    kinds: dict[str, Any] = {}
    for label in labels:
        if not _is_missing(label):
            kinds.setdefault(_kind(label), label)
    if len(kinds) > 1:
        shown = ", ".join(f"{label!r} ({kind})" for kind, label in kinds.items())
        raise DataError(f"column {name!r} mixes types: {shown}; convert it to one type")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _kind(label: Any) -> str:
    """What a label is; NumPy's own kinds of numbers and strings are not others."""
    if _is_number(label):
        return "number"
    return "str" if isinstance(label, str) else type(label).__name__


def _is_missing(value: Any) -> bool:
    # pandas.NA and NaT are missing too, without pandas being asked
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | Decimal) and math.isnan(value)


def _no_frame(data: object) -> str:
    return (
        "data must be a DataFrame (pandas, polars, pyarrow), a mapping from column names "
        f"to arrays, or a two-dimensional NumPy array, got {type(data).__name__}"
    )


def require(names: Sequence[str], present: Sequence[str]) -> None:
    """Raise where a column asked for is not there."""
    for name in names:
        if name not in present:
            shown = ", ".join(repr(other) for other in present[:8])
            more = ", …" if len(present) > 8 else ""
            raise DataError(f"the data have no column {name!r}; they have {shown}{more}")


def _one_dimensional(name: str, given: Any) -> Column:
    import narwhals as nw

    column = nw.from_native(given, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        return column
    if isinstance(given, np.ma.MaskedArray):
        given = given.tolist()  # None where it is masked
    try:
        array = np.asarray(given)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise DataError(f"column {name!r} must be one-dimensional, got shape {array.shape}")
    if array.dtype.kind in "US" and not isinstance(given, np.ndarray):
        # NumPy turns [1, "a"] and ["a", None] into strings; labels are kept as they were given.
        array = np.empty(len(given), dtype=object)
        array[:] = list(given)
    return array
