"""``ebnc learn``."""

import json
import os
import re
import signal

import jsonschema
import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import ebnc
from cli.command import refused, succeeded
from cli.conftest import weather
from ebnc.cli.printing import output_schema
from ebnc.formats.native import read_model
from ebnc.formats.provenance import fingerprint


def test_the_model_is_the_one_that_python_learns(shared):
    """Same structure, same probabilities to the bit; and the summary names what it found."""
    columns = shared.frame.drop(columns=["id", "play"])
    expected = ebnc.EBNCClassifier().fit(columns, shared.frame["play"])
    stored = read_model(shared.model)
    found = stored.model
    assert found.structure_ == expected.structure_
    np.testing.assert_allclose(
        found.predict_proba(columns), expected.predict_proba(columns), rtol=1e-9
    )
    assert "outlook" in shared.learned.text
    assert "300" in shared.learned.text
    assert shared.learned.err == ""
    data = stored.provenance.data
    assert (data.rows, data.sha256) == (300, fingerprint(shared.csv))
    assert stored.provenance.command[:2] == ("ebnc", "learn")


def test_csv_parquet_and_standard_input_give_the_same_model(shared, tmp_path):
    models = []
    for data, stdin in [
        (shared.csv, b""),
        (shared.parquet, b""),
        ("-", shared.csv.read_bytes()),
        ("-", shared.parquet.read_bytes()),
    ]:
        ran = succeeded(
            "learn", data, "-t", "play", "--exclude", "id", "-o", "-", "-q", stdin=stdin
        )
        models.append(json.loads(ran.out)["model"])
        models[-1]["search"] = None  # has seconds
    assert models[0] == models[1] == models[2] == models[3]


def test_json_for_programs(shared, tmp_path):
    ran = succeeded(
        *["learn", shared.csv, "--target", "play", "--exclude", "id", "--json"],
        *["--out", tmp_path / "m.json", "--structure", "tan", "--prior-scale", "0.5"],
        *["--report", tmp_path / "r.html", "--folds", "2"],
    )
    printed = json.loads(ran.out)
    jsonschema.validate(printed, output_schema())
    assert printed["command"] == "learn"
    assert printed["classes"] == ["no", "yes"]
    assert printed["dimension"] == ebnc.load(tmp_path / "m.json").dimension_
    assert printed["held_out"]["folds"] == 2
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


def test_weights_count_rows(tmp_path):
    """A table of counts is the same data as its rows written out."""
    frame = weather(60)[["outlook", "warm", "play"]]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    counted = frame.groupby(list(frame), dropna=False).size().reset_index(name="n")
    counted.to_csv(tmp_path / "counted.csv", index=False)
    for name, more in [("rows", []), ("counted", ["--weights", "n"])]:
        succeeded(
            "learn", tmp_path / f"{name}.csv", "-t", "play", *more, "-o", tmp_path / f"{name}.json"
        )
    rows, table = (ebnc.load(tmp_path / f"{name}.json") for name in ("rows", "counted"))
    assert rows.structure_ == table.structure_
    np.testing.assert_allclose(rows.ebnc_.phi, table.ebnc_.phi, atol=1e-8)


def test_nothing_is_overwritten_without_force(shared, tmp_path):
    out = tmp_path / "model.json"
    out.write_bytes(b"precious")
    learn = ["learn", shared.csv, "-t", "play", "--exclude", "id", "-o", out]
    refused(*learn, words=["model.json exists already", "--force"])
    fresh = tmp_path / "fresh.json"
    refused(*learn[:-1], fresh, "--report", out, words="model.json exists already")
    assert not fresh.exists()
    assert out.read_bytes() == b"precious"
    succeeded(*learn, "--force")
    assert ebnc.load(out).classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "nothing"], "no column 'nothing'"),
        (["--target", "play", "--exclude", "nothing"], "no column 'nothing'"),
        (["--target", "play", "--exclude", "play"], "is the target"),
        (
            ["--target", "play", "--weights", "outlook", "--exclude", "id"],
            "weights must be numbers",
        ),
        (["--target", "play", "--prior-scale", "much"], "--prior-scale takes a number"),
        (["--target", "play", "--exclude", "id", "--prior-scale", "-1"], "must be positive"),
        (["--target", "play", "--structure", "best"], "best"),
        (["--target", "play", "--folds", "-1"], "--folds"),
        (["--target", "play", "--folds", "1"], "--folds takes 0 (do not measure) or at least 2"),
        (["--target", "play", "--report", "-"], "report needs a file"),
        (["--target", "play", "--report", "r.pdf"], "end its name in .html, got 'r.pdf'"),
        (["--target", "play", "--class-weight", "x"], "takes 'balanced', got 'x'"),
        (["--target", "play", "--require-arc", "grade"], "--require-arc takes PARENT,CHILD"),
        (["--target", "play", "--forbid-arc", "grade,warmer"], "did you mean 'warm'?"),
        (["--target", "play", "--exclude", "id", "--require", "grad"], "'grad' is not an input"),
        (["--target", "play", "--exclude", "id", "--n-jobs", "0"], "n_jobs must be"),
        ([], "--target"),
    ],
)
def test_wrong_options_are_refused(shared, tmp_path, arguments, words):
    refused("learn", shared.csv, *arguments, "--out", tmp_path / "m.json", words=words)
    assert not (tmp_path / "m.json").exists()


def test_places_that_cannot_be_written_are_refused_before_learning(shared, tmp_path):
    learn = ["learn", tmp_path / "no data.csv", "-t", "play", "-o"]
    refused(*learn, tmp_path / "no" / "m.json", words="does not exist")
    refused(*learn, tmp_path, words="is a directory")
    refused(*learn, tmp_path, "--force", words="is a directory")


def test_ctrl_c_in_the_search_keeps_the_best_model_so_far(shared, tmp_path, monkeypatch):
    """And says so; status 0."""
    steps = []

    def interrupt(self, step):
        steps.append(step)
        if len(steps) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("ebnc.cli.progress.ProgressLine.step", interrupt)
    out = tmp_path / "m.json"
    learn = ["learn", shared.csv, "-t", "play", "--exclude", "id", "-o", out, "--json"]
    ran = succeeded(*learn)
    assert ran.err == "ebnc: interrupted; the best model so far was saved\n"
    assert json.loads(ran.out)["interrupted"]
    assert ebnc.load(out).trace_.interrupted


def test_ctrl_c_elsewhere_writes_nothing(shared, tmp_path, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("ebnc.data.read.learn_cases", interrupt)
    refused("learn", shared.csv, "-t", "play", "-o", tmp_path / "m.json", words="interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", [["learn", "-t", "play"], ["network", "learn"]])
def test_a_ctrl_c_that_comes_when_files_are_written_is_too_late(
    shared, tmp_path, monkeypatch, verb
):
    """The model is there, so the status says so."""
    monkeypatch.setattr(
        "ebnc.cli.printing.print_table",
        lambda *arguments, **options: os.kill(os.getpid(), signal.SIGINT),
    )
    data = tmp_path / "data.csv"
    shared.frame[["warm", "play"]].to_csv(data, index=False)
    ran = succeeded(*verb, data, "-o", tmp_path / "m.json")
    assert "interrupted" not in ran.err
    ebnc.load(tmp_path / "m.json")


def test_numbers_and_kinds_are_those_of_python(shared, tmp_path):
    """The same states as in Python, and the file keeps the options for another fit."""
    more = ["--numbers", "mdlp", "--kind", "grade=ordered", "--kind", "wind speed=numeric"]
    more += ["--structure", "naive", "-q"]
    succeeded(
        "learn", shared.csv, "-t", "play", "--exclude", "id", *more, "-o", tmp_path / "m.json"
    )
    found = ebnc.load(tmp_path / "m.json")
    kinds = {"grade": "ordered", "wind speed": "numeric"}
    assert (found.numbers, found.kinds) == ("mdlp", kinds)
    columns = shared.frame.drop(columns=["id", "play"])
    model = ebnc.EBNCClassifier("naive", numbers="mdlp", kinds=kinds)
    expected = model.fit(columns, shared.frame["play"])
    domain = found.ebnc_.domain
    assert domain == expected.ebnc_.domain
    assert {x: domain.kind(x) for x in kinds} == kinds
    np.testing.assert_allclose(
        found.predict_proba(columns), expected.predict_proba(columns), rtol=1e-9
    )


@pytest.mark.parametrize("verb", [("learn", "-t", "play"), ("network", "learn")], ids=len)
@pytest.mark.parametrize(
    ("option", "words"),
    [
        (["--numbers", "rough"], "numbers must be one of smooth, mdlp, quantile, got 'rough'"),
        (
            ["--kind", "grade"],
            "--kind takes COLUMN=KIND, where KIND is nominal, ordered or numeric",
        ),
        (["--kind", "grade=number"], "where KIND is nominal, ordered or numeric"),
        (["--kind", "grad=ordered"], "grad"),
    ],
)
def test_wrong_kinds_are_refused(verb, option, words, shared, tmp_path):
    out = tmp_path / "m.json"
    refused(*verb, shared.csv, "--exclude", "id", *option, "--out", out, words=words)
    assert not out.exists()


def test_quality_is_printed_and_is_that_of_cross_validation(shared, tmp_path):
    """Few rows: five folds, as with --report; it is on rows that the models have not seen."""
    learn = ["learn", shared.csv, "-t", "play", "--exclude", "id", "--json", "--structure", "naive"]
    ran = succeeded(*learn, "-o", tmp_path / "a.json")
    found = json.loads(ran.out)["held_out"]
    columns = shared.frame.drop(columns=["id", "play"])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    p = np.zeros(300)
    codes = (shared.frame["play"] == "yes").astype(int)
    for seen, unseen in folds.split(columns, codes):
        model = ebnc.EBNCClassifier("naive").fit(columns.iloc[seen], codes[seen])
        p[unseen] = model.predict_proba(columns.iloc[unseen])[np.arange(len(unseen)), codes[unseen]]
    assert found["folds"] == 5
    assert found["log_loss"] == pytest.approx(-np.log(p).mean(), rel=1e-6)
    again = json.loads(succeeded(*learn, "-o", tmp_path / "b.json", "--folds", "0").out)
    assert again["held_out"] is None
    assert (tmp_path / "a.json").read_text() != ""
    assert ebnc.load(tmp_path / "a.json").structure_ == ebnc.load(tmp_path / "b.json").structure_


def test_a_quick_check_of_many_rows(tmp_path):
    """One fold of five; the words say what was done."""
    generator = np.random.default_rng(0)
    x = generator.integers(0, 3, 1500)
    y = np.where(generator.random(1500) < 0.2 + 0.3 * x, "yes", "no")
    rows = "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True))
    (tmp_path / "d.csv").write_text(f"x,y\n{rows}")
    ran = succeeded("learn", tmp_path / "d.csv", "-t", "y", "-o", tmp_path / "m.json")
    text = " ".join(ran.text.split())
    assert "on 300 rows that a second model, learned from the others, had not seen" in text
    (shown,) = re.findall(r"log-loss ([0-9.]+) ±", text)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    seen, unseen = next(iter(folds.split(x, y)))
    shares = np.array([(y[seen] == "yes")[x[seen] == k].mean() for k in range(3)])[x[unseen]]
    loss = -np.log(np.where(y[unseen] == "yes", shares, 1 - shares))
    assert float(shown) == pytest.approx(loss.mean(), abs=0.01)
    (error,) = re.findall(r"± ([0-9.]+)", text)
    assert float(error) == pytest.approx(loss.std() / 300**0.5, rel=0.1)


def test_options_of_the_search(shared, tmp_path):
    """They reach the estimator, and the file keeps them."""
    options = ["--class-weight", "balanced", "--max-parents", "1", "--require", "grade"]
    options += ["--require-arc", "outlook,grade", "--forbid-arc", "outlook,warm"]
    options += ["--n-jobs", "1", "--exclude", "id,wind speed", "-q"]
    succeeded("learn", shared.csv, "-t", "play", *options, "-o", tmp_path / "m.json")
    found = ebnc.load(tmp_path / "m.json")
    assert found.class_weight == "balanced"
    assert found.max_parents == 1
    assert "grade" in found.selected_features_
    assert ("outlook", "grade") in found.structure_.edges
    columns = shared.frame.drop(columns=["id", "wind speed", "play"])
    parameters = found.get_params()
    assert set(parameters["required_arcs"]) == {("outlook", "grade")}
    expected = ebnc.EBNCClassifier(**parameters).fit(columns, shared.frame["play"])
    np.testing.assert_allclose(
        found.predict_proba(columns), expected.predict_proba(columns), rtol=1e-6
    )
