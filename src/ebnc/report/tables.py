"""Display terms: curves of ordered inputs, heat maps of pairs with a number, tables otherwise.

States without an order are listed by their frequency in the training data, the missing one last.

Tables are bars for one input and two classes, and cells with colours otherwise. If a term has many
states or classes, those with the largest contributions are shown, in their order, and the others
are counted.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ebnc.report.axes import axis_of
from ebnc.report.curves import CurveChart, HeatChart, Range, curve_chart, heat_chart
from ebnc.report.held_out import Z_95
from ebnc.report.summary import InputSummary, Summary, TermSummary
from ebnc.report.words import count_text, percent, shortened, signed, term_name
from ebnc.typing import FloatArray

MOST_ROWS, MOST_COLUMNS, MOST_CLASSES = 16, 10, 6
MOST_STATES = 40  # of an axis of a heat map
LONGEST_STATE = 28
LARGEST = 1e300


@dataclass(frozen=True, slots=True)
class Cell:
    """A contribution: as text, as an interval, as a share of the largest one (−100 … 100).

    ``low`` and ``high`` are the interval's ends on the same scale; None if it is unknown.
    ``is_empty``: whether no row of the data is in this cell.
    """

    text: str
    interval: str
    share: float
    low: float | None
    high: float | None
    tip: str
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class StateCount:
    """The rows in a state: as text, and in % of the rows in the most frequent state."""

    text: str
    share: float


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Cells by row and column. ``of_class``: their class, None if the columns are classes.

    ``counts``: of the training rows in the state of each row of an input; empty if unknown.
    """

    of_class: int | None
    caption: str
    row_title: str
    column_title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    n_rows_hidden: int
    n_columns_hidden: int
    counts: tuple[StateCount, ...] = ()


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

    @property
    def has_counts(self) -> bool:
        """Whether the table of the states counts rows."""
        tables = self.maps if self.bars is None else (self.bars,)
        return any(table.counts for table in tables)


@dataclass(frozen=True, slots=True)
class Scales:
    """The largest contributions |c|, the ends of the colours: of one input, and of several."""

    cells: float
    joint: float


def scales_of(summary: Summary, terms: Sequence[TermSummary]) -> Scales:
    """The scales that tables share; cells without rows do not count."""
    n_classes, shown = len(summary.classes), classes_shown(summary)
    cells = joint = 0.0
    for term in terms:
        values = _array(term.values, (-1, n_classes))[:, shown]
        if term.counts is not None:
            values = values[np.array(term.counts) > 0]
        largest = float(np.abs(values).max(initial=0.0))
        if len(term.inputs) > 1:
            joint = max(joint, largest)
        else:
            cells = max(cells, largest)
    return Scales(cells or 1.0, joint or 1.0)


def _range(values: FloatArray, errors: FloatArray) -> Range:
    """The ends of the bars or curves of one term, with room for intervals, but not too much."""
    half = Z_95 * np.nan_to_num(errors)
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.6 * (max(-low, high) or 1.0)
    low = max(min(0.0, float((values - half).min())), low - room)
    high = min(max(0.0, float((values + half).max())), high + room)
    margin = 0.04 * ((high - low) or 1.0)
    return Range(low - margin, high + margin)


def classes_shown(summary: Summary) -> list[int]:
    """The classes that charts show: the second of two, else the first ones."""
    n_classes = len(summary.classes)
    return [1] if n_classes == 2 else list(range(min(n_classes, MOST_CLASSES)))


def term_view(summary: Summary, term: TermSummary, scales: Scales) -> TermView:
    """The tables and charts of one term."""
    orders = [state_order(summary.inputs[i]) for i in term.inputs]
    inputs = [
        _ordered(summary.inputs[i], order) for i, order in zip(term.inputs, orders, strict=True)
    ]
    labels = [x.states for x in inputs]
    shape, n_classes = [len(states) for states in labels], len(summary.classes)
    places = np.ix_(*orders)
    values = _array(term.values, (*shape, n_classes))[places]
    errors: FloatArray = np.full(values.shape, np.nan)
    if term.errors is not None:
        errors = _array(term.errors, values.shape)[places]
    counts = None if term.counts is None else np.reshape(term.counts, shape)[places]
    name = term_name(x.name for x in inputs)
    shown = classes_shown(summary)
    if len(shape) == 1:
        curve, most_rows = None, MOST_ROWS
        if inputs[0].is_ordered and len(labels[0]) > 1:
            named = [(k, summary.classes[k]) for k in _largest_classes(values, shown)]
            known = None if term.errors is None else errors
            drawn = [k for k, _ in named]
            ends = _range(values[:, drawn], errors[:, drawn])
            curve = curve_chart(axis_of(inputs[0]), values, known, named, ends)
            most_rows = shape[0]
        title, states = inputs[0].name, labels[0]
        rows_in = _state_counts(inputs[0], summary.fit.n_cases)
        if n_classes == 2:
            pair = values[:, 1:], errors[:, 1:]
            ends = _range(*pair)
            longest = max(-ends.low, ends.high)
            bars = _map(
                1, name, title, "", states, ("",), *pair, longest, most_rows, rows_in=rows_in
            )
            return TermView(name, False, term.size, bars, (), curve, (), term.inputs[0])
        titles, labelled = (title, summary.target), (states, summary.classes)
        both = values, errors
        by_class = _map(
            None, name, *titles, *labelled, *both, scales.cells, most_rows, rows_in=rows_in
        )
        return TermView(name, False, term.size, None, (by_class,), curve, (), term.inputs[0])
    heats: tuple[tuple[int, HeatChart], ...] = ()
    if len(shape) == 2 and any(x.cuts for x in inputs) and max(shape) <= MOST_STATES:
        heats = _heats(inputs, values, counts, shown, scales.joint)
    across = min(range(len(shape)), key=lambda axis: (shape[axis], axis))
    along = [axis for axis in range(len(shape)) if axis != across]
    rows = [" · ".join(states) for states in product(*(labels[axis] for axis in along))]
    row_title = " · ".join(inputs[axis].name for axis in along)
    column_title, columns = inputs[across].name, labels[across]
    flat = (len(rows), len(columns), n_classes)
    order = (*along, across, len(shape))
    values, errors = (np.transpose(array, order).reshape(flat) for array in (values, errors))
    if counts is not None:
        counts = np.transpose(counts, order[:-1]).reshape(flat[:2])
    heads = row_title, column_title, rows, columns
    maps = [
        _map(k, name, *heads, values[..., k], errors[..., k], scales.joint, MOST_ROWS, counts)
        for k in shown
    ]
    return TermView(name, True, term.size, None, tuple(maps), None, heats)


def number_view(
    x: InputSummary,
    index: int,
    effect: Sequence[float],
    size: float,
    n_cases: float | None,
    write: Callable[[float], str],
) -> TermView:
    """The effect of one input on a number: a curve, or bars; ``write`` makes a text of a value."""
    order = state_order(x)
    ordered = _ordered(x, order)
    values = _array(effect, (-1, 1))[order]
    unknown: FloatArray = np.full(values.shape, np.nan)
    ends, curve = _range(values, unknown), None
    if x.is_ordered and len(x.states) > 1:
        curve = curve_chart(axis_of(x), values, None, [(0, "")], ends, write)
    bars = _map(
        None,
        x.name,
        x.name,
        "",
        ordered.states,
        ("",),
        values,
        unknown,
        max(-ends.low, ends.high),
        len(order) if curve else MOST_ROWS,
        rows_in=_state_counts(ordered, n_cases),
        write=write,
    )
    return TermView(x.name, False, size, bars, (), curve, (), index)


def state_order(x: InputSummary) -> list[int]:
    """Codes of the states as they are listed: in order, else by frequency, the missing one last."""
    codes = range(len(x.states))
    if x.is_ordered or x.cuts is not None or x.shares is None:
        return list(codes)
    shares, last = x.shares, len(x.states) - 1 if x.has_missing else None
    return sorted(codes, key=lambda code: (code == last, -shares[code]))


def _ordered(x: InputSummary, order: Sequence[int]) -> InputSummary:
    shares = None if x.shares is None else tuple(x.shares[code] for code in order)
    return replace(x, states=tuple(x.states[code] for code in order), shares=shares)


def _state_counts(x: InputSummary, n_cases: float | None) -> tuple[StateCount, ...]:
    """The rows in each state; percentages if the number of rows is unknown."""
    if x.shares is None:
        return ()
    most = max(x.shares) or 1.0
    texts = [percent(s) if n_cases is None else count_text(s * n_cases) for s in x.shares]
    return tuple(
        StateCount(text, 100 * share / most) for text, share in zip(texts, x.shares, strict=True)
    )


def _largest_classes(values: FloatArray, shown: Sequence[int]) -> list[int]:
    """The classes of a chart: those shown, or those with the largest values among many."""
    if values.shape[1] <= MOST_CLASSES:
        return list(shown)
    return _largest(np.abs(values).max(axis=0), MOST_CLASSES)


def _array(numbers: Sequence[float], shape: Sequence[int]) -> FloatArray:
    """Numbers of a term; a file may hold huge ones, whose sums would overflow."""
    return np.asarray(np.clip(np.reshape(numbers, shape), -LARGEST, LARGEST))


def _heats(
    inputs: Sequence[InputSummary],
    values: FloatArray,
    known: FloatArray | None,
    shown: Sequence[int],
    scale: float,
) -> tuple[tuple[int, HeatChart], ...]:
    """A heat map for each class; the input with fewer states is the vertical axis."""
    first, second = map(axis_of, inputs)
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
    counts: FloatArray | None = None,
    rows_in: Sequence[StateCount] = (),
    write: Callable[[float], str] = signed,
) -> HeatMap:
    """A table of the largest values; unknown ``errors`` are NaN. ``counts``: rows in every cell."""
    kept_rows = _largest(np.abs(values).max(axis=1), most_rows)
    most_columns = MOST_COLUMNS if of_class is not None or len(columns) <= MOST_CLASSES else 5
    kept_columns = _largest(np.abs(values).max(axis=0), most_columns)
    body = []
    for i in kept_rows:
        cells = []
        for j in kept_columns:
            states = f"{rows[i]} · {columns[j]}" if columns[j] else rows[i]
            count = None if counts is None else float(counts[i, j])
            cells.append(
                _cell(float(values[i, j]), float(errors[i, j]), scale, states, count, write)
            )
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
        counts=tuple(rows_in[i] for i in kept_rows) if rows_in else (),
    )


def _cell(
    value: float,
    error: float,
    scale: float,
    states: str,
    count: float | None,
    write: Callable[[float], str],
) -> Cell:
    share = 100 * value / scale
    if count == 0:
        return Cell("", "", 0.0, None, None, f"{states}: no rows; {signed(value, 4)}", True)
    if count is not None:
        states = f"{states} ({count_text(count)} rows)"
    if math.isnan(error):
        return Cell(write(value), "", share, None, None, f"{states}: {write(value)}")
    half = Z_95 * error
    interval = f"{signed(value - half)} to {signed(value + half)}"
    low, high = (min(100.0, max(-100.0, 100 * (value + s * half) / scale)) for s in (-1, 1))
    tip = f"{states}: {signed(value, 4)}, 95 % interval {interval}"
    return Cell(signed(value), f"± {half:.2f}", share, low, high, tip)


def _largest(sizes: FloatArray, most: int) -> list[int]:
    """The places of the ``most`` largest sizes, in ascending order."""
    return sorted(np.argsort(-sizes, kind="stable")[:most].tolist())
