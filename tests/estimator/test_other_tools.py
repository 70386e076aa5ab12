"""Tools that take any scikit-learn estimator take ours, with columns of labels and of numbers."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config, register_parallel_backend
from joblib.parallel import ThreadingBackend
from sklearn.ensemble import AdaBoostClassifier, StackingClassifier
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import ebnc
from ebnc.errors import DataWarning

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def shoppers():
    """Income matters a lot, the city less, and the age not at all."""
    generator = np.random.default_rng(0)
    x = pd.DataFrame(
        {
            "city": generator.choice(["Oslo", "Paris", "Rome"], 400),
            "income": generator.normal(3, 1, 400).round(2),
            "age": generator.integers(18, 80, 400),
        }
    )
    spent = 2 * x["income"] + (x["city"] == "Rome") + generator.normal(0, 0.5, 400)
    return x, np.where(spent > spent.median(), "much", "little"), spent


@pytest.fixture(scope="module")
def model(shoppers):
    x, y, _ = shoppers
    return ebnc.EBNCClassifier().fit(x, y)


@pytest.fixture(scope="module")
def regressor(shoppers):
    x, _, spent = shoppers
    return ebnc.EBNCRegressor("naive").fit(x, spent)


@pytest.mark.slow
@parametrize_with_checks([ebnc.EBNCFeatures()])
def test_the_transformer_passes_every_check(estimator, check):
    check(estimator)


def test_cloudpickle_keeps_models(model, regressor, shoppers):
    cloudpickle = pytest.importorskip("cloudpickle")
    for fitted in (model, regressor):
        again = pickle.loads(cloudpickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(shoppers[0]), fitted.predict(shoppers[0]))


def test_skops_keeps_models(model, regressor, shoppers):
    """A file of skops names the types that it holds: they are those of ebnc, and none else."""
    skops = pytest.importorskip("skops.io")
    x = shoppers[0]
    features = ebnc.EBNCFeatures().fit(x)
    for fitted, ask in ((model, "predict_proba"), (regressor, "predict"), (features, "transform")):
        written = skops.dumps(fitted)
        types = skops.get_untrusted_types(data=written)
        assert all(name.split(".")[0] in ("ebnc", "builtins") for name in types), types
        again = skops.loads(written, trusted=types)
        np.testing.assert_array_equal(getattr(again, ask)(x), getattr(fitted, ask)(x))


def test_boosting_says_that_its_weights_are_no_counts(shoppers):
    """AdaBoost's weights add up to 1: one row, to a model that takes weights as counts."""
    x, _, spent = shoppers
    numbers, y = x[["income", "age"]], spent > spent.quantile(0.3)
    with pytest.warns(DataWarning, match=r"400 rows add up to 1\. .*multiply the weights by 400"):
        AdaBoostClassifier(ebnc.EBNCClassifier("naive"), n_estimators=1).fit(numbers, y)


@pytest.mark.parametrize("backend", ["threading", "sequential", "stranger"])
def test_a_default_fit_works_inside_other_backends_of_joblib(backend, shoppers):
    """Ray, Dask and Spark register backends of their own."""
    register_parallel_backend("stranger", type("Stranger", (ThreadingBackend,), {}))
    x, y, _ = shoppers
    expected = ebnc.EBNCClassifier("naive").fit(x, y).predict_proba(x)
    with parallel_config(backend, n_jobs=2):
        found = ebnc.EBNCClassifier("naive").fit(x, y).predict_proba(x)
        ebnc.Network.learn(x[["city", "age"]])
        assert cross_val_score(ebnc.EBNCClassifier("naive"), x, y, cv=2).mean() > 0.8
    np.testing.assert_array_equal(found, expected)


def test_permutation_importance(model, shoppers):
    x, y, _ = shoppers
    found = permutation_importance(model, x, y, n_repeats=3, random_state=0).importances_mean
    city, income, age = found
    assert income > city > abs(age)


def test_partial_dependence(model, regressor, shoppers):
    x = shoppers[0]
    income = partial_dependence(model, x, ["income"], grid_resolution=8)
    assert np.all(np.diff(income["average"][0]) > 0)
    city = partial_dependence(regressor, x, ["city"], categorical_features=["city"])
    assert dict(zip(city["grid_values"][0], city["average"][0].round(1), strict=True))[
        "Rome"
    ] == pytest.approx(city["average"][0].max(), abs=0.1)


def test_stacking(shoppers):
    x, y, _ = shoppers
    parts = [("naive", ebnc.EBNCClassifier("naive")), ("tree", ebnc.EBNCClassifier("tan"))]
    assert StackingClassifier(parts, LogisticRegression(), cv=2).fit(x, y).score(x, y) > 0.85


def test_shap_adds_up(model, shoppers):
    """The values of the columns are what the prediction departs from the mean by."""
    shap = pytest.importorskip("shap")
    x = shoppers[0]
    background, cases = x.iloc[:20], x.iloc[20:23]
    explainer = shap.KernelExplainer(model.predict_proba, background)
    values = explainer.shap_values(cases, silent=True)
    departures = model.predict_proba(cases) - model.predict_proba(background).mean(axis=0)
    np.testing.assert_allclose(values.sum(axis=1), departures, atol=1e-6)


@pytest.mark.slow
def test_mapie_covers(shoppers, regressor):
    """With labels, MAPIE's cross-conformal sets; those for a fitted model need codes of labels.

    MAPIE asks a fitted model for a row of zeros, which are no city.
    """
    classification = pytest.importorskip("mapie.classification")
    x, y, spent = shoppers
    naive = ebnc.EBNCClassifier("naive")
    cross = classification.CrossConformalClassifier(naive, confidence_level=0.9, cv=3)
    cross.fit_conformalize(x, y)
    _, sets = cross.predict_set(x)
    assert sets.shape == (400, 2, 1)
    codes = np.c_[OrdinalEncoder().fit_transform(x[["city"]]), x[["income", "age"]]]
    coded = ebnc.EBNCRegressor("naive", kinds={"x0": "nominal"}).fit(codes[:200], spent[:200])
    regression = pytest.importorskip("mapie.regression")
    split = regression.SplitConformalRegressor(coded, confidence_level=0.9, prefit=True)
    split.conformalize(codes[200:], spent[200:])
    _, intervals = split.predict_interval(codes[200:])
    low, high = intervals[:, :, 0].T
    assert 0.85 < np.mean((low <= spent[200:]) & (spent[200:] <= high)) < 0.95
