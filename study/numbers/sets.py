"""The sets, their rows and folds, and the log-losses to reach."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from study.classification import data
from study.classification.data import TARGET, Split

MOST_ROWS = 5_000
MANY_CLASSES, ROWS_OF_MANY_CLASSES = 20, 4_000

LEFT_OUT = frozenset({"kddcup99-10pct", "krkopt", "poker-hand-train"})
"""Beside the sets that leak, which ``set_names`` leaves out."""

TEN_FOLDS = frozenset({"kr-vs-kp", "phishing", "spect", "threeOf9"})
"""Judged by ten folds of all their rows; the others by two, of a sample if they are large."""

TARGETS = {
    **{"sonar": 0.38, "ecoli": 0.43, "vowel": 0.35, "segment": 0.09, "pendigits": 0.06},
    **{"magic": 0.335, "iris": 0.15, "page-blocks": 0.105, "spambase": 0.15, "letter": 0.55},
    **{"phishing": 0.10, "kr-vs-kp": 0.045, "threeOf9": 0.10, "spect": 0.46},
}
"""Mean test log-loss that the default classifier is to reach."""


@dataclass(frozen=True)
class DataSet:
    """One set of the comparison; ``kind`` is numeric, mixed or categorical, by its inputs."""

    name: str
    kind: str
    n_folds: int

    def splits(self, directory: Path) -> Iterator[Split]:
        rows = data.read_set(directory, self.name)
        return data.splits(rows if self.n_folds > 2 else sample(rows), 0, self.n_folds)


def data_sets(directory: Path) -> dict[str, DataSet]:
    """All sets by name, the smallest first."""
    return {
        name: DataSet(name, _kind(directory, name), 10 if name in TEN_FOLDS else 2)
        for name in data.set_names(directory, float("inf"))
        if name not in LEFT_OUT
    }


def sample(rows: pd.DataFrame) -> pd.DataFrame:
    """At most ``MOST_ROWS`` rows, fewer of many classes, of all classes as before."""
    most = ROWS_OF_MANY_CLASSES if rows[TARGET].nunique() > MANY_CLASSES else MOST_ROWS
    if len(rows) <= most:
        return rows
    drawn, _ = train_test_split(rows, train_size=most, stratify=rows[TARGET], random_state=0)
    return data.without_rare_classes(drawn)


def _kind(directory: Path, name: str) -> str:
    kinds = set(data.input_types(directory, name))
    return "mixed" if len(kinds) > 1 else kinds.pop()
