"""Everything that can be measured, by name: a function from a split to a ``Prediction``."""

import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd

import ebnc
from benchmarks.quality import peers
from benchmarks.quality.data import TARGET, Split

MASSES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


class Prediction(NamedTuple):
    """p(y|x) of the test rows, (rows, K); the fit's seconds; d where the model has one."""

    probability: np.ndarray
    fit_seconds: float
    dimension: int | None


Model = Callable[[Split], Prediction]


def models() -> Mapping[str, Model]:
    """All models that can be run here; ours from the raw frame, peers from its codes."""
    rivals: dict[str, Callable[[], peers.Peer]] = {
        "nb": peers.NaiveBayes,
        "tan": peers.TreeAugmentedNaiveBayes,
        "aode": peers.AODE,
        "logistic": peers.Logistic,
        "forest": peers.Forest,
        "boosting": peers.Boosting,
        "nb-tuned": lambda: peers.Tuned(peers.NaiveBayes, MASSES),
        "tan-tuned": lambda: peers.Tuned(peers.TreeAugmentedNaiveBayes, MASSES),
        "aode-tuned": lambda: peers.Tuned(peers.AODE, MASSES),
    }
    found: dict[str, Model] = {name: partial(_rival, make) for name, make in rivals.items()}
    found["naive-evidence"] = _naive_evidence
    if _has_classifier():
        found |= {name: partial(_classifier, options) for name, options in VARIANTS.items()}
    return found


def _has_classifier() -> bool:
    try:
        return callable(ebnc.EBNCClassifier)
    except (AttributeError, ImportError):  # the rivals run without it
        return False


PEERS = ("nb", "tan", "aode", "logistic", "forest")
"""The rivals that are ranked; boosting and those with tuned smoothing are further columns."""

VARIANTS: dict[str, dict[str, object]] = {
    "ebnc": {},
    "ebnc-naive": {"structure": "naive"},
    "ebnc-tan": {"structure": "tan"},
    "ebnc-bic": {"score": "bic"},
    "ebnc-single": {"average": False},
    "ebnc-posterior": {"predictive": "posterior"},
}


def _rival(make: Callable[[], peers.Peer], split: Split) -> Prediction:
    coded = split.coded()
    y = split.class_numbers(split.train)
    start = time.perf_counter()
    peer = make().fit(coded.train, coded.n_states, y, len(split.classes))
    seconds = time.perf_counter() - start
    return Prediction(peer.predict_proba(coded.test), seconds, peer.dimension)


def _naive_evidence(split: Split) -> Prediction:
    _compile()
    structure = ebnc.EmbeddedStructure.naive(TARGET, split.inputs)
    start = time.perf_counter()
    fitted = ebnc.fit(structure, split.train, prior_scale="evidence")
    seconds = time.perf_counter() - start
    probability = fitted.probabilities(split.test, unseen="average")
    states = fitted.domain[TARGET]
    return Prediction(_in_order(probability, states, split), seconds, fitted.dimension)


def _classifier(options: dict[str, object], split: Split) -> Prediction:
    _compile()
    model = ebnc.EBNCClassifier(**options)
    start = time.perf_counter()
    model.fit(split.train[split.inputs], split.train[TARGET])
    seconds = time.perf_counter() - start
    probability = model.predict_proba(split.test[split.inputs])
    return Prediction(_in_order(probability, model.classes_, split), seconds, model.dimension_)


def _in_order(probability: np.ndarray, classes: object, split: Split) -> np.ndarray:
    places = {str(label): i for i, label in enumerate(classes)}
    return np.asarray(probability)[:, [places[label] for label in split.classes]]


@cache
def _compile() -> None:
    """Load the compiled kernels once in each process, outside of anyone's seconds."""
    frame = pd.DataFrame({"x": list("abab"), TARGET: list("aabb")})
    split = Split(frame, frame, ("a", "b"))
    ebnc.fit(ebnc.EmbeddedStructure.naive(TARGET, split.inputs), frame).probabilities(frame)
