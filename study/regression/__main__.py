"""Measure: ``python -m study.regression --data DIR [--sets a,b] [--models m,n] [--table]``

Ten numbers are predicted: scikit-learn's diabetes, and a numeric column of nine sets whose other
columns, the class too, are the inputs. Rows without the number are left out. Measured on test rows:
mean log-density in nats (higher is better), root of the mean squared error, and the share of rows
inside the predicted interval of 90 %. ``--again`` names models to measure again.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import ebnc
from study.cells import Cells, Value, package_version, select_names
from study.classification.data import read_set
from study.numbers.rivals import LABELS, NUMBERS, natural_frames, one_hot
from study.numbers.sets import MOST_ROWS

RESULTS = Path(__file__).with_name("results.csv")
KEYS = ("set", "model", "fold")
VALUES = ("log_density", "rmse", "coverage", "fit_cpu", "version")
COVERAGE = 0.9

TARGETS = {
    **{"scikit-learn diabetes": "target", "wine": "Alcohol", "glass": "RI", "autos": "price"},
    **{"cleveland": "thalach", "diabetes": "plas", "vowel": "Feature 0", "segment": "hue-mean"},
    **{"page-blocks": "blackand", "magic": "FAsym"},
}


class Part(NamedTuple):
    """Inputs and the number to predict, of training or test rows."""

    x: pd.DataFrame
    y: np.ndarray


class Forecast(NamedTuple):
    """What a model says of test rows; ``interval`` has shape (rows, 2)."""

    log_density: np.ndarray
    mean: np.ndarray
    interval: np.ndarray
    fit_cpu: float


def parts(directory: Path, name: str) -> Iterator[tuple[Part, Part]]:
    """Training and test rows of both folds."""
    if name == "scikit-learn diabetes":
        rows = load_diabetes(as_frame=True).frame
    else:
        rows = read_set(directory, name)
    rows = rows.dropna(subset=[TARGETS[name]])
    rows = rows.sample(min(len(rows), MOST_ROWS), random_state=0)
    x, y = rows.drop(columns=TARGETS[name]), rows[TARGETS[name]].to_numpy(float)
    for train, test in KFold(2, shuffle=True, random_state=0).split(x):
        yield Part(x.iloc[train], y[train]), Part(x.iloc[test], y[test])


def ridge(train: Part, test: Part) -> Forecast:
    """y ~ N(w·x, σ²), the penalty and σ by residuals of rows left out one at a time."""
    first, second = _cells(train.x, test.x)
    start = time.process_time()
    scoring = "neg_mean_squared_error"
    model = RidgeCV(np.logspace(-3, 4, 29), scoring=scoring).fit(first, train.y)
    fit_cpu = time.process_time() - start
    return _normal(model.predict(second), np.sqrt(-model.best_score_), test.y, fit_cpu)


def ngboost(train: Part, test: Part, patience: int | None = None) -> Forecast:
    """Natural gradient boosting of mean and scale (Duan et al. 2020), default settings.

    With ``patience``, a tenth of the training rows decides how many rounds count: by default all
    500 do, and on few rows the scale becomes far too small.
    """
    from ngboost import NGBRegressor

    first, second = _cells(train.x, test.x)
    start = time.process_time()
    model = NGBRegressor(early_stopping_rounds=patience, random_state=0, verbose=False)
    model.fit(first, train.y)
    fit_cpu = time.process_time() - start
    best = model.best_val_loss_itr
    found = model.pred_dist(second, max_iter=None if best is None else best + 1).params
    return _normal(found["loc"], found["scale"], test.y, fit_cpu)


def ours(train: Part, test: Part) -> Forecast:
    start = time.process_time()
    model = ebnc.EBNCRegressor().fit(train.x, train.y)
    fit_cpu = time.process_time() - start
    return Forecast(
        model.log_density(test.x, test.y),
        model.predict(test.x),
        model.predict_interval(test.x, COVERAGE),
        fit_cpu,
    )


def _cells(train: pd.DataFrame, test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Standardised numbers, means for missing ones with an indicator; one-hot labels."""
    numbers = make_pipeline(StandardScaler(), SimpleImputer(add_indicator=True))
    columns = ColumnTransformer([("x", numbers, NUMBERS), ("label", one_hot(), LABELS)])
    first, second = natural_frames(train, test)
    return columns.fit_transform(first), columns.transform(second)


def _normal(mean: np.ndarray, scale: np.ndarray, y: np.ndarray, fit_cpu: float) -> Forecast:
    interval = np.stack(norm.interval(COVERAGE, mean, scale), axis=1)
    return Forecast(norm.logpdf(y, mean, scale), mean, interval, fit_cpu)


MODELS: dict[str, tuple[str, Callable[[Part, Part], Forecast]]] = {
    "ebnc": ("ebnc", ours),
    "ridge": ("scikit-learn", ridge),
    "ngboost": ("ngboost", ngboost),
    "ngboost-stopped": ("ngboost", partial(ngboost, patience=20)),
}
"""The package that each model needs, and the model."""


def installed() -> list[str]:
    absent = set() if hasattr(ebnc, "EBNCRegressor") else {"ebnc"}
    return [
        name
        for name, (package, _) in MODELS.items()
        if package_version(package) is not None and package not in absent
    ]


def measure(model: str, train: Part, test: Part) -> dict[str, Value]:
    package, predict = MODELS[model]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        found = predict(train, test)
    low, high = found.interval.T
    return {
        "log_density": float(np.mean(found.log_density)),
        "rmse": float(np.sqrt(np.mean((found.mean - test.y) ** 2))),
        "coverage": float(np.mean((low <= test.y) & (test.y <= high))),
        "fit_cpu": found.fit_cpu,
        "version": package_version(package),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Compare predicted distributions of numbers.")
    parser.add_argument("--data", type=Path, required=True, help="directory with SCHEMA.json")
    parser.add_argument("--sets", help="names with commas; all unless given")
    parser.add_argument("--models", help="names with commas; all that are installed unless given")
    parser.add_argument("--again", default="", help="forget what is on file for these models")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="only print what is on file")
    options = parser.parse_args(arguments)
    store = Cells(options.results, KEYS, VALUES)
    if options.table:
        means = store.frame().groupby(["set", "model"])[["log_density", "rmse", "coverage"]].mean()
        print(means.unstack().to_string(float_format="{:.4g}".format))
        return
    sets = select_names(options.sets, list(TARGETS), "set")
    models = select_names(options.models, installed(), "installed model")
    if options.again:
        again = select_names(options.again, models, "model")
        store.forget(lambda line: line["set"] in sets and line["model"] in again)
    done = store.done()
    for name in sets:
        for fold, (train, test) in enumerate(parts(options.data, name)):
            for model in models:
                key = {"set": name, "model": model, "fold": fold}
                if store.key(key) not in done:
                    cell = measure(model, train, test)
                    store.append([{**key, **cell}])
                    print(f"{name} {model} {fold}: {cell['log_density']:.4f}", flush=True)


if __name__ == "__main__":
    main()
