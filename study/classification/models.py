"""Everything that can be measured, by name: a function from a split to a ``Prediction``."""

import time
import warnings
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd

import ebnc
from ebnc.data.read import learn_states
from ebnc.domain import Interval
from ebnc.errors import DataWarning
from study.classification import peers
from study.classification.data import TARGET, Split

MASSES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


class Prediction(NamedTuple):
    """p(y|x) of test rows, (rows, K); the fit's seconds of the processor; d where there is one."""

    probability: np.ndarray
    fit_seconds: float
    dimension: int | None


Model = Callable[[Split], Prediction]

RIVALS: dict[str, Callable[[], peers.Peer]] = {
    "nb": peers.NaiveBayes,
    "tan": peers.TreeAugmentedNaiveBayes,
    "aode": peers.AODE,
    "nb-tuned": lambda: peers.Tuned(peers.NaiveBayes, MASSES),
    "tan-tuned": lambda: peers.Tuned(peers.TreeAugmentedNaiveBayes, MASSES),
    "aode-tuned": lambda: peers.Tuned(peers.AODE, MASSES),
    "logistic": peers.Logistic,
    "logistic-pairs": peers.LogisticPairs,
    "forest": peers.Forest,
    "boosting": peers.Boosting,
}

VARIANTS: dict[str, dict[str, object]] = {
    "ebnc": {},
    "ebnc-naive": {"structure": "naive"},
    "ebnc-tan": {"structure": "tan"},
    "ebnc-bic": {"criterion": "bic"},
    "ebnc-single": {"average": False},
    "ebnc-evidence": {"prior_scale": "evidence"},
    "ebnc-sigma-1": {"prior_scale": 1.0},
}

PEERS = ("nb-tuned", "tan-tuned", "aode-tuned", "logistic", "logistic-pairs", "forest", "boosting")
OURS = ("ebnc", "ebnc-tan", "ebnc-naive")
STUDIED = (*OURS, *PEERS)
"""What Part A compares. Generative rivals have their smoothing tuned on training rows; without
that, under the names nb, tan and aode, they are further columns.
"""

REPEATED = ("ebnc", "ebnc-naive", *PEERS)
"""What is measured on all folds of the smaller sets; the others on the first two."""

ABLATIONS = ("ebnc-single", "ebnc-evidence", "ebnc-quantiles")


def _rival(make: Callable[[], peers.Peer], split: Split) -> Prediction:
    coded = split.coded()
    y = split.class_numbers(split.train)
    start = time.process_time()
    peer = make().fit(coded.train, coded.n_states, y, len(split.classes))
    seconds = time.process_time() - start
    return Prediction(peer.predict_proba(coded.test), seconds, peer.dimension)


def _classifier(options: dict[str, object], split: Split) -> Prediction:
    _compile()
    model = ebnc.EBNCClassifier(**options)
    start = time.process_time()
    model.fit(split.train[split.inputs], split.train[TARGET])
    seconds = time.process_time() - start
    with warnings.catch_warnings():  # states that only the test part has are no news
        warnings.simplefilter("ignore", DataWarning)
        probability = model.predict_proba(split.test[split.inputs])
    return Prediction(_in_order(probability, model.classes_, split), seconds, model.dimension_)


def _quantiles(split: Split) -> Prediction:
    """The default, with numbers cut into five intervals at quantiles instead of by MDLP."""
    train, test = split.train.copy(), split.test.copy()
    domain = learn_states(train, split.inputs, TARGET)
    for name in split.inputs:
        if not isinstance(domain[name][0], Interval):
            continue
        cuts = np.unique(train[name].quantile([0.2, 0.4, 0.6, 0.8]))
        for frame in (train, test):
            number = np.searchsorted(cuts, frame[name].to_numpy(float)).astype(str)
            frame[name] = np.where(frame[name].isna(), None, number)
    return _classifier({}, Split(train, test, split.classes))


def _in_order(probability: np.ndarray, classes: object, split: Split) -> np.ndarray:
    places = {str(label): i for i, label in enumerate(classes)}
    return np.asarray(probability)[:, [places[label] for label in split.classes]]


@cache
def _compile() -> None:
    """Load the compiled kernels once in each process, outside of anyone's seconds."""
    frame = pd.DataFrame({"x": list("abab"), TARGET: list("aabb")})
    split = Split(frame, frame, ("a", "b"))
    ebnc.fit(ebnc.EmbeddedStructure.naive(TARGET, split.inputs), frame).probabilities(frame)


MODELS: Mapping[str, Model] = {
    **{name: partial(_rival, make) for name, make in RIVALS.items()},
    **{name: partial(_classifier, options) for name, options in VARIANTS.items()},
    "ebnc-quantiles": _quantiles,
}
"""All models that can be run; ours from the raw frame, peers from its codes."""
