"""How close learned networks come to the one that made the data, against full-table hill climbing.

    python -m study.density.closeness --data FOLDER [--networks alarm,insurance] [--rows 5000]

FOLDER holds NAME.bif.gz. The peer is pyAgrum's greedy hill climbing with BDeu, its tables smoothed
like ours (equivalent sample size by evidence) and like its own (1). The Kullback–Leibler divergence
from the truth is estimated on 50 000 fresh rows.
"""

import argparse
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

import ebnc
from ebnc.network.joint_cases import read_joint_cases

FRESH = 50_000


def divergence(truth: ebnc.Network, learned: ebnc.Network, rows: pd.DataFrame) -> str:
    difference = truth.log_likelihood(rows) - learned.log_likelihood(rows)
    return f"KL {difference.mean():.4f} ± {difference.std() / np.sqrt(len(rows)):.4f}"


def hill_climbing(data: pd.DataFrame, truth: ebnc.Network) -> dict[str, list[str]]:
    """The parents that pyAgrum's greedy hill climbing with BDeu finds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pyagrum as gum  # noqa: PLC0415

        learner = gum.BNLearner(data, truth.to_pyagrum())
        learner.useGreedyHillClimbing()
        learner.useScoreBDeu()
        found = learner.learnBN()
    name = {node: found.variable(node).name() for node in found.nodes()}
    return {name[i]: [name[p] for p in found.parents(i)] for i in found.nodes()}


def run(path: Path, n_rows: int, seed: int) -> None:
    truth = ebnc.Network.read_bif(path)
    data = truth.sample(n_rows, random_state=seed)
    fresh = truth.sample(FRESH, random_state=seed + 1000)
    began = time.perf_counter()
    learned = ebnc.Network.learn(data, categories=truth.domain)
    kinds = dict(Counter(local.kind for local in learned.values()))
    print(f"{path.name}, {n_rows} rows, seed {seed}: {truth}")
    print(f"  ours: {divergence(truth, learned, fresh)}, {learned}, {kinds}", end=", ")
    print(f"{time.perf_counter() - began:.1f} s")
    parents = hill_climbing(data, truth)
    cases = read_joint_cases(data, truth.domain, "state", None)
    for size in (None, 1.0):
        tables = []
        for x in truth:
            mine = type(cases)(cases.domain, x, cases.rows, cases.rows.column(x), cases.weights)
            tables.append(ebnc.Table.learn(mine, parents[x], size))
        peer = ebnc.Network(tables)
        how = f"hill climbing, s = {size or 'by evidence'}"
        print(f"  {how}: {divergence(truth, peer, fresh)}, {peer}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--networks", default="alarm,insurance")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    for name in options.networks.split(","):
        for seed in range(options.seeds):
            run(options.data / f"{name}.bif.gz", options.rows, seed)


if __name__ == "__main__":
    main()
