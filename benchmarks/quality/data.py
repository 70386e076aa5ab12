"""Sets, folds and bins: the same for every model.

- Sets: at least one categorical input and at most ``MOST_ROWS`` rows, but for ``LEAKING``.
- Classes of fewer than ``FEWEST_PER_CLASS`` rows in the whole set are left out with their rows:
  every training fold then has at least two rows of every class, and every inner one at least one.
- Bins (MDLP) and states are learned from the training fold only. Missing is a state of its own; an
  entry of the test fold that is none of the training fold's states is *unseen*, coded r.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from ebnc.data.encoding import encode
from ebnc.data.states import learn_domain

TARGET = "class"
MOST_ROWS = 5_000
FEWEST_PER_CLASS = 4
N_REPEATS = 5

# Training rows recur in random test folds (see INDEX.md of the data).
LEAKING = frozenset({"monks-1", "monks-2", "monks-3", "mux6"})

# Sets that share instances; together they count once across sets.
TWINS = (("crx", "australian"), ("cleveland", "heart-statlog"), ("hypothyroid", "sick"))


@dataclass(frozen=True, eq=False)
class Coded:
    """One split in numbers: codes (rows, inputs) below ``n_states``; r, in test rows, is unseen."""

    train: np.ndarray
    test: np.ndarray
    n_states: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Split:
    """Two halves of a set, as frames of strings and numbers, with their classes as numbers."""

    train: pd.DataFrame
    test: pd.DataFrame
    classes: tuple[str, ...]

    @property
    def inputs(self) -> list[str]:
        return [name for name in self.train.columns if name != TARGET]

    def class_numbers(self, frame: pd.DataFrame) -> np.ndarray:
        return pd.Categorical(frame[TARGET], categories=self.classes).codes.astype(np.int64)

    def coded(self) -> Coded:
        domain = learn_domain(self.train, self.inputs, TARGET)
        train = encode(self.train, domain, self.inputs)
        test = encode(self.test, domain, self.inputs, unseen_as_extra=True)
        return Coded(
            train.codes.T.astype(np.int64), test.codes.T.astype(np.int64), tuple(train.n_states)
        )


def set_names(directory: Path) -> list[str]:
    """Sets of the study, the smallest first."""
    sizes = {}
    for name, types in _schema(directory).items():
        inputs = [kind for column, kind in types.items() if column != TARGET]
        if name in LEAKING or "categorical" not in inputs:
            continue
        n_rows = len(pd.read_csv(_path(directory, name), usecols=[TARGET]))
        if n_rows <= MOST_ROWS:
            sizes[name] = n_rows * len(inputs)
    return sorted(sizes, key=lambda name: (sizes[name], name))


def read_set(directory: Path, name: str) -> pd.DataFrame:
    """One set without its rarest classes; categorical columns are strings."""
    types = _schema(directory)[name]
    strings = {column: str for column, kind in types.items() if kind == "categorical"}
    data = pd.read_csv(_path(directory, name), dtype=strings)
    frequent = data[TARGET].map(data[TARGET].value_counts()) >= FEWEST_PER_CLASS
    return data[frequent].reset_index(drop=True)


def splits(data: pd.DataFrame) -> Iterator[tuple[int, int, Split]]:
    """Repeat, fold and split of 5×2-fold cross-validation, stratified, seeds 0 … 4."""
    classes = tuple(sorted(data[TARGET].unique()))
    for repeat in range(N_REPEATS):
        folds = StratifiedKFold(2, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(folds.split(data, data[TARGET])):
            halves = (data.iloc[rows].reset_index(drop=True) for rows in (train, test))
            yield repeat, fold, Split(*halves, classes)


def _path(directory: Path, name: str) -> Path:
    return directory / f"{name}.csv.gz"


def _schema(directory: Path) -> dict[str, dict[str, str]]:
    return json.loads((directory / "SCHEMA.json").read_text())
