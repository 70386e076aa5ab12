"""Predicted distributions of numbers: against what is known of made-up data."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from study.cells import Cells
from study.regression import __main__ as regression
from study.regression import results
from study.regression.__main__ import Part, measure, parts

import ebnc


@pytest.fixture
def linear():
    """y = 2x + 1[group = b] + noise of σ = 0.5, in two parts; one entry of x is missing."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"x": rng.normal(size=4_000), "group": rng.choice(["a", "b"], 4_000)})
    y = 2 * x["x"] + (x["group"] == "b") + rng.normal(scale=0.5, size=4_000)
    x.loc[0, "x"] = np.nan
    y = y.to_numpy()
    return Part(x[:2_000], y[:2_000]), Part(x[2_000:], y[2_000:])


def test_ridge_finds_the_distribution_that_made_the_data(linear):
    cell = measure("ridge", *linear)
    assert cell["log_density"] == pytest.approx(-norm.entropy(scale=0.5), abs=0.03)
    assert cell["rmse"] == pytest.approx(0.5, abs=0.02)
    assert cell["coverage"] == pytest.approx(0.9, abs=0.02)


def test_our_regressor_is_measured_by_its_own_density_and_interval(linear, monkeypatch):
    class Truth:
        def fit(self, x, y):
            return self

        def predict(self, x):
            return (2 * x["x"] + (x["group"] == "b")).to_numpy()

        def predict_interval(self, x, level):
            return np.stack(norm.interval(level, self.predict(x), 0.5), axis=1)

        def log_density(self, x, y):
            return norm.logpdf(y, self.predict(x), 0.5)

    monkeypatch.setattr(ebnc, "EBNCRegressor", Truth, raising=False)
    assert "ebnc" in regression.installed()
    cell = measure("ebnc", *linear)
    assert cell["log_density"] == pytest.approx(-norm.entropy(scale=0.5), abs=0.03)
    assert cell["coverage"] == pytest.approx(0.9, abs=0.02)


def test_folds_are_halves_without_the_number_among_the_inputs(directory, monkeypatch):
    monkeypatch.setitem(regression.TARGETS, "toy", "size")
    (train, test), (other, _) = parts(directory, "toy")
    assert list(train.x) == ["flag", "rare", "class"]
    assert abs(len(train.y) - len(test.y)) <= 1
    np.testing.assert_array_equal(other.y, test.y)


def test_a_run_goes_on(directory, capsys):
    path = directory / "results.csv"
    options = ["--data", str(directory), "--results", str(path), "--models", "ridge"]
    options += ["--sets", "scikit-learn diabetes"]
    regression.main(options)
    assert len(capsys.readouterr().out.splitlines()) == 2
    regression.main(options)
    assert capsys.readouterr().out == ""
    regression.main([*options, "--again", "ridge"])
    assert len(Cells(path, regression.KEYS, regression.VALUES).lines()) == 2
    capsys.readouterr()
    regression.main([*options, "--table"])
    assert "scikit-learn diabetes" in capsys.readouterr().out


def test_claims_count_targets_that_are_better_than_all_rivals(tmp_path, monkeypatch):
    """On a ours is better; on b NGBoost with early stopping is, on c the linear model."""
    of = {
        "a": {"ebnc": (1.0, 0.90), "ridge": (0.5, 0.9), "ngboost": (0.2, 0.9)},
        "b": {"ebnc": (1.0, 0.95), "ridge": (0.5, 0.9), "ngboost": (0.2, 0.9)},
        "c": {"ebnc": (1.0, 0.88), "ridge": (1.5, 0.9), "ngboost": (0.2, 0.9)},
    }
    lines = [
        {"set": name, "model": model, "fold": fold, "log_density": density + fold / 10, "rmse": 2.0}
        | {"coverage": coverage}
        for name, models in of.items()
        for model, (density, coverage) in models.items()
        for fold in (-1, 1)
    ]
    lines.append({"set": "b", "model": "ngboost-stopped", "log_density": 1.1, "rmse": 1.0})
    pd.DataFrame(lines).to_csv(tmp_path / "results.csv", index=False)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    found = {name: claim.text for name, claim in results.claims().items()}
    assert (found["targets"], found["better"], found["covered"]) == ("3", "1", "2")
    assert found["behind-linear"] == "c -0.500"
    assert "| `b` | 1.000 | 0.500 | 1.100 | 1.00 | 95.0% |" in found["table"]
