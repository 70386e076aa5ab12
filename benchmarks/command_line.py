"""The command line against what it is compared with: reading the same file with pandas."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measure import Comparison, best_of

COMMAND = Path(sys.executable).with_name("ebnc")
ROWS = 1_000_000


def comparisons() -> Iterator[Comparison]:
    """``ebnc --help`` in seconds; ``ebnc predict`` of a million rows against pandas' reading."""
    with tempfile.TemporaryDirectory() as folder:
        yield _help()
        yield _predict(Path(folder))


def _help() -> Comparison:
    (seconds,) = best_of(lambda: _run(COMMAND, "--help"))
    return Comparison("ebnc --help", "seconds", seconds, "limit in seconds", 0.5, "≥ 1")


def _predict(folder: Path) -> Comparison:
    generator = np.random.default_rng(0)
    columns: dict[str, object] = {}
    for i in range(6):
        columns[f"c{i}"] = generator.choice(["red", "green", "blue", "black"], ROWS)
    for i in range(4):
        columns[f"x{i}"] = generator.normal(size=ROWS).round(3)
    frame = pd.DataFrame(columns)
    score = (frame["c0"] == "red") * 2.0 + frame["x0"] + (frame["c1"] == "blue") * frame["x1"]
    frame["y"] = np.where(generator.random(ROWS) < 1 / (1 + np.exp(-score)), "yes", "no")
    data, small, model = folder / "data.csv", folder / "small.csv", folder / "model.json"
    frame.to_csv(data, index=False)
    frame[:20_000].to_csv(small, index=False)
    _run(COMMAND, "learn", small, "-t", "y", "-o", model, "-q")
    names = (folder / f"predictions-{i}.csv" for i in count())
    ours, peer = best_of(
        lambda: _run(COMMAND, "predict", model, data, "-o", next(names)),
        lambda: _run(sys.executable, "-c", f"import pandas; pandas.read_csv({str(data)!r})"),
        repeat=7,
    )
    return Comparison(
        "a million CSV rows, processes from start to end",
        "ebnc predict",
        ours,
        "pandas.read_csv",
        peer,
        "≥ 1",
    )


def _run(*command: object) -> None:
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
