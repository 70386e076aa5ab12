"""A CSV of many numbers, by its path and through pandas: the same cases, CPU seconds and memory."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measure import Comparison, watched

ROWS, COLUMNS = 50_000, 100
ROUNDS = 5

BY_PATH = """
import sys
from ebnc.data.read import learn_cases
names = [f"x{i}" for i in range(100)]
learn_cases(sys.argv[1], names, "y")
"""
BY_PANDAS = BY_PATH.replace("import sys", "import sys, pandas").replace(
    "sys.argv[1], names", "pandas.read_csv(sys.argv[1]), names"
)


def comparisons() -> Iterator[Comparison]:
    """CPU seconds and peak memory of whole processes, the best of alternating rounds."""
    generator = np.random.default_rng(0)
    numbers = generator.normal(size=(ROWS, COLUMNS))
    is_yes = numbers[:, 0] + numbers[:, 1] ** 2 + generator.normal(size=ROWS) > 1
    frame = pd.DataFrame(numbers.round(4), columns=[f"x{i}" for i in range(COLUMNS)])
    frame["y"] = np.where(is_yes, "yes", "no")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.csv"
        frame.to_csv(path, index=False)
        runs: dict[str, list[dict[str, float]]] = {BY_PATH: [], BY_PANDAS: []}
        for _ in range(ROUNDS):
            for code, found in runs.items():
                found.append(watched(sys.executable, "-c", code, path))
    for what, key in (("CPU seconds", "seconds"), ("peak resident bytes", "peak")):
        ours, peer = (min(run[key] for run in found) for found in runs.values())
        yield Comparison(
            f"cases of a CSV of {ROWS} × {COLUMNS} numbers: {what}",
            *("by path", ours, "pandas, then in memory", peer, "≥ 0.67"),
        )
