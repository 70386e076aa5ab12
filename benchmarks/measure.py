"""Time two ways of doing one thing, taking turns, and compare their best times."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """``needed``: the ratio that must hold, as "≥ 3" or "≤ 3"; ratio = peer / ours, or as named."""

    name: str
    ours: str
    ours_seconds: float
    peer: str
    peer_seconds: float
    needed: str

    @property
    def ratio(self) -> float:
        """How many times the peer's time is ours."""
        return self.peer_seconds / self.ours_seconds

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
