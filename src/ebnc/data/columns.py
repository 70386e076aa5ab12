"""One column of any table, as numbers or as codes and labels: the rules of an entry.

- Typed columns are what their type says: integers, floats and decimals are numbers; dates, times
  and durations are numbers of days; booleans and categories are labels.
- A column of text is numbers where every entry is a number, dates where every entry is an ISO 8601
  date, and labels, kept as they are written, otherwise. A number has no leading zero (``01`` is a
  label), no other base (``0x1``) and no separators (``1_000``); spaces around it do not matter.
- Whole numbers beyond 2⁵³, which floats do not tell apart, make a column one of labels, as text.
- Text is missing where it is one of ``Options.missing_words``, spaces around it left aside.

Everything that is not an array of numbers passes through Arrow, so that these rules hold for every
library alike. ``read_column`` is the only way from an entry to a number or a label.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebnc.data.table import Kind, Options
from ebnc.errors import DataError
from ebnc.typing import FloatArray, IntArray

__all__ = ["Column", "Labels", "Numbers", "as_label", "factorise", "is_missing_value"]
__all__ += ["is_written_number", "joined", "number_array", "read_column", "text_array"]

HEAD = 256  # entries that are looked at to guess what a column of text holds
DAY = 86_400_000_000  # microseconds
DIGITS = r"^[+-]?[0-9]+$"
EXACT = 2**53  # larger whole numbers are not told apart as floats
SMALL_RANGE = 65_536  # whole numbers within such a range are counted, not sorted


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers, NaN where missing. ``kind``: "number" or "date"; ``written``: they were text."""

    values: NDArray[Any]
    kind: Kind = "number"
    written: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def take(self, chosen: NDArray[Any]) -> "Numbers":
        """The rows of these numbers, or where a mask is True."""
        return replace(self, values=self.values[chosen])

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which entries are missing."""
        if self.values.dtype.kind != "f":
            return np.zeros(len(self.values), dtype=np.bool_)
        return np.asarray(np.isnan(self.values))


@dataclass(frozen=True, eq=False)
class Labels:
    """``codes`` into ``labels``, −1 where missing; not every label need be observed.

    ``declared``: the labels are the states, in this order, of a categorical type.
    ``written``: they were text, or nothing but gaps.
    """

    codes: IntArray
    labels: tuple[Hashable, ...]
    declared: bool = False
    written: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def kind(self) -> Kind | None:
        """None where every entry is missing: such a column agrees with any kind."""
        return "label" if self.labels else None

    def take(self, chosen: NDArray[Any]) -> "Labels":
        """The rows of these numbers, or where a mask is True."""
        return replace(self, codes=self.codes[chosen])

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which entries are missing."""
        return np.asarray(self.codes < 0)

    def observed(self) -> list[Hashable]:
        """The labels that occur."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.labels))
        return [self.labels[i] for i in np.flatnonzero(counts).tolist()]


Column: TypeAlias = Numbers | Labels


def read_column(
    name: str,
    given: Any,
    kind: Kind | None = None,
    options: Options | None = None,
    *,
    declared: bool = False,
) -> Column:
    """One column of whatever library.

    ``kind``: what it must be; None is whatever it is. ``declared``: a dictionary is a categorical
    type, whose values are all states.
    """
    if isinstance(given, Numbers | Labels):
        return given
    options = options or Options()
    if isinstance(given, np.ma.MaskedArray):
        given = given.tolist()  # None where it is masked
    if hasattr(given, "sparse"):  # of pandas
        given = np.asarray(given)
    dtype = getattr(given, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        array = np.asarray(given)
        if array.ndim != 1:
            raise DataError(f"column {name!r} must be one-dimensional, got shape {array.shape}")
        if array.dtype.kind != "b":
            return _checked(name, array)
        return Labels(array.astype(np.int8), (False, True))
    column = _read_arrow(name, *_to_arrow(name, given), kind, options, declared=declared)
    return _checked(name, column.values, column) if isinstance(column, Numbers) else column


def _checked(name: str, values: NDArray[Any], column: Numbers | None = None) -> Column:
    """Numbers that floats can tell apart; whole numbers that they cannot are labels."""
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise DataError(f"column {name!r} holds an infinite number; remove or replace it")
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        low, high = int(values.min()), int(values.max())
        if max(-low, high) > EXACT:
            found = factorise(Numbers(values))
            return replace(found, labels=tuple(map(str, found.labels)))
    return column or Numbers(values)


def _to_arrow(name: str, given: Any) -> tuple[Any, Any]:
    """An Arrow array, or None where Arrow has no type for the entries; and the entries."""
    import pyarrow as pa

    if isinstance(given, pa.ChunkedArray):
        return given.combine_chunks(), given
    if isinstance(given, pa.Array):
        return given, given
    if hasattr(given, "__arrow_c_stream__") and not hasattr(given, "iloc"):
        return pa.chunked_array(given).combine_chunks(), given
    if not hasattr(given, "iloc"):
        given = _one_dimensional(name, given)
    try:
        array = pa.array(given, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None, list(given)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    odd = pa.types.is_nested(array.type) or pa.types.is_binary(array.type)
    if odd and str(getattr(given, "dtype", "")) == "object":
        return None, list(given)  # tuples, intervals and the like are labels, not lists
    return array, given


def _one_dimensional(name: str, given: Any) -> NDArray[Any]:
    try:
        array = np.asarray(given)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise DataError(f"column {name!r} must be one-dimensional, got shape {array.shape}")
    if array.dtype.kind in "US" and not isinstance(given, np.ndarray):
        # NumPy turns [1, "a"] and ["a", None] into strings; entries are kept as they were given.
        array = np.empty(len(given), dtype=object)
        array[:] = list(given)
    return array


def _read_arrow(
    name: str, array: Any, entries: Any, kind: Kind | None, options: Options, *, declared: bool
) -> Column:
    import pyarrow as pa

    if array is None:
        return _of_objects(name, entries)
    of = array.type
    is_dictionary = pa.types.is_dictionary(of)
    values = of.value_type if is_dictionary else of
    if pa.types.is_null(of):
        return Labels(np.full(len(array), -1, dtype=np.int8), (), written=True)
    if is_dictionary and (declared or of.ordered):
        codes = _indices(array)
        return Labels(codes, tuple(array.dictionary.to_pylist()), declared=True)
    if _is_text(values):
        return _read_text(name, array, kind, options)
    if is_dictionary:
        array = array.dictionary_decode()
    if pa.types.is_boolean(values):
        codes = array.cast(pa.int8()).fill_null(-1).to_numpy(zero_copy_only=False)
        return Labels(codes, (False, True))
    if pa.types.is_integer(values) or pa.types.is_floating(values):
        return Numbers(_numpy(array))
    if pa.types.is_decimal(values):
        return Numbers(_numpy(array.cast(pa.float64())))
    if pa.types.is_temporal(values):
        return Numbers(_days(array), "date")
    if pa.types.is_nested(values) or _is_bytes(values):
        raise DataError(f"entries of column {name!r} cannot be labels: they are {of}")
    return _of_objects(name, array.to_pylist())


def _is_bytes(of: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_binary(of)
        or pa.types.is_large_binary(of)
        or pa.types.is_binary_view(of)
        or pa.types.is_fixed_size_binary(of)
    )


def _indices(array: Any) -> IntArray:
    """Codes of a dictionary, −1 where missing."""
    import pyarrow as pa

    codes = array.indices if pa.types.is_signed_integer(array.indices.type) else None
    codes = array.indices.cast(pa.int64()) if codes is None else codes
    codes = codes.fill_null(-1) if codes.null_count else codes
    return without_gaps(codes)


def without_gaps(array: Any) -> NDArray[Any]:
    """Numbers of Arrow without gaps; ``to_numpy`` would load pandas."""
    dtype = np.dtype(array.type.to_pandas_dtype())
    if not len(array):
        return np.empty(0, dtype=dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def _is_text(of: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of)
    )


def _numpy(array: Any) -> NDArray[Any]:
    """Numbers of Arrow; with gaps they become floats."""
    import pyarrow as pa

    if array.null_count and not pa.types.is_floating(array.type):
        array = array.cast(pa.float64(), safe=False)
    if not array.null_count and not pa.types.is_float16(array.type):
        return without_gaps(array)
    found: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return found.astype(np.float32) if found.dtype == np.float16 else found


def _days(array: Any) -> FloatArray:
    """Moments and dates as days since 1970, times of day and durations as days."""
    import pyarrow as pa

    of, micro = array.type, "us"
    if pa.types.is_date(of):
        array = array.cast(pa.timestamp(micro))
    elif pa.types.is_time(of):
        array = array.cast(pa.time64(micro), safe=False)
    elif pa.types.is_duration(of):
        array = array.cast(pa.duration(micro), safe=False)
    elif pa.types.is_timestamp(of):
        array = array.cast(pa.timestamp(micro, of.tz), safe=False)
    else:
        raise DataError(f"entries of type {of} are neither numbers nor labels")
    return np.asarray(_numpy(array.cast(pa.int64())), dtype=np.float64) / DAY


# -- text -----------------------------------------------------------------------------------------


def _read_text(name: str, array: Any, kind: Kind | None, options: Options) -> Column:
    """Text that may be numbers or dates; where most entries differ, without making labels of them.

    A column that must be numbers and is not is an error.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = pa.types.is_dictionary(array.type)
    if not encoded:
        # Views do not have every function; a batch is smaller than 2 GB.
        array = array.cast(pa.string()) if pa.types.is_string_view(array.type) else array
        head = array.slice(0, HEAD)
        if kind != "label" and 2 * len(head.unique()) > len(head):
            numbers = _written_numbers(head, kind, options)
            numbers = _written_numbers(array, kind, options) if numbers is not None else None
            if numbers is not None:
                return numbers
        array = array.dictionary_encode()
    distinct = array.dictionary
    distinct = distinct.cast(pa.string()) if pa.types.is_string_view(distinct.type) else distinct
    codes: NDArray[Any] = _indices(array)
    gone = _is_missing_word(pc.ascii_trim_whitespace(distinct), options)
    kept = without_gaps(gone.cast(pa.uint8())) == 0
    if encoded:  # a dictionary may hold what these rows do not
        kept &= np.bincount(codes[codes >= 0], minlength=len(distinct)) > 0
    if not kept.all():
        codes = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)[codes]
        distinct = distinct.take(number_array(np.flatnonzero(kept)))
    if kind != "label" and len(distinct):
        numbers = _written_numbers(distinct, kind, options)
        if numbers is not None:
            return replace(numbers, values=np.append(numbers.values, np.nan)[codes])
        if kind is not None:
            raise DataError(_not_numbers(name, distinct.to_pylist(), kind, options))
    return Labels(codes, tuple(distinct.to_pylist()), written=True)


def text_array(texts: Sequence[str]) -> Any:
    """Text of Arrow; ``pyarrow.array`` would load pandas, which takes longer than to predict."""
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )


def number_array(values: NDArray[Any]) -> Any:
    """Numbers of Arrow, without pandas."""
    import pyarrow as pa

    buffers = [None, pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def _is_missing_word(trimmed: Any, options: Options) -> Any:
    import pyarrow.compute as pc

    words = text_array(options.missing_words).cast(trimmed.type)
    return pc.is_in(trimmed, value_set=words)


def _written_numbers(array: Any, kind: Kind | None, options: Options) -> Numbers | None:
    """Text as numbers, or as dates; None where an entry is neither."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind != "date" and not options.has_numbers_for_missing:
        found = _floats(array, options)  # most columns of numbers are nothing else
        if found is not None:
            return found
    array = pc.ascii_trim_whitespace(array)
    gaps = pa.nulls(len(array), array.type)
    array = pc.if_else(_is_missing_word(array, options), gaps, array)
    if kind != "date":
        found = _floats(array, options)
        if found is not None:
            return found
    if kind != "number" and array.null_count < len(array):
        for zone in (None, "UTC"):
            try:
                return Numbers(_days(array.cast(pa.timestamp("us", zone))), "date", written=True)
            except pa.ArrowInvalid:
                continue
    return None


def _floats(array: Any, options: Options) -> Numbers | None:
    """Text that is a number throughout, gaps aside; None if it is not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        array = _with_points(array) if options.decimal == "," else array
        read = array.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    values = _numpy(read)
    if read.null_count == len(read) or int(np.isnan(values).sum()) != read.null_count:
        return None  # gaps say nothing; "nan" is a number for Arrow
    if _has_leading_zero(array):
        return None
    long = np.flatnonzero(np.abs(values) > EXACT)
    if (
        len(long)
        and pc.any(pc.match_substring_regex(array.take(number_array(long)), DIGITS)).as_py()
    ):
        return None
    return Numbers(values, written=True)


def _has_leading_zero(array: Any) -> bool:
    """Whether a number begins with 0 and another digit; on its bytes, for that is quick."""
    import pyarrow as pa

    array = array.cast(pa.string()) if not pa.types.is_string(array.type) else array
    _, ends, text = array.buffers()
    ends = np.frombuffer(ends, np.int32, len(array) + 1, 4 * array.offset)
    letters = np.frombuffer((text.to_pybytes() if text is not None else b"") + b"  ", np.uint8)
    first = letters[ends[:-1]]
    start = ends[:-1] + ((first == ord("+")) | (first == ord("-")))
    digit = letters[start + 1] - np.uint8(ord("0"))  # others wrap to large numbers
    found = np.flatnonzero((letters[start] == ord("0")) & (digit <= 9))
    return bool((ends[1:][found] - start[found] > 1).any())  # or it is of the next entry


def _with_points(array: Any) -> Any:
    """Decimal commas as points; a number with a point would be a thousand's mark, and is text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.any(pc.match_substring(array, ".")).as_py():
        raise pa.ArrowInvalid
    return pc.replace_substring(array, ",", ".", max_replacements=1)


def _not_numbers(name: str, words: Sequence[str], kind: Kind, options: Options) -> str:
    first = next((w for w in words if not is_written_number(w, kind, options)), "")
    what = "numbers" if kind == "number" else "dates (such as 2020-12-31)"
    return f"column {name!r} must hold {what}, got {first!r}"


def is_written_number(word: str, kind: Kind = "number", options: Options | None = None) -> bool:
    """Whether a text is a number, by the same rule as a column of text."""
    return _written_numbers(text_array([word]), kind, options or Options()) is not None


# -- objects of Python ----------------------------------------------------------------------------


def _of_objects(name: str, entries: Sequence[Any]) -> Column:
    """Entries that Arrow has no type for: numbers beyond 64 bits, or labels of one kind."""
    kinds: dict[str, Any] = {}
    seen: dict[Any, int] = {}
    codes = np.empty(len(entries), dtype=np.int64)
    try:
        for i, entry in enumerate(entries):
            codes[i] = -1 if is_missing_value(entry) else seen.setdefault(entry, len(seen))
    except TypeError as error:
        raise DataError(f"entries of column {name!r} cannot be labels: {error}") from None
    for label in seen:
        kinds.setdefault(_kind_of_object(label), label)
    if len(kinds) > 1:
        shown = ", ".join(f"{label!r} ({kind})" for kind, label in kinds.items())
        raise DataError(f"column {name!r} mixes types: {shown}; convert it to one type")
    if set(kinds) == {"number"}:
        if any(isinstance(x, int | np.integer) and abs(int(x)) > EXACT for x in seen):
            return Labels(codes, tuple(map(str, seen)))
        values = np.array([*map(float, seen), np.nan])
        return Numbers(values[codes])
    return Labels(codes, tuple(seen))


def _kind_of_object(label: Any) -> str:
    """What a label is; NumPy's own kinds of numbers and strings are not others."""
    if isinstance(label, int | float | Decimal | np.integer | np.floating) and not isinstance(
        label, bool
    ):
        return "number"
    return "str" if isinstance(label, str) else type(label).__name__


def is_missing_value(value: Any) -> bool:
    """Whether a Python object is a gap: None, NaN, NaT, pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | Decimal) and math.isnan(value)


# -- numbers as labels ----------------------------------------------------------------------------


def factorise(column: Column) -> Labels:
    """Codes and labels of a column; whole numbers become integers."""
    if isinstance(column, Labels):
        return column
    values = column.values
    if values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low < SMALL_RANGE:
            # An unsigned column may lie beyond int64, a signed one may overflow its own type.
            unsigned = values.dtype.kind == "u"
            shifted = (values - values.min() if unsigned else values.astype(np.int64) - low).astype(
                np.int64
            )
            present = np.flatnonzero(np.bincount(shifted))
            codes = np.zeros(high - low + 1, dtype=np.int64)
            codes[present] = np.arange(len(present))
            return Labels(codes[shifted], tuple(low + i for i in present.tolist()))
    distinct, inverse = np.unique(values, return_inverse=True, equal_nan=True)
    n_present = len(distinct) - (distinct.dtype.kind == "f" and bool(np.isnan(distinct[-1:]).any()))
    labels = tuple(map(as_label, distinct[:n_present].tolist()))
    return Labels(np.where(inverse < n_present, inverse, -1), labels)


def as_label(value: float) -> int | float:
    """A number as a label: 2.0 is 2."""
    return int(value) if value == int(value) else value


def joined(parts: Sequence[Column]) -> Column:
    """Parts of one column after each other; where their kinds differ, gaps agree with any."""
    if len(parts) == 1:
        return parts[0]
    numbers = [part for part in parts if isinstance(part, Numbers)]
    if numbers:
        arrays = [x.values if isinstance(x, Numbers) else np.full(len(x), np.nan) for x in parts]
        return replace(numbers[0], values=np.concatenate(arrays))
    place: dict[Hashable, int] = {}
    codes = []
    labels = [part for part in parts if isinstance(part, Labels)]
    for part in labels:
        table = [place.setdefault(label, len(place)) for label in part.labels]
        codes.append(np.array([*table, -1])[part.codes])
    return Labels(np.concatenate(codes), tuple(place), labels[0].declared, labels[0].written)
