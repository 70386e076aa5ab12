"""``ebnc evaluate``, ``show`` and ``compare``: numbers are those of scikit-learn and Python."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression

import ebnc
from cli.command import refused, succeeded
from cli.conftest import weather
from ebnc.cli.printing import output_schema


def as_json(*arguments, **options):
    printed = json.loads(succeeded(*arguments, "--json", **options).out)
    jsonschema.validate(printed, output_schema())
    return printed


@pytest.fixture(scope="module")
def other_rows(shared, tmp_path_factory):
    """Other rows of the same kind: a frame and its file."""
    frame = weather(200, seed=1)
    path = tmp_path_factory.mktemp("test") / "test.csv"
    frame.to_csv(path, index=False)
    return frame, path


def test_one_row_or_one_class_has_neither_error_nor_slope(shared, other_rows, tmp_path):
    """One loss has no spread; if one class came, no slope maximises the likelihood."""
    frame, _ = other_rows
    of_one_class = frame[frame["play"] == "yes"]
    for rows in (of_one_class, of_one_class[:1]):
        rows.to_csv(tmp_path / "rows.csv", index=False)
        found = as_json("evaluate", shared.model, tmp_path / "rows.csv")
        assert found["rows"] == len(rows)
        assert found["calibration_slope"] is None
        assert (found["log_loss_error"] is None) == (len(rows) == 1)


def test_measures_are_those_of_scikit_learn(shared, other_rows):
    frame, path = other_rows
    found = as_json("evaluate", shared.model, path)
    model = ebnc.load(shared.model)
    p = model.predict_proba(frame[model.feature_names_in_.tolist()])
    y = frame["play"]
    assert found["rows"] == 200
    assert found["accuracy"] == pytest.approx((model.classes_[p.argmax(axis=1)] == y).mean())
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, p), abs=1e-12)
    assert found["auc"][1] == pytest.approx(metrics.roc_auc_score(y, p[:, 1]), abs=1e-12)
    brier = metrics.brier_score_loss(y == "yes", p[:, 1])
    assert found["brier"] == pytest.approx(2 * brier, abs=1e-12)
    labels = model.classes_[p.argmax(axis=1)]
    assert found["confusion"] == metrics.confusion_matrix(y, labels).tolist()
    logit = np.log(p[:, 1] / p[:, 0])[:, None]
    line = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logit, y)
    assert found["calibration_slope"] == pytest.approx(line.coef_[0, 0], abs=1e-3)
    assert not found["training_data"]
    shares = y.value_counts(normalize=True)
    assert found["base_loss"] == pytest.approx(-np.log(shares[y]).mean(), abs=1e-12)


def test_three_classes_and_a_frame_of_counts(tmp_path):
    """Weights count rows; the table of recall and precision is that of scikit-learn."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"x": generator.normal(size=300).round(2)})
    frame["y"] = np.digitize(frame["x"] + generator.normal(size=300), [-0.5, 0.5])
    frame["y"] = frame["y"].map({0: "low", 1: "middle", 2: "up"})
    frame["n"] = generator.integers(0, 3, 300)
    frame.to_csv(tmp_path / "d.csv", index=False)
    model = ebnc.EBNCClassifier().fit(frame[["x"]], frame["y"])
    model.save(tmp_path / "m.json")
    found = as_json(
        "evaluate", tmp_path / "m.json", tmp_path / "d.csv", "-t", "y", "--weights", "n"
    )
    p, weights = model.predict_proba(frame[["x"]]), frame["n"]
    expected = metrics.log_loss(frame["y"], p, sample_weight=weights)
    assert found["log_loss"] == pytest.approx(expected, abs=1e-12)
    assert found["rows"] == weights.sum()
    areas = [
        metrics.roc_auc_score(frame["y"] == label, p[:, k], sample_weight=weights)
        for k, label in enumerate(model.classes_)
    ]
    assert found["auc"] == pytest.approx(areas, abs=1e-12)
    text = succeeded("evaluate", tmp_path / "m.json", tmp_path / "d.csv").text
    labels = model.predict(frame[["x"]])
    recall = metrics.recall_score(frame["y"], labels, labels=["up"], average=None)[0]
    (line,) = [line for line in text.splitlines() if line.split()[:1] == ["up"]][:1]
    assert f"{recall:.1%}" in line


def test_rows_without_a_target_and_other_classes_are_left_out(shared, other_rows, tmp_path):
    frame = other_rows[0].copy()
    frame.loc[:9, "play"] = None
    frame.loc[10:14, "play"] = "perhaps"
    frame.loc[20:22, "outlook"] = "hail"
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = as_json("evaluate", shared.model, tmp_path / "t.csv")
    assert (found["rows"], found["without_target"], found["unseen_class"]) == (185, 10, 5)
    ran = succeeded("evaluate", shared.model, tmp_path / "t.csv")
    assert "10 without a target, 5 of a class that the model has never seen" in ran.text
    assert "'outlook' (3)" in ran.err
    assert "'play'" not in ran.err


def test_the_training_data_are_recognised(shared):
    assert as_json("evaluate", shared.model, shared.csv)["training_data"]
    assert "learned from these rows" in succeeded("evaluate", shared.model, shared.csv).text


def test_numbers(tmp_path):
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"x": generator.normal(size=400).round(3)})
    frame["y"] = (frame["x"] * 2 + generator.normal(size=400)).round(3)
    frame.to_csv(tmp_path / "d.csv", index=False)
    model = ebnc.EBNCRegressor().fit(frame[["x"]], frame["y"])
    model.save(tmp_path / "m.json")
    found = as_json("evaluate", tmp_path / "m.json", tmp_path / "d.csv")
    predicted = model.predict(frame[["x"]])
    error = metrics.root_mean_squared_error(frame["y"], predicted)
    assert found["rmse"] == pytest.approx(error, rel=1e-9)
    assert found["r2"] == pytest.approx(metrics.r2_score(frame["y"], predicted), abs=1e-9)
    density = model.log_density(frame[["x"]], frame["y"]).mean()
    assert found["log_density"] == pytest.approx(density, abs=1e-9)
    low, high = model.predict_interval(frame[["x"]], 0.9).T
    inside = ((frame["y"] > low) & (frame["y"] <= high)).mean()
    assert found["coverage"] == pytest.approx(inside, abs=1e-9)
    assert "RMSE" in succeeded("evaluate", tmp_path / "m.json", tmp_path / "d.csv").text
    line = LinearRegression().fit(frame[["x"]], frame["y"])
    assert found["r2"] > line.score(frame[["x"]], frame["y"]) - 0.05


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["DATA", "MODEL"], "is a table, not a model; name the model first"),
        (["MODEL", "DATA", "-t", "plai"], "did you mean 'play'?"),
        (["MODEL", "DATA", "-t", "outlook"], "is an input of the model"),
        (["MODEL", "DATA", "-t", "id"], "no entry of column 'id'"),
        (["MODEL", "EMPTY"], "no rows"),
        (["-", "-"], "cannot both come from standard input"),
    ],
)
def test_bad_requests(shared, tmp_path, arguments, words):
    (tmp_path / "empty.csv").write_text("outlook,wind speed,grade,warm,play\n")
    given = {"DATA": shared.csv, "MODEL": shared.model, "EMPTY": tmp_path / "empty.csv"}
    refused("evaluate", *(given.get(word, word) for word in arguments), words=words)


# -- show ------------------------------------------------------------------------------------------


def test_what_a_classifier_is(shared):
    found = as_json("show", shared.model)
    model = ebnc.load(shared.model)
    assert (found["kind"], found["target"]) == ("classifier", "play")
    assert found["parameters"] == model.dimension_
    shares = shared.frame["play"].value_counts(normalize=True)
    assert found["classes"]["yes"] == pytest.approx(shares["yes"], abs=0.02)
    assert {x["name"] for x in found["inputs"] if x["selected"]} == set(model.selected_features_)
    assert [frozenset(t) for t in found["terms"]] == [
        frozenset(cluster) for cluster in model.structure_.clusters
    ]
    assert sum(found["weights"]) == pytest.approx(1)
    sizes = [model.ebnc_.domain.n_states(x) for x in model.selected_features_]
    assert found["full_table"] == np.prod(sizes)
    text = succeeded("show", shared.model).text
    for words in ("log odds", "f(outlook)", "300 rows", "ebnc learn", "number (a curve)"):
        assert words in text


def test_other_models(tmp_path):
    structure = ebnc.EmbeddedStructure.naive("y", ["x"])
    ebnc.EBNC(structure, {"x": [1, 2], "y": ["a", "b"]}, [0.0, 0.0]).save(tmp_path / "e.json")
    found = as_json("show", tmp_path / "e.json")
    assert (found["kind"], found["classes"], found["data"]) == ("ebnc", {"a": 0.5, "b": 0.5}, None)
    domain = {"a": 3, "b": 2}
    nodes = [ebnc.Table("a", [], domain, [0.5, 0.25, 0.25])]
    nodes.append(ebnc.Table("b", ["a"], domain, [[0.5, 0.5]] * 3))
    network = ebnc.Network(nodes)
    network.save(tmp_path / "n.json")
    network.write_bif(tmp_path / "n.bif")
    for path in (tmp_path / "n.json", tmp_path / "n.bif"):
        found = as_json("show", path)
        assert (found["kind"], found["arcs"], found["parameters"]) == ("network", 1, 5)
        assert found["nodes"][1]["parents"] == ["a"]
    assert "and 1 more (--most)" in succeeded("show", tmp_path / "n.json", "--most", "1").text


def test_a_regressor(tmp_path):
    x = np.linspace(0, 1, 200)
    ebnc.EBNCRegressor().fit(x[:, None], 5 * x).save(tmp_path / "r.json")
    found = as_json("show", tmp_path / "r.json")
    assert found["kind"] == "regressor"
    assert found["mean"] == pytest.approx(2.5, abs=0.1)
    assert "a number, on average" in succeeded("show", tmp_path / "r.json").text


# -- compare ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def naive(shared, tmp_path_factory):
    path = tmp_path_factory.mktemp("naive") / "naive.json"
    options = ["--exclude", "id", "--structure", "tan", "--prior-scale", "3"]
    succeeded("learn", shared.csv, "-t", "play", *options, "-o", path)
    return path


def test_two_models(shared, naive, other_rows):
    frame, path = other_rows
    found = as_json("compare", shared.model, naive, "--data", path)
    models = [ebnc.load(x) for x in (shared.model, naive)]
    terms = [{frozenset(c) for c in model.structure_.clusters} for model in models]
    assert {frozenset(t) for t in found["shared_terms"]} == terms[0] & terms[1]
    assert {frozenset(t) for t in found["models"][1]["only_terms"]} == terms[1] - terms[0]
    codes = (frame["play"] == "yes").astype(int)
    losses = [
        -np.log(m.predict_proba(frame[m.feature_names_in_.tolist()])[np.arange(200), codes])
        for m in models
    ]
    gain = losses[1] - losses[0]
    assert found["loss_difference"]["mean"] == pytest.approx(gain.mean(), abs=1e-12)
    assert found["loss_difference"]["error"] == pytest.approx(gain.std() / 200**0.5, rel=1e-9)
    text = succeeded("compare", shared.model, naive, "--data", path).text
    assert "log evidence" in text  # the data are the same
    assert "nats a row lower for" in text
    assert "loss_difference" in as_json("compare", shared.model, naive)


def test_two_networks(tmp_path):
    domain = {"a": 2, "b": 2}
    first = [ebnc.Table("a", [], domain, [0.5, 0.5]), ebnc.Table("b", [], domain, [0.5, 0.5])]
    second = [first[0], ebnc.Table("b", ["a"], domain, [[0.9, 0.1], [0.1, 0.9]])]
    for name, nodes in (("1", first), ("2", second)):
        ebnc.Network(nodes).save(tmp_path / f"{name}.json")
    (tmp_path / "d.csv").write_text("a,b\n0,0\n1,1\n")
    both = [tmp_path / "1.json", tmp_path / "2.json"]
    found = as_json("compare", *both, "--data", tmp_path / "d.csv")
    assert (found["distance"], found["extra"]) == (1, [["a", "b"]])
    assert found["log_likelihoods"] == pytest.approx([4 * np.log(0.5), 2 * np.log(0.45)])
    assert "a → b" in succeeded("compare", *both).text


def test_what_cannot_be_compared(shared, tmp_path):
    ebnc.Network([ebnc.Table("a", [], {"a": 2}, [0.5, 0.5])]).save(tmp_path / "n.json")
    refused("compare", shared.model, tmp_path / "n.json", words="models of one kind")
    refused("compare", shared.model, shared.csv, words="is a table, not a model")
    refused("compare", shared.model, "-", words="not standard input")
    x = np.linspace(0, 1, 100)
    ebnc.EBNCRegressor().fit(x[:, None], x).save(tmp_path / "r.json")
    refused("compare", shared.model, tmp_path / "r.json", words="predicts a number")
