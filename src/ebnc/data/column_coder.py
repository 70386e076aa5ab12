"""Codes of a column's entries, many at once: looked up by their bytes, or read as numbers."""

from collections.abc import Callable, Sequence

import numpy as np

from ebnc.data.csv_numbers import intervals
from ebnc.data.csv_text import LONGEST, Text, Words
from ebnc.domain import Interval, State
from ebnc.typing import IntArray

__all__ = ["ColumnCoder"]

MOST_KNOWN = 2**12  # entries that are remembered
MOST_SLOTS = 2**18
SAMPLE = 2**8  # of many entries that are not known, which often are the same few

_EMPTY = np.uint64(2**64 - 1)  # a slot without entry: no text in UTF-8 has such bytes


class ColumnCoder:
    """Codes of a column's entries; remembers those that are not read as numbers."""

    def __init__(self, states: Sequence[State], code_of: Callable[[str], int]) -> None:
        self._code_of = code_of
        self._cuts: list[float] | None = None
        if isinstance(states[0], Interval):
            self._cuts = [s.high for s in states if isinstance(s, Interval)][:-1]
        self._known: dict[bytes, int] = {}
        self._short, self._long = _Table({}, 1), _Table({}, LONGEST // 8)

    def code(self, text: Text, start: IntArray, stop: IntArray) -> IntArray:
        """The codes of the entries from ``start`` to ``stop``."""
        if self._cuts is None:
            return self._look_up(text, start, stop)
        codes, is_certain = intervals(text, start, stop, self._cuts)
        rest = np.flatnonzero(~is_certain)
        if len(rest):
            codes[rest] = self._look_up(text, start[rest], stop[rest])
        return codes

    def _look_up(self, text: Text, start: IntArray, stop: IntArray) -> IntArray:
        codes = self._found(text, start, stop)
        rest = np.flatnonzero(codes < 0)
        if len(rest) > SAMPLE:
            self._learn(text, start[rest[:SAMPLE]], stop[rest[:SAMPLE]])
            codes[rest] = self._found(text, start[rest], stop[rest])
            rest = rest[codes[rest] < 0]
        if len(rest):
            codes[rest] = self._learn(text, start[rest], stop[rest])
        return codes

    def _found(self, text: Text, start: IntArray, stop: IntArray) -> IntArray:
        """Codes of entries that are in the tables, −1 of all others."""
        length = stop - start
        words = text.words(start, np.minimum(length, LONGEST))
        codes = (self._short if len(words) == 1 else self._long).codes(words)
        if len(words) == LONGEST // 8:
            codes[length > LONGEST] = -1
        return codes

    def _learn(self, text: Text, start: IntArray, stop: IntArray) -> list[int]:
        """Codes of entries that are not in the tables, and where there is room put them there."""
        pairs = zip(start.tolist(), stop.tolist(), strict=True)
        entries = [text.raw[a:b] for a, b in pairs]
        before = len(self._known)
        if before > MOST_KNOWN:
            self._known = {}
        for entry in dict.fromkeys(entries):
            if entry not in self._known:
                self._known[entry] = self._code_of(_unquoted(entry.decode()))
        if before < len(self._known) <= MOST_KNOWN:
            short = {entry: c for entry, c in self._known.items() if len(entry) <= 8}
            long = {entry: c for entry, c in self._known.items() if len(entry) <= LONGEST}
            self._short, self._long = _Table(short, 1), _Table(long, LONGEST // 8)
        return [self._known[entry] for entry in entries]


class _Table:
    """Codes by words: each entry has a slot of its own; an entry that found none is not known."""

    def __init__(self, known: dict[bytes, int], n_words: int) -> None:
        text = b"".join(entry.ljust(8 * n_words, b"\0") for entry in known)
        entries = np.frombuffer(text, dtype="<u8").reshape(-1, n_words).T
        bits = min(max(8, (len(known) ** 2).bit_length()), MOST_SLOTS.bit_length() - 1)
        self._shift = np.uint64(64 - bits)
        for odd in range(1, 64, 2):
            self._factor = np.uint64(0x9E3779B97F4A7C15 * odd % 2**64)
            slots = self._slots(list(entries))
            if len(set(slots.tolist())) == len(slots):
                break
        self._words = np.full((n_words, 2**bits), _EMPTY)
        self._words[:, slots] = entries
        self._codes = np.full(2**bits, -1)
        self._codes[slots] = list(known.values())

    def codes(self, words: Sequence[Words]) -> IntArray:
        """Codes of entries, −1 where they are not known."""
        padded = [*words, *[np.uint64(0)] * (len(self._words) - len(words))]
        slots = self._slots(words)
        found: IntArray = self._codes[slots]
        for place, word in zip(self._words, padded, strict=True):
            found[place[slots] != word] = -1
        return found

    def _slots(self, words: Sequence[Words]) -> IntArray:
        """Fibonacci hashing, word by word; a word of zeros changes nothing."""
        mixed = words[0] * self._factor
        for i, word in enumerate(words[1:]):
            mixed += word * (self._factor >> np.uint64(i + 1) | np.uint64(1))
        return (mixed >> self._shift).view(np.int64)


def _unquoted(entry: str) -> str:
    return entry[1:-1].replace('""', '"') if entry.startswith('"') else entry
