"""Geometry of the report's charts: numbers to coordinates, with y growing downwards."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ebnc.report.summary import Bin, TraceSummary
from ebnc.report.words import count_text, number

__all__ = [
    "Axis",
    "LineChart",
    "Mark",
    "ReliabilityChart",
    "nice_ticks",
    "reliability_chart",
    "trace_chart",
]

WIDTH, HEIGHT = 640.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 74.0, 14.0, 14.0, 42.0
SQUARE, EDGE, SIDE = (264.0, 246.0), 50.0, 196.0


@dataclass(frozen=True, slots=True)
class Axis:
    """A tick: its place along the axis and its text."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with its text; ``low`` and ``high`` bound its interval, ``size`` is its radius."""

    x: float
    y: float
    text: str
    low: float = 0.0
    high: float = 0.0
    size: float = 4.0


@dataclass(frozen=True, slots=True)
class LineChart:
    """Marks joined by a line."""

    width: float
    height: float
    left: float
    bottom: float
    x_axis: tuple[Axis, ...]
    y_axis: tuple[Axis, ...]
    marks: tuple[Mark, ...]
    path: str


@dataclass(frozen=True, slots=True)
class ReliabilityChart:
    """Observed share over predicted probability of one class, in a unit square."""

    width: float
    height: float
    edge: float
    side: float
    ticks: tuple[Axis, ...]
    marks: tuple[Mark, ...]


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers inside [low, high], at most ``most`` + 1 of them, steps 1, 2 or 5 · 10^n."""
    if not high > low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def trace_chart(trace: TraceSummary) -> LineChart | None:
    """Chart of the score after every step; None for fewer than two steps."""
    steps = trace.steps
    if len(steps) < 2:
        return None
    scores = [step.score for step in steps]
    low, high = min(scores), max(scores)
    pad = 0.06 * (high - low) or 1.0
    low, high = low - pad, high + pad

    def x_of(i: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * i / (len(steps) - 1)

    def y_of(score: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (score - low) / (high - low)

    marks = tuple(
        Mark(
            x_of(i),
            y_of(step.score),
            f"step {i}: {step.move}; score {number(step.score)}"
            + ("" if step.dimension is None else f", {count_text(step.dimension)} parameters"),
            size=4.0 if len(steps) <= 60 else 2.0,
        )
        for i, step in enumerate(steps)
    )
    path = "M" + "L".join(f"{mark.x:.1f} {mark.y:.1f}" for mark in marks)
    ticks = nice_ticks(low, high)
    digits = max(0, -math.floor(math.log10(ticks[1] - ticks[0]))) if len(ticks) > 1 else 1
    return LineChart(
        WIDTH,
        HEIGHT,
        LEFT,
        HEIGHT - BOTTOM,
        tuple(Axis(x_of(i), f"{i:.0f}") for i in nice_ticks(0, len(steps) - 1, 8) if i % 1 == 0),
        tuple(Axis(y_of(tick), number(tick, digits)) for tick in ticks),
        marks,
        path,
    )


def reliability_chart(bins: Sequence[Bin]) -> ReliabilityChart:
    """Chart of the bins: marks grow with the weight of their bins; whiskers are 95 % intervals."""

    def x_of(share: float) -> float:
        return EDGE + SIDE * share

    def y_of(share: float) -> float:
        return 10 + SIDE * (1 - share)

    most = max((b.weight for b in bins), default=1.0)
    marks = tuple(
        Mark(
            x_of(b.predicted),
            y_of(b.observed),
            f"predicted {b.predicted:.1%}, observed {b.observed:.1%} "
            f"({b.low:.1%} – {b.high:.1%}) of {count_text(b.weight)} rows",
            y_of(b.low),
            y_of(b.high),
            2.5 + 4.5 * math.sqrt(b.weight / most),
        )
        for b in bins
    )
    ticks = tuple(Axis(SIDE * share, f"{share:.0%}") for share in (0.0, 0.5, 1.0))
    return ReliabilityChart(*SQUARE, EDGE, SIDE, ticks, marks)
