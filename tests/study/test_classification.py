"""Part A: sets, folds, cells and tables, on small sets made here."""

import hashlib
import io
import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from study.classification import __main__ as part_a
from study.classification.data import (
    Split,
    core_names,
    download_set,
    read_set,
    set_names,
    splits,
)
from study.classification.measure import calibration_error, cells, measure, measure_all
from study.classification.models import ABLATIONS, MODELS, STUDIED
from study.classification.report import folds, means, report


def all_splits(directory):
    return [s for repeat in range(5) for s in splits(read_set(directory, "toy"), repeat)]


def test_sets_are_read_as_strings_without_rare_classes(directory):
    assert set_names(directory) == ["numeric", "toy"]
    assert core_names(directory) == ["toy"]
    data = read_set(directory, "toy")
    assert sorted(data["class"].unique()) == ["a", "b"]  # two rows of c are too few
    assert set(data["flag"].dropna()) == {"true", "false"}


def test_splits_are_halves_the_same_every_time(directory):
    first, second = all_splits(directory), all_splits(directory)
    assert len(first) == 10
    for a, b in zip(first, second, strict=True):
        pd.testing.assert_frame_equal(a.train, b.train)
    for a, b in list(pairwise(first))[::2]:
        pd.testing.assert_frame_equal(a.train, b.test)
    assert not first[0].train.equals(first[2].train)


def test_a_part_of_a_split_has_the_same_test_rows_and_classes(directory):
    split = all_splits(directory)[0]
    part = split.first(8)
    assert len(part.train) == 8
    assert part.train["class"].value_counts().to_dict() == {"a": 4, "b": 4}
    pd.testing.assert_frame_equal(part.test, split.test)
    assert split.first(1000) is None


def test_states_are_those_of_the_training_fold(directory):
    for split in all_splits(directory):
        coded = split.coded()
        assert (coded.train < coded.n_states).all()
        place = split.inputs.index("rare")
        if "only-here" in set(split.test["rare"]):
            assert coded.n_states[place] == 1
            assert coded.test[:, place].max() == 1  # unseen
        else:
            assert coded.test[:, place].max() < coded.n_states[place] == 2


def test_a_set_that_is_not_there_comes_from_openml(tmp_path, monkeypatch):
    """scikit-learn's loader, from its own folder: a stand-in for the set ``car``, number 21."""
    arff = (
        "@RELATION car\n@ATTRIBUTE doors {2,3}\n@ATTRIBUTE price NUMERIC\n@ATTRIBUTE class {a,b}\n"
    )
    arff += "@DATA\n" + "2,1.5,a\n?,2.5,b\n3,0.5,a\n2,?,b\n" * 3
    url = "https://api.openml.org/data/v1/download/1/car.arff"
    features = [
        {
            "index": str(i),
            "name": name,
            "data_type": kind,
            "is_target": str(name == "class").lower(),
        }
        | {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
        for i, (name, kind) in enumerate(
            [("doors", "nominal"), ("price", "numeric"), ("class", "nominal")]
        )
    ]
    described = {"id": "21", "name": "car", "version": "1", "format": "ARFF", "status": "active"}
    described |= {
        "description": "cars",
        "file_id": "1",
        "default_target_attribute": "class",
        "url": url,
    }
    described["md5_checksum"] = hashlib.md5(arff.encode()).hexdigest()
    answers = {
        "api/v1/json/data/21": {"data_set_description": described},
        "api/v1/json/data/features/21": {"data_features": {"feature": features}},
        "api/v1/json/data/qualities/21": {"data_qualities": {"quality": []}},
    }

    def opened(path, *_, **__):
        for end, answer in answers.items():
            if path.endswith(end):
                return io.BytesIO(json.dumps(answer).encode())
        assert path.endswith("car.arff")
        return io.BytesIO(arff.encode())

    monkeypatch.setattr("sklearn.datasets._openml._open_openml_url", opened)
    data = download_set("car", tmp_path)
    assert list(data) == ["doors", "price", "class"]
    assert data["doors"].tolist()[:2] == ["2", None]
    assert data["price"][0] == 1.5
    assert np.isnan(data["price"][3])
    monkeypatch.setattr("study.classification.data.download_set", lambda name: data)
    assert len(read_set(tmp_path, "car")) == 12
    with pytest.raises(SystemExit, match="no set nowhere"):
        download_set("nowhere", tmp_path)


@pytest.mark.slow
def test_smoke_every_model_of_the_study_and_going_on(directory, capsys):
    """The whole of Part A on one small set; a second run measures nothing again."""
    options = ["--data", str(directory), "--sets", "toy", "--repeats", "0", "--jobs", "1"]
    options += ["--models", ",".join((*STUDIED, *ABLATIONS)), "--results"]
    options += [str(directory / "results.csv")]
    part_a.main(options)
    frame = cells(directory / "results.csv").frame()
    assert set(frame["model"]) == {*STUDIED, *ABLATIONS}
    assert np.isfinite(frame["log_loss"]).all()
    assert "--sets toy --models ebnc --repeats 0 --again" in capsys.readouterr().out
    part_a.main(options)
    assert capsys.readouterr().out == ""
    text = report(frame, STUDIED)
    assert "Mean ranks over 1 sets" in text
    part_a.main([*options, "--again"])  # every cell is made again as it was
    again = cells(directory / "results.csv").frame()
    key = ["set", "model", "repeat", "fold"]
    a, b = (x.sort_values(key)["log_loss"].to_numpy() for x in (frame, again))
    np.testing.assert_array_equal(a, b)


def test_a_learning_curve_is_not_part_of_the_means(directory):
    path = directory / "results.csv"
    for size in ([], ["--sizes", "10"]):
        options = ["--data", str(directory), "--sets", "toy", "--repeats", "0", "--jobs", "1"]
        options += ["--models", "nb,logistic", "--results", str(path)]
        part_a.main(options + size)
    frame = cells(path).frame()
    assert sorted(frame["rows"].unique()) == [10, 19]
    expected = frame[(frame["rows"] == 19) & (frame["model"] == "nb")]["log_loss"].mean()
    assert means(frame, ["nb", "logistic"]).loc["toy", "nb"] == pytest.approx(expected)


def test_a_failure_names_the_cell_and_leaves_the_others(directory):
    split = all_splits(directory)[0]
    broken = Split(split.train, split.test.drop(columns="flag"), split.classes)
    key = {"set": "toy", "model": "nb", "repeat": 0, "fold": 0, "rows": 19}
    found, failures = measure_all([key], broken, 60)
    assert not found
    assert "set toy, model nb, repeat 0, fold 0" in failures[0]


def test_a_fit_that_takes_too_long_is_on_file_without_a_loss(directory, monkeypatch):
    def for_ever(split):
        while True:
            pass

    monkeypatch.setitem(MODELS, "nb", for_ever)
    key = {"set": "toy", "model": "nb", "repeat": 0, "fold": 0, "rows": 19}
    store = cells(directory / "results.csv")
    store.append([measure(key, all_splits(directory)[0], 0.05)])
    line = store.frame().iloc[0]
    assert np.isnan(line["log_loss"])
    assert line["fit_seconds"] > 0
    assert means(store.frame(), ["nb"]).empty


def test_calibration_error_by_hand():
    p = np.array([[0.95, 0.05], [0.95, 0.05], [0.3, 0.7], [0.35, 0.65]])
    y = np.array([0, 1, 1, 1])
    expected = (abs(1.9 - 1) + abs(0.7 - 1) + abs(0.65 - 1)) / 4
    assert calibration_error(p, y) == pytest.approx(expected)


def test_report_counts_wins_and_leaves_unfinished_folds_out():
    def rows(name, model, loss, n=10):
        key = {"set": name, "model": model, "rows": 50, "error": 0.1, "brier": 0.1}
        return [
            key
            | {"repeat": i // 2, "fold": i % 2, "log_loss": loss + 0.001 * i}
            | {"calibration": 0.1, "fit_seconds": 1.0, "dimension": 3}
            for i in range(n)
        ]

    frame = pd.DataFrame(
        [
            *(rows("car", "logistic", 0.2) + rows("car", "nb", 0.3) + rows("car", "ebnc", 0.04, 4)),
            *(rows("voting", "logistic", 0.1) + rows("voting", "nb", np.inf)),
            *(rows("voting", "ebnc", 0.16) + rows("tae", "nb", 0.1)),
        ]
    )
    models = ("logistic", "nb", "ebnc")
    losses = means(frame, models)
    assert losses.index.tolist() == ["car", "voting"]
    assert losses.loc["car", "nb"] == pytest.approx(0.3015)  # of the four folds of all
    assert folds(frame, models).to_dict() == {"car": 4, "voting": 10, "tae": 0}
    text = report(frame, models)
    assert "logistic         won  1, drawn  0, lost  1" in text
    assert "voting +0.060" in text
    assert "inf" in text
