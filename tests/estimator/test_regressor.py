"""``EBNCRegressor``: scikit-learn's contract, and what is known of made-up data."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

import ebnc
from ebnc import EBNCClassifier, EBNCRegressor
from ebnc.errors import DataError, ParameterError

CHECK = """
import collections, warnings
from sklearn.utils.estimator_checks import check_estimator
from ebnc import EBNCRegressor
warnings.simplefilter("ignore")
found = check_estimator(EBNCRegressor(), on_fail=None, on_skip=None)
print(collections.Counter(row["status"] for row in found))
for row in found:
    if row["status"] != "passed":
        print(row["check_name"], row["status"], row["exception"])
"""


@pytest.mark.slow
def test_every_estimator_check_passes_and_none_is_skipped():
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


def made(n, seed):
    """y = 2x + 1[group = b] + noise of σ = 0.5; some entries of x are missing."""
    rng = np.random.default_rng(seed)
    x = pd.DataFrame({"x": rng.normal(size=n), "group": rng.choice(["a", "b"], n)})
    y = 2 * x["x"] + (x["group"] == "b")
    return x, y, (y + rng.normal(scale=0.5, size=n)).rename("height")


@pytest.fixture(scope="module")
def fitted():
    x, _, y = made(1_000, 0)
    return EBNCRegressor(prior_scale=3.0).fit(x, y)


@pytest.fixture(scope="module")
def fresh():
    return made(2_000, 1)


def test_the_density_is_near_to_the_truth(fitted, fresh):
    x, mean, y = fresh
    truth = norm.logpdf(y, mean, 0.5).mean()
    assert truth - 0.15 < fitted.log_density(x, y).mean() < truth + 0.02
    np.testing.assert_allclose(
        fitted.predict_density(x, y), np.exp(fitted.log_density(x, y)), rtol=1e-12
    )


def test_intervals_cover_as_often_as_they_say(fitted, fresh):
    x, _, y = fresh
    for level, tolerance in ((0.5, 0.08), (0.9, 0.03)):  # bins widen the short ones a little
        low, high = fitted.predict_interval(x, level).T
        assert ((low <= y) & (y <= high)).mean() == pytest.approx(level, abs=tolerance)


def test_means_are_almost_as_good_as_those_of_linear_regression(fitted, fresh):
    x, _, y = fresh
    train, _, of_train = made(1_000, 0)
    columns = [pd.get_dummies(each, drop_first=True).to_numpy(float) for each in (train, x)]
    linear = LinearRegression().fit(columns[0], of_train).score(columns[1], y)
    assert fitted.score(x, y) > linear - 0.02
    assert fitted.score(x, y) == pytest.approx(r2_score(y, fitted.predict(x)))
    median = fitted.predict(x, statistic="median")
    np.testing.assert_array_equal(median, fitted.predict_quantiles(x, 0.5)[:, 0])


def test_a_curve_is_found_that_no_line_is():
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, (600, 1))
    y = np.sin(3 * x[:, 0]) + rng.normal(scale=0.1, size=600)
    assert EBNCRegressor(prior_scale=1.0).fit(x[:400], y[:400]).score(x[400:], y[400:]) > 0.85


def test_a_search_finds_an_interaction():
    rng = np.random.default_rng(4)
    x = pd.DataFrame(rng.choice(["p", "q"], (400, 3)), columns=["a", "b", "c"])
    y = np.where(x["a"] == x["b"], 1.0, -1.0) + rng.normal(scale=0.3, size=400)
    model = EBNCRegressor("search", prior_scale=0.5, average=False).fit(x, y)
    assert any({"a", "b"} <= set(cluster) for cluster in model.ebnc_.structure.clusters)
    assert model.score(x, y) > 0.85


def test_a_weight_counts_rows():
    x, _, y = made(60, 5)
    twice = pd.concat([x, x[:30]]), pd.concat([y, y[:30]])
    weights = np.where(np.arange(60) < 30, 2.0, 1.0)
    one = EBNCRegressor(prior_scale=0.5).fit(*twice)
    other = EBNCRegressor(prior_scale=0.5).fit(x, y, sample_weight=weights)
    np.testing.assert_allclose(one.predict(x), other.predict(x), rtol=1e-7)
    np.testing.assert_array_equal(one.density_.bins.cuts, other.density_.bins.cuts)


def test_a_shift_and_a_scale_of_the_target_move_the_predictions():
    x, _, y = made(100, 6)
    one = EBNCRegressor(prior_scale=0.5).fit(x, y)
    other = EBNCRegressor(prior_scale=0.5).fit(x, 3 * y + 10)
    np.testing.assert_allclose(other.predict(x), 3 * one.predict(x) + 10, rtol=1e-8)
    np.testing.assert_allclose(
        other.log_density(x, 3 * y + 10), one.log_density(x, y) - np.log(3), rtol=1e-7
    )


@pytest.mark.slow
def test_a_file_gives_the_same_model_as_a_frame(tmp_path):
    x, _, y = made(120, 7)
    x.assign(height=y).to_csv(tmp_path / "rows.csv", index=False)
    of_file = EBNCRegressor(prior_scale=0.5).fit(tmp_path / "rows.csv", "height")
    of_frame = EBNCRegressor(prior_scale=0.5).fit(x, y)
    np.testing.assert_allclose(of_file.predict(x), of_frame.predict(x), rtol=1e-10)
    np.testing.assert_allclose(of_file.predict(tmp_path / "rows.csv"), of_frame.predict(x))


def test_a_saved_regressor_predicts_the_same_bits(tmp_path):
    x, _, y = made(120, 8)
    model = EBNCRegressor(prior_scale=0.5).fit(x, y)
    model.save(tmp_path / "model.json")
    back = ebnc.load(tmp_path / "model.json")
    assert type(back) is EBNCRegressor
    assert back.get_params() == model.get_params()
    assert back.feature_names_in_.tolist() == ["x", "group"]
    for method in ("predict", "predict_quantiles", "predict_interval"):
        found, expected = getattr(back, method)(x), getattr(model, method)(x)
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(back.log_density(x, y), model.log_density(x, y))


@pytest.mark.parametrize("where", ["end", "middle"])
def test_a_zero_that_half_of_the_rows_share_has_about_its_probability(where):
    """P(y = 0 | x) = Φ(−x), or ½ whatever x is; without a base measure it was .28 instead of ½."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=3_000)
    noisy = x + rng.normal(size=3_000)
    truth = norm.cdf(-x) if where == "end" else np.full(3_000, 0.5)
    y = np.maximum(noisy, 0.0) if where == "end" else np.where(rng.random(3_000) < 0.5, 0.0, noisy)
    model = EBNCRegressor(prior_scale=0.3).fit(x[:1_000, None], y[:1_000])
    train, bins = x[:1_000, None], model.density_.bins
    (zero,) = bins.atoms
    found = model.predict_density(x[1_000:, None], np.zeros(2_000)) * bins.widths[zero]
    assert found.mean() == pytest.approx(truth[1_000:].mean(), abs=0.04)
    assert np.abs(found - truth[1_000:]).mean() < 0.06
    assert model.predict(train).mean() == pytest.approx(y[:1_000].mean(), abs=0.01)


def test_wrong_values_are_refused(fitted, fresh):
    x, _, y = fresh
    with pytest.raises(ParameterError, match="'mean' or 'median'"):
        fitted.predict(x, statistic="mode")
    with pytest.raises(ParameterError, match="between 0 and 1"):
        fitted.predict_interval(x, 90)
    for level in (0, 1.0, "much", None, [0.5, 0.9], float("nan")):
        with pytest.raises(ParameterError, match="level"):
            fitted.predict_interval(x, level)
    for q in (0.0, "half", [[0.1, 0.9]], None, [0.5, 2.0], float("nan")):
        with pytest.raises(ParameterError, match=r"q must|q is not"):
            fitted.predict_quantiles(x, q)
    with pytest.raises(DataError, match="2000"):
        fitted.log_density(x, y[:3])
    with pytest.raises(ParameterError, match="'height' 'ordered'"):
        EBNCRegressor(kinds={"height": "ordered"}).fit(x, y)
    with pytest.raises(ParameterError, match="'y' 'nominal'"):
        EBNCRegressor(kinds={"y": "nominal"}).fit(x, y.to_numpy())
    with pytest.raises(DataError, match="only one value"):
        EBNCRegressor().fit(x[:20], np.ones(20))
    with pytest.raises(ParameterError, match="structure"):
        EBNCRegressor("nothing").fit(x, y)
    with pytest.raises(NotFittedError):
        EBNCRegressor().predict(x)


def test_the_representation_has_facts_after_fit(fitted):
    assert "structure" in repr(fitted)
    assert "log evidence" not in repr(EBNCRegressor())


# -- ordered classes ----------------------------------------------------------------------------


def grades(n, seed):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame({"x": rng.normal(size=n)})
    codes = np.digitize(x["x"] + rng.logistic(scale=0.5, size=n), [-1.5, -0.5, 0.5, 1.5])
    labels = ["worst", "poor", "fair", "good", "best"]
    return x, pd.Series(pd.Categorical.from_codes(codes, labels, ordered=True))


def test_classes_of_an_ordered_type_have_its_order():
    x, y = grades(200, 0)
    model = EBNCClassifier("naive", prior_scale=1.0).fit(x, y)
    assert model.classes_.tolist() == ["worst", "poor", "fair", "good", "best"]
    assert model.ebnc_.domain.kind(model.ebnc_.target) == "ordered"
    assert (model.predict(x) == y).mean() > 0.4
    nominal = EBNCClassifier("naive", prior_scale=1.0).fit(x, y.astype(str))
    assert nominal.classes_.tolist() == sorted(model.classes_)
    assert nominal.ebnc_.domain.kind(nominal.ebnc_.target) == "nominal"


def test_order_helps_where_classes_are_in_order():
    train, test = grades(60, 1), grades(3_000, 2)

    def loss(y, of_test):
        model = EBNCClassifier("naive", prior_scale="evidence").fit(train[0], y)
        places = np.searchsorted(np.sort(model.classes_), of_test)
        places = np.argsort(model.classes_)[places]
        return -model.predict_log_proba(test[0])[np.arange(3_000), places].mean()

    of_test = test[1].astype(str).to_numpy()
    assert loss(train[1], of_test) < loss(train[1].astype(str), of_test)


def test_kinds_name_a_target_without_a_name_class():
    x, y = grades(100, 3)
    codes = y.cat.codes.to_numpy()
    model = EBNCClassifier("naive", prior_scale=1.0, kinds={"class": "ordered"}).fit(x, codes)
    assert model.ebnc_.domain.kind(model.ebnc_.target) == "ordered"
    named = pd.Series(codes, name="grade")
    with pytest.raises(DataError, match="'grade'"):
        EBNCClassifier("naive", kinds={"class": "ordered"}).fit(x, named)


def test_dates_and_mdlp_are_refused():
    x = np.arange(40.0)[:, None]
    with pytest.raises(DataError, match="dates"):
        EBNCRegressor().fit(x, pd.Series(pd.date_range("2020", periods=40)))
    with pytest.raises(ParameterError, match="mdlp"):
        EBNCRegressor(numbers="mdlp").fit(x, np.arange(40.0))
