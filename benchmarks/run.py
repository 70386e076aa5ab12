"""Run all comparisons, print them, and store them in benchmarks/results.json.

``python -m benchmarks.run classifiers …`` runs only the modules that it names, and keeps what the
file has of the others. Times are CPU seconds of one thread.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before anything is loaded that reads it

import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from benchmarks import (
    classifiers,
    command_line,
    foundations,
    large_data,
    latency,
    learning,
    networks,
    wide_csv,
)

RESULTS = Path(__file__).with_name("results.json")
PARTS = [
    *(command_line, wide_csv, foundations, learning, latency, networks, large_data),
    classifiers,
]


def main(names: Sequence[str] = ()) -> int:
    chosen = [part for part in PARTS if part.__name__.removeprefix("benchmarks.") in names]
    found = []
    for part in chosen or PARTS:
        for comparison in part.comparisons():
            why = f"MISSED: {comparison.reason}" if comparison.reason else "MISSED"
            verdict = "ok" if comparison.holds else why
            print(
                f"{comparison.name}\n"
                f"    {comparison.ours}: {comparison.ours_value:.3g}, "
                f"{comparison.peer}: {comparison.peer_value:.3g}, "
                f"ratio {comparison.ratio:.3g} (needed {comparison.needed}) {verdict}",
                flush=True,
            )
            found.append(
                {"part": part.__name__.removeprefix("benchmarks.")}
                | asdict(comparison)
                | {"ratio": comparison.ratio, "holds": comparison.holds}
            )
    packages = ("ebnc", "numpy", "numba", "scipy", "scikit-learn", "pandas")
    if chosen and RESULTS.exists():
        before = json.loads(RESULTS.read_text(encoding="utf-8"))["comparisons"]
        others = {part.__name__.removeprefix("benchmarks.") for part in PARTS} - {*names}
        found = [row for row in before if row.get("part") in others] + found
    record = {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {name: version(name) for name in packages},
        "comparisons": found,
    }
    beside = RESULTS.with_suffix(".tmp")
    beside.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(RESULTS)
    return 0 if all(row["holds"] or row.get("reason") for row in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
