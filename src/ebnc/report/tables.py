"""Display terms as tables: bars for one input and two classes, heat maps otherwise.

If a term has many states or classes, those with the largest contributions are shown, in their
order, and the others are counted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ebnc.report.held_out import Z_95
from ebnc.report.summary import Summary, TermSummary
from ebnc.report.words import shortened, signed, term_name
from ebnc.typing import FloatArray

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


def term_views(summary: Summary, terms: Sequence[TermSummary]) -> list[TermView]:
    """The tables of terms, all on one scale: that of the largest contribution |c|."""
    scale = max((max(map(abs, term.values)) for term in terms), default=0.0) or 1.0
    ends = [
        abs(value) + Z_95 * error
        for term in terms
        if term.errors is not None and len(term.inputs) == 1
        for value, error in zip(term.values, term.errors, strict=True)
    ]
    bar_scale = min(max([scale, *ends]), 1.6 * scale)  # room for intervals, but not too much
    return [_term_view(summary, term, scale, bar_scale) for term in terms]


def _term_view(summary: Summary, term: TermSummary, scale: float, bar_scale: float) -> TermView:
    """The tables of one term; colours are relative to ``scale``, bars to ``bar_scale``."""
    inputs = [summary.inputs[i] for i in term.inputs]
    labels = [x.states for x in inputs]
    shape, n_classes = [len(states) for states in labels], len(summary.classes)
    values = np.reshape(term.values, (*shape, n_classes))
    errors = np.full(values.shape, np.nan)
    if term.errors is not None:
        errors = np.reshape(term.errors, values.shape)
    name = term_name(x.name for x in inputs)
    if len(shape) == 1:
        title, states = inputs[0].name, labels[0]
        if n_classes == 2:
            bars = _map(1, name, title, "", states, ("",), values[:, 1:], errors[:, 1:], bar_scale)
            return TermView(name, False, term.size, bars, ())
        by_class = _map(
            None, name, title, summary.target, states, summary.classes, values, errors, scale
        )
        return TermView(name, False, term.size, None, (by_class,))
    across = min(range(len(shape)), key=lambda axis: (shape[axis], axis))
    along = [axis for axis in range(len(shape)) if axis != across]
    rows = [" · ".join(states) for states in product(*(labels[axis] for axis in along))]
    row_title = " · ".join(inputs[axis].name for axis in along)
    column_title, columns = inputs[across].name, labels[across]
    flat = (len(rows), len(columns), n_classes)
    order = (*along, across, len(shape))
    values, errors = (np.transpose(array, order).reshape(flat) for array in (values, errors))
    shown = [1] if n_classes == 2 else range(min(n_classes, MOST_CLASSES))
    maps = [
        _map(k, name, row_title, column_title, rows, columns, values[..., k], errors[..., k], scale)
        for k in shown
    ]
    return TermView(name, True, term.size, None, tuple(maps))


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
        cells = []
        for j in kept_columns:
            states = f"{rows[i]} · {columns[j]}" if columns[j] else rows[i]
            cells.append(_cell(float(values[i, j]), float(errors[i, j]), scale, states))
        body.append((shortened(rows[i], LONGEST_STATE * 2), tuple(cells)))
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
