"""Geometry of effects over an axis: curves with their intervals, and heat maps of pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ebnc.report.axes import Axis, axis_ticks, near_rows, nice_ticks
from ebnc.report.charts import Mark, Tick
from ebnc.report.held_out import Z_95
from ebnc.report.words import percent, shortened, signed
from ebnc.typing import FloatArray, IntArray

WIDTH, LEFT, RIGHT, TOP = 400.0, 50.0, 20.0, 10.0
CURVE, STRIP, GAP, UNDER = 150.0, 26.0, 6.0, 36.0  # heights
BESIDE = 46.0  # width of the place of missing entries
ROW_OF_LABELS, HEIGHT_OF_NUMBERS = 22.0, 190.0
THINNEST = 1.2  # bar of a density
LEVELS = 5  # of colour, in each direction
N_COLORS = 6  # of lines


@dataclass(frozen=True, slots=True)
class Line:
    """The contributions to one class: a curve, its 95 % band, and those of a missing entry.

    ``color``: its number among the colours of lines.
    """

    color: int
    name: str
    path: str
    band: str
    missing: Mark | None


@dataclass(frozen=True, slots=True)
class Place:
    """A state: a stripe of the chart, with what a reader learns when they point at it."""

    x: float
    width: float
    state: int
    text: str


@dataclass(frozen=True, slots=True)
class CurveChart:
    """Curves over an axis; ``bottom``: of the curves; ``bars``: density below, (x, width, height).

    ``right``: where the axis ends; a missing entry stands beyond it.
    """

    width: float
    height: float
    left: float
    right: float
    bottom: float
    zero: float
    x_axis: tuple[Tick, ...]
    y_axis: tuple[Tick, ...]
    title: str
    lines: tuple[Line, ...]
    bars: tuple[tuple[float, float, float], ...]
    strip: float
    places: tuple[Place, ...]
    beside: float | None


@dataclass(frozen=True, slots=True)
class Range:
    """The ends of an axis of contributions."""

    low: float
    high: float


def curve_chart(
    axis: Axis,
    values: FloatArray,
    errors: FloatArray | None,
    classes: Sequence[tuple[int, str]],
    shared: Range,
    write: Callable[[float], str] = signed,
) -> CurveChart:
    """The chart of a term with one input; ``values`` and ``errors``: shape (states, K).

    ``write`` makes a text of a value.
    """
    n = axis.n_states
    right = WIDTH - RIGHT - (BESIDE if axis.has_missing else 0.0)
    bottom = TOP + CURVE
    beside = right + BESIDE * 0.6 if axis.has_missing else None

    def x_of(places: FloatArray) -> FloatArray:
        return LEFT + (right - LEFT) * places

    def y_of(numbers: FloatArray) -> FloatArray:
        clipped = np.clip(numbers, shared.low, shared.high)
        return bottom - CURVE * (clipped - shared.low) / (shared.high - shared.low)

    half = None if errors is None else Z_95 * errors
    xs = _to_the_ends(x_of(axis.centres), LEFT, right)
    lines: list[Line] = []
    many = any(k >= N_COLORS for k, _ in classes)
    for place, (k, name) in enumerate(classes):
        curve = values[:n, k]
        band = ""
        if half is not None:
            upper = np.pad(y_of(curve + half[:n, k]), 1, mode="edge")
            lower = np.pad(y_of(curve - half[:n, k]), 1, mode="edge")
            band = f"{_path(xs, upper)}L{_path(xs[::-1], lower[::-1])[1:]}Z"
        missing = None
        if beside is not None:
            ends = [values[n, k]] * 2
            if half is not None:
                ends = [values[n, k] - half[n, k], values[n, k] + half[n, k]]
            y, low, high = (float(y_of(np.array(each))) for each in (values[n, k], *ends))
            offset = 7.0 * (len(lines) - (len(classes) - 1) / 2)
            missing = Mark(beside + offset, y, signed(float(values[n, k])), low, high, 3.0)
        path = _path(xs, np.pad(y_of(curve), 1, mode="edge"))
        lines.append(Line(place if many else k, name, path, band, missing))
    bounds = x_of(axis.bounds)
    heights = STRIP * axis.density
    texts = [_text(axis, i, values, half, classes, write) for i in range(len(axis.labels))]
    places = [
        Place(float(bounds[i]), float(bounds[i + 1] - bounds[i]), i, texts[i]) for i in range(n)
    ]
    if beside is not None:
        places.append(Place(right + 6, WIDTH - RIGHT - right, n, texts[n]))
    ticks = nice_ticks(shared.low, shared.high, 5)
    longest = max((len(label) for label in axis.labels[:n]), default=1)
    most = 6 if axis.is_number else max(2, min(12, int((right - LEFT) / (6.2 * longest + 8))))
    return CurveChart(
        width=WIDTH,
        height=bottom + GAP + STRIP + UNDER,
        left=LEFT,
        right=right,
        bottom=bottom,
        zero=float(y_of(np.array(0.0))),
        x_axis=tuple(
            Tick(float(x_of(np.array(place))), text) for place, text in axis_ticks(axis, most)
        ),
        y_axis=tuple(
            Tick(float(y_of(np.array(tick))), f"{tick:.6g}".replace("-", "−")) for tick in ticks
        ),
        title=axis.title,
        lines=tuple(lines),
        bars=tuple(
            zip(
                bounds[:-1].tolist(),
                np.maximum(np.diff(bounds), THINNEST).tolist(),
                heights.tolist(),
                strict=True,
            )
        ),
        strip=bottom + GAP + STRIP,
        places=tuple(places),
        beside=beside,
    )


def _to_the_ends(xs: FloatArray, left: float, right: float) -> FloatArray:
    """The curve is level in the outer halves of the outer states."""
    return np.concatenate([[left], xs, [right]])


def _path(xs: FloatArray, ys: FloatArray) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(xs, ys, strict=True))


def _text(
    axis: Axis,
    state: int,
    values: FloatArray,
    half: FloatArray | None,
    classes: Sequence[tuple[int, str]],
    write: Callable[[float], str],
) -> str:
    """The state, its contributions with their intervals, and its share of the rows."""
    parts = []
    for k, name in classes:
        text = write(float(values[state, k]))
        if half is not None:
            low, high = (float(values[state, k] + s * half[state, k]) for s in (-1, 1))
            text += f" ({signed(low)} to {signed(high)})"
        parts.append(f"{shortened(name, 24)} {text}" if len(classes) > 1 else text)
    shown = f"{shortened(axis.labels[state])}: {'; '.join(parts)}"
    return shown if axis.shares is None else f"{shown}; {percent(axis.shares[state])} of rows"


@dataclass(frozen=True, slots=True)
class HeatChart:
    """A heat map of a pair: for each level of colour, −5 … 5, the path of its cells."""

    width: float
    height: float
    left: float
    top: float
    right: float
    bottom: float
    x_axis: tuple[Tick, ...]
    y_axis: tuple[Tick, ...]
    x_title: str
    y_title: str
    levels: tuple[tuple[int, str], ...]
    beside: float | None
    above: float | None


def heat_chart(
    axes: tuple[Axis, Axis], values: FloatArray, counts: FloatArray | None, scale: float
) -> HeatChart:
    """The heat map of a pair; ``values`` and ``counts``: shape (states of y, states of x)."""
    vertical, across = axes
    longest = 7 * vertical.has_missing if vertical.is_number else max(map(len, vertical.labels))
    left = max(LEFT, 18.0 + 6.0 * min(longest, 14))
    right = WIDTH - RIGHT - (BESIDE if across.has_missing else 0.0)
    tall = HEIGHT_OF_NUMBERS if vertical.is_number else ROW_OF_LABELS * vertical.n_states
    tall = min(max(tall, 3 * ROW_OF_LABELS), 2 * HEIGHT_OF_NUMBERS)
    top = TOP + (ROW_OF_LABELS + GAP if vertical.has_missing else 0.0)
    bottom = top + tall
    xs = [*(left + (right - left) * across.bounds)]
    ys = [*_upwards(vertical, vertical.bounds, top, bottom)]
    columns = [(a, b - a) for a, b in pairwise(xs)]
    rows = [(min(ends), abs(ends[1] - ends[0])) for ends in pairwise(ys)]
    beside = above = None
    if across.has_missing:
        columns.append((right + GAP, BESIDE - GAP))
        beside = right + (GAP + BESIDE) / 2
    if vertical.has_missing:
        rows.append((TOP, ROW_OF_LABELS))
        above = TOP + ROW_OF_LABELS / 2
    levels = np.sign(values) * np.ceil(np.abs(values) / scale * LEVELS - 0.5)
    levels = np.clip(levels, -LEVELS, LEVELS).astype(np.int64)
    drawn = np.ones(levels.shape, dtype=bool) if counts is None else near_rows(counts, axes)
    most = max(2, int(tall / ROW_OF_LABELS))
    return HeatChart(
        width=WIDTH,
        height=bottom + UNDER,
        left=left,
        top=TOP,
        right=right,
        bottom=bottom,
        x_axis=tuple(Tick(left + (right - left) * p, text) for p, text in axis_ticks(across, 6)),
        y_axis=tuple(
            Tick(float(_upwards(vertical, np.array(place), top, bottom)), text)
            for place, text in axis_ticks(vertical, most)
        ),
        x_title=across.title,
        y_title=vertical.title,
        levels=_paths(levels, drawn, rows, columns, across.n_states),
        beside=beside,
        above=above,
    )


def _upwards(axis: Axis, places: FloatArray, top: float, bottom: float) -> FloatArray:
    """Numbers and states in order ascend; labels are read from the top."""
    along = places if axis.is_ordered or axis.is_number else 1 - places
    return np.asarray(bottom - (bottom - top) * along)


def _paths(
    levels: IntArray,
    drawn: NDArray[np.bool_],
    rows: Sequence[tuple[float, float]],
    columns: Sequence[tuple[float, float]],
    n_along: int,
) -> tuple[tuple[int, str], ...]:
    """The cells of each level; neighbours in a row are one rectangle."""
    paths: dict[int, list[str]] = {}
    for i, (y, height) in enumerate(rows):
        j = 0
        while j < len(columns):
            stop = j + 1
            if drawn[i, j]:
                level = int(levels[i, j])
                while stop < n_along and drawn[i, stop] and levels[i, stop] == level:
                    stop += 1
                x, end = columns[j][0], sum(columns[stop - 1])
                paths.setdefault(level, []).append(
                    f"M{x:.1f} {y:.1f}h{end - x:.1f}v{height:.1f}h{x - end:.1f}z"
                )
            j = stop
    return tuple((level, "".join(paths[level])) for level in sorted(paths))
