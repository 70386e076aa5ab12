"""Run all comparisons, print them, and store them in benchmarks/results.json.

``python -m benchmarks.run classifiers …`` runs only the parts that it names, and keeps what the
file has of the others. Every part is stored when it ends. Times are CPU seconds of one thread.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before anything is loaded that reads it

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

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
    by_name = {part.__name__.removeprefix("benchmarks."): part for part in PARTS}
    unknown = sorted(set(names) - set(by_name))
    if unknown:
        sys.exit(f"no part is called {unknown[0]!r}; the parts are {', '.join(by_name)}")
    are_well = [_run(name, by_name) for name in names or by_name]
    return 0 if all(are_well) else 1


def _run(name: str, by_name: Mapping[str, ModuleType]) -> bool:
    """Run a part and store what it found; whether all holds, or has a reason."""
    found: list[dict[str, Any]] = []
    try:
        for comparison in by_name[name].comparisons():
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
                {"part": name}
                | asdict(comparison)
                | {"ratio": comparison.ratio, "holds": comparison.holds}
            )
    finally:
        _store(name, by_name, found)
    return all(row["holds"] or row["reason"] for row in found)


def _store(name: str, by_name: Mapping[str, ModuleType], found: list[dict[str, Any]]) -> None:
    packages = ("ebnc", "numpy", "numba", "scipy", "scikit-learn", "pandas")
    if RESULTS.exists():
        before = json.loads(RESULTS.read_text(encoding="utf-8"))["comparisons"]
        others = set(by_name) - {name}
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
