"""Reports on regressors: effects and measures by hand, files, and the page in a browser."""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.model_selection import KFold

import ebnc
from ebnc import EBNCRegressor
from ebnc.errors import DataError, FormatError
from ebnc.report import RegressionFindings, render_html, summarise_regressor
from report.browser_log import errors_and_requests
from report_problems import HOSTILE


@cache
def problem():
    """A number with gaps, a label with a hostile name; 200 rows, so that the model keeps all."""
    rng = np.random.default_rng(0)
    size, city = rng.gamma(4, 25, 200), rng.choice(["Paris", HOSTILE[0]], 200)
    y = 2.0 * size + 40 * (city == "Paris") + rng.normal(0, 15, 200)
    x = pd.DataFrame({"size": np.where(rng.random(200) < 0.1, np.nan, size), HOSTILE[2]: city})
    return EBNCRegressor(prior_scale=0.5).fit(x, y), x, y


def test_effects_are_those_of_predictions_with_one_input_set():
    model, x, _ = problem()
    summary = summarise_regressor(model)
    assert summary.mean == pytest.approx(model.predict(x).mean(), rel=1e-9)
    assert {summary.inputs[e.input].name for e in summary.effects} == set(x)
    for effect in summary.effects:
        name = summary.inputs[effect.input].name
        codes = model.classifier_.encode(x).column(name)
        first = [int(np.flatnonzero(codes == s)[0]) for s in range(len(effect.values))]
        means = np.array([model.predict(x.assign(**{name: x[name].iloc[i]})).mean() for i in first])
        centred = means - means[codes].mean()
        np.testing.assert_allclose(effect.values, centred, atol=1e-8)
        assert effect.size == pytest.approx(np.sqrt((centred[codes] ** 2).mean()))


@pytest.mark.slow
def test_held_out_measures_are_those_of_scikit_learn():
    model, x, y = problem()
    held = summarise_regressor(model, x, y, n_folds=3).findings.held_out
    predicted, log_p, inside = np.zeros(200), np.zeros(200), np.zeros(200, dtype=bool)
    normal = np.zeros(200)
    for seen, unseen in KFold(3, shuffle=True, random_state=0).split(x):
        again = EBNCRegressor(prior_scale=0.5).fit(x.iloc[seen], y[seen])
        rows = x.iloc[unseen]
        predicted[unseen], log_p[unseen] = again.predict(rows), again.log_density(rows, y[unseen])
        low, high = again.predict_interval(rows, 0.9).T
        inside[unseen] = (low < y[unseen]) & (y[unseen] <= high)
        normal[unseen] = norm(y[seen].mean(), y[seen].std()).logpdf(y[unseen])
    assert held.rmse == pytest.approx(root_mean_squared_error(y, predicted))
    assert held.mean_absolute_error == pytest.approx(mean_absolute_error(y, predicted))
    assert held.log_density == pytest.approx(log_p.mean())
    assert held.base_log_density == pytest.approx(normal.mean())
    assert held.coverage == pytest.approx(inside.mean())
    assert held.r2 == pytest.approx(r2_score(y, predicted), abs=0.01)


def test_findings_are_read_back_and_checked():
    model, x, y = problem()
    found = summarise_regressor(model, x, y, n_folds=2).findings
    plain = json.loads(json.dumps(found.to_json()))
    assert RegressionFindings.from_json(plain) == found
    plain["held_out"]["quantiles"].pop()
    with pytest.raises(FormatError, match="quantiles"):
        RegressionFindings.from_json(plain)
    with pytest.raises(DataError, match="not a fitted EBNCRegressor"):
        summarise_regressor(ebnc.EBNCClassifier())


@pytest.mark.slow
def test_the_page_shows_what_the_regressor_predicts(opened):
    """Any states, also missing and unknown ones; nothing in a name runs."""
    pytest.importorskip("selenium")
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.select import Select

    model, x, y = problem()
    driver = opened(render_html(summarise_regressor(model, x, y, n_folds=2)))
    bins, names = model.classifier_, list(x)
    codes = bins.encode(x)
    rng = np.random.default_rng(1)
    for _ in range(5):
        chosen = [int(rng.integers(0, n)) for n in codes.n_states]  # the last one is unknown
        for i, code in enumerate(chosen):
            Select(driver.find_element(By.ID, f"i{i}")).select_by_value(str(code))
        place = {name: codes.names.index(name) for name in names}
        everywhere = codes.codes.copy()
        for i, name in enumerate(names):
            if chosen[i] < codes.n_states[place[name]] - 1:
                everywhere[place[name]] = chosen[i]
        asked = type(codes)(codes.names, codes.n_states, everywhere)
        p = bins.predictor_.probabilities(asked).mean(axis=0, keepdims=True)
        shown = float(driver.find_element(By.ID, "mean").get_attribute("data-value"))
        assert shown == pytest.approx(model.density_.mean(p)[0], rel=1e-9)
    heights = [float(e.get_attribute("height")) for e in driver.find_elements(By.CLASS_NAME, "bin")]
    assert len(heights) == len(p[0])
    assert max(heights) > 50
    assert driver.execute_script("return window.harm") is None
    assert errors_and_requests(driver) == ([], [])
