"""``Axis``: the states of an input as places along an axis, in the units of the data.

The outer intervals of a number are open; they are drawn as wide as their neighbours. If a few long
intervals would leave no room for the others, the axis is asinh(x / s): linear near zero, and
logarithmic far from it. A missing entry has a place of its own beyond the end of the axis.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebnc.report.summary import InputSummary
from ebnc.report.words import shortened
from ebnc.typing import FloatArray

LONG_TAIL = 6.0  # range of the cuts over the range of their middle half
LARGEST = 1e150  # larger numbers have no axis: differences would overflow
NEAR = 2  # states: so far from a row a cell of a heat map is drawn


@dataclass(frozen=True, slots=True)
class Axis:
    """The states of an input along an axis.

    ``labels``: all states as text. ``edges``: the bounds of the states, without a missing one that
    stands beside a curve; 0, 1, 2, … if the input is not a number. ``linear_width``: s, None for a
    linear axis. ``shares``: of the states in the training data, if known.
    """

    title: str
    labels: tuple[str, ...]
    edges: tuple[float, ...]
    is_number: bool
    is_ordered: bool
    linear_width: float | None
    shares: tuple[float, ...] | None

    @property
    def n_states(self) -> int:
        """Number of states along the axis; a missing state beside it is not counted."""
        return len(self.edges) - 1

    @property
    def has_missing(self) -> bool:
        """Whether a state for missing entries stands beside the axis."""
        return self.n_states < len(self.labels)

    @property
    def bounds(self) -> FloatArray:
        """The places of the edges, from 0 to 1."""
        return self.places(np.array(self.edges))

    @property
    def centres(self) -> FloatArray:
        """The places of the middles of the states."""
        bounds = self.bounds
        return np.asarray((bounds[1:] + bounds[:-1]) / 2)

    @property
    def density(self) -> FloatArray:
        """The share of each state over its width on the axis, relative to the largest.

        Single values that many rows share would hide all others: states with more than twice the
        average share do not set the scale, and heights end at 1.
        """
        if self.shares is None:
            return np.zeros(self.n_states)
        shares = np.array(self.shares[: self.n_states])
        height = shares / np.maximum(np.diff(self.bounds), 1e-9)
        if not self.is_number:
            return np.asarray(height / (height.max() or 1.0))
        top = height[shares <= 2 * shares.mean()].max()
        return np.asarray(np.minimum(1.0, height / (top or height.max() or 1.0)))

    def places(self, values: Sequence[float] | FloatArray) -> FloatArray:
        """Places of values along the axis: 0 is its beginning, 1 its end."""
        low, high = self._scaled([self.edges[0], self.edges[-1]])
        return np.asarray((self._scaled(values) - low) / (high - low))

    def values_at(self, places: Sequence[float] | FloatArray) -> FloatArray:
        """The inverse of ``places``, in the units of the axis."""
        low, high = self._scaled([self.edges[0], self.edges[-1]])
        scaled = low + np.asarray(places, dtype=np.float64) * (high - low)
        if self.linear_width is None:
            return np.asarray(scaled)
        return np.asarray(np.sinh(scaled) * self.linear_width)

    def _scaled(self, values: Sequence[float] | FloatArray) -> FloatArray:
        array = np.asarray(values, dtype=np.float64)
        return array if self.linear_width is None else np.arcsinh(array / self.linear_width)


def axis_of(x: InputSummary) -> Axis:
    """The axis of an input."""
    missing_beside = x.has_missing and (x.is_ordered or x.cuts is not None)
    n_states = max(1, len(x.states) - missing_beside)
    edges: tuple[float, ...] = tuple(map(float, range(n_states + 1)))
    linear_width = None
    is_number = bool(x.cuts) and max(map(abs, x.cuts or ())) < LARGEST
    if x.cuts and is_number:
        edges = _closed(x.cuts)
        linear_width = _linear_width(np.array(x.cuts))
    title = shortened(x.name)
    return Axis(title, x.states, edges, is_number, x.is_ordered, linear_width, x.shares)


def _closed(cuts: tuple[float, ...]) -> tuple[float, ...]:
    """The cuts with ends: outer intervals are as wide as their neighbours.

    If all cuts are positive, the number is taken to be positive, and if negative, to be negative.
    """
    first, last = cuts[0], cuts[-1]
    below = cuts[1] - first if len(cuts) > 1 else (abs(first) or 1.0)
    above = last - cuts[-2] if len(cuts) > 1 else (abs(last) or 1.0)
    low, high = first - below, last + above
    if first > 0:
        low = max(low, 0.0)
    if last < 0:
        high = min(high, 0.0)
    return (low, *cuts, high)


def _linear_width(cuts: FloatArray) -> float | None:
    """s of the asinh axis; None if a linear axis shows the cuts well."""
    lower, middle = np.quantile(np.abs(cuts), [0.25, 0.5])
    first, last = np.quantile(cuts, [0.25, 0.75])
    if len(cuts) < 4 or cuts[-1] - cuts[0] <= LONG_TAIL * (last - first):
        return None
    return float(lower or middle or 1.0)


def axis_ticks(axis: Axis, most: int) -> list[tuple[float, str]]:
    """Places and texts of at most about ``most`` ticks: round numbers, or states."""
    if not axis.is_number:
        step = math.ceil(axis.n_states / most)
        return [
            (float(axis.centres[i]), shortened(axis.labels[i], 14))
            for i in range(0, axis.n_states, step)
        ]
    low, high = axis.edges[0], axis.edges[-1]
    if axis.linear_width is None:
        values = nice_ticks(low, high, most)
    else:
        values = _powers(low, high, axis.linear_width)
    chosen: dict[float, str] = {}
    for place, value in zip(axis.places(values).tolist(), values, strict=True):
        if all(abs(place - other) >= 0.8 / (most + 1) for other in chosen):
            chosen[place] = f"{value:.10g}".replace("-", "−")
    return sorted(chosen.items())


def _powers(low: float, high: float, linear_width: float) -> list[float]:
    """0, ± powers of ten from the linear part on, and 2 and 5 times these: the important first."""
    first = math.floor(math.log10(linear_width))
    last = math.ceil(math.log10(max(abs(low), abs(high), linear_width)))
    sizes = [
        digit * 10.0**power for digit in (1, 2, 5) for power in reversed(range(first, last + 1))
    ]
    values = [0.0, *(sign * size for size in sizes for sign in (1, -1))]
    return [value for value in values if low <= value <= high]


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


def near_rows(counts: FloatArray, axes: Sequence[Axis]) -> NDArray[np.bool_]:
    """Whether a cell has rows, or is at most ``NEAR`` ordered states from a cell that has."""
    found = counts > 0
    for i, axis in enumerate(axes):
        if axis.is_ordered:
            along = np.moveaxis(found, i, 0)
            spread = along.copy()
            for shift in range(1, NEAR + 1):
                n = axis.n_states  # a missing state is no neighbour
                spread[shift:n] |= along[: n - shift]
                spread[: n - shift] |= along[shift:n]
            found = np.moveaxis(spread, 0, i)
    return np.asarray(found)
