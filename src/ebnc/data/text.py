"""Read text as numbers, dates or labels: the rules for text entries.

- A column of text is numbers if every entry is a number, dates if every entry is an ISO 8601 date,
  and otherwise labels, with their text unchanged.
- A number has no leading zero (``01`` is a label), no other base (``0x1``) and no separators
  (``1_000``); surrounding spaces are ignored. Whole numbers beyond 2⁵³ are labels.
- An entry is missing if it is one of ``Options.missing_words``, ignoring surrounding spaces.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ebnc.data.columns import EXACT, Column, Labels, Numbers, used_codes
from ebnc.data.table import Kind, Options
from ebnc.errors import DataError
from ebnc.typing import FloatArray, IntArray

HEAD = 256  # entries; these usually show whether a column of text holds numbers
DAY = 86_400_000_000  # microseconds
DIGITS = r"^[+-]?[0-9]+$"


def read_text(name: str, array: Any, kind: Kind | None, options: Options) -> Column:
    """Read a column of text, or a dictionary of text; raise if it is not of kind ``kind``."""
    is_dictionary = pa.types.is_dictionary(array.type)
    if not is_dictionary:
        array = _plain(array)
        # Numbers are mostly distinct, so building a dictionary takes longer than parsing them.
        if kind != "label" and _written_numbers(array.slice(0, HEAD), kind, options) is not None:
            numbers = _written_numbers(array, kind, options)
            if numbers is not None:
                return numbers
        array = array.dictionary_encode()
    distinct = _plain(array.dictionary)
    codes: NDArray[Any] = code_array(array)
    is_kept = _numpy(_is_missing_word(pc.ascii_trim_whitespace(distinct), options)) == 0
    if is_dictionary:  # it may hold unused values
        is_kept &= used_codes(codes, len(distinct))
    if not is_kept.all():
        codes = np.append(np.where(is_kept, np.cumsum(is_kept) - 1, -1), -1).astype(np.int32)[codes]
        distinct = distinct.take(number_array(np.flatnonzero(is_kept)))
    if kind != "label" and len(distinct):
        numbers = _written_numbers(distinct, kind, options)
        if numbers is not None:
            return replace(numbers, values=np.append(numbers.values, np.nan)[codes])
        if kind is not None:
            words = distinct.to_pylist()
            first = next((w for w in words if not is_written_number(w, kind, options)), "")
            wanted = "numbers" if kind == "number" else "dates (such as 2020-12-31)"
            raise DataError(f"column {name!r} must hold {wanted}, got {first!r}")
    return Labels(codes, tuple(distinct.to_pylist()), written=True)


def _written_numbers(array: Any, kind: Kind | None, options: Options) -> Numbers | None:
    """Parse text as numbers or as dates; return None if an entry is neither."""
    if kind != "date" and not options.has_numbers_for_missing:
        numbers = _floats(array, options)  # most columns need no cleaning
        if numbers is not None:
            return numbers
    array = pc.ascii_trim_whitespace(array)
    array = pc.if_else(_is_missing_word(array, options), pa.nulls(len(array), array.type), array)
    if kind != "date":
        numbers = _floats(array, options)
        if numbers is not None:
            return numbers
    if kind != "number" and array.null_count < len(array):
        for zone in (None, "UTC"):
            try:
                return Numbers(to_days(array.cast(pa.timestamp("us", zone))), "date", written=True)
            except pa.ArrowInvalid:
                continue
    return None


def _floats(array: Any, options: Options) -> Numbers | None:
    """Parse text as numbers, ignoring missing entries; return None if an entry is not a number."""
    if options.decimal == ",":
        if pc.any(pc.match_substring(array, ".")).as_py():  # a thousands separator
            return None
        array = pc.replace_substring(array, ",", ".", max_replacements=1)
    try:
        floats = array.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    values = number_values(floats)
    if floats.null_count == len(array) or int(np.isnan(values).sum()) != floats.null_count:
        return None  # all entries are missing, or Arrow parsed the word "nan"
    if _has_leading_zero(array):
        return None
    long = array.take(number_array(np.flatnonzero(np.abs(values) > EXACT)))
    is_long = pc.any(pc.match_substring_regex(long, DIGITS)).as_py()
    return None if is_long else Numbers(values, written=True)


def _has_leading_zero(array: Any) -> bool:
    """Whether a number begins with 0 and another digit."""
    digits = pc.ascii_ltrim(array, "+-")
    zeros = digits.filter(pc.and_not(pc.starts_with(digits, "0"), pc.starts_with(digits, "0.")))
    return bool(pc.any(pc.match_substring_regex(zeros, "^0[0-9]")).as_py())


def is_written_number(word: str, kind: Kind = "number", options: Options | None = None) -> bool:
    """Whether a text is a number (or date), by the rule for columns of text."""
    return _written_numbers(text_array([word]), kind, options or Options()) is not None


def to_days(array: Any) -> FloatArray:
    """Convert dates and timestamps to days since 1970, times of day and durations to days."""
    of = array.type
    if pa.types.is_time(of):
        unit = pa.time64("us")
    elif pa.types.is_duration(of):
        unit = pa.duration("us")
    elif pa.types.is_date(of) or pa.types.is_timestamp(of):
        unit = pa.timestamp("us", None if pa.types.is_date(of) else of.tz)
    else:
        raise DataError(f"entries of type {of} are neither numbers nor labels")
    micros = number_values(array.cast(unit, safe=False).cast(pa.int64()))
    return np.asarray(micros, dtype=np.float64) / DAY


# Arrow's own conversions from and to NumPy import pandas if it is installed. That takes longer than
# most predictions, so the functions below avoid them.


def is_text(of: Any) -> bool:
    """Whether an Arrow type is text."""
    return bool(
        pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of)
    )


def _plain(array: Any) -> Any:
    """Cast text to 32-bit offsets, which all Arrow functions support; a batch is below 2 GB."""
    return array if pa.types.is_string(array.type) else array.cast(pa.string())


def text_array(texts: Sequence[str]) -> Any:
    """Convert strings to an Arrow array."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )


def number_array(values: NDArray[Any]) -> Any:
    """Convert a NumPy array of numbers to Arrow."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def _numpy(array: Any) -> NDArray[Any]:
    """Convert an Arrow array of numbers or booleans, none missing, to NumPy."""
    return np.from_dlpack(array.cast(pa.uint8()) if pa.types.is_boolean(array.type) else array)


def number_values(array: Any) -> NDArray[Any]:
    """Convert an Arrow array of numbers to NumPy; missing entries become NaN."""
    if array.null_count:
        values: NDArray[Any] = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return values
    return _numpy(array.cast(pa.float32()) if pa.types.is_float16(array.type) else array)


def code_array(array: Any) -> IntArray:
    """Return the codes of an Arrow dictionary array, −1 for missing entries."""
    codes = array.indices
    codes = codes if pa.types.is_signed_integer(codes.type) else codes.cast(pa.int64())
    return _numpy(codes.fill_null(-1) if codes.null_count else codes)


def _is_missing_word(trimmed: Any, options: Options) -> Any:
    return pc.is_in(trimmed, value_set=_words(options.missing_words))


@lru_cache
def _words(words: tuple[str, ...]) -> Any:
    return text_array(words)
