"""From labelled tables to coded rows: every entry is looked up in the domain.

Entries are labels of the domain, never codes; where states were declared by their number the
labels are 0 … r − 1 and the two are the same. Where states are intervals, entries are numbers.
``CodedRows`` pass through.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ebnc.data.columns import (
    Column,
    Factorised,
    Frame,
    factorise,
    is_missing,
    is_numeric,
    n_rows,
    numbers,
    read_columns,
)
from ebnc.data.rows import CodedRows, code_type
from ebnc.domain import Domain, Interval, State
from ebnc.errors import DataError
from ebnc.typing import IntArray

__all__ = ["Table", "code_of", "encode", "unseen_error"]

Table: TypeAlias = CodedRows | Frame


def encode(
    data: Table,
    domain: Domain,
    names: Sequence[str],
    *,
    array_names: Sequence[str] | None = None,
    unseen_as_extra: bool = False,
    missing_as_extra: bool = False,
    factorised: Mapping[str, Factorised] | None = None,
) -> CodedRows:
    """Rows of ``names`` as codes; other columns of ``data`` are ignored.

    ``array_names``: what the columns of a two-dimensional array are; ``names`` unless given.
    ``factorised``: columns that are known so already.
    A label that is not a state is an error, or, with ``unseen_as_extra``, gets a code of its own,
    r, one beyond the states; ``CodedRows.n_states`` then counts it. With ``missing_as_extra`` only
    missing entries do, of variables that have no state for them.
    """
    if isinstance(data, CodedRows):
        return _checked_rows(data, domain, names)
    columns = read_columns(data, names, array_names)
    extra = unseen_as_extra or missing_as_extra
    n_states = tuple(domain.n_states(name) + extra for name in names)
    length = len(next(iter(columns.values()))) if columns else n_rows(data)
    codes = np.empty((len(names), length), dtype=code_type(n_states))
    for v, name in enumerate(names):
        known = None if factorised is None else factorised.get(name)
        found = _encode_column(name, columns[name], domain, known)
        if not unseen_as_extra:
            _refuse_unseen(name, columns[name], found, domain[name], missing_as_extra)
        if extra:
            found = np.where(found < 0, domain.n_states(name), found)
        codes[v] = found
    return CodedRows(tuple(names), n_states, codes)


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


def _encode_column(name: str, column: Column, domain: Domain, found: Factorised | None) -> IntArray:
    """Codes of one column, −1 where the entry is not a state."""
    states = domain[name]
    codes = domain.codes(name)
    if isinstance(states[0], Interval) and not _holds_intervals(column):
        values = numbers(name, column)
        cuts = [state.high for state in states if isinstance(state, Interval)][:-1]
        missing = codes.get(None, -1)
        return np.where(np.isnan(values), missing, np.searchsorted(cuts, values, side="left"))
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu" and domain.is_counted(name):
        outside = (column < 0) | (column >= len(states)) if column.size else column < 0
        # −1 would wrap in an unsigned type
        return np.where(outside, -1, column.astype(np.int64)) if outside.any() else column
    found = found or factorise(name, column)
    code_of = np.array([*(codes.get(label, -1) for label in found.labels), codes.get(None, -1)])
    return code_of[found.codes]


def _holds_intervals(column: Column) -> bool:
    """Whether entries are the intervals themselves, as samples have them, and not numbers."""
    return not is_numeric(column) and any(isinstance(entry, Interval) for entry in column)


def _refuse_unseen(
    name: str,
    column: Column,
    codes: IntArray,
    states: tuple[State, ...],
    missing_allowed: bool,
) -> None:
    wrong = codes < 0
    if missing_allowed and wrong.any():
        wrong &= ~is_missing(name, column)
    if not wrong.any():
        return
    entry = column[int(np.argmax(wrong))]
    missing = factorise(name, np.array([entry], dtype=object)).codes[0] < 0
    raise unseen_error(name, None if missing else entry, states)


def unseen_error(name: str, entry: object, states: tuple[State, ...]) -> DataError:
    """That an entry is not a state; None is a missing one."""
    if entry is None:
        return DataError(
            f"column {name!r} has missing values, which are not a state of it; fill them in, "
            "or fit on data where it has some"
        )
    shown = ", ".join(str(state) for state in states[:8])
    more = ", …" if len(states) > 8 else ""
    entry = entry.item() if isinstance(entry, np.generic) else entry
    return DataError(f"{entry!r} in column {name!r} is not one of its states {shown}{more}")
