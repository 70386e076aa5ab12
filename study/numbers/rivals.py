"""What people would use instead, with the settings that its documentation recommends.

Rivals get a frame as their users would give it: numbers as floats, labels as categories, nothing
imputed. A label that the training rows lack is missing; a column of which they have no entry is
left out, since some rivals refuse it. All run on one thread, with seed 0. A rival is imported when
it is run.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer

from study.cells import package_version
from study.classification.data import Split
from study.classification.models import MODELS, Prediction
from study.classification.peers import Logistic, best_ridge

LABELS = make_column_selector(dtype_include="category")
NUMBERS = make_column_selector(dtype_include="number")


@dataclass(frozen=True)
class Model:
    """A function from a split to its prediction, and the package that it needs."""

    package: str
    predict: Callable[[Split], Prediction]

    @property
    def version(self) -> str | None:
        return package_version(self.package)


def natural_frames(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Floats and categories; the columns are called x0, x1 …, since rivals refuse some names."""
    columns: dict[str, tuple[object, object]] = {}
    for i, name in enumerate(train.columns):
        if train[name].isna().all():
            continue
        if pd.api.types.is_numeric_dtype(train[name]):
            columns[f"x{i}"] = train[name].astype(float), test[name].astype(float)
        else:
            states = sorted(train[name].dropna().unique())
            columns[f"x{i}"] = tuple(
                pd.Categorical(frame[name].where(frame[name].isin(states)), states)
                for frame in (train, test)
            )
    first, second = (
        pd.DataFrame({name: parts[i] for name, parts in columns.items()}) for i in (0, 1)
    )
    return first, second


def one_hot() -> OneHotEncoder:
    """Indicators of labels, one of them for missing; none for a label never seen."""
    return OneHotEncoder(handle_unknown="ignore", sparse_output=False)


class SplineLogistic:
    """Additive logistic regression: cubic splines of numbers, one-hot labels; C by inner folds."""

    def fit(self, frame: pd.DataFrame, y: np.ndarray) -> "SplineLogistic":
        splines = SplineTransformer(knots="quantile", handle_missing="zeros")
        self.columns = ColumnTransformer([("x", splines, NUMBERS), ("label", one_hot(), LABELS)])
        cells = self.columns.fit_transform(frame)
        c = best_ridge(cells, y, Logistic.grid, max_iter=1_000)
        self.model = LogisticRegression(C=c, max_iter=5_000).fit(cells, y)
        return self

    def predict_proba(self, frame: pd.DataFrame) -> np.ndarray:
        return self.model.predict_proba(self.columns.transform(frame))


def _forest(*_: object) -> Pipeline:
    columns = ColumnTransformer([("label", one_hot(), LABELS)], remainder="passthrough")
    return make_pipeline(columns, RandomForestClassifier(500, random_state=0))


def _histogram_boosting(_: pd.DataFrame, y: np.ndarray) -> HistGradientBoostingClassifier:
    """Stops early wherever a tenth of the rows can hold all classes."""
    stops = len(y) >= 10 * len(np.unique(y))
    return HistGradientBoostingClassifier(early_stopping=stops, random_state=0)


def _lightgbm(*_: object) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=0, verbose=-1)


def _xgboost(*_: object) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(enable_categorical=True, n_jobs=1, random_state=0)


def _catboost(frame: pd.DataFrame, _: np.ndarray) -> Pipeline:
    """It takes labels as strings, of which a missing one must be one."""
    from catboost import CatBoostClassifier

    labels = LABELS(frame)
    strings = FunctionTransformer(
        lambda x: x.astype(dict.fromkeys(labels, object)).fillna(dict.fromkeys(labels, "missing"))
    )
    model = CatBoostClassifier(
        cat_features=labels, thread_count=1, random_seed=0, verbose=0, allow_writing_files=False
    )
    return make_pipeline(strings, model)


def _explainable_boosting(*_: object) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, random_state=0)


def _rival(package: str, make: Callable[[pd.DataFrame, np.ndarray], Any]) -> Model:
    def predict(split: Split) -> Prediction:
        train, test = natural_frames(split.train[split.inputs], split.test[split.inputs])
        y = split.class_numbers(split.train)
        start = time.process_time()
        model = make(train, y).fit(train, y)
        seconds = time.process_time() - start
        return Prediction(np.asarray(model.predict_proba(test), float), seconds, None)

    return Model(package, predict)


OURS = "ebnc"
RIVALS = {
    "logistic-splines": _rival("scikit-learn", lambda *_: SplineLogistic()),
    "forest": _rival("scikit-learn", _forest),
    "hist-boosting": _rival("scikit-learn", _histogram_boosting),
    "lightgbm": _rival("lightgbm", _lightgbm),
    "xgboost": _rival("xgboost", _xgboost),
    "catboost": _rival("catboost", _catboost),
    "explainable": _rival("interpret-core", _explainable_boosting),
}
COMPARED = {OURS: Model("ebnc", MODELS["ebnc"]), **RIVALS}
