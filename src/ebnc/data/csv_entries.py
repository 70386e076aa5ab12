"""An entry of a CSV file as one of the states that are known already.

An entry is read as what the states are. Text is compared as it stands, numbers as numbers (so that
2 and 2.0 are the same), ``true`` and ``True`` are booleans; where states are intervals the entry
must be a number.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import date, datetime

from ebnc.data.csv_columns import MISSING
from ebnc.data.encoding import unseen_error
from ebnc.domain import Interval, State
from ebnc.errors import DataError

__all__ = ["EXACT", "entry_coder", "number_of"]

EXACT = 2**53  # whole numbers beyond are not told apart as floats, and compared as text
_MISSING = frozenset(MISSING)


def entry_coder(
    name: str, states: Sequence[State], *, unseen_as_extra: bool
) -> Callable[[str], int]:
    """The code of a text; what is not a state is an error, or gets the code r."""
    codes = {state: code for code, state in enumerate(states)}
    extra = len(states) if unseen_as_extra else None
    find = _of_intervals(name, states) if isinstance(states[0], Interval) else _of_labels(codes)
    missing = codes.get(None, extra)

    def code(text: str) -> int:
        is_missing = text in _MISSING
        found = missing if is_missing else find(text)
        found = extra if found is None else found
        if found is None:
            raise unseen_error(name, None if is_missing else text, tuple(states))
        return found

    return code


def number_of(text: str) -> float | None:
    """The number that an entry is, if it is one."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _of_intervals(name: str, states: Sequence[State]) -> Callable[[str], int]:
    cuts = [state.high for state in states if isinstance(state, Interval)][:-1]

    def code(text: str) -> int:
        number = number_of(text)
        if number is None or not math.isfinite(number):
            raise DataError(f"column {name!r} must hold finite numbers, got {text!r}")
        return bisect_left(cuts, number)

    return code


def _of_labels(codes: dict[State, int]) -> Callable[[str], int | None]:
    """By text, then as a number, as a moment, as true or false: whatever labels there are."""
    texts: dict[str, int] = {}
    numbers: dict[float, int] = {}
    moments: dict[datetime, int] = {}
    logical: dict[str, int] = {}
    for label, code in codes.items():
        if isinstance(label, bool):
            logical[str(label).lower()] = code
        elif isinstance(label, int | float) and not (
            isinstance(label, int) and abs(label) >= EXACT
        ):
            numbers[float(label)] = code
        elif isinstance(label, date):
            moments[_moment(label.isoformat())] = code  # type: ignore[index]
        elif label is not None:
            texts[str(label)] = code

    def code_of(text: str) -> int | None:
        found = texts.get(text)
        if found is None and numbers:
            found = numbers.get(number_of(text))  # type: ignore[arg-type]
        if found is None and moments:
            found = moments.get(_moment(text))  # type: ignore[arg-type]
        if found is None and logical:
            found = logical.get(text.lower())
        return found

    return code_of


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None
