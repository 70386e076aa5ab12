"""From columns to codes: every entry is looked up in the domain. The only rule for that.

An entry is read as what the states are:

- States that are numbers or intervals: a number; text that is written as one; True and False are 1
  and 0. Text that is no number is an error.
- States that are booleans: a boolean, 0 and 1, ``true`` and ``false`` in any case.
- States that are text: the text as it stands; a number by its shortest text; True and False as the
  state that is ``true`` or ``false`` in any case.
- Other states: what is equal to them.

A missing entry is the state ``None``, if there is one. What is not a state is unknown.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebnc.data.batches import Batch, Source, source_of
from ebnc.data.columns import (
    EXACT,
    Column,
    Labels,
    Numbers,
    as_label,
    factorise,
    read_column,
    text_array,
)
from ebnc.data.rows import CodedRows, code_type
from ebnc.data.table import Kind, Options, TableLike
from ebnc.domain import Domain, Interval, State
from ebnc.errors import DataError
from ebnc.typing import IntArray

__all__ = ["Coder", "Unknown", "code_of", "coded_batches", "encode", "without_states"]

ENOUGH = 10  # entries, none of which is known, that are no accident


@dataclass
class Unknown:
    """How many entries of each column are not a state: gaps, others; and all that are not gaps."""

    gaps: dict[str, int] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)
    entries: dict[str, int] = field(default_factory=dict)
    foreign: dict[str, str] = field(default_factory=dict)

    def refuse_wholly_unknown(self, domain: Domain) -> None:
        """Raise where no entry of a column is a state, which is an error of type or of column."""
        for name, n in self.others.items():
            if n == self.entries[name] and (n >= ENOUGH or name in self.foreign):
                held = self.foreign.get(name)
                of_type = f"; they are {held}" if held else ""
                raise DataError(
                    f"no entry of column {name!r} is one of its states "
                    f"{_shown(domain[name])}{of_type}"
                )

    def __str__(self) -> str:
        parts = []
        for name in dict.fromkeys([*self.others, *self.gaps]):
            n, gaps = self.others.get(name, 0), self.gaps.get(name, 0)
            parts += [f"{name!r} ({n + gaps}{', all missing' if not n else ''})"]
        return (
            f"entries that are no state of the model count as unknown: {', '.join(parts[:8])}"
            f"{', …' if len(parts) > 8 else ''}"
        )

    def __bool__(self) -> bool:
        return bool(self.gaps or self.others)


class Coder:
    """Codes of ``names`` by a domain.

    ``unseen``: an entry that is not a state is an "error", gets a code of its own, r, one beyond
    the states ("extra"), or only missing ones do ("missing"). ``CodedRows.n_states`` counts it.
    """

    def __init__(self, domain: Domain, names: Sequence[str], unseen: str = "error") -> None:
        self.domain, self.names = domain, tuple(names)
        self.unseen = unseen
        self.unknown = Unknown()
        self.n_states = tuple(domain.n_states(name) + (unseen != "error") for name in names)
        self._codes = {name: _LabelCodes(domain[name]) for name in names}

    @property
    def kinds(self) -> dict[str, Kind]:
        """What columns of text must be read as."""
        return {name: "label" for name in self.names if not _are_numbers(self.domain[name])}

    def encode(self, batch: Batch) -> CodedRows:
        """The rows of one batch."""
        codes = np.empty((len(self.names), batch.n_rows), dtype=code_type(self.n_states))
        for v, name in enumerate(self.names):
            column = batch.columns[name]
            found = self._encode(name, column)
            wrong = found < 0
            if wrong.any():
                found = self._unseen(name, column, found, wrong)
            elif name in self.unknown.entries or self.unseen == "extra":
                self._note(name, column, 0, 0)
            codes[v] = found
        return CodedRows(self.names, self.n_states, codes)

    def _encode(self, name: str, column: Column) -> IntArray:
        """Codes of one column, −1 where the entry is not a state."""
        states, codes = self.domain[name], self._codes[name]
        if isinstance(states[0], Interval) and not _holds_intervals(column):
            values = _as_numbers(name, column)
            cuts = [state.high for state in states if isinstance(state, Interval)][:-1]
            found = np.searchsorted(cuts, values, side="left")
            if values.dtype.kind == "f" and (gaps := np.isnan(values)).any():
                found[gaps] = codes.missing
            return found
        if isinstance(column, Numbers) and column.values.dtype.kind in "iu":
            values = column.values
            if self.domain.is_counted(name):
                outside = (values < 0) | (values >= len(states)) if values.size else values < 0
                # −1 would wrap in an unsigned type
                return np.where(outside, -1, values.astype(np.int64)) if outside.any() else values
        if codes.is_number:
            return codes.of_numbers(_as_numbers(name, column))
        labelled = factorise(column)
        table = np.array([*map(codes.of, labelled.labels), codes.missing], dtype=np.int64)
        return table[labelled.codes]

    def _unseen(
        self, name: str, column: Column, found: IntArray, wrong: NDArray[np.bool_]
    ) -> IntArray:
        missing = column.missing
        refused = wrong if self.unseen == "error" else wrong & ~missing
        if self.unseen != "extra" and refused.any():
            place = int(np.argmax(refused))
            entry = None if missing[place] else _entry(column, place)
            raise _unseen_error(name, entry, self.domain[name])
        if self.unseen == "extra":
            gaps = int((wrong & missing).sum())
            self._note(name, column, gaps, int(wrong.sum()) - gaps)
        return np.where(wrong, self.domain.n_states(name), found)

    def _note(self, name: str, column: Column, gaps: int, others: int) -> None:
        unknown = self.unknown
        present = len(column) - int(column.missing.sum())
        unknown.entries[name] = unknown.entries.get(name, 0) + present
        if gaps:
            unknown.gaps[name] = unknown.gaps.get(name, 0) + gaps
        if others:
            unknown.others[name] = unknown.others.get(name, 0) + others
            held = self._codes[name].foreign(column)
            if held:
                unknown.foreign.setdefault(name, held)


def _are_numbers(states: Sequence[State]) -> bool:
    return isinstance(states[0], Interval) or _LabelCodes(states).is_number


def without_states(options: Options, domain: Domain, names: Iterable[str]) -> Options:
    """Options without the missing words that are states."""
    texts = {s.strip() for name in names for s in domain[name] if isinstance(s, str)}
    if texts.isdisjoint(options.missing_words):
        return options
    words = tuple(word for word in options.missing_words if word not in texts)
    return replace(options, missing_words=words)


class _LabelCodes:
    """The codes of labels that may be of another type than the states."""

    def __init__(self, states: Sequence[State]) -> None:
        present = [state for state in states if state is not None]
        self.missing = next((i for i, state in enumerate(states) if state is None), -1)
        self.is_boolean = bool(present) and all(isinstance(s, bool) for s in present)
        numbers = bool(present) and not self.is_boolean and all(map(_is_number, present))
        self.has_long = numbers and any(isinstance(s, int) and abs(s) > EXACT for s in present)
        self.is_number = numbers and not self.has_long
        self.is_text = bool(present) and all(isinstance(s, str) for s in present)
        self._codes: dict[Hashable, int] = {}
        for code, state in enumerate(states):
            self._codes.setdefault(state, code)
        self._logical: dict[bool, int] = {}
        for code, state in enumerate(states):
            if isinstance(state, str) and state.strip().lower() in ("true", "false"):
                of = state.strip().lower() == "true"
                # Two ways to write it are two states, and a boolean is neither.
                self._logical[of] = -1 if of in self._logical else code

    def of_numbers(self, values: NDArray[Any]) -> IntArray:
        """The codes of numbers, −1 where one is not a state."""
        floats = {float(x): i for x, i in self._codes.items() if x is not None}  # type: ignore[arg-type]
        known = np.array(sorted(floats))
        place = np.searchsorted(known, values).clip(max=len(known) - 1)
        found = np.where(known[place] == values, np.array([floats[x] for x in known])[place], -1)
        if self.missing >= 0 and values.dtype.kind == "f":
            found[np.isnan(values)] = self.missing
        return found

    def of(self, label: Hashable) -> int:
        """The code of a label, −1 where it is not a state."""
        if self.is_text:
            if isinstance(label, bool):
                return self._logical.get(label, -1)
            if _is_number(label):
                label = _shortest(label)
        elif self.has_long and isinstance(label, str) and label.lstrip("+-").isdigit():
            label = int(label)
        elif self.is_boolean and isinstance(label, str):
            label = {"true": True, "false": False}.get(label.strip().lower())
            if label is None:
                return -1
        return self._codes.get(label, -1)

    def foreign(self, column: Column) -> str:
        """What a column holds, where its type is not that of the states."""
        if isinstance(column, Numbers):
            return "" if self.is_number else "numbers"
        kinds = {type(label) for label in column.labels}
        if self.is_text and kinds == {bool}:
            return "booleans"
        return "text" if kinds == {str} and not self.is_text else ""


def _is_number(label: object) -> bool:
    return isinstance(label, int | float) and not isinstance(label, bool)


def _shortest(label: Hashable) -> str:
    return repr(as_label(float(label)) if isinstance(label, float) else label)


def _as_numbers(name: str, column: Column) -> NDArray[Any]:
    """A column where states are numbers; text must be numbers, too."""
    if isinstance(column, Numbers):
        return column.values
    labels = column.labels
    # Whole numbers too long for a float were kept as text; here they are numbers beyond the states.
    texts = [f"{x}." if len(x) > 16 and x.isdigit() else x for x in labels if isinstance(x, str)]
    if texts:
        # Numbers or dates; if neither, reading them as numbers says which one is none.
        read = read_column(name, text_array(texts))
        read = read_column(name, text_array(texts), "number") if read.kind == "label" else read
        values = read.values if isinstance(read, Numbers) else np.full(len(texts), np.nan)
    else:
        wrong = [label for label in labels if not isinstance(label, int | float)]
        if wrong:
            raise DataError(f"column {name!r} must hold numbers, got {wrong[0]!r}")
        values = np.array(labels, dtype=np.float64)
    return np.append(values, np.nan)[column.codes]


def _holds_intervals(column: Column) -> bool:
    """Whether entries are the intervals themselves, as samples have them, and not numbers."""
    return isinstance(column, Labels) and any(isinstance(x, Interval) for x in column.labels)


def encode(
    data: TableLike,
    domain: Domain,
    names: Sequence[str],
    *,
    array_names: Sequence[str] | None = None,
    unseen_as_extra: bool = False,
    missing_as_extra: bool = False,
    unknown: Unknown | None = None,
) -> CodedRows:
    """Rows of ``names`` as codes; others are ignored. ``CodedRows`` pass through.

    ``array_names``: what the columns of a two-dimensional array are; ``names`` unless given.
    A label that is not a state is an error, or, with ``unseen_as_extra``, gets a code of its own,
    r, one beyond the states; ``CodedRows.n_states`` then counts it. With ``missing_as_extra`` only
    missing entries do, of variables that have no state for them. ``unknown`` is told how many.
    """
    if isinstance(data, CodedRows):
        return _checked_rows(data, domain, names)
    unseen = "extra" if unseen_as_extra else "missing" if missing_as_extra else "error"
    coder = Coder(domain, names, unseen)
    if unknown is not None:
        coder.unknown = unknown
    source = source_of(data, names if array_names is None else array_names)
    parts = list(coded_batches(source, coder))
    if len(parts) == 1:
        return parts[0]
    empty = np.empty((len(names), 0), dtype=code_type(coder.n_states))
    codes = np.concatenate([empty, *(part.codes for part in parts)], axis=1)
    return CodedRows(coder.names, coder.n_states, codes)


def coded_batches(source: Source, coder: Coder) -> Iterator[CodedRows]:
    """All rows of a source, some at a time; raises where a column is wholly unknown."""
    options = without_states(source.options, coder.domain, coder.names)
    for batch in source.batches(coder.names, coder.kinds, options):
        yield coder.encode(batch)
    coder.unknown.refuse_wholly_unknown(coder.domain)


def code_of(domain: Domain, name: str, entry: State) -> int:
    """The code of one entry: a label, or a number where the states are intervals."""
    given = np.empty(1, dtype=object)
    given[0] = entry
    return int(encode({name: given}, domain, [name]).codes[0, 0])


def _checked_rows(rows: CodedRows, domain: Domain, names: Sequence[str]) -> CodedRows:
    for name in names:
        declared, coded = domain.n_states(name), rows.n_states[rows.place(name)]
        if coded != declared:
            raise DataError(
                f"{name!r} was coded with {coded} states, but has {declared} in this domain"
            )
    return rows


def _entry(column: Column, place: int) -> object:
    if isinstance(column, Numbers):
        return as_label(column.values[place].item())
    return column.labels[column.codes[place]]


def _unseen_error(name: str, entry: object, states: tuple[State, ...]) -> DataError:
    if entry is None:
        return DataError(
            f"column {name!r} has missing values, which are not a state of it; fill them in, "
            "or fit on data where it has some"
        )
    return DataError(f"{entry!r} in column {name!r} is not one of its states {_shown(states)}")


def _shown(states: tuple[State, ...]) -> str:
    return ", ".join(str(state) for state in states[:8]) + (", …" if len(states) > 8 else "")
