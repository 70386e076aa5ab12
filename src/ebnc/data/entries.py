"""Read a column of any library as numbers or labels: the rules for typed entries.

- Integers, floats and decimals are numbers; dates, times and durations are numbers of days;
  booleans and categories are labels; ``text`` has the rules for text.
- Floats cannot represent all whole numbers beyond 2⁵³; a column that has one holds labels, as text.

All columns except arrays of numbers are converted to Arrow, so the same rules hold for every
library. Only ``read_column`` converts entries to numbers or labels.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ebnc.data.columns import EXACT, Column, Labels, Numbers, factorise
from ebnc.data.table import Kind, Options
from ebnc.data.text import code_array, is_text, number_values, read_text, to_days
from ebnc.errors import DataError


def read_column(
    name: str,
    entries: Any,
    kind: Kind | None = None,
    options: Options | None = None,
    *,
    declared: bool = False,
) -> Column:
    """Read one column of any library; ``name`` is for messages.

    ``kind``: the kind of text entries; if None, the entries determine it. ``declared``: a
    dictionary is a categorical type, whose values are all states.
    """
    if isinstance(entries, Numbers | Labels):
        return entries
    if isinstance(entries, np.ma.MaskedArray):
        entries = entries.tolist()  # masked entries become None
    if hasattr(entries, "sparse"):  # of pandas
        entries = np.asarray(entries)
    typed = ("__arrow_c_stream__", "__arrow_c_array__", "iloc")
    if not any(hasattr(entries, attribute) for attribute in typed):
        entries = _one_dimensional(name, entries)
    dtype = getattr(entries, "dtype", None)
    column: Column
    if isinstance(dtype, np.dtype) and dtype.kind == "b":
        column = Labels(np.asarray(entries, dtype=np.int8), (False, True))
    elif isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        column = Numbers(np.asarray(entries))
    else:
        array = _to_arrow(entries)
        if array is None:
            column = _of_objects(name, list(entries))
        else:
            column = _of_arrow(name, array, kind, options or Options(), declared=declared)
    return _exact(name, column) if isinstance(column, Numbers) else column


def _exact(name: str, column: Numbers) -> Column:
    """Return numbers unchanged, or as labels if floats cannot represent them all."""
    values = column.values
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise DataError(f"column {name!r} holds an infinite number; remove or replace it")
    is_long = values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size
    if is_long and max(-int(values.min()), int(values.max())) > EXACT:
        labelled = factorise(column)
        return replace(labelled, labels=tuple(map(str, labelled.labels)))
    return column


def _to_arrow(entries: Any) -> Any:
    """Return an Arrow array, or None if Arrow has no type for the entries."""
    if hasattr(entries, "__arrow_c_stream__") and not hasattr(entries, "iloc"):
        array = pa.chunked_array(entries)
    else:
        try:
            array = pa.array(entries, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return None
        is_odd = pa.types.is_nested(array.type) or pa.types.is_binary(array.type)
        if is_odd and str(getattr(entries, "dtype", "")) == "object":
            return None  # tuples, intervals and the like are labels, not lists
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _one_dimensional(name: str, entries: Any) -> NDArray[Any]:
    try:
        array = np.asarray(entries)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise DataError(f"column {name!r} must be one-dimensional, got shape {array.shape}")
    if array.dtype.kind in "US" and not isinstance(entries, np.ndarray):
        # NumPy turns [1, "a"] and ["a", None] into strings; restore the original entries.
        array = np.empty(len(entries), dtype=object)
        array[:] = list(entries)
    return array


def _of_arrow(name: str, array: Any, kind: Kind | None, options: Options, *, declared: bool) -> Any:
    of = array.type
    is_dictionary = pa.types.is_dictionary(of)
    values = of.value_type if is_dictionary else of
    if pa.types.is_null(of):
        return Labels(np.full(len(array), -1, dtype=np.int8), (), written=True)
    if is_dictionary and (declared or of.ordered):
        labels = tuple(array.dictionary.to_pylist())
        return Labels(code_array(array), labels, declared=True, ordered=of.ordered)
    if is_text(values):
        return read_text(name, array, kind, options)
    if is_dictionary:
        array = array.dictionary_decode()
    if pa.types.is_boolean(values):
        codes = array.cast(pa.int8()).fill_null(-1).to_numpy(zero_copy_only=False)
        return Labels(codes, (False, True))
    if pa.types.is_integer(values) or pa.types.is_floating(values):
        return Numbers(number_values(array))
    if pa.types.is_decimal(values):
        return Numbers(number_values(array.cast(pa.float64())))
    if pa.types.is_temporal(values):
        return Numbers(to_days(array), "date")
    if pa.types.is_nested(values) or "binary" in str(values):
        raise DataError(f"entries of column {name!r} cannot be labels: they are {of}")
    return _of_objects(name, array.to_pylist())


def _of_objects(name: str, entries: Sequence[Any]) -> Column:
    """Read entries without an Arrow type: numbers beyond 64 bits, or labels of one kind."""
    seen: dict[Any, int] = {}
    codes = np.empty(len(entries), dtype=np.int64)
    try:
        for i, entry in enumerate(entries):
            codes[i] = -1 if _is_gap(entry) else seen.setdefault(entry, len(seen))
    except TypeError as error:
        raise DataError(f"entries of column {name!r} cannot be labels: {error}") from None
    kinds: dict[str, Any] = {}
    for label in seen:
        kinds.setdefault(_kind_of_object(label), label)
    if len(kinds) > 1:
        shown = ", ".join(f"{label!r} ({kind})" for kind, label in kinds.items())
        raise DataError(f"column {name!r} mixes types: {shown}; convert it to one type")
    if set(kinds) == {"number"}:
        if any(isinstance(x, int | np.integer) and abs(int(x)) > EXACT for x in seen):
            return Labels(codes, tuple(map(str, seen)))
        return Numbers(np.array([*map(float, seen), np.nan])[codes])
    return Labels(codes, tuple(seen))


def _kind_of_object(label: Any) -> str:
    """The kind of a label; numbers and strings of NumPy count as numbers and strings."""
    numbers = int | float | Decimal | np.integer | np.floating
    if isinstance(label, numbers) and not isinstance(label, bool):
        return "number"
    return "str" if isinstance(label, str) else type(label).__name__


def _is_gap(value: Any) -> bool:
    """Whether a Python object is a missing entry: None, NaN, NaT, pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | Decimal) and math.isnan(value)
