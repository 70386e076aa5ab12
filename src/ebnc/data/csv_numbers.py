"""The intervals that numbers in text fall into, many at once: a word of eight bytes, eight digits.

A number is read as M / 10ⁿ. M < 2⁵³ and n ≤ 22 are doubles, so the quotient is rounded once and is
what Python reads. M of more digits is a little off; then the interval is certain unless a cut is
near. Powers of ten, more than 16 digits before the point, and what is no number are left alone.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ebnc.data.csv_text import BYTES, Text, Words
from ebnc.typing import FloatArray, IntArray

__all__ = ["intervals"]

NEAR = 1e-14

_PLUS, _MINUS = 43, 45
_BYTE = np.uint64(8)
_ONES = np.uint64(0x0101010101010101)
_TOPS = np.uint64(0x8080808080808080)
_DOTS = np.uint64(0x2E2E2E2E2E2E2E2E)
_ZEROS = np.uint64(0x3030303030303030)
_HIGH_HALVES = np.uint64(0xF0F0F0F0F0F0F0F0)
_SIXES = np.uint64(0x0606060606060606)
_FILLING = _ZEROS & ~BYTES  # after so many digits
_TENS = 10.0 ** np.arange(17)


def intervals(
    text: Text, start: IntArray, stop: IntArray, cuts: Sequence[float]
) -> tuple[IntArray, NDArray[np.bool_]]:
    """How many cuts lie below each number, and where this is certain."""
    first = text.bytes[np.minimum(start, len(text.bytes) - 1)]
    is_negative = first == _MINUS
    start = start + (is_negative | (first == _PLUS))
    length = stop - start
    is_number = (length > 0) & (length <= 24)
    if not is_number.all():
        length = np.where(is_number, length, 0)
    words = text.words(start, length)
    read = _read_short if len(words) == 1 else _read_long
    values, error, is_read = read(words, length)
    values *= 1.0 - 2.0 * is_negative
    is_number &= is_read
    if error is None:
        return _n_below(values, cuts), is_number
    lower, upper = _n_below(values - error, cuts), _n_below(values + error, cuts)
    return lower, is_number & (lower == upper)


def _read_short(
    words: Sequence[Words], length: IntArray
) -> tuple[FloatArray, None, NDArray[np.bool_]]:
    """Numbers of at most eight characters: exact."""
    (word,) = words
    point = _place_of_point(word)
    n_digits = length - (point < 8)
    before = np.minimum(point, length)
    digits = _without_point(word, word >> _BYTE, before) | _FILLING[n_digits]
    values = _number(digits) / _TENS[8 - before]
    return values, None, _are_digits(digits) & (n_digits > 0)


def _read_long(
    words: Sequence[Words], length: IntArray
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Numbers of at most 24 characters; the first 16 digits count."""
    w0, w1 = words[:2]
    w2 = words[2] if len(words) > 2 else np.zeros_like(w1)
    point = _place_of_point(w0)
    point = np.where(point < 8, point, 8 + _place_of_point(w1))
    n_digits = length - (point < 16)
    before = np.minimum(point, length)
    before0, before1 = np.minimum(before, 8), np.clip(before - 8, 0, 8)
    moved0 = (w0 >> _BYTE) | (w1 << np.uint64(56))
    moved1 = (w1 >> _BYTE) | (w2 << np.uint64(56))
    d0 = _without_point(w0, moved0, before0) | _FILLING[np.clip(n_digits, 0, 8)]
    d1 = _without_point(w1, moved1, before1) | _FILLING[np.clip(n_digits - 8, 0, 8)]
    d2 = w2 | _FILLING[np.clip(length - 16, 0, 8)]
    whole = _number(d0) * np.uint64(10**8) + _number(d1)
    scaled = whole.astype(np.float64)
    power = _TENS[16 - np.minimum(before, 16)]
    values = scaled / power
    is_exact = (scaled.astype(np.uint64) == whole) & (n_digits <= 16)
    error = np.where(is_exact, 0.0, NEAR * values + 2.0 / power)
    is_read = _are_digits(d0) & _are_digits(d1) & _are_digits(d2) & (n_digits > 0)
    return values, error, is_read & (before <= 16)


def _place_of_point(word: Words) -> IntArray:
    """The number of bytes before the first point, 8 where there is none."""
    other = word ^ _DOTS
    found = (other - _ONES) & ~other & _TOPS  # its lowest bit is right
    return (np.bitwise_count((found & -found) - np.uint64(1)) >> 3).astype(np.int64)


def _without_point(word: Words, moved: Words, before: IntArray) -> Words:
    """The bytes before the point, and after it those that moved one place nearer."""
    return moved ^ ((word ^ moved) & BYTES[before])


def _are_digits(word: Words) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (word & _HIGH_HALVES) == _ZEROS
    found &= ((word + _SIXES) & _HIGH_HALVES) == _ZEROS
    return found


def _number(digits: Words) -> Words:
    """The number that eight digits are: pairs, then fours, then all (Lemire's way)."""
    pairs = digits - _ZEROS
    pairs = pairs * np.uint64(10) + (pairs >> _BYTE)
    mask = np.uint64(0x000000FF000000FF)
    upper = (pairs & mask) * np.uint64(100 + (1_000_000 << 32))
    lower = (pairs >> np.uint64(16) & mask) * np.uint64(1 + (10_000 << 32))
    return (upper + lower) >> np.uint64(32)


def _n_below(values: FloatArray, cuts: Sequence[float]) -> IntArray:
    """How many cuts are below each value: low < x ≤ high."""
    if len(cuts) > 32:
        return np.searchsorted(cuts, values, side="left")
    found = np.zeros(len(values), dtype=np.uint8)
    for cut in cuts:
        found += (values > cut).view(np.uint8)
    return found.astype(np.int64)
