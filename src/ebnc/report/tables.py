"""Display terms as tables: bars for one input and two classes, heat maps otherwise.

If a term has many states or classes, those with the largest contributions are shown, in their
order, and the others are counted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from ebnc.report.held_out import Z_95
from ebnc.report.summary import Summary, TermSummary
from ebnc.report.words import shortened, signed, term_name
from ebnc.typing import FloatArray

__all__ = ["Cell", "HeatMap", "TermView", "largest_contribution", "longest_bar", "term_view"]

MOST_ROWS, MOST_COLUMNS, MOST_CLASSES = 16, 10, 6
LONGEST_STATE = 28


@dataclass(frozen=True, slots=True)
class Cell:
    """A contribution: as text, as an interval, as a share of the largest one (−100 … 100).

    ``low`` and ``high`` are the interval's ends on the same scale; None if it is unknown.
    """

    text: str
    interval: str
    share: float
    low: float | None
    high: float | None
    tip: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Cells by row and column. ``of_class``: their class, None if the columns are classes."""

    of_class: int | None
    caption: str
    row_title: str
    column_title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    n_rows_hidden: int
    n_columns_hidden: int


@dataclass(frozen=True, slots=True)
class TermView:
    """A term: ``bars`` for one input and two classes, else ``maps``."""

    name: str
    is_together: bool
    size: float
    bars: HeatMap | None
    maps: tuple[HeatMap, ...]


def largest_contribution(terms: Sequence[TermSummary]) -> float:
    """The largest |c| of all terms, which scales all tables."""
    return max((max(map(abs, term.values)) for term in terms), default=0.0) or 1.0


def longest_bar(terms: Sequence[TermSummary]) -> float:
    """The scale of bars: room for the intervals, but at most 1.6 times the largest value."""
    largest = largest_contribution(terms)
    ends = [
        abs(value) + Z_95 * error
        for term in terms
        if term.errors is not None and len(term.inputs) == 1
        for value, error in zip(term.values, term.errors, strict=True)
    ]
    return min(max([largest, *ends]), 1.6 * largest)


def term_view(summary: Summary, term: TermSummary, scale: float, bar_scale: float) -> TermView:
    """The tables of one term; colours are relative to ``scale``, bars to ``bar_scale``."""
    n_classes = len(summary.classes)
    shape = [len(summary.inputs[i].states) for i in term.inputs]
    values = np.reshape(term.values, (*shape, n_classes))
    errors = np.full(values.shape, np.nan)
    if term.errors is not None:
        errors = np.reshape(term.errors, values.shape)
    name = term_name(summary, term.inputs)
    if len(term.inputs) == 1:
        states = summary.inputs[term.inputs[0]].states
        title = summary.inputs[term.inputs[0]].name
        if n_classes == 2:
            bars = _map(1, name, title, "", states, ("",), values[:, 1:], errors[:, 1:], bar_scale)
            return TermView(name, False, term.size, bars, ())
        by_class = _map(
            None, name, title, summary.target, states, summary.classes, values, errors, scale
        )
        return TermView(name, False, term.size, None, (by_class,))
    inputs = sorted(range(len(shape)), key=lambda axis: (shape[axis], axis))
    across = inputs[-2] if len(shape) == 2 else inputs[0]
    along = [axis for axis in range(len(shape)) if axis != across]
    labels = [summary.inputs[i].states for i in term.inputs]
    rows = [" · ".join(states) for states in product(*(labels[axis] for axis in along))]
    row_title = " · ".join(summary.inputs[term.inputs[axis]].name for axis in along)
    n_rows = prod(shape[axis] for axis in along)

    def flat(array: FloatArray) -> FloatArray:
        return np.transpose(array, (*along, across, len(shape))).reshape(
            n_rows, shape[across], n_classes
        )

    shown = range(1, 2) if n_classes == 2 else range(min(n_classes, MOST_CLASSES))
    maps = tuple(
        _map(
            k,
            name,
            row_title,
            summary.inputs[term.inputs[across]].name,
            rows,
            labels[across],
            flat(values)[..., k],
            flat(errors)[..., k],
            scale,
        )
        for k in shown
    )
    return TermView(name, True, term.size, None, maps)


def _map(
    of_class: int | None,
    name: str,
    row_title: str,
    column_title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: FloatArray,
    errors: FloatArray,
    scale: float,
) -> HeatMap:
    """A heat map of the largest values; unknown ``errors`` are NaN."""
    kept_rows = _largest(np.abs(values).max(axis=1), MOST_ROWS)
    kept_columns = _largest(np.abs(values).max(axis=0), MOST_COLUMNS)
    body = []
    for i in kept_rows:
        cells = tuple(
            _cell(float(values[i, j]), float(errors[i, j]), scale, _joined(rows[i], columns[j]))
            for j in kept_columns
        )
        body.append((shortened(rows[i], LONGEST_STATE * 2), cells))
    return HeatMap(
        of_class=of_class,
        caption=name,
        row_title=row_title,
        column_title=column_title,
        columns=tuple(shortened(columns[j], LONGEST_STATE) for j in kept_columns),
        rows=tuple(body),
        n_rows_hidden=len(rows) - len(kept_rows),
        n_columns_hidden=len(columns) - len(kept_columns),
    )


def _joined(row: str, column: str) -> str:
    return f"{row} · {column}" if column else row


def _cell(value: float, error: float, scale: float, states: str) -> Cell:
    share = 100 * value / scale
    if math.isnan(error):
        return Cell(signed(value), "", share, None, None, f"{states}: {signed(value, 4)}")
    half = Z_95 * error
    interval = f"{signed(value - half)} to {signed(value + half)}"
    low, high = (min(100.0, max(-100.0, 100 * (value + s * half) / scale)) for s in (-1, 1))
    tip = f"{states}: {signed(value, 4)}, 95 % interval {interval}"
    return Cell(signed(value), f"± {half:.2f}", share, low, high, tip)


def _largest(sizes: FloatArray, most: int) -> list[int]:
    """The places of the ``most`` largest sizes, in ascending order."""
    return sorted(np.argsort(-sizes, kind="stable")[:most].tolist())
