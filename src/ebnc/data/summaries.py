"""Summaries of columns that can be added: what a domain is learned from, whatever the batches.

A summary of labels is the set of those seen; a summary of numbers is how often each value occurs
with each class. Both are bounded: labels beyond ``MOST_STATES`` are not kept, and of numbers with
more than ``MOST_VALUES`` different values as many low bits are dropped as bring them below. That
depends on the values alone, not on how they come in batches, so every source gives the same domain.
"""

from collections.abc import Hashable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebnc.data.batches import Batch
from ebnc.data.columns import Column, Labels, Numbers, factorise
from ebnc.data.table import Kind
from ebnc.errors import DataError
from ebnc.typing import FloatArray, IntArray

__all__ = ["MOST_STATES", "LabelSummary", "NumberSummary", "TableSummary"]

MOST_STATES = 1000
MOST_VALUES = 2**18
MANTISSA = 52  # bits of a float


@dataclass(eq=False)
class LabelSummary:
    """Labels seen, at most one more than ``MOST_STATES``; ``declared``: those of the type, if one.

    ``n_entries``: how many entries are not missing.
    """

    seen: dict[Hashable, None] = field(default_factory=dict)
    declared: tuple[Hashable, ...] | None = None
    n_entries: int = 0

    def add(
        self, labels: Iterable[Hashable], n: int, declared: tuple[Hashable, ...] | None
    ) -> None:
        """Labels of one more batch, of ``n`` entries."""
        self.declared = declared if not self.seen or self.declared == declared else None
        self.n_entries += n
        for label in labels:
            if len(self.seen) > MOST_STATES:
                break
            self.seen[label] = None


@dataclass(eq=False)
class NumberSummary:
    """Values with the classes and weights of their rows, raw until there are too many of them.

    ``classes`` and ``weights`` are None where there are none. ``dropped``: low bits of the values
    that are not kept.
    """

    values: list[NDArray[Any]] = field(default_factory=list)
    classes: list[IntArray] | None = None
    weights: list[FloatArray] | None = None
    dropped: int = 0
    n_counted: int = 0

    def add(
        self, values: NDArray[Any], classes: IntArray | None, weights: FloatArray | None
    ) -> None:
        """Values of one more batch, none of them missing."""
        if weights is not None and self.weights is None:
            self.weights = [np.ones(len(array)) for array in self.values]
        self.values.append(values)
        if classes is not None:
            self.classes = [*(self.classes or []), classes]
        if self.weights is not None:
            self.weights.append(np.ones(len(values)) if weights is None else weights)
        if sum(map(len, self.values)) > 2 * max(MOST_VALUES, self.n_counted):
            self._count()

    def rows(self) -> tuple[NDArray[Any], IntArray | None, FloatArray | None]:
        """Values, classes and weights; equal for equal data, up to order and to adding up."""
        if self.dropped or sum(map(len, self.values)) > MOST_VALUES:
            self._count()
        if not self.values:
            return np.empty(0), None, None
        return (
            _joined(self.values),
            None if self.classes is None else _joined(self.classes),
            None if self.weights is None else _joined(self.weights),
        )

    def merge(self, other: "NumberSummary", class_of: IntArray) -> None:
        """Add another one, whose class k is ``class_of[k]`` here."""
        self._drop(other.dropped)
        n, bits = len(other.values), self.dropped
        values = [_coarse(v, bits) if bits else v for v in other.values]
        classes = [None] * n if other.classes is None else [class_of[c] for c in other.classes]
        weights = [None] * n if other.weights is None else other.weights
        for part in zip(values, classes, weights, strict=True):
            self.add(*part)

    def _drop(self, n_bits: int) -> None:
        if n_bits > self.dropped:
            self.values = [_coarse(values, n_bits) for values in self.values]
            self.dropped = n_bits

    def _count(self) -> None:
        """Each (value, class) once, with its weight; values as exact as there is room for."""
        values = _joined(self.values)
        if self.dropped:
            values = _coarse(values, self.dropped)
        distinct, inverse = distinct_values(values)
        while len(distinct) > MOST_VALUES:
            self.dropped += 1
            coarse, place = np.unique(_coarse(distinct, self.dropped), return_inverse=True)
            distinct, inverse = coarse, place[inverse]
        classes = np.zeros(1, np.int64) if self.classes is None else _joined(self.classes)
        n_classes = int(classes.max()) + 1
        cells = inverse * n_classes + classes
        weights = None if self.weights is None else _joined(self.weights)
        counts = np.bincount(cells, weights, len(distinct) * n_classes)
        present = np.flatnonzero(counts)
        self.values = [distinct[present // n_classes]]
        if self.classes is not None:
            self.classes = [present % n_classes]
        self.weights = [counts[present].astype(np.float64)]
        self.n_counted = len(present)


def distinct_values(values: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Ascending values, and the place of every entry among them."""
    found = factorise(Numbers(values)) if values.dtype.kind in "iu" else None
    if found is not None:
        return np.array(found.labels, dtype=values.dtype), found.codes
    return np.unique(values, return_inverse=True)


def _joined(arrays: list[Any]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _coarse(values: NDArray[Any], n_bits: int) -> FloatArray:
    """Floats without their lowest bits."""
    if n_bits > MANTISSA:
        return np.zeros(len(values))
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    found: FloatArray = ((bits >> n_bits) << n_bits).view(np.float64)
    return found


@dataclass(eq=False)
class ColumnSummary:
    """One column: either summary is empty. ``where``: the place of the first entry of each kind.

    ``mixed``: text that is numbers in one batch and labels in another; such a column holds labels,
    and must be read again as such.
    """

    labels: LabelSummary = field(default_factory=LabelSummary)
    numbers: NumberSummary = field(default_factory=NumberSummary)
    where: dict[Kind, str] = field(default_factory=dict)
    has_missing: bool = False
    written: bool = True
    mixed: bool = False

    @property
    def kind(self) -> Kind | None:
        """What it holds; None where all is missing."""
        return "label" if self.mixed else next(iter(self.where), None)

    def note_kind(self, name: str, kind: Kind | None, written: bool, where: str) -> bool:
        """Take note of what a batch holds; False where the column is mixed."""
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
    """All columns of a table; ``classes``: the target's labels with their numbers, None for gaps.

    Weights of zero are left out before.
    """

    target: str | None = None
    columns: dict[str, ColumnSummary] = field(default_factory=dict)
    classes: dict[Hashable, int] = field(default_factory=dict)
    n_rows: int = 0

    def add(self, batch: Batch, weights: FloatArray | None, as_labels: Iterable[str] = ()) -> None:
        """One more batch. ``as_labels``: columns whose numbers are labels."""
        self.n_rows += batch.n_rows
        columns: Mapping[str, Column] = batch.columns
        classes = None
        if self.target is not None:
            classes = self._class_codes(factorise(columns[self.target]))
        for name, given in columns.items():
            summary = self.columns.setdefault(name, ColumnSummary())
            is_labels = name == self.target or name in as_labels
            column = factorise(given) if is_labels else given
            missing = column.missing
            some = bool(missing.any())
            summary.has_missing |= some
            written = given.written
            kind = given.kind if len(column) else None
            if some and kind is not None and missing.all():
                kind = None if written else kind
            if not summary.note_kind(name, kind, written, batch.where):
                continue
            if isinstance(column, Labels):
                declared = column.labels if column.declared else None
                if len(column):
                    summary.labels.add(
                        column.observed(), len(column) - int(missing.sum()), declared
                    )
            else:
                rows = (column.values, classes, weights)
                if some:
                    kept = ~missing
                    rows = tuple(None if x is None else x[kept] for x in rows)  # type: ignore
                summary.numbers.add(*rows)

    def _class_codes(self, column: Labels) -> IntArray:
        """Numbers of the classes of a batch; new ones are added, gaps are a class as well."""
        found = [self._class(label) for label in column.labels]
        gap = self._class(None) if bool((column.codes < 0).any()) else 0
        return np.array([*found, gap], dtype=np.int64)[column.codes]

    def _class(self, label: Hashable) -> int:
        if len(self.classes) > MOST_STATES:  # which is refused later on
            return self.classes.get(label, 0)
        return self.classes.setdefault(label, len(self.classes))

    def merge(self, other: "TableSummary") -> "TableSummary":
        """Add the summary of other rows."""
        class_of = np.array([*map(self._class, other.classes), 0], dtype=np.int64)
        self.n_rows += other.n_rows
        for name, theirs in other.columns.items():
            ours = self.columns.setdefault(name, ColumnSummary())
            ours.has_missing |= theirs.has_missing
            for kind, where in theirs.where.items():
                ours.note_kind(name, kind, theirs.written, where)
            ours.mixed |= theirs.mixed
            if theirs.labels.n_entries or theirs.labels.declared is not None:
                ours.labels.add(theirs.labels.seen, theirs.labels.n_entries, theirs.labels.declared)
            ours.numbers.merge(theirs.numbers, class_of)
        return self

    def __add__(self, other: "TableSummary") -> "TableSummary":
        return deepcopy(self).merge(other)  # a worker may have to add the same two again
