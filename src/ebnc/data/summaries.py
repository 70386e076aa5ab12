"""Summaries of columns, from which the domain is learned; summaries of batches can be added.

A summary of labels is the set of observed labels; a summary of numbers counts each value with each
class. Both are bounded: at most ``MOST_STATES`` + 1 labels are stored, and if numbers have more
than ``MOST_VALUES`` distinct values, low bits are dropped until they have fewer. The result depends
only on the values, not on the batches, so every source gives the same domain.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebnc.data.batches import Batch
from ebnc.data.columns import Column, Labels, factorise, levels_of
from ebnc.data.table import Kind
from ebnc.errors import DataError
from ebnc.typing import FloatArray, IntArray

__all__ = ["MOST_STATES", "ColumnSummary", "LabelSummary", "NumberSummary", "TableSummary"]

MOST_STATES = 1000
MOST_VALUES = 2**18
MANTISSA = 52  # bits of a float


@dataclass(eq=False)
class LabelSummary:
    """Observed labels, at most ``MOST_STATES`` + 1.

    ``declared``: states of a categorical type, if any. ``n_entries``: entries that are not missing.
    """

    seen: dict[Hashable, None] = field(default_factory=dict)
    declared: tuple[Hashable, ...] | None = None
    n_entries: int = 0

    def add(
        self, labels: Iterable[Hashable], n: int, declared: tuple[Hashable, ...] | None
    ) -> None:
        """Add the labels of a batch with ``n`` entries."""
        self.declared = declared if not self.seen or self.declared == declared else None
        self.n_entries += n
        for label in labels:
            if len(self.seen) > MOST_STATES:
                break
            self.seen[label] = None


class Values(NamedTuple):
    """Numbers, with the classes (None without a target) and weights (None: all 1) of their rows."""

    values: NDArray[Any]
    classes: IntArray | None
    weights: FloatArray | None

    def counted(self, n_dropped: int = 0) -> "Values":
        """Merge equal pairs of value and class, after dropping ``n_dropped`` low bits of values."""
        values = _coarse(self.values, n_dropped) if n_dropped else self.values
        levels, place = levels_of(values)
        classes = np.zeros(1, np.int64) if self.classes is None else self.classes
        n_classes = int(classes.max(initial=0)) + 1
        counts = np.bincount(place * n_classes + classes, self.weights)
        present = np.flatnonzero(counts)
        return Values(
            levels[present // n_classes],
            None if self.classes is None else present % n_classes,
            counts[present].astype(np.float64),
        )


@dataclass(eq=False)
class NumberSummary:
    """Values of all rows, raw or counted.

    ``n_dropped``: number of dropped low bits. ``n_held``: values in ``parts``. ``n_counted``:
    values after the last counting.
    """

    parts: list[Values] = field(default_factory=list)
    n_dropped: int = 0
    n_held: int = 0
    n_counted: int = 0

    def add(self, rows: Values) -> None:
        """Add the values of a batch, none of them missing."""
        if rows.values.dtype.kind in "iu":
            rows = rows.counted()
        self.parts.append(rows)
        self.n_held += len(rows.values)
        if self.n_held > 2 * max(MOST_VALUES, self.n_counted):
            self.parts = [self.rows()]
            self.n_held = self.n_counted = len(self.parts[0].values)

    def rows(self) -> Values:
        """Return all values; equal for equal data, except for order and merging."""
        rows = _joined(self.parts)
        if self.n_dropped or len(rows.values) > MOST_VALUES:
            rows = rows.counted(self.n_dropped)
            while len(np.unique(rows.values)) > MOST_VALUES:
                self.n_dropped += 1
                rows = rows.counted(self.n_dropped)
        return rows

    def merge(self, other: "NumberSummary", class_of: IntArray) -> None:
        """Add another summary, whose class k is ``class_of[k]`` here."""
        self.n_dropped = max(self.n_dropped, other.n_dropped)
        for part in other.parts:
            classes = None if part.classes is None else class_of[part.classes]
            self.add(part._replace(classes=classes))


def _joined(parts: list[Values]) -> Values:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Values(np.empty(0), None, None)
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate(
            [np.ones(len(p.values)) if p.weights is None else p.weights for p in parts]
        )
    classes = None
    if parts[0].classes is not None:
        classes = np.concatenate([part.classes for part in parts if part.classes is not None])
    return Values(np.concatenate([part.values for part in parts]), classes, weights)


def _coarse(values: NDArray[Any], n_bits: int) -> FloatArray:
    """Clear the lowest bits of floats."""
    if n_bits > MANTISSA:
        return np.zeros(len(values))
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.asarray(((bits >> n_bits) << n_bits).view(np.float64))


@dataclass(eq=False)
class ColumnSummary:
    """The summary of one column; its labels or its numbers are empty.

    ``where``: for each kind the place where it first occurs. ``mixed``: whether text is numbers in
    one batch and labels in another; such a column must be read again as labels.
    """

    labels: LabelSummary = field(default_factory=LabelSummary)
    numbers: NumberSummary = field(default_factory=NumberSummary)
    where: dict[Kind, str] = field(default_factory=dict)
    has_missing: bool = False
    written: bool = True
    mixed: bool = False

    @property
    def kind(self) -> Kind | None:
        """The kind of the column; None if all entries are missing."""
        return "label" if self.mixed else next(iter(self.where), None)

    def note_kind(self, name: str, kind: Kind | None, written: bool, where: str) -> bool:
        """Record the kind of a batch; return False if the column is mixed."""
        if kind is not None:
            self.where.setdefault(kind, where)
            self.written &= written
        if len(self.where) > 1:
            if not self.written:
                shown = ", ".join(f"{kind} ({place})" for kind, place in self.where.items())
                raise DataError(
                    f"column {name!r} differs in type between files or partitions: {shown}"
                )
            self.mixed = True
        return not self.mixed


@dataclass(eq=False)
class TableSummary:
    """The summaries of all columns; rows of weight 0 must be removed before.

    ``classes``: the number of every label of the target; None is the label of missing entries.
    """

    target: str | None = None
    columns: dict[str, ColumnSummary] = field(default_factory=dict)
    classes: dict[Hashable, int] = field(default_factory=dict)
    n_rows: int = 0

    def add(self, batch: Batch, weights: FloatArray | None, as_labels: Iterable[str] = ()) -> None:
        """Add a batch. ``as_labels``: columns whose numbers are labels."""
        self.n_rows += batch.n_rows
        classes = None
        if self.target is not None:
            classes = self._class_codes(factorise(batch.columns[self.target]))
        for name, column in batch.columns.items():
            is_labels = name == self.target or name in as_labels
            read = factorise(column) if is_labels else column
            self._add_column(name, read, column, classes, weights, batch.where)

    def _add_column(
        self,
        name: str,
        column: Column,
        as_read: Column,
        classes: IntArray | None,
        weights: FloatArray | None,
        where: str,
    ) -> None:
        summary = self.columns.setdefault(name, ColumnSummary())
        if not len(column):
            return
        missing = column.missing
        n_missing = int(missing.sum())
        summary.has_missing |= n_missing > 0
        is_gaps = n_missing == len(column) and as_read.written
        kind = None if is_gaps else as_read.kind
        if not summary.note_kind(name, kind, as_read.written, where):
            return
        if isinstance(column, Labels):
            declared = column.labels if column.declared else None
            summary.labels.add(column.observed(), len(column) - n_missing, declared)
            return
        rows = Values(column.values, classes, weights)
        if n_missing:
            rows = Values(*(None if x is None else x[~missing] for x in rows))  # type: ignore[arg-type]
        summary.numbers.add(rows)

    def _class_codes(self, column: Labels) -> IntArray:
        """Numbers of the classes of a batch; adds new classes, and counts missing as a class."""
        codes = [self._class(label) for label in column.labels]
        gap = self._class(None) if bool((column.codes < 0).any()) else 0
        return np.array([*codes, gap], dtype=np.int64)[column.codes]

    def _class(self, label: Hashable) -> int:
        if len(self.classes) > MOST_STATES:  # doubts refuse it later
            return self.classes.get(label, 0)
        return self.classes.setdefault(label, len(self.classes))

    @classmethod
    def merged(cls, summaries: Iterable["TableSummary"]) -> "TableSummary":
        """Add summaries of parts of a table."""
        total = cls()
        for other in summaries:
            total.target = other.target
            total.n_rows += other.n_rows
            class_of = np.array([*map(total._class, other.classes), 0], dtype=np.int64)
            for name, theirs in other.columns.items():
                ours = total.columns.setdefault(name, ColumnSummary())
                ours.has_missing |= theirs.has_missing
                for kind, where in theirs.where.items():
                    ours.note_kind(name, kind, theirs.written, where)
                ours.mixed |= theirs.mixed
                labels = theirs.labels
                if labels.n_entries or labels.declared is not None:
                    ours.labels.add(labels.seen, labels.n_entries, labels.declared)
                ours.numbers.merge(theirs.numbers, class_of)
        return total
