"""CPU times of two ways of doing one thing: both take turns, and the best of equally many runs."""

import gc
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Two values of one kind, seconds unless the name says otherwise, and the ratio that is needed.

    ``needed``: "≥ 3" or "≤ 3", of peer / ours. ``reason``: why it is known to be missed.
    """

    name: str
    ours: str
    ours_value: float
    peer: str
    peer_value: float
    needed: str
    reason: str = ""

    @property
    def ratio(self) -> float:
        """The peer's value in units of ours."""
        return self.peer_value / self.ours_value

    @property
    def holds(self) -> bool:
        """Whether the ratio is on the right side of what is needed."""
        sign, bound = self.needed.split()
        return self.ratio >= float(bound) if sign == "≥" else self.ratio <= float(bound)


def cpu_seconds() -> float:
    """CPU seconds so far of this process, all threads, and of the processes that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def best_of(*calls: Callable[[], object], repeat: int = 5, n: int = 1) -> list[float]:
    """Best CPU time of each call over ``repeat`` rounds, as a mean of ``n`` calls.

    The calls take turns, so noise is shared.
    """
    best = [float("inf")] * len(calls)
    for _ in range(repeat):
        for i, call in enumerate(calls):
            gc.collect()
            start = cpu_seconds()
            for _ in range(n):
                call()
            best[i] = min(best[i], (cpu_seconds() - start) / n)
    return best


# A process of its own: what a child is told to have used is at least what its parent had.
_WATCH = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"seconds": used.ru_utime + used.ru_stime, "peak": 1024 * used.ru_maxrss}))
"""


def watched(*command: object) -> dict[str, float]:
    """CPU ``seconds`` of a command from start to end, and its ``peak`` of resident bytes."""
    words = [sys.executable, "-c", _WATCH, *map(str, command)]
    run = subprocess.run(words, check=True, capture_output=True, text=True)
    return dict(json.loads(run.stdout.splitlines()[-1]))
