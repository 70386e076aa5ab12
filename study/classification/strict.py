"""Fitted in φ or strictly in θ? Data from models that do not fill their span, both by likelihood.

``python -m study.classification.strict``

X1 → X2 ← Y with K ≥ 4 classes and binary inputs spans more parameters in φ than θ has. The fit in φ
is concave and cannot have less likelihood on its rows; the one in θ needs many starts, and knows
more where the strict model is the truth, as it is here. Data are drawn with fixed seeds.
"""

import argparse
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import ebnc
from ebnc.errors import EBNCError
from study.cells import Cells, Value
from study.classification.peers import log_loss

RESULTS = Path(__file__).with_name("strict.csv")
KEYS = ("classes", "rows", "repeat")
VALUES = (
    *("span", "generic", "train_phi", "train_theta", "test_phi", "test_theta", "test_truth"),
    *("seconds_phi", "seconds_theta"),
)
STRUCTURE = ebnc.EmbeddedStructure.from_string("[Y][X1][X2|X1:Y]", "Y")
FRESH = 20_000


def cells(path: Path = RESULTS) -> Cells:
    """Mean log-loss in nats on training and fresh rows; ``span`` and ``generic`` are dimensions.

    A cell without losses is one whose maximum does not exist (separation).
    """
    return Cells(path, KEYS, VALUES)


def draw(
    n_classes: int, n_rows: int, rng: np.random.Generator, theta: np.ndarray
) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows from p(y) p(x1) p(x2|x1, y), uniform but for θ = p(x2 = 1|x1, y), and their p(y|x)."""
    y, x1 = rng.integers(n_classes, size=n_rows), rng.integers(2, size=n_rows)
    x2 = (rng.random(n_rows) < theta[x1, y]).astype(int)
    joint = np.where(x2[:, None] == 1, theta[x1], 1 - theta[x1])
    rows = pd.DataFrame({"X1": x1, "X2": x2, "Y": y})
    return rows, joint / joint.sum(axis=1, keepdims=True)


def measure(n_classes: int, n_rows: int, repeat: int) -> dict[str, Value]:
    rng = np.random.default_rng([n_classes, n_rows, repeat])
    theta = rng.uniform(0.05, 0.95, size=(2, n_classes))
    train, _ = draw(n_classes, n_rows, rng, theta)
    test, truth = draw(n_classes, FRESH, rng, theta)
    key: dict[str, Value] = {"classes": n_classes, "rows": n_rows, "repeat": repeat}
    states = {"X1": 2, "X2": 2, "Y": n_classes}
    began = time.process_time()
    try:
        phi = ebnc.fit(STRUCTURE, train, prior_scale=np.inf, categories=states)
    except EBNCError:
        return key
    middle = time.process_time()
    theta_fit = ebnc.fit_theta(STRUCTURE, train, categories=states).network
    end = time.process_time()
    losses: dict[str, Value] = {
        f"{part}_{name}": log_loss(model.probabilities(rows), rows["Y"].to_numpy())
        for part, rows in (("train", train), ("test", test))
        for name, model in (("phi", phi), ("theta", theta_fit))
    }
    return {
        **key,
        "span": ebnc.dimension(STRUCTURE, states),
        "generic": ebnc.generic_dimension(STRUCTURE, states),
        **losses,
        "test_truth": log_loss(truth, test["Y"].to_numpy()),
        **{"seconds_phi": middle - began, "seconds_theta": end - middle},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", default="4,5,6")
    parser.add_argument("--rows", default="300,1000,3000")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    store = cells(options.results)
    done = store.done()
    for key in product(
        map(int, options.classes.split(",")),
        map(int, options.rows.split(",")),
        range(options.repeats),
    ):
        if tuple(map(str, key)) not in done:
            store.append([measure(*key)])


if __name__ == "__main__":
    main()
