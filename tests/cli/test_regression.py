"""``ebnc learn`` and ``ebnc predict`` with a number as the target."""

import json

import numpy as np
import pandas as pd
import pytest

import ebnc as package
from cli.command import ebnc_here as here


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=150), "group": rng.choice(["a", "b"], 150)})
    frame["y"] = frame["x"] + rng.normal(scale=0.3, size=150)
    frame["few"] = rng.integers(0, 3, 150)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return frame


def learned(tmp_path, *more, target="y"):
    words = ["learn", tmp_path / "rows.csv", "-t", target, "-o", tmp_path / "m.json", "--force"]
    return here(*words, "--prior-scale", "0.5", *more)


def test_a_target_of_many_numbers_is_predicted_as_a_number(rows, tmp_path):
    done = learned(tmp_path)
    assert done.status == 0, done.err
    assert "y: a number" in done.text
    model = package.load(tmp_path / "m.json")
    printed = here(
        "predict", tmp_path / "m.json", tmp_path / "rows.csv", "--level", "0.8", "--digits", "17"
    ).text
    lines = [line.split(",") for line in printed.splitlines()]
    assert lines[0] == ["prediction", "low", "high"]
    found = np.array(lines[1:], dtype=float)
    x = rows.drop(columns="y")
    np.testing.assert_allclose(found[:, 0], model.predict(x), rtol=1e-12)
    np.testing.assert_allclose(found[:, 1:], model.predict_interval(x, 0.8), rtol=1e-12)
    printed = here("predict", tmp_path / "m.json", tmp_path / "rows.csv", "--json").text
    first = json.loads(printed.splitlines()[0])
    assert first["prediction"] == pytest.approx(found[0, 0], rel=1e-5)
    assert len(first["interval"]) == 2


def test_few_numbers_are_classes_unless_a_number_is_asked_for(rows, tmp_path):
    assert learned(tmp_path, target="few").status == 0
    assert type(package.load(tmp_path / "m.json")) is package.EBNCClassifier
    done = learned(tmp_path, "--regress", "--json", target="few")
    assert json.loads(done.text)["bins"] == 3
    assert type(package.load(tmp_path / "m.json")) is package.EBNCRegressor


def test_classes_are_learned_of_many_numbers_if_they_are_asked_for(rows, tmp_path):
    rows.assign(y=np.arange(150) % 60).to_csv(tmp_path / "rows.csv", index=False)
    done = learned(tmp_path, "--classify", "--structure", "naive")
    assert done.status == 0, done.err
    assert len(package.load(tmp_path / "m.json").classes_) == 60


def test_a_report_on_a_number_is_written_by_learn_and_by_report(rows, tmp_path):
    done = learned(tmp_path, "--report", tmp_path / "r.html")
    assert done.status == 0, done.err
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")
    done = here("report", tmp_path / "m.json", "-o", tmp_path / "again.html")
    assert done.status == 0, done.err
    assert "<html" in (tmp_path / "again.html").read_text(encoding="utf-8")


def test_a_wrong_level_is_refused(rows, tmp_path):
    learned(tmp_path, "--folds", "0")
    done = here("predict", tmp_path / "m.json", tmp_path / "rows.csv", "--level", "90")
    assert done.status == 2
    assert "--level" in done.err
