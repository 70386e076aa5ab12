"""One column of a table: ``Numbers``, or ``Labels`` with codes.

``entries.read_column`` makes them from the columns of any library; all later steps use them.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebnc.data.table import Kind
from ebnc.typing import IntArray

EXACT = 2**53  # floats cannot represent all larger whole numbers
SMALL_RANGE = 65_536  # whole numbers within this range are counted, not sorted


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers; NaN is missing. ``kind``: "number" or "date"; ``written``: read from text."""

    values: NDArray[Any]
    kind: Kind = "number"
    written: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def take(self, chosen: NDArray[Any]) -> "Numbers":
        """Select rows, by numbers or by a mask."""
        return replace(self, values=self.values[chosen])

    @property
    def missing(self) -> NDArray[np.bool_]:
        """A mask of the missing entries."""
        if self.values.dtype.kind != "f":
            return np.zeros(len(self.values), dtype=np.bool_)
        return np.asarray(np.isnan(self.values))


@dataclass(frozen=True, eq=False)
class Labels:
    """Codes, which are places in ``labels``; −1 is missing, and some labels may not occur.

    ``declared``: the labels are the states of a categorical type, in this order. ``ordered``: the
    type says that this order has a meaning. ``written``: the column was text, or all entries are
    missing.
    """

    codes: IntArray
    labels: tuple[Hashable, ...]
    declared: bool = False
    written: bool = False
    ordered: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def kind(self) -> Kind | None:
        """The kind, or None if every entry is missing: such a column agrees with any kind."""
        return "label" if self.labels else None

    def take(self, chosen: NDArray[Any]) -> "Labels":
        """Select rows, by numbers or by a mask."""
        return replace(self, codes=self.codes[chosen])

    @property
    def missing(self) -> NDArray[np.bool_]:
        """A mask of the missing entries."""
        return np.asarray(self.codes < 0)

    def observed(self) -> list[Hashable]:
        """The labels that occur."""
        occurs = used_codes(self.codes, len(self.labels))
        return [label for label, used in zip(self.labels, occurs, strict=True) if used]


Column: TypeAlias = Numbers | Labels


def used_codes(codes: IntArray, n_labels: int) -> NDArray[np.bool_]:
    """A mask of the codes 0 … n − 1 that occur."""
    return np.bincount(codes + 1, minlength=n_labels + 1)[1:] > 0


def factorise(column: Column) -> Labels:
    """Convert a column to labels; those of numbers ascend, and whole numbers become integers."""
    if isinstance(column, Labels):
        return column
    levels, place = levels_of(column.values)
    is_label = used_codes(place, len(levels)) & ~Numbers(levels).missing
    labels = tuple(map(as_label, levels[is_label].tolist()))
    return Labels(np.where(is_label, np.cumsum(is_label) - 1, -1)[place], labels)


def levels_of(values: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Ascending values, some of which may not occur, and the place of every entry among them."""
    if values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low < SMALL_RANGE:  # counting is faster than sorting
            levels = values.min() + np.arange(high - low + 1, dtype=values.dtype)
            # Unsigned values may exceed int64; signed differences may overflow their own type.
            if values.dtype.kind == "u":
                return levels, (values - values.min()).astype(np.int64)
            return levels, values.astype(np.int64) - low
    return np.unique(values, return_inverse=True, equal_nan=True)


def as_label(value: float) -> int | float:
    """Convert a number to a label: 2.0 becomes 2."""
    return int(value) if value % 1 == 0 else value  # infinity % 1 is NaN


def joined(parts: Sequence[Column]) -> Column:
    """Concatenate parts of one column; parts with only missing entries agree with any kind."""
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
