"""Two processes against one, which works on one core, in the same run.

Processes run, and compiled code is loaded, before the clock does.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from benchmarks.measure import Comparison

BEGIN = """
import json, sys, time
n_jobs = int(sys.argv[1])
import numpy as np
import ebnc
from ebnc.search.side_by_side import _pool, on_cores
while n_jobs > 1 and not _pool(n_jobs - 1).is_ready:
    time.sleep(0.01)
"""
END = """
print(json.dumps({"seconds": time.perf_counter() - began, "score": score}))
"""

SEARCH = """
from benchmarks.problems import ADULT_STATES, coded_cases
from ebnc.search.greedy import greedy_search
from ebnc.search.scorer import Scorer
cases = coded_cases(N_ROWS, ADULT_STATES, 2)
start = ebnc.EmbeddedStructure.naive("Y", cases.inputs)
greedy_search(Scorer(cases, n_jobs=n_jobs), start, max_steps=1)  # load compiled code
began = time.perf_counter()
with on_cores(n_jobs):
    score = greedy_search(Scorer(cases, n_jobs=n_jobs), start, max_steps=5).best.score
"""

DENSE = """
rng = np.random.default_rng(0)
hidden = rng.random((N_ROWS, 8)) < 0.3
ones = (rng.random((N_ROWS, 120)) < 0.05) | hidden[:, rng.integers(0, 8, 120)]
data = {f"V{i}": ones[:, i].astype(np.uint8) for i in range(120)}
few = {x: column[:200] for x, column in data.items()}
ebnc.Network.learn(few, order=list(data), n_jobs=n_jobs, categories=dict.fromkeys(data, 2))
began = time.perf_counter()
score = ebnc.Network.learn(data, order=list(data), n_jobs=n_jobs).learned_score
"""

SPARSE = """
from benchmarks.problems import random_tables
data = random_tables(40).sample(N_ROWS, random_state=0)
ebnc.Network.learn(data[:300], regime="sparse", n_jobs=n_jobs)
began = time.perf_counter()
score = ebnc.Network.learn(data, regime="sparse", n_jobs=n_jobs).learned_score
"""

PROBLEMS = {
    "search, 320 000 rows × 14": (SEARCH, 320_000, "≥ 1.6"),
    "dense network, 6 000 rows × 120": (DENSE, 6_000, "≥ 1.6"),
    "sparse network, 100 000 rows × 40": (SPARSE, 100_000, "≥ 1.6"),
    "search of a second, 40 000 rows × 14": (SEARCH, 40_000, "≥ 1.6"),
    "sparse network of three seconds, 20 000 rows × 40": (SPARSE, 20_000, "≥ 1.6"),
}
"""Code, rows, and what two processes should gain."""


def comparisons(rounds: int = 5) -> Iterator[Comparison]:
    """Medians of some rounds, in which both take turns; scores must be equal to the last bit.

    Not the best of them: two cores are seldom undisturbed at the same time.
    """
    if len(os.sched_getaffinity(0)) < 2:
        return
    for name, (code, n_rows, needed) in PROBLEMS.items():
        given = f"N_ROWS = {n_rows}"
        seconds: dict[int, list[float]] = {1: [], 2: []}
        scores = set()
        for _ in range(rounds):
            for n_jobs in (1, 2):
                run = subprocess.run(
                    [sys.executable, "-c", BEGIN + given + code + END, str(n_jobs)],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                result = json.loads(run.stdout.splitlines()[-1])
                scores.add(result["score"])
                seconds[n_jobs].append(result["seconds"])
        assert len(scores) == 1, scores
        yield Comparison(
            f"{name}: one process against two",
            *("two processes", median(seconds[2]), "one process", median(seconds[1]), needed),
        )


if __name__ == "__main__":
    for c in comparisons():
        print(f"{c.name}\n    {c.ours}: {c.ours_value:.3g}, {c.peer}: {c.peer_value:.3g}, ", end="")
        print(f"ratio {c.ratio:.3g} (needed {c.needed})", flush=True)
