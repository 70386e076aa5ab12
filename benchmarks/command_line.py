"""The command line against what it is compared with: reading the same file with pandas."""

import os
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
LABELS = [f"c{i}" for i in range(6)]
NUMBERS = [f"x{i}" for i in range(4)]


def comparisons() -> Iterator[Comparison]:
    """``ebnc --help`` in seconds; ``ebnc predict`` of a million rows against pandas' reading."""
    yield _help()
    frame = _inputs()
    red, blue = frame[LABELS] == "red", frame[LABELS] == "blue"
    yield _predict(
        "few inputs matter", frame, 2 * red["c0"] + frame["x0"] + blue["c1"] * frame["x1"]
    )
    slopes = frame[NUMBERS] @ [1.0, -1.0, 0.7, -0.6]
    yield _predict(
        "nearly all rows differ", frame, red.sum(axis=1) - 0.7 * blue.sum(axis=1) + slopes
    )


def _help() -> Comparison:
    (seconds,) = best_of(lambda: _run(COMMAND, "--help"))
    return Comparison("ebnc --help", "seconds", seconds, "limit in seconds", 0.5, "≥ 1")


def _inputs() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    columns: dict[str, object] = {}
    for name in LABELS:
        columns[name] = generator.choice(["red", "green", "blue", "black"], ROWS)
    for name in NUMBERS:
        columns[name] = generator.normal(size=ROWS).round(3)
    return pd.DataFrame(columns)


def _predict(what: str, inputs: pd.DataFrame, log_odds: "pd.Series[float]") -> Comparison:
    """A class of these log odds, learned from 20 000 rows and predicted in all of them."""
    is_yes = np.random.default_rng(1).random(ROWS) < 1 / (1 + np.exp(-log_odds))
    frame = inputs.assign(y=np.where(is_yes, "yes", "no"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
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
        f"a million CSV rows, processes from start to end; {what}",
        "ebnc predict",
        ours,
        "pandas.read_csv",
        peer,
        "≥ 0.33",
    )


def _run(*command: object) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    words = [str(word) for word in command]
    subprocess.run(words, check=True, capture_output=True, env=environment)
