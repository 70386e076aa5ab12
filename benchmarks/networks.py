"""Networks: dense and sparse learning, log-likelihood and memory.

    python -m benchmarks.networks --data FOLDER --sets baudio,c20ng

measures dense learning on the sets of ``study.density`` instead of generated rows.
"""

import argparse
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from study.density.measure import load

import ebnc
from benchmarks.measure import Comparison, best_of
from benchmarks.problems import random_tables

NODE = """
import numpy as np
import ebnc
from ebnc.data.read import learn_joint_cases
from ebnc.fitting.optimum import likelihood_of
from ebnc.parameters.phi import Basis
from ebnc.score.scales import maximise_evidence
rng = np.random.default_rng(0)
names = [f"V{i}" for i in range(1501)]
ones = rng.random((2500, 1501)) < 0.05
cases, _ = learn_joint_cases(dict(zip(names, ones.T, strict=True)), None, "state", None)
basis = Basis(ebnc.EmbeddedStructure.naive("V1500", names[:1500]), cases.domain)
maximise_evidence(likelihood_of(basis, cases.with_target("V1500")), 0.02, fixed_curvature=True)
with open("/proc/self/status") as status:  # ru_maxrss is at least what the parent has
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def comparisons() -> Iterator[Comparison]:
    yield dense_learning("15 000 × 100 baskets", baskets(15_000, 100))
    for n_rows in (5_000, 50_000):
        yield sparse_learning(n_rows)
    yield log_likelihood()
    kilobytes = float(subprocess.check_output([sys.executable, "-c", NODE], text=True))
    yield Comparison(
        "a node with 1 500 parents, 2 500 rows: GiB, all of the process",
        *("used", kilobytes / 2**20, "allowed", 1.0, "≥ 1"),
    )


def baskets(n_rows: int, n_items: int) -> np.ndarray:
    """Items that eight hidden tastes make likely, and rare ones."""
    rng = np.random.default_rng(0)
    tastes = rng.random((n_rows, 8)) < 0.3
    liked = tastes[:, rng.integers(0, 8, n_items)] & (rng.random((n_rows, n_items)) < 0.4)
    ones: np.ndarray = (liked | (rng.random((n_rows, n_items)) < 0.08)).astype(np.uint8)
    return ones


def dense_learning(name: str, train: np.ndarray) -> Comparison:
    """``Network.learn`` as it is, against a LogisticRegression of each column on those before."""
    names = [f"V{i}" for i in range(train.shape[1])]
    data = dict(zip(names, train.T, strict=True))
    matrix = train.astype(np.float64)

    def ours() -> None:
        ebnc.Network.learn(data, categories=dict.fromkeys(names, 2))

    def theirs() -> None:
        for i in range(1, train.shape[1]):
            if 0 < train[:, i].sum() < len(train):
                LogisticRegression().fit(matrix[:, :i], train[:, i])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, peer = best_of(ours, theirs, repeat=2)
    return Comparison(
        f"learn a dense network, default, {name}",
        *("ebnc", seconds, "LogisticRegression for each node", peer, "≥ 0.25"),
    )


def sparse_learning(n_rows: int, n_variables: int = 60) -> Comparison:
    """Tables scored by BIC: hill climbing by pyAgrum, tabu search here."""
    import pyagrum  # noqa: PLC0415

    rows = random_tables(n_variables).sample(n_rows, random_state=0)
    codes = rows.apply(lambda column: column.str[1:].astype(int))  # read fastest by the peer

    def theirs() -> None:
        learner = pyagrum.BNLearner(codes)
        learner.setNumberOfThreads(1)
        learner.useScoreBIC()
        learner.useGreedyHillClimbing()
        learner.learnDAG()

    seconds, peer = best_of(
        lambda: ebnc.Network.learn(rows, local="table", score="bic"), theirs, repeat=2
    )
    return Comparison(
        f"learn a sparse network of tables by BIC, {n_rows} × {n_variables}",
        *("ebnc, tabu search", seconds, "pyAgrum, hill climbing", peer, "≥ 0.33"),
    )


def log_likelihood() -> Comparison:
    """100 000 rows × 60 variables of tables; the peer is indexing with arrays of codes."""
    network = random_tables(60)
    rows = network.sample(100_000, random_state=0)
    states = {x: list(network[x].domain[x]) for x in network}
    frame = pd.DataFrame({x: pd.Categorical(rows[x], states[x]) for x in network})

    def by_hand() -> np.ndarray:
        codes = {x: frame[x].cat.codes.to_numpy() for x in frame}
        total = np.zeros(len(frame))
        for name in network:
            node = network[name]
            total += np.log(node.theta)[tuple(codes[x] for x in (*node.parents, name))]
        return total

    np.testing.assert_allclose(network.log_likelihood(frame), by_hand())
    seconds, peer = best_of(lambda: network.log_likelihood(frame), by_hand)
    return Comparison(
        "log-likelihood, 100 000 rows × 60 variables of a data frame of categories",
        *("ebnc", seconds, "NumPy, log θ indexed with codes", peer, "≥ 0.5"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", default="baudio,c20ng")
    options = parser.parse_args()
    found = (
        comparisons()
        if options.data is None
        else (
            dense_learning(name, load(options.data, name, "train"))
            for name in options.sets.split(",")
        )
    )
    for c in found:
        print(f"{c.name}\n    {c.ours}: {c.ours_value:.3g}, {c.peer}: {c.peer_value:.3g}, ", end="")
        print(f"ratio {c.ratio:.3g} (needed {c.needed})", flush=True)


if __name__ == "__main__":
    main()
