"""Search in two processes on two cores against one process on one core, in the same run."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.measure import Comparison

SEARCH = """
import json, os, sys, time
n_jobs = int(sys.argv[1])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n_jobs])
import ebnc
from benchmarks.problems import ADULT_STATES, coded_cases
from ebnc.search.greedy import greedy_search
from ebnc.search.scorer import Scorer
cases = coded_cases(40_000, ADULT_STATES, 2)
start = ebnc.EmbeddedStructure.naive("Y", cases.inputs)
greedy_search(Scorer(cases, n_jobs=n_jobs), start, max_steps=1)  # compile, start the processes
began = time.perf_counter()
found = greedy_search(Scorer(cases, n_jobs=n_jobs), start, max_steps=5)
print(json.dumps({"seconds": time.perf_counter() - began, "score": found.best.score}))
"""


def comparisons() -> Iterator[Comparison]:
    """Seconds of a search; scores must be equal to the last bit."""
    if len(os.sched_getaffinity(0)) < 2:
        return
    best: dict[int, float] = {}
    scores = set()
    for _ in range(3):
        for n_jobs in (1, 2):
            run = subprocess.run(
                [sys.executable, "-c", SEARCH, str(n_jobs)],
                check=True,
                capture_output=True,
                text=True,
            )
            result = json.loads(run.stdout.splitlines()[-1])
            scores.add(result["score"])
            best[n_jobs] = min(best.get(n_jobs, float("inf")), result["seconds"])
    assert len(scores) == 1, scores
    yield Comparison(
        "search, 40 000 rows × 14: one process on one core against two on two",
        *("two processes", best[2], "one process", best[1], "≥ 1.6"),
    )
