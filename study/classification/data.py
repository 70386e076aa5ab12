"""Sets, folds and bins: the same for every model.

- Sets: at most ``MOST_ROWS`` rows, but for ``LEAKING``. A set that is not in the folder comes from
  OpenML, where ``OPENML`` knows it; columns and bins may then differ from those of a local copy.
- Classes of fewer than ``FEWEST_PER_CLASS`` rows in the whole set are left out with their rows:
  every training fold then has at least two rows of every class, and every inner one at least one.
- Bins (MDLP) and states are learned from the training fold only. Missing is a state of its own; an
  entry of the test fold that is none of the training fold's states is *unseen*, coded r.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import fetch_openml
from sklearn.model_selection import StratifiedKFold, train_test_split

from ebnc.data.coder import encode
from ebnc.data.read import learn_states

TARGET = "class"
MOST_ROWS = 50_000
CORE_ROWS = 5_000
FEWEST_PER_CLASS = 4
N_REPEATS = 5

# Training rows recur in random test folds (see INDEX.md of the data).
LEAKING = frozenset({"monks-1", "monks-2", "monks-3", "mux6"})

# Sets that share instances; together they count once across sets.
TWINS = (
    *(("crx", "australian"), ("cleveland", "heart-statlog"), ("hypothyroid", "sick")),
    *(("glass", "glass2"), ("led7", "led24"), ("waveform-21", "waveform-40")),
)

# All inputs are numbers.
NUMERIC = frozenset(
    {
        *("breast-w", "diabetes", "ecoli", "glass", "glass2", "ionosphere", "iris", "letter"),
        *("magic", "optdigits", "page-blocks", "pendigits", "segment", "shuttle", "sonar"),
        *("spambase", "waveform-21", "waveform-40", "wine"),
    }
)

# Numbers of sets there.
OPENML = {
    **{"anneal": 2, "kr-vs-kp": 3, "labor": 4, "letter": 6, "audiology": 7, "autos": 9},
    **{"lymphography": 10, "balance-scale": 11, "breast-cancer": 13, "breast-w": 15, "car": 21},
    **{"cmc": 23, "mushroom": 24, "horse-colic": 25, "nursery": 26, "optdigits": 28, "crx": 29},
    **{"page-blocks": 30, "german": 31, "pendigits": 32, "postoperative": 34, "dermatology": 35},
    **{"segment": 36, "diabetes": 37, "sick": 38, "ecoli": 39, "sonar": 40, "glass": 41},
    **{"soybean": 42, "haberman": 43, "spambase": 44, "tae": 48, "cleveland": 49},
    **{"tic-tac-toe": 50, "hungarian": 51, "heart-statlog": 53, "voting": 56, "hypothyroid": 57},
    **{"ionosphere": 59, "iris": 61, "zoo": 62, "wine": 187, "vowel": 307, "adult": 1590},
}


@dataclass(frozen=True, eq=False)
class Coded:
    """One split in numbers: codes (rows, inputs) below ``n_states``; r, in test rows, is unseen."""

    train: np.ndarray
    test: np.ndarray
    n_states: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Split:
    """Two parts of a set, as frames of strings and numbers, with their classes as numbers."""

    train: pd.DataFrame
    test: pd.DataFrame
    classes: tuple[str, ...]

    @property
    def inputs(self) -> list[str]:
        return [name for name in self.train.columns if name != TARGET]

    def class_numbers(self, frame: pd.DataFrame) -> np.ndarray:
        return pd.Categorical(frame[TARGET], categories=self.classes).codes.astype(np.int64)

    def first(self, n_rows: int) -> "Split | None":
        """This split with ``n_rows`` of its training rows, of all classes as before."""
        if n_rows >= len(self.train):
            return None
        kept, _ = train_test_split(
            self.train, train_size=n_rows, stratify=self.train[TARGET], random_state=0
        )
        return Split(kept.reset_index(drop=True), self.test, self.classes)

    def coded(self) -> Coded:
        domain = learn_states(self.train, self.inputs, TARGET)
        train = encode(self.train, domain, self.inputs)
        test = encode(self.test, domain, self.inputs, unseen="extra")
        return Coded(
            train.codes.T.astype(np.int64), test.codes.T.astype(np.int64), tuple(train.n_states)
        )


def set_names(directory: Path, most_rows: float = MOST_ROWS) -> list[str]:
    """Sets of the study, the smallest first."""
    return [name for name, (n_rows, _) in _sizes(directory).items() if n_rows <= most_rows]


def core_names(directory: Path) -> list[str]:
    """Those with at least one categorical input and at most ``CORE_ROWS`` rows."""
    return [
        name
        for name in set_names(directory, CORE_ROWS)
        if "categorical" in input_types(directory, name)
    ]


def input_types(directory: Path, name: str) -> list[str]:
    """``numeric`` or ``categorical``, of every input of a set."""
    return [kind for column, kind in _schema(directory)[name].items() if column != TARGET]


@cache
def _sizes(directory: Path) -> dict[str, tuple[int, int]]:
    """Rows and entries of the sets, the smallest first."""
    sizes = {}
    for name in _schema(directory):
        if name not in LEAKING and _path(directory, name).exists():
            n_rows = len(pd.read_csv(_path(directory, name), usecols=[TARGET]))
            sizes[name] = (n_rows, n_rows * len(input_types(directory, name)))
    ordered = sorted(sizes, key=lambda name: (sizes[name][1], name))
    return {name: sizes[name] for name in ordered}


def read_set(directory: Path, name: str) -> pd.DataFrame:
    """One set without its rarest classes; categorical columns are strings."""
    if _path(directory, name).exists():
        types = _schema(directory)[name]
        strings = {column: str for column, kind in types.items() if kind == "categorical"}
        data = pd.read_csv(_path(directory, name), dtype=strings)
    else:
        data = download_set(name)
    return without_rare_classes(data)


def without_rare_classes(data: pd.DataFrame) -> pd.DataFrame:
    frequent = data[TARGET].map(data[TARGET].value_counts()) >= FEWEST_PER_CLASS
    return data[frequent].reset_index(drop=True)


def download_set(name: str, data_home: Path | None = None) -> pd.DataFrame:
    """A set from OpenML, kept in scikit-learn's folder (``data_home``) from then on."""
    if name not in OPENML:
        raise SystemExit(f"no set {name} in the folder, and none that OpenML is known to have")
    found = fetch_openml(
        data_id=OPENML[name], as_frame=True, parser="liac-arff", data_home=data_home
    )
    data = found.data.copy()
    for column in data.select_dtypes(["category", "object", "bool"]):
        data[column] = data[column].astype(object).where(data[column].notna(), None)
    return data.assign(**{TARGET: found.target.astype(str)})


def splits(data: pd.DataFrame, repeat: int, n_folds: int = 2) -> Iterator[Split]:
    """The splits of a repeat of cross-validation, stratified; its seed is itself."""
    classes = tuple(sorted(data[TARGET].unique()))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=repeat)
    for train, test in folds.split(data, data[TARGET]):
        parts = (data.iloc[rows].reset_index(drop=True) for rows in (train, test))
        yield Split(*parts, classes)


def _path(directory: Path, name: str) -> Path:
    return directory / f"{name}.csv.gz"


def _schema(directory: Path) -> dict[str, dict[str, str]]:
    return json.loads((directory / "SCHEMA.json").read_text())
