"""Code tables of one row quickly: the codes of entries are remembered.

Reading a column costs a hundred microseconds, whatever its length. ``RowCoder`` asks ``Coder`` for
the code of an entry once and remembers it; numbers are looked up among the cuts of their intervals.
Rows that hold anything else are left to ``coder.encode``: unknown entries, which are counted or
refused there, and columns of other types.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ebnc.data.coder import Coder
from ebnc.data.columns import EXACT, Labels
from ebnc.data.entries import read_column
from ebnc.data.rows import CodedRows, code_type
from ebnc.data.table import Options
from ebnc.domain import Domain
from ebnc.errors import EBNCError

REMEMBERED = 1024
"""Number of entries of a column whose codes are remembered, the ones that were used last."""


class Category:
    """An entry of a categorical column, whose text is never read as a number or as missing."""

    __slots__ = ("label",)

    def __init__(self, label: Any) -> None:
        self.label = label

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Category) or type(self.label) is not type(other.label):
            return False
        return bool(self.label == other.label)

    def __hash__(self) -> int:
        return hash(self.label)


USUAL = (str, int, float, type(None), Category)
"""Types of entries that are looked up here."""


class RowCoder:
    """Codes one row of the columns ``names`` as ``coder.encode`` does, if all entries are states.

    ``extra``: give every variable one more state, as ``unseen="extra"`` does.
    """

    def __init__(self, domain: Domain, names: Sequence[str], *, extra: bool = False) -> None:
        self._given = (domain, tuple(names), extra)
        self.names = tuple(names)
        self._coder = Coder(domain, self.names)
        self._plan = self._coder.plan(Options())
        self._n_states = tuple(domain.n_states(name) + extra for name in self.names)
        self._type = code_type(self._n_states)
        self._rules = [(name, self._coder.cuts(name), self._code_of(name)) for name in self.names]

    def __reduce__(self) -> tuple[Any, ...]:
        domain, names, extra = self._given  # what it remembers is not worth keeping
        return partial(RowCoder, extra=extra), (domain, names)

    def encode(self, data: Any) -> CodedRows | None:
        """Return the coded row; None if ``data`` are not one row of states in usual columns.

        ``data``: a mapping from names to columns, or a DataFrame of pandas.
        """
        if not self.names:
            return None  # other columns tell the number of rows
        if is_one_row_of_pandas(data):
            data = columns_of_one_row(data)
        if not isinstance(data, Mapping) or not all(isinstance(name, str) for name in data):
            return None
        entries = {x: _only_entry(data[x]) for x in self.names if x in data}
        return None if Several in entries.values() else self.encode_entries(entries)

    def encode_entries(self, entries: Mapping[str, Any]) -> CodedRows | None:
        """Return the coded row of these entries; None if one is not a state, or cannot be read."""
        try:
            codes = [
                code_of(entry)
                if type(entry := entries[name]) is str
                else _code(entry, cuts, code_of)
                for name, cuts, code_of in self._rules
            ]
        except (EBNCError, KeyError, TypeError):
            return None  # the caller reads the row as a table, which raises the error in its words
        if -1 in codes:
            return None
        array = np.array(codes, dtype=self._type).reshape(-1, 1)
        return CodedRows(self.names, self._n_states, array)

    def code(self, name: str, entry: Any) -> int:
        """Return the code of one entry; −1 if it is not a state, or cannot be read."""
        _, cuts, code_of = self._rules[self.names.index(name)]
        try:
            return _code(entry, cuts, code_of)
        except (EBNCError, TypeError):
            return -1

    def _code_of(self, name: str) -> Callable[[Any], int]:
        """The function from an entry of a column to its code, −1 if it is not a state."""
        kind, options = self._plan.kinds.get(name), self._plan.options

        @lru_cache(REMEMBERED, typed=True)
        def code_of(entry: Any) -> int:
            if isinstance(entry, Category):
                return self._coder.code(name, _labels(entry.label))
            return self._coder.code(name, read_column(name, [entry], kind, options))

        return code_of


def _code(entry: Any, cuts: Sequence[float] | None, code_of: Callable[[Any], int]) -> int:
    """The code of an entry: a number by the ``cuts`` of its column, any other as remembered."""
    if isinstance(entry, np.generic) and entry.dtype.kind in "biuf":
        entry = entry.item()
    if not isinstance(entry, USUAL):
        return -1
    if _is_nan(entry):
        entry = None  # NaNs differ from each other and would all be remembered
    elif cuts is None or isinstance(entry, bool):
        pass
    elif isinstance(entry, int | float) and -EXACT <= entry <= EXACT:
        return bisect_left(cuts, entry)
    return code_of(entry)


def is_one_row_of_pandas(data: Any) -> bool:
    """Whether data are a DataFrame of pandas with one row and different names of columns."""
    is_frame = hasattr(data, "iloc") and hasattr(data, "columns")
    return is_frame and len(data) == 1 and data.columns.is_unique


def columns_of_one_row(frame: Any) -> dict[Any, Any]:
    """Return the columns of a DataFrame of pandas with one row, in types that are quick to read.

    Numbers become a list, labels an array of objects, a category becomes ``Labels``. Columns of
    other types stay as they are.
    """
    columns: dict[Any, Any] = {}
    entries = frame.iloc[0].tolist()  # whole numbers become floats if all columns are numbers
    for i, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        entry, kind = entries[i], dtype.kind if isinstance(dtype, np.dtype) else dtype.name
        if isinstance(entry, np.generic):
            entry = entry.item()
        is_plain = isinstance(entry, str | int | float)
        if is_plain and kind == "b":
            columns[name] = [bool(entry)]
        elif is_plain and (kind == "f" or (kind in "iu" and -EXACT < entry < EXACT)):
            columns[name] = [entry]
        elif kind in ("O", "str", "string"):
            columns[name] = np.empty(1, dtype=object)
            columns[name][0] = entry
        elif is_plain and kind == "category" and not _is_nan(entry):
            columns[name] = _labels(entry)
        else:
            columns[name] = frame.iloc[:, i]
    return columns


def _is_nan(entry: Any) -> bool:
    return isinstance(entry, float) and math.isnan(entry)


def _labels(label: Any) -> Labels:
    return Labels(np.zeros(1, dtype=np.int8), (label,), declared=True)


class Several:
    """Stands for a column that does not have exactly one entry of a usual type."""


def _only_entry(column: Any) -> Any:
    """The entry of a column of one entry; ``Several`` for other columns."""
    if isinstance(column, list | tuple) and len(column) == 1:
        return column[0]
    if isinstance(column, np.ndarray) and column.shape == (1,) and column.dtype.kind in "biufUO":
        return column.item()
    if isinstance(column, Labels) and column.declared and len(column.labels) == len(column) == 1:
        return Category(column.labels[0])
    return Several
