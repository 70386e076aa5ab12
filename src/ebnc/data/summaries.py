"""Summaries of columns, from which the domain is learned; summaries of batches can be added.

A summary of labels is the set of observed labels; a summary of numbers counts each value with each
class. Both are bounded: at most ``MOST_STATES`` + 1 labels are stored, and if numbers have more
than ``MOST_VALUES`` distinct values, low bits are dropped until they have fewer. The result depends
only on the values, not on the batches, so every source gives the same domain.
"""

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebnc.data.batches import Batch
from ebnc.data.cases import joined_weights
from ebnc.data.columns import Column, Labels, factorise, levels_of
from ebnc.data.plan import Plan
from ebnc.data.table import Kind
from ebnc.errors import DataError
from ebnc.typing import CodeArray, FloatArray

MOST_STATES = 1000
MOST_VALUES = 2**18
MANTISSA = 52  # bits of a float


@dataclass(eq=False)
class LabelSummary:
    """Observed labels, at most ``MOST_STATES`` + 1.

    ``declared``: states of a categorical type, if any. ``n_entries``: entries that are not missing.
    ``ordered``: the type says that its states are in order.
    """

    seen: dict[Hashable, None] = field(default_factory=dict)
    declared: tuple[Hashable, ...] | None = None
    n_entries: int = 0
    ordered: bool = False

    @classmethod
    def of(cls, column: Labels) -> "LabelSummary":
        """Summarise the labels of a batch."""
        seen = dict.fromkeys(column.observed()[: MOST_STATES + 1])
        n_entries = len(column) - int(column.missing.sum())
        return cls(seen, column.labels if column.declared else None, n_entries, column.ordered)

    def add(self, other: "LabelSummary") -> None:
        """Add the labels of other rows."""
        if not other.n_entries and other.declared is None:
            return
        is_first = not self.n_entries and self.declared is None
        if self.seen and self.declared != other.declared:
            self.declared = None
        else:
            self.declared = other.declared
        self.ordered = other.ordered and (is_first or self.ordered) and self.declared is not None
        self.n_entries += other.n_entries
        for label in other.seen:
            if len(self.seen) > MOST_STATES:
                break
            self.seen[label] = None


class Values(NamedTuple):
    """Numbers, with the classes (None without a target) and weights (None: all 1) of their rows."""

    values: NDArray[Any]
    classes: CodeArray | None
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
            None if self.classes is None else (present % n_classes).astype(np.uint16),
            counts[present].astype(np.float64),
        )


@dataclass(eq=False)
class NumberSummary:
    """Values of all rows, raw or counted. ``n_dropped``: number of dropped low bits."""

    parts: list[Values] = field(default_factory=list)
    n_dropped: int = 0

    def add(self, rows: Values) -> None:
        """Add values, none of them missing; count them whenever their number has doubled."""
        self.parts.append(rows)
        n_held = sum(len(part.values) for part in self.parts)
        if n_held > 2 * max(MOST_VALUES, len(self.parts[0].values)):
            self.parts = [self.rows()]

    def rows(self) -> Values:
        """Return all values; equal for equal data, except for order and merging."""
        rows = _joined(self.parts)
        if self.n_dropped or len(rows.values) > MOST_VALUES:
            rows = rows.counted(self.n_dropped)
            while len(np.unique(rows.values)) > MOST_VALUES:
                self.n_dropped += 1
                rows = rows.counted(self.n_dropped)
        return rows

    def merge(self, other: "NumberSummary", class_of: CodeArray) -> None:
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
    classes = [part.classes for part in parts if part.classes is not None]
    return Values(
        np.concatenate([part.values for part in parts]),
        np.concatenate(classes) if classes else None,
        joined_weights((len(part.values), part.weights) for part in parts),
    )


def _coarse(values: NDArray[Any], n_bits: int) -> FloatArray:
    """Clear the lowest bits of floats."""
    if n_bits > MANTISSA:
        return np.zeros(len(values))
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.asarray(((bits >> n_bits) << n_bits).view(np.float64))


@dataclass(eq=False)
class ColumnSummary:
    """The summary of one column; its labels or its numbers are empty.

    ``where``: for each kind the place where it first occurs. ``written``: all entries were text.
    """

    labels: LabelSummary = field(default_factory=LabelSummary)
    numbers: NumberSummary = field(default_factory=NumberSummary)
    where: dict[Kind, str] = field(default_factory=dict)
    has_missing: bool = False
    written: bool = True

    @classmethod
    def of(
        cls,
        column: Column,
        is_label: bool,
        classes: CodeArray | None,
        weights: FloatArray | None,
        where: str,
    ) -> "ColumnSummary":
        """Summarise a column of a batch."""
        missing = column.missing
        summary = cls(has_missing=bool(missing.any()))
        if column.kind is not None and not (column.written and missing.all()):
            summary.where, summary.written = {column.kind: where}, column.written
        if is_label or isinstance(column, Labels):
            summary.labels = LabelSummary.of(factorise(column))
        else:
            rows = Values(column.values, classes, weights)
            if summary.has_missing:
                rows = Values(*(None if x is None else x[~missing] for x in rows))  # type: ignore[arg-type]
            summary.numbers.add(rows.counted() if column.values.dtype.kind in "iu" else rows)
        return summary

    @property
    def kind(self) -> Kind | None:
        """The kind of the column; None if all entries are missing."""
        return next(iter(self.where), None)

    @property
    def mixed(self) -> bool:
        """Whether text is numbers in one batch and labels in another; read it again as labels."""
        return len(self.where) > 1

    def add(self, name: str, other: "ColumnSummary", class_of: CodeArray) -> None:
        """Add other rows of the column ``name``; raise if their type differs."""
        for kind, place in other.where.items():
            self.where.setdefault(kind, place)
        self.written &= other.written
        self.has_missing |= other.has_missing
        if self.mixed and not self.written:
            shown = ", ".join(f"{kind} ({place})" for kind, place in self.where.items())
            raise DataError(f"column {name!r} differs in type between files or partitions: {shown}")
        self.labels.add(other.labels)
        self.numbers.merge(other.numbers, class_of)


@dataclass(eq=False)
class TableSummary:
    """The summaries of all columns, without rows of weight 0.

    ``classes``: the number of every label of the target; None is the label of missing entries.
    """

    target: str | None
    columns: dict[str, ColumnSummary] = field(default_factory=dict)
    classes: dict[Hashable, int] = field(default_factory=dict)
    n_rows: int = 0

    @classmethod
    def of(cls, batch: Batch, plan: Plan) -> "TableSummary":
        """Summarise a batch."""
        rows, weights = batch.weighted(plan)
        summary = cls(plan.target, n_rows=rows.n_rows)
        classes = None
        if plan.target is not None:
            target = factorise(rows.columns[plan.target])
            classes = summary._numbers_of((*target.labels, None))[target.codes]
        for name, column in rows.columns.items():
            is_label = name == plan.target or name in plan.as_labels
            summary.columns[name] = ColumnSummary.of(
                column, is_label, classes, weights, batch.where
            )
        return summary

    @classmethod
    def merged(cls, summaries: Iterable["TableSummary"], target: str | None) -> "TableSummary":
        """Add the summaries of all batches of a table."""
        total = cls(target)
        for other in summaries:
            total.n_rows += other.n_rows
            class_of = total._numbers_of(other.classes)
            for name, column in other.columns.items():
                total.columns.setdefault(name, ColumnSummary()).add(name, column, class_of)
        return total

    def _numbers_of(self, labels: Collection[Hashable]) -> CodeArray:
        """The numbers of classes; new ones are added, as long as they are not too many."""
        for label in labels:
            if len(self.classes) <= MOST_STATES:  # doubts refuse it later
                self.classes.setdefault(label, len(self.classes))
        return np.array([self.classes.get(label, 0) for label in labels], dtype=np.uint16)
