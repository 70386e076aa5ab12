"""Display terms: curves of ordered inputs, heat maps of pairs with a number, tables otherwise.

Tables are bars for one input and two classes, and cells with colours otherwise. If a term has many
states or classes, those with the largest contributions are shown, in their order, and the others
are counted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ebnc.report.axes import axis_of
from ebnc.report.curves import CurveChart, HeatChart, Range, curve_chart, heat_chart
from ebnc.report.held_out import Z_95
from ebnc.report.summary import InputSummary, Summary, TermSummary
from ebnc.report.words import shortened, signed, term_name
from ebnc.typing import FloatArray

MOST_ROWS, MOST_COLUMNS, MOST_CLASSES = 16, 10, 6
MOST_STATES = 40  # of an axis of a heat map
LONGEST_STATE = 28
LARGEST = 1e300


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
    """A term: its table is ``bars`` for one input and two classes, else ``maps``.

    If it has a ``curve`` or ``heats``, one for each class shown, the table is folded away.
    ``input``: the number of the input of a curve.
    """

    name: str
    is_together: bool
    size: float
    bars: HeatMap | None
    maps: tuple[HeatMap, ...]
    curve: CurveChart | None = None
    heats: tuple[tuple[int, HeatChart], ...] = ()
    input: int | None = None


@dataclass(frozen=True, slots=True)
class Scales:
    """The scales that terms share: of one input, and of several.

    ``cells`` and ``joint``: the largest contributions |c|. ``bars``: the end of the bars; ``range``
    the ends of the curves.
    """

    cells: float
    bars: float
    range: Range
    joint: float


def scales_of(summary: Summary, terms: Sequence[TermSummary]) -> Scales:
    """The scales of terms; cells without rows do not count."""
    n_classes, shown = len(summary.classes), classes_shown(summary)
    low = high = lowest = highest = joint = 0.0
    for term in terms:
        values = _array(term.values, (-1, n_classes))[:, shown]
        if len(term.inputs) > 1:
            if term.counts is not None:
                values = values[np.array(term.counts) > 0]
            joint = max(joint, float(np.abs(values).max(initial=0.0)))
            continue
        half = np.zeros(values.shape)
        if term.errors is not None:
            half = Z_95 * _array(term.errors, (-1, n_classes))[:, shown]
        low, high = min(low, float(values.min())), max(high, float(values.max()))
        lowest = min(lowest, float((values - half).min()))
        highest = max(highest, float((values + half).max()))
    cells = max(-low, high) or 1.0
    room = 0.6 * cells  # for intervals, but not too much
    low, high = max(lowest, low - room), min(highest, high + room)
    margin = 0.04 * ((high - low) or 1.0)
    bars = min(max(-lowest, highest, cells), cells + room)
    return Scales(cells, bars, Range(low - margin, high + margin), joint or 1.0)


def classes_shown(summary: Summary) -> list[int]:
    """The classes that charts show: the second of two, else the first ones."""
    n_classes = len(summary.classes)
    return [1] if n_classes == 2 else list(range(min(n_classes, MOST_CLASSES)))


def term_view(summary: Summary, term: TermSummary, scales: Scales) -> TermView:
    """The tables and charts of one term."""
    inputs = [summary.inputs[i] for i in term.inputs]
    labels = [x.states for x in inputs]
    shape, n_classes = [len(states) for states in labels], len(summary.classes)
    values = _array(term.values, (*shape, n_classes))
    errors: FloatArray = np.full(values.shape, np.nan)
    if term.errors is not None:
        errors = _array(term.errors, values.shape)
    name = term_name(x.name for x in inputs)
    shown = classes_shown(summary)
    if len(shape) == 1:
        curve, most_rows = None, MOST_ROWS
        if inputs[0].is_ordered and len(labels[0]) > 1:
            named = [(k, summary.classes[k]) for k in shown]
            known = None if term.errors is None else errors
            curve = curve_chart(axis_of(inputs[0]), values, known, named, scales.range)
            most_rows = shape[0]
        title, states = inputs[0].name, labels[0]
        if n_classes == 2:
            pair = values[:, 1:], errors[:, 1:]
            bars = _map(1, name, title, "", states, ("",), *pair, scales.bars, most_rows)
            return TermView(name, False, term.size, bars, (), curve, (), term.inputs[0])
        titles = title, summary.target
        by_class = _map(
            None, name, *titles, states, summary.classes, values, errors, scales.cells, most_rows
        )
        return TermView(name, False, term.size, None, (by_class,), curve, (), term.inputs[0])
    heats: tuple[tuple[int, HeatChart], ...] = ()
    if len(shape) == 2 and any(x.cuts for x in inputs) and max(shape) <= MOST_STATES:
        heats = _heats(inputs, values, term.counts, shown, scales.joint)
    across = min(range(len(shape)), key=lambda axis: (shape[axis], axis))
    along = [axis for axis in range(len(shape)) if axis != across]
    rows = [" · ".join(states) for states in product(*(labels[axis] for axis in along))]
    row_title = " · ".join(inputs[axis].name for axis in along)
    column_title, columns = inputs[across].name, labels[across]
    flat = (len(rows), len(columns), n_classes)
    order = (*along, across, len(shape))
    values, errors = (np.transpose(array, order).reshape(flat) for array in (values, errors))
    heads = row_title, column_title, rows, columns
    maps = [
        _map(k, name, *heads, values[..., k], errors[..., k], scales.joint, MOST_ROWS)
        for k in shown
    ]
    return TermView(name, True, term.size, None, tuple(maps), None, heats)


def _array(numbers: Sequence[float], shape: Sequence[int]) -> FloatArray:
    """Numbers of a term; a file may hold huge ones, whose sums would overflow."""
    return np.asarray(np.clip(np.reshape(numbers, shape), -LARGEST, LARGEST))


def _heats(
    inputs: Sequence[InputSummary],
    values: FloatArray,
    counts: Sequence[float] | None,
    shown: Sequence[int],
    scale: float,
) -> tuple[tuple[int, HeatChart], ...]:
    """A heat map for each class; the input with fewer states is the vertical axis."""
    first, second = map(axis_of, inputs)
    known = None if counts is None else np.reshape(counts, values.shape[:2])
    if second.n_states < first.n_states:
        first, second = second, first
        values = values.swapaxes(0, 1)
        known = None if known is None else known.T
    return tuple((k, heat_chart((first, second), values[..., k], known, scale)) for k in shown)


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
    most_rows: int,
) -> HeatMap:
    """A table of the largest values; unknown ``errors`` are NaN."""
    kept_rows = _largest(np.abs(values).max(axis=1), most_rows)
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
