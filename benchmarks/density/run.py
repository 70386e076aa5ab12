"""Mean test log-likelihood of learned networks beside the published figures.

    python -m benchmarks.density.run --data FOLDER [--sets nltcs,kdd]

FOLDER holds NAME.train.csv.gz and NAME.test.csv.gz: 0/1, no header (the benchmark of Lowd & Davis
2010 and Van Haaren & Davis 2012). Networks are learned on the training rows with the defaults, one
setting for all sets; validation rows are not used; test rows are looked at once, at the end.
Published figures (``published.csv``): WM = WinMine, Bayesian networks with tree nodes; SPN =
LearnSPN; ID-SPN; ACMN; MT = mixtures of trees; HCLT; EiNet. AR = every node a naive EBNC on all its
predecessors in file order, one ridge per set. Results go to ``results.csv``; sets that are there
are not run again unless named with ``--again``.
"""

import argparse
import csv
import gzip
import os
import platform
import time
from collections import Counter
from pathlib import Path

import numpy as np

import ebnc
from benchmarks.density.report import table

HERE = Path(__file__).parent
FIELDS = [
    "set",
    "test",
    "regime",
    "kinds",
    "dimension",
    "score",
    "seconds",
    "cores",
    "ebnc",
    "numpy",
]


def load(folder: Path, name: str, part: str) -> np.ndarray:
    with gzip.open(folder / f"{name}.{part}.csv.gz", "rt") as file:
        return np.loadtxt(file, delimiter=",", dtype=np.uint8)


def run(folder: Path, name: str) -> dict[str, object]:
    train = load(folder, name, "train")
    names = [f"V{i}" for i in range(train.shape[1])]
    both = dict.fromkeys(names, 2)  # a variable may be constant in the training rows
    began = time.perf_counter()
    network = ebnc.Network.learn(dict(zip(names, train.T, strict=True)), categories=both)
    seconds = time.perf_counter() - began
    test = load(folder, name, "test")
    likelihood = network.log_likelihood(dict(zip(names, test.T, strict=True))).mean()
    kinds = Counter(local.kind for local in network.values())
    return {
        "set": name,
        "test": f"{likelihood:.4f}",
        "regime": network.regime,
        "kinds": " ".join(f"{kind}:{n}" for kind, n in sorted(kinds.items())),
        "dimension": network.dimension,
        "score": f"{network.score:.3f}",
        "seconds": f"{seconds:.1f}",
        "cores": os.cpu_count(),
        "ebnc": "0.1.0",
        "numpy": f"{np.__version__} on Python {platform.python_version()}",
    }


def read_results(path: Path) -> dict[str, dict[str, str]]:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["set"]: row for row in csv.DictReader(file)}


def write_results(path: Path, rows: dict[str, dict[str, object]]) -> None:
    beside = path.with_suffix(".part")
    with beside.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[name] for name in sorted(rows))
    beside.replace(path)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", help="comma-separated; all that are in the folder unless given")
    parser.add_argument("--again", action="store_true", help="run sets that have a result")
    parser.add_argument("--results", type=Path, default=HERE / "results.csv")
    options = parser.parse_args(arguments)
    found = [path.name.split(".")[0] for path in options.data.glob("*.train.csv.gz")]
    found.sort(key=lambda name: (options.data / f"{name}.train.csv.gz").stat().st_size)
    for name in options.sets.split(",") if options.sets else found:
        rows = read_results(options.results)
        if name not in rows or options.again:
            rows[name] = run(options.data, name)
            write_results(options.results, rows)
        print(table({name: rows[name]}), flush=True)
    print(table(read_results(options.results)))


if __name__ == "__main__":
    main()
