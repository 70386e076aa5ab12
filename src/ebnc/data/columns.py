"""One column of a table: numbers, or codes and labels.

``entries.read_column`` makes columns from any library's; everything after it works on these two.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebnc.data.table import Kind
from ebnc.typing import IntArray

__all__ = ["EXACT", "Column", "Labels", "Numbers", "as_label", "factorise", "joined"]
__all__ += ["levels_of", "used_codes"]

EXACT = 2**53  # floats do not tell larger whole numbers apart
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
    """``codes`` into ``labels``, −1 where missing; not every label need occur.

    ``declared``: the labels are the states, in this order, of a categorical type.
    ``written``: they were text, or nothing but gaps. ``all_occur``: it is known that every label
    occurs.
    """

    codes: IntArray
    labels: tuple[Hashable, ...]
    declared: bool = False
    written: bool = False
    all_occur: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def kind(self) -> Kind | None:
        """None where every entry is missing: such a column agrees with any kind."""
        return "label" if self.labels else None

    def take(self, chosen: NDArray[Any]) -> "Labels":
        """The rows of these numbers, or where a mask is True."""
        return replace(self, codes=self.codes[chosen], all_occur=False)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which entries are missing."""
        return np.asarray(self.codes < 0)

    def observed(self) -> list[Hashable]:
        """The labels that occur."""
        if self.all_occur:
            return list(self.labels)
        occurs = used_codes(self.codes, len(self.labels))
        return [label for label, used in zip(self.labels, occurs, strict=True) if used]


Column: TypeAlias = Numbers | Labels


def used_codes(codes: IntArray, n_labels: int) -> NDArray[np.bool_]:
    """Which of the codes 0 … n − 1 occur."""
    return np.bincount(codes + 1, minlength=n_labels + 1)[1:] > 0


def factorise(column: Column) -> Labels:
    """Codes and labels of a column, ascending; whole numbers become integers."""
    if isinstance(column, Labels):
        return column
    levels, place = levels_of(column.values)
    is_label = used_codes(place, len(levels)) & ~Numbers(levels).missing
    labels = tuple(map(as_label, levels[is_label].tolist()))
    return Labels(np.where(is_label, np.cumsum(is_label) - 1, -1)[place], labels)


def levels_of(values: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Ascending values and the place of every entry among them; not every one need occur."""
    if values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low < SMALL_RANGE:  # counted, which is faster than sorting
            levels = values.min() + np.arange(high - low + 1, dtype=values.dtype)
            # An unsigned column may lie beyond int64, a signed one may overflow its own type.
            if values.dtype.kind == "u":
                return levels, (values - values.min()).astype(np.int64)
            return levels, values.astype(np.int64) - low
    return np.unique(values, return_inverse=True, equal_nan=True)


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
    code_of: dict[Hashable, int] = {}
    codes = []
    labels = [part for part in parts if isinstance(part, Labels)]
    for part in labels:
        table = [code_of.setdefault(label, len(code_of)) for label in part.labels]
        codes.append(np.array([*table, -1])[part.codes])
    return replace(labels[0], codes=np.concatenate(codes), labels=tuple(code_of))
