"""Classifiers on raw data: sets, folds, cells and tables, on small sets made here."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from study.cells import Cells
from study.classification.data import Split
from study.classification.models import Prediction
from study.numbers import __main__ as numbers
from study.numbers.rivals import COMPARED, OURS, Model, SplineLogistic, natural_frames
from study.numbers.sets import DataSet, data_sets, sample
from study.numbers.table import means, table, targets

SKLEARN = "logistic-splines,forest,hist-boosting"


@pytest.fixture
def split():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "class": list("abab")})
    return Split(frame, frame, ("a", "b"))


def model_that_says(probability):
    return Model("scikit-learn", lambda _: Prediction(np.array(probability), 0.1, None))


def test_sets_have_kinds_and_folds(directory):
    assert data_sets(directory) == {
        "numeric": DataSet("numeric", "numeric", 2),
        "toy": DataSet("toy", "mixed", 2),
    }
    first, second = DataSet("toy", "mixed", 2).splits(directory)
    pd.testing.assert_frame_equal(first.train, second.test)
    assert len(list(DataSet("toy", "mixed", 10).splits(directory))) == 10


@pytest.mark.parametrize(("n_classes", "n_rows"), [(2, 5_000), (26, 4_000)])
def test_large_sets_are_sampled_class_by_class(n_classes, n_rows):
    rows = pd.DataFrame({"x": np.arange(26_000), "class": np.arange(26_000) % n_classes})
    drawn = sample(rows)
    assert len(drawn) == n_rows
    assert np.ptp(drawn["class"].value_counts()) <= 1
    pd.testing.assert_frame_equal(drawn, sample(rows))
    assert len(sample(rows[:100])) == 100


def test_rivals_see_numbers_and_labels_and_nothing_of_the_test_rows():
    train = pd.DataFrame({"a[0]": [1, 2], "b": ["u", None], "c": [np.nan, np.nan]})
    test = pd.DataFrame({"a[0]": [np.nan, 3], "b": ["v", "u"], "c": [1.0, 2.0]})
    first, second = natural_frames(train, test)
    assert list(first) == list(second) == ["x0", "x1"]
    assert first["x0"].dtype == second["x0"].dtype == float
    assert first["x1"].cat.categories.tolist() == second["x1"].cat.categories.tolist() == ["u"]
    assert second["x1"].isna().tolist() == [True, False]


def test_splines_see_what_no_line_does():
    x = pd.DataFrame({"x": np.linspace(-2, 2, 200)})
    y = (x["x"].abs() > 1).to_numpy(int)
    probability = SplineLogistic().fit(x, y).predict_proba(x)
    assert np.mean(probability.argmax(axis=1) == y) > 0.95


def test_a_cell_agrees_with_scikit_learn(split):
    probability = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]]
    cell = numbers.measure(model_that_says(probability), split, 60)
    y = split.class_numbers(split.test)
    assert cell["log_loss"] == pytest.approx(metrics.log_loss(y, probability))
    assert cell["accuracy"] == 0.5
    assert cell["fit_cpu"] == 0.1


def test_a_hard_zero_is_clipped_for_rivals_and_infinite_for_us(split, monkeypatch):
    model = model_that_says([[0, 1], [0, 1], [1, 0], [0, 1]])
    rival = numbers.measure(model, split, 60)
    assert rival["log_loss"] == pytest.approx(-np.log(1e-15) / 4)
    monkeypatch.setitem(COMPARED, OURS, model)
    assert numbers.measure(model, split, 60)["log_loss"] == np.inf


def test_a_model_that_takes_too_long_is_on_file_without_a_loss(split):
    def for_ever(_):
        while True:
            pass

    cell = numbers.measure(Model("scikit-learn", for_ever), split, 0.05)
    assert "log_loss" not in cell
    assert cell["fit_cpu"] == 0.05


def test_a_run_goes_on_and_repeats_what_it_is_asked_to(directory, capsys):
    path = directory / "results.csv"
    options = ["--data", str(directory), "--results", str(path), "--sets", "toy"]
    options += ["--label", "variant", "--models"]
    numbers.main([*options, f"ebnc,{SKLEARN}"])
    frame = Cells(path, numbers.KEYS, numbers.VALUES).frame()
    assert set(frame["model"]) == {"ebnc variant", *SKLEARN.split(",")}
    assert len(frame) == 8
    assert np.isfinite(frame["log_loss"]).all()
    assert len(capsys.readouterr().out.splitlines()) == 8
    numbers.main([*options, SKLEARN])
    assert capsys.readouterr().out == ""
    numbers.main([*options, SKLEARN, "--again", "hist-boosting"])
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == [
        "hist-boosting",
        "hist-boosting",
    ]
    numbers.main([*options, SKLEARN, "--table"])
    text = capsys.readouterr().out
    assert "Mean ranks over 1 mixed sets" in text
    assert "variant" not in text


def test_a_rival_that_is_not_installed_is_named(directory, capsys, monkeypatch):
    absent = Model("no-such-package", lambda _: None)
    monkeypatch.setitem(COMPARED, "lightgbm", absent)
    results = ["--results", str(directory / "results.csv")]
    numbers.main(["--data", str(directory), *results, "--models", "lightgbm"])
    assert "not installed: no-such-package" in capsys.readouterr().err


def cells(name, model, *losses):
    return [{"set": name, "model": model, "fold": i, "log_loss": x} for i, x in enumerate(losses)]


def test_the_table_by_hand():
    frame = pd.DataFrame(
        [
            *cells("iris", "ebnc a", 0.1, 0.18),
            *cells("iris", "ebnc b", 0.2, 0.3),
            *cells("iris", "forest", 0.1, 0.1),
            *cells("wine", "ebnc a", 0.1, 0.1),
            *cells("wine", "ebnc b", 0.2, 0.2),
            *cells("wine", "forest", 0.1, np.nan),  # out of time
            *cells("sonar", "forest", 0.1),  # not done
        ]
    )
    sets = {name: DataSet(name, "numeric", 2) for name in ("iris", "wine", "sonar")}
    losses = means(frame, sets)
    assert losses.loc["iris"].to_dict() == pytest.approx(
        {"ebnc a": 0.14, "ebnc b": 0.25, "forest": 0.1}
    )
    assert losses.loc["wine", "forest"] == np.inf
    assert "sonar" not in losses.index
    shown = targets(losses).loc["iris"]
    assert shown["best rival"] == pytest.approx(0.1)
    assert (shown["ebnc a"], shown["ebnc b"]) == ("0.1400 reached", "0.2500 MISSED")
    lines = table(frame, sets).splitlines()
    start = lines.index(next(line for line in lines if line.startswith("Mean ranks over 2")))
    ranks = {line[:-5].strip(): float(line[-5:]) for line in lines[start + 2 : start + 5]}
    assert ranks == {"ebnc a": 1.5, "ebnc b": 2.5, "forest": 2.0}
