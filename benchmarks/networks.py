"""Networks: learning against logistic regression, log-likelihood against pgmpy and pyAgrum, memory.

    python -m benchmarks.networks [--data FOLDER --sets baudio,c20ng]

The second form measures learning on the sets of ``study.density`` instead of generated rows.
"""

import argparse
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from study.density.measure import load

import ebnc
from benchmarks.measure import Comparison

NODE = """
import numpy as np
import ebnc
from ebnc.network.learning.dense_node import fit_dense_node
from ebnc.network.learning.indicators import Indicators
from ebnc.data.read import learn_joint_cases
rng = np.random.default_rng(0)
names = [f"V{i}" for i in range(1501)]
ones = rng.random((2500, 1501)) < 0.05
cases, _ = learn_joint_cases(dict(zip(names, ones.T, strict=True)), None, "state", None)
fit_dense_node(Indicators.of(cases, names), 1500)
with open("/proc/self/status") as status:  # ru_maxrss is at least what the parent has
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def comparisons() -> Iterator[Comparison]:
    rng = np.random.default_rng(0)
    base = rng.random((4000, 8)) < 0.3
    ones = (rng.random((4000, 60)) < 0.02) | (
        base[:, rng.integers(0, 8, 60)] & (rng.random((4000, 60)) < 0.3)
    )
    yield learning("generated, 4 000 × 60", ones.astype(np.uint8))
    yield from log_likelihood()
    kilobytes = float(subprocess.check_output([sys.executable, "-c", NODE], text=True))
    yield Comparison(
        "a node with 1 500 parents, 2 500 rows: GiB, all of the process",
        *("used", kilobytes / 2**20, "allowed", 1.0, "≥ 1"),
    )


def learning(name: str, train: np.ndarray) -> Comparison:
    """A dense network against one LogisticRegression for each node, on the same predecessors."""
    names = [f"V{i}" for i in range(train.shape[1])]
    data = dict(zip(names, train.T, strict=True))
    ebnc.Network.learn(
        {x: c[:50] for x, c in data.items()}, order=names, categories=dict.fromkeys(names, 2)
    )
    began = time.perf_counter()
    ebnc.Network.learn(data, order=names, categories=dict.fromkeys(names, 2))
    ours = time.perf_counter() - began
    matrix = train.astype(np.float64)
    began = time.perf_counter()
    for i in range(1, train.shape[1]):
        if 0 < train[:, i].sum() < len(train):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                LogisticRegression().fit(matrix[:, :i], train[:, i])
    peer = time.perf_counter() - began
    return Comparison(
        f"learn a dense network, {name}",
        *("with σ, trees and interactions", ours, "LogisticRegression for each node", peer, "≥ 1"),
    )


def log_likelihood() -> Iterator[Comparison]:
    """100 000 rows × 100 variables, tables with two parents; the peers do a part of the rows."""
    rng = np.random.default_rng(1)
    names = [f"V{i}" for i in range(100)]
    domain = {x: ["a", "b", "c"] for x in names}
    locals_ = []
    for i, name in enumerate(names):
        parents = [names[j] for j in sorted(rng.choice(i, min(i, 2), replace=False))]
        theta = rng.dirichlet(np.ones(3), size=[3] * len(parents))
        locals_.append(ebnc.Table(name, parents, domain, theta))
    network = ebnc.Network(locals_)
    rows = network.sample(100_000, random_state=0)
    rows = rows.astype(pd.CategoricalDtype(["a", "b", "c"]))
    network.log_likelihood(rows[:10])
    began = time.perf_counter()
    ours = network.log_likelihood(rows)
    seconds = time.perf_counter() - began

    with warnings.catch_warnings():  # the peers warn of their own future
        warnings.simplefilter("ignore")
        from pgmpy.factors.discrete import TabularCPD  # noqa: PLC0415
        from pgmpy.models import DiscreteBayesianNetwork  # noqa: PLC0415

        there = network.to_pyagrum()
        part = rows[:2000].astype(str)
        began = time.perf_counter()
        total = 0.0
        instantiation = there.completeInstantiation()
        for row in part.itertuples(index=False):
            for name, state in zip(names, row, strict=True):
                instantiation.chgVal(name, state)
            total += there.log2JointProbability(instantiation)
        theirs = (time.perf_counter() - began) * 50
        assert np.isclose(total * np.log(2), ours[:2000].sum())
        model = DiscreteBayesianNetwork(network.arcs)
        for local in locals_:
            values = np.moveaxis(local.theta, -1, 0).reshape(3, -1)
            evidence = list(local.parents) or None
            cards = [3] * len(local.parents) or None
            states = {x: ["a", "b", "c"] for x in (local.target, *local.parents)}
            model.add_cpds(TabularCPD(local.target, 3, values, evidence, cards, state_names=states))
        rows_of_states = part[:20].to_dict("records")
        began = time.perf_counter()
        score = sum(np.log(model.get_state_probability(row)) for row in rows_of_states)
        pgmpy = (time.perf_counter() - began) * 5000
        assert np.isclose(score, ours[:20].sum())
    what = "log-likelihood, 100 000 rows × 100 variables (peers: a part, scaled up)"
    yield Comparison(what, "from pandas", seconds, "pgmpy", pgmpy, "≥ 50")
    yield Comparison(what, "from pandas", seconds, "pyAgrum, row by row", theirs, "≥ 1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", default="baudio,c20ng")
    options = parser.parse_args()
    found = (
        comparisons()
        if options.data is None
        else (learning(name, load(options.data, name, "train")) for name in options.sets.split(","))
    )
    for c in found:
        print(f"{c.name}\n    {c.ours}: {c.ours_value:.3g}, {c.peer}: {c.peer_value:.3g}, ", end="")
        print(f"ratio {c.ratio:.3g} (needed {c.needed})", flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
