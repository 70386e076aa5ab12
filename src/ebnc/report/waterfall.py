"""Waterfall of a sum: bars from the intercept over the largest contributions to the log odds."""

from collections.abc import Sequence
from dataclasses import dataclass

MOST_BARS = 12


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar from ``start`` to ``end``; ``kind``: "term", "rest" or "total"."""

    label: str
    detail: str
    value: float
    start: float
    end: float
    kind: str


def waterfall(
    labels: Sequence[str],
    details: Sequence[str],
    values: Sequence[float],
    others: float = 0.0,
    n_others: int = 0,
    most: int = MOST_BARS,
) -> tuple[Bar, ...]:
    """Bars whose values add up to the last one, the total.

    The intercept, ``values[0]``, comes first; the other values follow by decreasing size. Values
    beyond ``most`` share one bar with ``others``, the sum of ``n_others`` further terms.
    """
    ranked = sorted(range(1, len(values)), key=lambda t: (-abs(values[t]), t))
    shown, rest = [0, *ranked[: most - 1]], ranked[most - 1 :]
    bars, total = [], 0.0
    for t in shown:
        bars.append(Bar(labels[t], details[t], values[t], total, total + values[t], "term"))
        total += values[t]
    n_rest = len(rest) + n_others
    if n_rest:
        value = sum(values[t] for t in rest) + others
        plural = "term" if n_rest == 1 else "terms"
        label = f"{n_rest} other {plural}"
        bars.append(Bar(label, "", value, total, total + value, "rest"))
        total += value
    bars.append(Bar("log odds", "", total, 0.0, total, "total"))
    return tuple(bars)
