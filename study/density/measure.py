"""One cell of Part B: learn a network from the training rows of a set, judge it on its test rows.

Networks are learned with the defaults, one setting for all sets; validation rows are not used; test
rows are looked at once, at the end. With several orders, the average of their networks is judged.
"""

import gzip
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import ebnc
from study.cells import Cells, Value

RESULTS = Path(__file__).with_name("results.csv")
KEYS = ("set", "model")
VALUES = ("test", "standard_error", "regime", "kinds", "dimension", "score", "seconds")

MODELS: dict[str, dict[str, Any]] = {
    "network": {},
    "sparse": {"regime": "sparse", "max_parents": 8},
    "dense": {"regime": "dense"},
    "average": {"n_orders": 4},
    "average-of-two": {"n_orders": 2},
    "ebnc-only": {"local": "naive"},
    "trees-only": {"local": "tree"},
}
"""The default, and what parts of it are worth."""


def cells(path: Path = RESULTS) -> Cells:
    """``test`` is the mean log-likelihood of test rows in nats, with its standard error."""
    return Cells(path, KEYS, VALUES)


def set_names(folder: Path) -> list[str]:
    """Sets in a folder, the smallest file first."""
    names = [path.name.split(".")[0] for path in folder.glob("*.train.csv.gz")]
    return sorted(names, key=lambda x: ((folder / f"{x}.train.csv.gz").stat().st_size, x))


def load(folder: Path, name: str, part: str) -> np.ndarray:
    with gzip.open(folder / f"{name}.{part}.csv.gz", "rt") as file:
        return np.loadtxt(file, delimiter=",", dtype=np.uint8)


def measure(folder: Path, name: str, model: str) -> dict[str, Value]:
    train = load(folder, name, "train")
    names = [f"V{i}" for i in range(train.shape[1])]
    both = dict.fromkeys(names, 2)  # a variable may be constant in the training rows
    began = time.perf_counter()
    data = dict(zip(names, train.T, strict=True))
    network = ebnc.Network.learn(data, categories=both, **MODELS[model])
    seconds = time.perf_counter() - began
    test = load(folder, name, "test")
    judged = network.average if "n_orders" in MODELS[model] else network
    likelihood = judged.log_likelihood(dict(zip(names, test.T, strict=True)))
    kinds = Counter(local.kind for local in network.values())
    return {
        "set": name,
        "model": model,
        "test": float(likelihood.mean()),
        "standard_error": float(likelihood.std(ddof=1) / np.sqrt(len(likelihood))),
        "regime": network.regime,
        "kinds": " ".join(f"{kind}:{n}" for kind, n in sorted(kinds.items())),
        "dimension": network.dimension,
        "score": float(network.learned_score),
        "seconds": seconds,
    }
