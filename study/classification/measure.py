"""One cell of Part A: fit and judge one model on one split."""

import signal
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from study.cells import Cells, Value
from study.classification.data import Split
from study.classification.models import MODELS
from study.classification.peers import log_loss

KEYS = ("set", "model", "repeat", "fold", "rows")
VALUES = ("log_loss", "error", "brier", "calibration", "fit_seconds", "dimension")
RESULTS = Path(__file__).with_name("results.csv")
BINS = 10

Cell = dict[str, Value]


class OutOfTimeError(Exception):
    """A fit took longer than it was given."""


def cells(path: Path = RESULTS) -> Cells:
    """``log_loss`` in nats; ``brier`` is the mean of Σ_k (p_k − 1[y = k])²; ``calibration`` the
    expected calibration error of the most probable class, ten bins of equal width. ``rows`` are
    those that a model learned from; ``fit_seconds`` are of the processor. A cell without a loss ran
    out of time.
    """
    return Cells(path, KEYS, VALUES)


def measure(key: Mapping[str, Value], split: Split, seconds: float) -> Cell:
    """Nothing is clipped, a hard zero is infinite."""
    y = split.class_numbers(split.test)
    began = time.process_time()
    try:
        with alarm(seconds):
            probability, fit_seconds, dimension = MODELS[str(key["model"])](split)
    except OutOfTimeError:
        return {**key, "fit_seconds": time.process_time() - began}
    expected = (len(y), len(split.classes))
    if probability.shape != expected or not np.all(probability >= 0):
        raise ValueError(f"probabilities must be ≥ 0, of shape {expected}: {probability.shape}")
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, atol=1e-6)
    truth = y[:, None] == np.arange(len(split.classes))
    return {
        **key,
        "log_loss": log_loss(probability, y),
        "error": float(np.mean(probability.argmax(axis=1) != y)),
        "brier": float(np.sum((probability - truth) ** 2, axis=1).mean()),
        "calibration": calibration_error(probability, y),
        "fit_seconds": fit_seconds,
        "dimension": dimension,
    }


def calibration_error(probability: np.ndarray, y: np.ndarray) -> float:
    """Σ_bins n_b/n |share that is right − mean confidence|, by the most probable class."""
    confidence = probability.max(axis=1)
    surplus = confidence - (probability.argmax(axis=1) == y)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, surplus, BINS)).sum() / len(y))


def measure_all(
    keys: Sequence[Mapping[str, Value]], split: Split, seconds: float
) -> tuple[list[Cell], list[str]]:
    """Cells of one split, on one thread, and what went wrong with the others."""
    found, failures = [], []
    with threadpool_limits(1):
        for key in keys:
            try:
                found.append(measure(key, split, seconds))
            except Exception:
                where = ", ".join(f"{name} {value}" for name, value in key.items())
                failures.append(f"{where}:\n{traceback.format_exc()}")
    return found, failures


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise once this process has used so many seconds of the processor."""

    def ring(*_: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
