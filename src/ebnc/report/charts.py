"""Geometry of the report's charts: numbers to coordinates, with y growing downwards."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ebnc.report.axes import nice_ticks
from ebnc.report.summary import Bin, TraceSummary
from ebnc.report.words import count_text, number

WIDTH, HEIGHT = 640.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 74.0, 14.0, 14.0, 42.0
SQUARE, EDGE, SIDE = (264.0, 246.0), 50.0, 196.0


class Tick(NamedTuple):
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
class Chart:
    """Marks on two axes; ``left``, ``bottom``: where the axes are; ``path``: a line, or empty."""

    width: float
    height: float
    left: float
    bottom: float
    x_axis: tuple[Tick, ...]
    y_axis: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    path: str = ""


def trace_chart(trace: TraceSummary | None) -> Chart | None:
    """Chart of the score after every step; None for fewer than two steps."""
    if trace is None or len(trace.steps) < 2:
        return None
    scores = [step.score for step in trace.steps]
    last = len(scores) - 1
    pad = 0.06 * (max(scores) - min(scores)) or 1.0
    low, high = min(scores) - pad, max(scores) + pad

    def x_of(i: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * i / last

    def y_of(score: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (score - low) / (high - low)

    marks = []
    for i, step in enumerate(trace.steps):
        text = f"step {i}: {step.move}; score {number(step.score)}"
        if step.dimension is not None:
            text += f", {count_text(step.dimension)} parameters"
        marks.append(Mark(x_of(i), y_of(step.score), text, size=4.0 if last < 60 else 2.0))
    ticks = nice_ticks(low, high)
    digits = max(0, -math.floor(math.log10(ticks[1] - ticks[0]))) if len(ticks) > 1 else 1
    return Chart(
        WIDTH,
        HEIGHT,
        LEFT,
        HEIGHT - BOTTOM,
        tuple(Tick(x_of(i), f"{i:.0f}") for i in nice_ticks(0, last, 8) if i % 1 == 0),
        tuple(Tick(y_of(tick), number(tick, digits)) for tick in ticks),
        tuple(marks),
        "M" + "L".join(f"{mark.x:.1f} {mark.y:.1f}" for mark in marks),
    )


def reliability_chart(bins: Sequence[Bin]) -> Chart:
    """Observed share over predicted probability of a class, with 95 % intervals as whiskers.

    Marks grow with the weight of their bins.
    """

    def y_of(share: float) -> float:
        return 10 + SIDE * (1 - share)

    most = max((b.weight for b in bins), default=1.0)
    marks = tuple(
        Mark(
            EDGE + SIDE * b.predicted,
            y_of(b.observed),
            f"predicted {b.predicted:.1%}, observed {b.observed:.1%} "
            f"({b.low:.1%} – {b.high:.1%}) of {count_text(b.weight)} rows",
            y_of(b.low),
            y_of(b.high),
            2.5 + 4.5 * math.sqrt(b.weight / most),
        )
        for b in bins
    )
    ticks = tuple(Tick(SIDE * share, f"{share:.0%}") for share in (0.0, 0.5, 1.0))
    return Chart(*SQUARE, EDGE, SIDE, ticks, ticks, marks)
