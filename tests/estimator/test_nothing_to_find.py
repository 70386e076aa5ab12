"""Labels by coin: nothing is selected, and predictions are the class shares."""

import numpy as np
import pandas as pd
import pytest

import ebnc
from ebnc.data.read import learn_cases
from ebnc.data.table import Coding


def null_data(kind, n_inputs, n_rows, seed):
    generator = np.random.default_rng([seed, n_inputs, n_rows])
    if kind == "numbers":
        columns = generator.normal(size=(n_rows + 500, n_inputs))
    else:
        columns = generator.integers(0, 3, (n_rows + 500, n_inputs)).astype(str)
    x = pd.DataFrame(columns, columns=[f"x{i}" for i in range(n_inputs)])
    y = generator.integers(0, 2, n_rows + 500)
    return x[:n_rows], y[:n_rows], x[n_rows:], y[n_rows:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "n_inputs", "n_rows"),
    [("numbers", 20, 40), ("numbers", 60, 60), ("labels", 20, 60), ("numbers", 60, 300)],
)
def test_noise_is_not_selected(kind, n_inputs, n_rows):
    nothing, excess = 0, []
    for seed in range(20):
        x, y, fresh, truth = null_data(kind, n_inputs, n_rows, seed)
        model = ebnc.EBNCClassifier().fit(x, y)
        nothing += not model.selected_features_
        p = model.predict_proba(fresh)[np.arange(500), truth]
        shares = np.bincount(y, minlength=2) / n_rows
        excess.append(-np.log(p).mean() + np.log(shares[truth]).mean())
    assert nothing >= 18
    assert np.mean(excess) <= 0.02


def test_numbers_that_are_not_cut_and_constants_are_in_nothing():
    """Under MDLP both have one state: not selected, in no structure, without worth."""
    generator = np.random.default_rng(0)
    noise = {f"noise{i}": generator.normal(size=200) for i in range(70)}
    y = generator.integers(0, 2, 200)
    signal = np.where(generator.random(200) < 0.9, y, 1 - y)
    x = pd.DataFrame({**noise, "same": ["a"] * 200, "signal": signal.astype(str)})
    data = x.assign(y=y)
    cases = learn_cases(data, list(x), "y", leave_out=True, coding=Coding("mdlp"))
    model = ebnc.EBNCClassifier().fit_cases(cases)
    assert model.selected_features_ == ["signal"]
    assert [worth.feature for worth in model.feature_worths_] == ["signal"]
    assert "same" not in model.structure_.names
    assert "same" in model.constant_features_
    assert "signal" not in model.constant_features_


def test_many_numbers_of_few_rows_are_fitted():
    generator = np.random.default_rng(0)
    wide, labels = generator.normal(size=(60, 300)), np.arange(60) % 2
    assert ebnc.EBNCClassifier().fit(wide, labels).predict_proba(wide).shape == (60, 2)
