"""EBNCClassifier as scikit-learn's users know classifiers."""

import os
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import ebnc
from ebnc import EBNCClassifier
from ebnc.errors import DataWarning, ParameterError

CHECK = """
import collections, warnings
from sklearn.utils.estimator_checks import check_estimator
from ebnc import EBNCClassifier
from ebnc.errors import DataWarning
warnings.simplefilter("ignore")
found = check_estimator(EBNCClassifier(), on_fail=None, on_skip=None)
print(collections.Counter(row["status"] for row in found))
for row in found:
    if row["status"] != "passed":
        print(row["check_name"], row["status"], row["exception"])
"""


@pytest.mark.slow
def test_every_estimator_check_passes_and_none_is_skipped():
    """With SciPy's array API switched on, which one of the checks asks for."""
    printed = subprocess.run(
        [sys.executable, "-c", CHECK],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "passed" in printed
    assert "failed" not in printed
    assert "skipped" not in printed


@pytest.fixture
def weather():
    generator = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "sky": pd.Categorical(np.array(["dry", "wet"])[generator.integers(0, 2, n)]),
            "wind": np.where(generator.random(n) < 0.1, np.nan, generator.gamma(2.0, 3.0, n)),
            "holiday": generator.random(n) < 0.3,
            "guests": generator.integers(0, 4, n),
            "host": np.array(["Ann", "Bo", None], dtype=object)[generator.integers(0, 3, n)],
        }
    )
    chance = 0.1 + 0.6 * (frame["sky"] == "dry") + 0.2 * frame["holiday"]
    y = np.where(generator.random(n) < chance, "play", "rest")
    return frame, y


def test_frames_of_strings_categories_booleans_numbers_and_gaps_go_straight_in(weather):
    x, y = weather
    model = EBNCClassifier().fit(x, y)
    assert list(model.classes_) == ["play", "rest"]
    assert set(model.selected_features_) >= {"sky"}
    assert model.score(x, y) > 0.7
    p = model.predict_proba(x)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(x), atol=1e-10)
    single = EBNCClassifier(average=False).fit(x, y)
    np.testing.assert_array_equal(single.predict_proba(x), single.ebnc_.probabilities(x))
    log_p = single.predict_log_proba(x)
    np.testing.assert_allclose(np.log(single.predict_proba(x)), log_p, atol=1e-10)
    assert (model.decision_function(x) > 0).tolist() == (p[:, 1] > 0.5).tolist()
    assert model.feature_worths_[0].feature == "sky"


def test_polars_frames_give_the_same_model(weather):
    x, y = weather
    one = EBNCClassifier().fit(x.drop(columns="sky"), y)
    two = EBNCClassifier().fit(pl.from_pandas(x.drop(columns="sky")), y)
    assert one.structure_ == two.structure_
    np.testing.assert_allclose(
        one.predict_proba(x.drop(columns="sky")),
        two.predict_proba(pl.from_pandas(x.drop(columns="sky"))),
    )


@pytest.mark.parametrize("structure", ["naive", "tan", "forest", "kdb1", "kdb2"])
def test_fixed_families(weather, structure):
    x, y = weather
    model = EBNCClassifier(structure).fit(x, y)
    assert model.selected_features_ == list(x.columns)
    assert np.isfinite(model.log_evidence_)
    assert np.isfinite(model.bic_)


def test_a_structure_of_ones_own(weather):
    x, y = weather
    own = ebnc.EmbeddedStructure.from_string("[Y][sky|Y][holiday|sky:Y]", target="Y")
    model = EBNCClassifier(own).fit(x, y)
    assert model.selected_features_ == ["sky", "holiday"]
    assert model.dimension_ == 4
    wrong = ebnc.EmbeddedStructure.naive("Y", ["moon"])
    with pytest.raises(ValueError, match="'moon' of the structure is not a column"):
        EBNCClassifier(wrong).fit(x, y)


def test_the_criterion_is_a_parameter_and_score_a_method(weather):
    x, y = weather
    model = EBNCClassifier(criterion="bic")
    assert clone(model).get_params()["criterion"] == "bic"
    assert 0.5 < model.fit(x, y).score(x, y) <= 1


def test_weights_are_routed_to_score(weather):
    """Metadata routing: ``set_score_request`` asks for the weights that ``score`` takes."""
    x, y = weather
    weights = np.where(y == y[0], 1.0, 0.0)
    model = EBNCClassifier("naive", prior_scale=1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=False).set_score_request(sample_weight=True)
        found = cross_validate(model, x, y, cv=2, params={"sample_weight": weights})
        folds = StratifiedKFold(2).split(x, y)
        expected = [
            model.fit(x.iloc[seen], y[seen]).score(
                x.iloc[unseen], y[unseen], sample_weight=weights[unseen]
            )
            for seen, unseen in folds
        ]
    np.testing.assert_allclose(found["test_score"], expected)


WRONG = {
    "structure": ["trees", 3],
    "criterion": ["aic", None],
    "prior_scale": ["wide", -1.0, [], None],
    "average": ["yes"],
    "numbers": ["rough", None],
    "kinds": ["ordered", ["wind"]],
    "class_weight": ["even", 2.0],
    "max_cluster_cells": [0, 1.5, "many"],
    "max_parents": [-1, True],
    "required_features": ["sky", 3, [3]],
    "forbidden_features": [None],
    "required_arcs": [["sky"], [("sky", "wind", "host")]],
    "forbidden_arcs": ["sky", [3]],
    "n_jobs": [0, 1.5],
    "random_state": ["seed"],
    "verbose": ["loud"],
    "on_interrupt": ["stop"],
    "time_limit": [0, "long"],
}


@pytest.mark.parametrize(("name", "value"), [(x, v) for x, wrong in WRONG.items() for v in wrong])
def test_a_wrong_parameter_is_refused_by_name_and_value(weather, name, value):
    assert set(WRONG) == set(EBNCClassifier().get_params())
    with pytest.raises(ParameterError, match=f"{name} must .*{re.escape(repr(value))}"):
        EBNCClassifier(**{name: value}).fit(*weather)


def test_importances_are_worths_in_the_order_of_the_columns(weather):
    x, y = weather
    model = EBNCClassifier().fit(x, y)
    worths = {worth.feature: worth.worth for worth in model.feature_worths_}
    expected = [max(0.0, worths.get(name, 0.0)) for name in x.columns]
    assert model.feature_importances_.tolist() == expected
    assert max(expected) > 0
    with pytest.raises(AttributeError, match="after a search"):
        _ = EBNCClassifier("naive").fit(x, y).feature_importances_


def test_features_are_selected_by_importance():
    """Two of five columns decide; both of scikit-learn's selectors find them."""
    generator = np.random.default_rng(0)
    x = generator.integers(0, 2, (300, 5))
    y = np.where(generator.random(300) < 0.9, x[:, 1] | x[:, 3], 0)
    kept = SelectFromModel(EBNCClassifier(), threshold=1.0).fit(x, y)
    assert kept.get_support(indices=True).tolist() == [1, 3]
    ranked = RFECV(EBNCClassifier(), cv=2, scoring="neg_log_loss").fit(x, y)
    assert {1, 3} <= set(ranked.get_support(indices=True).tolist())


def test_pipelines_grids_pickles_and_weights(weather):
    x, y = weather
    grid = GridSearchCV(EBNCClassifier(), {"structure": ["naive", "tan"]}, cv=2).fit(x, y)
    assert grid.best_params_["structure"] in ("naive", "tan")
    pipeline = make_pipeline(FunctionTransformer(), EBNCClassifier("naive"))
    assert cross_val_score(pipeline, x, y, cv=2).mean() > 0.6
    model = EBNCClassifier().fit(x, y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict_proba(x), model.predict_proba(x))
    balanced = EBNCClassifier("naive", class_weight="balanced").fit(x, y)
    assert balanced.predict_proba(x)[:, 0].mean() == pytest.approx(0.5, abs=0.05)


def test_averages_are_probabilities_and_different(weather):
    x, y = weather
    single = EBNCClassifier(average=False).fit(x, y).predict_proba(x)
    p = EBNCClassifier().fit(x, y).predict_proba(x)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    assert 1e-6 < np.abs(p - single).max() < 0.3


def test_predictions_are_rescaled_unless_scales_are_given(weather):
    x, y = weather
    predictive, evidence = (
        EBNCClassifier(prior_scale=scale).fit(x, y) for scale in ("loo", "evidence")
    )
    assert predictive.structure_ == evidence.structure_
    ratios = np.divide(predictive.ebnc_.prior.scales, evidence.ebnc_.prior.scales)
    np.testing.assert_allclose(ratios, ratios[0])
    assert abs(ratios[0] - 1) > 0.01
    assert predictive.log_evidence_ == evidence.log_evidence_  # what the search compared
    assert predictive.ebnc_.laplace() < evidence.ebnc_.laplace()
    assert evidence.log_evidence_ == pytest.approx(evidence.ebnc_.log_evidence)
    given = EBNCClassifier(prior_scale=0.3).fit(x, y)
    assert set(given.ebnc_.prior.scales) == {0.3}
    by_bic = EBNCClassifier(criterion="bic", average=False).fit(x, y)
    np.testing.assert_array_equal(by_bic.predict_proba(x), by_bic.ebnc_.probabilities(x))


def test_unseen_states_at_prediction_are_averaged(weather):
    x, y = weather
    model = EBNCClassifier().fit(x, y)
    new = x.head(3).assign(host=["Zoe", None, "Ann"], sky=["foggy", "dry", "wet"])
    with pytest.warns(DataWarning, match=r"unknown: 'sky' \(1\), 'host' \(1\)"):
        assert np.isfinite(model.predict_proba(new)).all()


def test_interactions_are_found_where_there_are_some():
    """Exclusive or: no single input says anything."""
    generator = np.random.default_rng(0)
    x = generator.integers(0, 2, (400, 5))
    y = x[:, 1] ^ x[:, 3]
    model = EBNCClassifier().fit(x, y)
    assert {"x1", "x3"} <= set(model.selected_features_)
    assert model.score(x, y) == 1.0
    assert {"x1", "x3"} in [set(cluster) for cluster in model.structure_.clusters]


def test_iris_numbers_are_fine_bins_with_smooth_effects():
    x, y = load_iris(return_X_y=True, as_frame=True)
    model = EBNCClassifier().fit(x, y)
    assert {"petal length (cm)", "petal width (cm)"} <= set(model.selected_features_)
    for name in x:
        assert model.ebnc_.domain.kind(name) == "numeric"
        highs = [interval.high for interval in model.ebnc_.domain[name][:-1]]
        shares = np.bincount(np.searchsorted(highs, x[name])) / len(x)
        assert len(highs) > 15
        assert shares.max() < 0.2
    p = cross_val_predict(EBNCClassifier(), x, y, cv=3, method="predict_proba")
    assert log_loss(y, p) < 0.15


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [2000])
def test_wide_data_finish(n_columns):
    generator = np.random.default_rng(0)
    x = generator.integers(0, 2, (60, n_columns))
    y = x[:, 7]
    model = EBNCClassifier("naive", prior_scale=0.1).fit(x, y)
    assert model.score(x, y) > 0.9


def test_the_order_of_a_categorical_array_is_kept():
    """As that of a Series of this type."""
    y = pd.Categorical(["lo", "hi", "mid"] * 20, categories=["lo", "mid", "hi"], ordered=True)
    x = pd.DataFrame({"x": ["a", "b", "c", "a"] * 15})
    assert EBNCClassifier("naive").fit(x, y).classes_.tolist() == ["lo", "mid", "hi"]


def test_huge_weights_leave_probabilities():
    """Averages of models are never empty."""
    generator = np.random.default_rng(0)
    x = pd.DataFrame({"a": generator.choice(["p", "q"], 60), "b": generator.choice(["u", "v"], 60)})
    y = generator.integers(0, 3, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = EBNCClassifier().fit(x, y, sample_weight=np.full(60, 1e10))
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1.0)
