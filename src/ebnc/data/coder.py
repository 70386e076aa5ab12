"""Convert columns to codes: the only rule that looks up entries in a domain.

The type of the states determines how an entry is matched:

- Numbers or intervals: a number, or text that is a number; True and False are 1 and 0. Other text
  is an error.
- Booleans: a boolean, 0 and 1, ``true`` and ``false`` in upper or lower case.
- Text: equal text; a number matches by its shortest text; True and False match the state ``true``
  or ``false`` in upper or lower case.
- Other states: equal entries.

A missing entry is the state ``None``, if the variable has it. An entry that is not a state is
unknown.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebnc.data.batches import Batch, Source
from ebnc.data.cases import Cases
from ebnc.data.columns import EXACT, Column, Labels, Numbers, as_label, factorise, levels_of
from ebnc.data.entries import read_column
from ebnc.data.plan import Plan
from ebnc.data.rows import CodedRows, code_type
from ebnc.data.sources import source_of
from ebnc.data.table import Frame, Options, TableLike
from ebnc.data.text import text_array
from ebnc.domain import Domain, Interval, State
from ebnc.errors import DataError
from ebnc.typing import FloatArray, IntArray

Unseen: TypeAlias = Literal["error", "extra", "missing"]
"""Treatment of entries that are not states. "error": raise. "extra": give them the code r, one
beyond the states. "missing": give the code r to missing entries only, and raise for others."""

SURE = 10  # entries; if so many are all unknown, the column is wrong


@dataclass
class Unknown:
    """Counts of unknown entries by column: missing ones (``gaps``) and ``others``.

    ``entries``: numbers of all entries that are not missing. ``foreign``: the type of the entries,
    if it is not the type of the states.
    """

    gaps: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    entries: Counter[str] = field(default_factory=Counter)
    foreign: dict[str, str] = field(default_factory=dict)

    def refuse_wholly_unknown(self, domain: Domain) -> None:
        """Raise if no entry of a column is a state: its type is wrong, or it is another column."""
        for name, n in self.others.items():
            if n == self.entries[name] and (n >= SURE or name in self.foreign):
                of_type = f"; they are {self.foreign[name]}" if name in self.foreign else ""
                raise DataError(
                    f"no entry of column {name!r} is one of its states "
                    f"{_shown(domain[name])}{of_type}"
                )

    def __str__(self) -> str:
        parts = [
            f"{name!r} ({self.others[name] + self.gaps[name]}"
            f"{'' if self.others[name] else ', all missing'})"
            for name in dict.fromkeys([*self.others, *self.gaps])
        ]
        return (
            f"entries that are not states of the model count as unknown: {', '.join(parts[:8])}"
            f"{', …' if len(parts) > 8 else ''}"
        )

    def __bool__(self) -> bool:
        return bool(self.gaps or self.others)


class Coder:
    """Codes the columns ``names`` by a domain; ``unknown`` counts entries that are not states.

    If ``unseen`` gives unknown entries a code, ``n_states`` includes it.
    """

    def __init__(
        self,
        domain: Domain,
        names: Sequence[str],
        unseen: Unseen = "error",
        unknown: Unknown | None = None,
    ) -> None:
        self.domain, self.names = domain, tuple(names)
        self.unseen = unseen
        self.unknown = Unknown() if unknown is None else unknown
        self.n_states = tuple(domain.n_states(name) + (unseen != "error") for name in names)
        self._rules = {name: _Rule(name, domain[name]) for name in names}

    def plan(self, options: Options) -> Plan:
        """The plan for reading these columns; a word for missing that is a state is a label."""
        texts = {s.strip() for name in self.names for s in self.domain[name] if isinstance(s, str)}
        words = tuple(word for word in options.missing_words if word not in texts)
        labels = (x for x in self.names if self._rules[x].kind not in ("interval", "number"))
        return Plan(
            self.names, replace(options, missing_words=words), dict.fromkeys(labels, "label")
        )

    def encode(self, batch: Batch) -> CodedRows:
        """Return the coded rows of one batch."""
        codes = np.empty((len(self.names), batch.n_rows), dtype=code_type(self.n_states))
        for v, name in enumerate(self.names):
            column = batch.columns[name]
            found = self._rules[name].codes(column)
            is_unknown = found < 0
            if is_unknown.any():
                self._count_unknown(name, column, is_unknown)
                found = np.where(is_unknown, self.domain.n_states(name), found)
            if self.unseen == "extra":
                self.unknown.entries[name] += len(column) - int(column.missing.sum())
            codes[v] = found
        return CodedRows(self.names, self.n_states, codes)

    def numbers(self, name: str, column: Column) -> FloatArray:
        """Return the numbers of a column whose states are intervals.

        NaN: the entry is missing, or an interval.
        """
        if _holds_intervals(column):
            return np.full(len(column), np.nan)
        return np.asarray(self._rules[name].as_numbers(column), dtype=np.float64)

    def code(self, name: str, column: Column) -> int:
        """Return the code of a column of one entry; −1 if the entry is not a state."""
        return int(self._rules[name].codes(column)[0])

    def cuts(self, name: str) -> list[float] | None:
        """Return the ends of the intervals that are states; None if the states are others."""
        return self._rules[name].cuts

    def _count_unknown(self, name: str, column: Column, is_unknown: NDArray[np.bool_]) -> None:
        """Count unknown entries, or raise for the first that ``unseen`` does not allow."""
        others = is_unknown & ~column.missing
        refused = {"error": is_unknown, "missing": others, "extra": is_unknown[:0]}[self.unseen]
        if refused.any():
            raise _unseen_error(name, column, int(np.argmax(refused)), self.domain[name])
        if self.unseen == "extra":
            n_others = int(others.sum())
            n_gaps = int(is_unknown.sum()) - n_others
            self.unknown.gaps += Counter({name: n_gaps})  # adding Counters drops zeros
            self.unknown.others += Counter({name: n_others})
            foreign = self._rules[name].foreign(column)
            if n_others and foreign:
                self.unknown.foreign.setdefault(name, foreign)


class _Rule:
    """Looks up the entries of one variable among its states."""

    def __init__(self, name: str, states: Sequence[State]) -> None:
        self.name = name
        self.kind = _kind_of([state for state in states if state is not None])
        self._codes: dict[Hashable, int] = {}
        for code, state in enumerate(states):
            self._codes.setdefault(state, code)
        self.missing = self._codes.pop(None, -1)
        self._logical: dict[bool, int] = {}
        self.cuts: list[float] | None = None
        if self.kind == "interval":
            self.cuts = [s.high for s in states if isinstance(s, Interval)][:-1]
        elif self.kind == "number":
            by_value = sorted((float(x), i) for x, i in self._codes.items())  # type: ignore[arg-type]
            self._known = np.array([value for value, _ in by_value])
            self._known_codes = np.array([code for _, code in by_value])
        elif self.kind == "text":
            for text, code in self._codes.items():
                of = _LOGICAL.get(str(text).strip().lower())
                if of is not None:  # if two states, "true" and "True", match, a boolean is neither
                    self._logical[of] = -1 if of in self._logical else code

    def codes(self, column: Column) -> IntArray:
        """Codes of a column, −1 for entries that are not states."""
        if self.cuts is not None and not _holds_intervals(column):
            values = self.as_numbers(column)
            codes = np.searchsorted(self.cuts, values, side="left")
        elif self.kind == "number":
            values = self.as_numbers(column)
            levels, place = (values, None) if values.dtype.kind == "f" else levels_of(values)
            nearest = np.searchsorted(self._known, levels).clip(max=len(self._known) - 1)
            codes = np.where(self._known[nearest] == levels, self._known_codes[nearest], -1)
            codes = codes if place is None else codes[place]
        else:
            labelled = factorise(column)
            table = [*map(self._code, labelled.labels), self.missing]
            return np.array(table, dtype=np.int64)[labelled.codes]
        if values.dtype.kind == "f":
            codes[np.isnan(values)] = self.missing
        return codes

    def _code(self, label: Hashable) -> int:
        """The code of a label, −1 if it is not a state."""
        if self.kind == "text":
            if isinstance(label, bool):
                return self._logical.get(label, -1)
            if _is_number(label):
                label = repr(as_label(label) if isinstance(label, float) else label)
        elif self.kind == "long" and isinstance(label, str) and label.lstrip("+-").isdigit():
            label = int(label)
        elif self.kind == "boolean" and isinstance(label, str):
            label = _LOGICAL.get(label.strip().lower())
        return self._codes.get(label, -1)

    def as_numbers(self, column: Column) -> NDArray[Any]:
        """The numbers of a column, for states that are numbers; raise if text is not a number."""
        if isinstance(column, Numbers):
            return column.values
        labels = column.labels
        # Whole numbers too long for a float were kept as text; read them as floats here.
        texts = [
            f"{x}." if len(x) > 16 and x.lstrip("+-").isdigit() else x
            for x in labels
            if isinstance(x, str)
        ]
        if texts:
            # Numbers or dates; if neither, reading them as numbers raises with the wrong entry.
            entries = text_array(texts)
            read = read_column(self.name, entries)
            read = read_column(self.name, entries, "number") if read.kind == "label" else read
            values = read.values if isinstance(read, Numbers) else np.full(len(texts), np.nan)
        else:
            wrong = [label for label in labels if not isinstance(label, int | float)]
            if wrong:
                raise DataError(f"column {self.name!r} must hold numbers, got {wrong[0]!r}")
            values = np.array(labels, dtype=np.float64)
        return np.append(values, np.nan)[column.codes]

    def foreign(self, column: Column) -> str:
        """The type of a column in words if it is not the type of the states, else empty."""
        if isinstance(column, Numbers):
            return "" if self.kind == "number" else "numbers"
        types = {type(label) for label in column.labels}
        if self.kind == "text":
            return "booleans" if types == {bool} else ""
        return "text" if types == {str} else ""


_LOGICAL = {"true": True, "false": False}


def _kind_of(states: Sequence[State]) -> str:
    if not states:
        return "other"
    if isinstance(states[0], Interval):
        return "interval"
    if all(isinstance(state, bool) for state in states):
        return "boolean"
    if all(map(_is_number, states)):
        is_long = any(isinstance(s, int) and abs(s) > EXACT for s in states)
        return "long" if is_long else "number"
    return "text" if all(isinstance(state, str) for state in states) else "other"


def _is_number(label: object) -> bool:
    return isinstance(label, int | float) and not isinstance(label, bool)


def _holds_intervals(column: Column) -> bool:
    """Whether entries are ``Interval`` objects, as in samples, and not numbers."""
    return isinstance(column, Labels) and any(isinstance(x, Interval) for x in column.labels)


def encode(
    data: TableLike,
    domain: Domain,
    names: Sequence[str],
    *,
    array_names: Sequence[str] | None = None,
    unseen: Unseen = "error",
    unknown: Unknown | None = None,
) -> CodedRows:
    """Convert the columns ``names`` to codes; return ``CodedRows`` unchanged.

    ``array_names``: the columns of a two-dimensional array; default ``names``. ``unknown`` receives
    the counts of entries that are not states.
    """
    if isinstance(data, CodedRows):
        return _checked_rows(data, domain, names)
    coder = Coder(domain, names, unseen, unknown)
    source = source_of(data, names if array_names is None else array_names)
    parts = list(coded_batches(source, coder))
    if len(parts) == 1:
        return parts[0]
    empty = np.empty((len(names), 0), dtype=code_type(coder.n_states))
    codes = np.concatenate([empty, *(part.codes for part in parts)], axis=1)
    return CodedRows(coder.names, coder.n_states, codes)


def numbers_of(
    data: Frame, domain: Domain, names: Sequence[str], array_names: Sequence[str]
) -> dict[str, FloatArray]:
    """Return the numbers of the columns ``names``, whose states are intervals.

    Entries that are missing or intervals are NaN. ``array_names``: as in ``encode``.
    """
    if not names:
        return {}
    source, coder = source_of(data, array_names), Coder(domain, names, "missing")
    parts: dict[str, list[FloatArray]] = {name: [np.empty(0)] for name in names}
    for batch in source.batches(coder.plan(source.options)):
        for name in names:
            parts[name].append(coder.numbers(name, batch.columns[name]))
    return {name: np.concatenate(values) for name, values in parts.items()}


def coded_batches(source: Source, coder: Coder) -> Iterator[CodedRows]:
    """Yield coded batches of a source; finally raise if all entries of a column are unknown."""
    for batch in source.batches(coder.plan(source.options)):
        yield coder.encode(batch)
    coder.unknown.refuse_wholly_unknown(coder.domain)


def coded_cases(batch: Batch, plan: Plan, coder: Coder) -> Cases:
    """Code a batch; without a target, the first column is also the class."""
    rows, weights = batch.weighted(plan)
    coded = coder.encode(rows)
    if plan.target is None:
        return Cases(coder.domain, coded.names[0], coded, coded.codes[0], weights)
    inputs = CodedRows(coded.names[:-1], coded.n_states[:-1], coded.codes[:-1])
    return Cases(coder.domain, plan.target, inputs, coded.codes[-1], weights)


def code_of(domain: Domain, name: str, entry: State) -> int:
    """Return the code of one entry: a label, or a number if the states are intervals."""
    entries = np.empty(1, dtype=object)
    entries[0] = entry
    return int(encode({name: entries}, domain, [name]).codes[0, 0])


def _checked_rows(rows: CodedRows, domain: Domain, names: Sequence[str]) -> CodedRows:
    for name in names:
        declared, coded = domain.n_states(name), rows.n_states[rows.place(name)]
        if coded != declared:
            raise DataError(
                f"{name!r} was coded with {coded} states, but has {declared} in this domain"
            )
    return rows


def _unseen_error(name: str, column: Column, place: int, states: Sequence[State]) -> DataError:
    if column.missing[place]:
        return DataError(
            f"column {name!r} has missing values, which are not one of its states; fill them in, "
            "or fit on data with missing values in this column"
        )
    if isinstance(column, Numbers):
        entry: object = as_label(column.values[place].item())
    else:
        entry = column.labels[column.codes[place]]
    return DataError(f"{entry!r} in column {name!r} is not one of its states {_shown(states)}")


def _shown(states: Sequence[State]) -> str:
    return ", ".join(str(state) for state in states[:8]) + (", …" if len(states) > 8 else "")
