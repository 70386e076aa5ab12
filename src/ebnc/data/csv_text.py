"""Plain CSV text as arrays: where entries end, and their bytes as words of eight.

Text is plain where every line has as many entries as the header, and quotes stand around whole
entries only; line breaks and delimiters within quotes are part of an entry.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebnc.typing import IntArray

__all__ = ["BYTES", "LONGEST", "PAD", "Text", "Words", "separators"]

Words: TypeAlias = NDArray[np.uint64]

LONGEST = 24  # bytes of an entry that are made words
PAD = 32  # bytes that must follow the text: words are read beyond the end of entries
BYTES = np.array([2 ** (8 * n) - 1 for n in range(9)], dtype=np.uint64)
"""BYTES[n] has all bits of a word's first n bytes."""

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34


class Text:
    """The first bytes of a buffer, as they are and as the words that begin at each of them."""

    def __init__(self, buffer: bytes, end: int) -> None:
        self.raw = buffer[:end]
        self.bytes = np.frombuffer(buffer, dtype=np.uint8)[:end]
        self._words: Words = np.ndarray(end + PAD - 8, "<u8", buffer, 0, (1,))

    def words(self, start: IntArray, length: IntArray) -> list[Words]:
        """Entries of at most ``LONGEST`` bytes, cut into words, which are filled up with zeros."""
        n_words = max(1, -(-int(length.max(initial=0)) // 8))
        found = []
        for i in range(min(n_words, LONGEST // 8)):
            inside = np.clip(length - 8 * i, 0, 8) if n_words > 1 else length
            found.append(self._words[start + 8 * i] & BYTES[inside])
        return found


def separators(text: Text, delimiter: int, width: int) -> IntArray | None:
    """Where entries end, shape (rows, width); None where the text is not plain.

    The text must begin with a row and end with a line's end.
    """
    has_returns = b"\r" in text.raw
    if has_returns and text.raw.count(b"\r") != text.raw.count(b"\r\n"):
        return None
    is_line = text.bytes == _NEWLINE
    is_end = text.bytes == delimiter
    is_end |= is_line
    if b'"' in text.raw:
        quotes = np.flatnonzero(text.bytes == _QUOTE)
        if not _around_entries(text.bytes, quotes, delimiter):
            return None
        inside = np.zeros(len(is_end), dtype=np.uint8)
        inside[quotes] = 1
        is_outside = np.bitwise_xor.accumulate(inside) == 0
        is_line &= is_outside
        is_end &= is_outside
    ends = np.flatnonzero(is_end)
    if len(ends) % width:
        return None
    grid = ends.reshape(-1, width)
    if np.count_nonzero(is_line) != len(grid) or not is_line[grid[:, -1]].all():
        return None
    if width == 1 and np.diff(ends, prepend=-1).min() <= 1 + has_returns:
        return None  # an empty line is no row
    return grid


def _around_entries(text: NDArray[np.uint8], quotes: IntArray, delimiter: int) -> bool:
    """Whether quotes come in pairs around entries; within these a doubled quote is one."""
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    before = text[np.maximum(opening - 1, 0)]
    begins = (before == delimiter) | (before == _NEWLINE) | (opening == 0)
    begins[1:] |= opening[1:] == closing[:-1] + 1
    after = text[closing + 1]  # the text ends with a line's end
    ends = (after == delimiter) | (after == _NEWLINE) | (after == _RETURN)
    ends[:-1] |= opening[1:] == closing[:-1] + 1
    return bool(begins.all() and ends.all())
