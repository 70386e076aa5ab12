"""Time two ways of doing one thing, taking turns, and compare their best times."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Two values of one kind, seconds unless the name says otherwise, and the ratio that is needed.

    ``needed``: "≥ 3" or "≤ 3", of peer / ours.
    """

    name: str
    ours: str
    ours_value: float
    peer: str
    peer_value: float
    needed: str

    @property
    def ratio(self) -> float:
        """The peer's value in units of ours."""
        return self.peer_value / self.ours_value

    @property
    def holds(self) -> bool:
        """Whether the ratio is on the right side of what is needed."""
        sign, bound = self.needed.split()
        return self.ratio >= float(bound) if sign == "≥" else self.ratio <= float(bound)


def best_of(*calls: Callable[[], object], repeat: int = 5) -> list[float]:
    """Best time of each call over ``repeat`` rounds; the calls take turns, so noise is shared."""
    best = [float("inf")] * len(calls)
    for _ in range(repeat):
        for i, call in enumerate(calls):
            gc.collect()
            start = time.perf_counter()
            call()
            best[i] = min(best[i], time.perf_counter() - start)
    return best
