"""Run all comparisons, print them, and store them in benchmarks/results.json."""

import json
import os
import platform
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from benchmarks import (
    command_line,
    foundations,
    large_data,
    latency,
    learning,
    networks,
    searching,
    wide_csv,
)

RESULTS = Path(__file__).with_name("results.json")
PARTS = [command_line, wide_csv, foundations, learning, latency, searching, networks, large_data]


def main() -> int:
    found = []
    for part in PARTS:
        for comparison in part.comparisons():
            verdict = "ok" if comparison.holds else "MISSED"
            print(
                f"{comparison.name}\n"
                f"    {comparison.ours}: {comparison.ours_value:.3g}, "
                f"{comparison.peer}: {comparison.peer_value:.3g}, "
                f"ratio {comparison.ratio:.3g} (needed {comparison.needed}) {verdict}",
                flush=True,
            )
            found.append(
                asdict(comparison) | {"ratio": comparison.ratio, "holds": comparison.holds}
            )
    packages = ("ebnc", "numpy", "numba", "scipy", "scikit-learn", "pandas")
    record = {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {name: version(name) for name in packages},
        "comparisons": found,
    }
    beside = RESULTS.with_suffix(".tmp")
    beside.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(RESULTS)
    return 0 if all(row["holds"] for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
