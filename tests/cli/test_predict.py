"""``ebnc predict``."""

import csv
import io
import json
import subprocess
import sys

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import ebnc
from cli.command import COMMAND, refused, succeeded
from cli.command import ebnc as process
from ebnc.cli.printing import output_schema
from ebnc.errors import DataWarning


def read(content):
    rows = list(csv.reader(io.StringIO(content.decode())))
    return rows[0], [row[0] for row in rows[1:]], np.array([row[1:] for row in rows[1:]], float)


def test_predictions_are_those_of_python_to_the_last_bit(shared, tmp_path):
    model = ebnc.load(shared.model)
    columns = shared.frame[model.feature_names_in_.tolist()]
    out = tmp_path / "predictions.csv"
    exact = ["--digits", "17"]
    ran = succeeded("predict", shared.model, shared.csv, "--out", out, *exact, start=process)
    assert ran.err == ""
    header, classes, probabilities = read(out.read_bytes())
    assert header == ["prediction", "p(no)", "p(yes)"]
    assert np.array_equal(probabilities, model.predict_proba(columns))
    assert classes == model.predict(columns).tolist()


def test_csv_parquet_pipes_and_files_give_the_same_bytes(shared):
    csv_file = succeeded("predict", shared.model, shared.csv).out
    assert csv_file.count(b"\n") == 301
    assert succeeded("predict", shared.model, shared.parquet).out == csv_file
    piped = succeeded("predict", shared.model, "-", stdin=shared.csv.read_bytes())
    assert piped.out == csv_file
    model = succeeded("predict", "-", shared.csv, stdin=shared.model.read_bytes(), start=process)
    assert model.out == csv_file


def test_a_whole_pipe(shared):
    """Learn to standard output, predict from standard input, look at the first lines only."""
    line = (
        f"'{COMMAND}' learn '{shared.csv}' -t play --exclude id -o - -q | "
        f"'{COMMAND}' predict - '{shared.csv}' | head -n 2"
    )
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    assert done.stderr == b""
    assert done.stdout.splitlines()[0] == b"prediction,p(no),p(yes)"


def test_json_lines_for_programs(shared):
    ran = succeeded("predict", shared.model, shared.csv, "--json", "--digits", "17")
    lines = ran.text.splitlines()
    model = ebnc.load(shared.model)
    expected = model.predict_proba(shared.frame[model.feature_names_in_.tolist()])
    assert len(lines) == 300
    validator = jsonschema.Draft202012Validator(output_schema())
    for line, row in zip(lines, expected, strict=True):
        validator.validate(json.loads(line))
        assert json.loads(line)["probabilities"] == row.tolist()


def test_labels_never_seen_and_other_columns(shared, tmp_path):
    """As predict_proba takes them, and how many there are is said."""
    frame = shared.frame.head(20).assign(more=1).drop(columns=["id", "play"])
    frame.loc[:4, "outlook"] = "hail"
    frame.to_csv(tmp_path / "new.csv", index=False)
    model = ebnc.load(shared.model)
    ran = succeeded("predict", shared.model, tmp_path / "new.csv", "--digits", "17")
    assert "count as unknown: 'outlook' (5)" in ran.err
    with pytest.warns(DataWarning, match=r"'outlook' \(5\)"):
        expected = model.predict_proba(frame[model.feature_names_in_.tolist()])
    assert np.array_equal(read(ran.out)[2], expected)


def test_a_column_without_any_known_label_is_refused(shared, tmp_path):
    frame = shared.frame.head(20).assign(outlook="hail")
    frame.to_csv(tmp_path / "new.csv", index=False)
    refused("predict", shared.model, tmp_path / "new.csv", words="no entry of column 'outlook'")


def test_text_labels_that_look_like_numbers_stay_text(tmp_path):
    """The file to predict alone would be read as numbers; the model knows better."""
    frame = pd.DataFrame({"x": ["1", "2", "x"] * 30, "y": ["a", "b", "b"] * 30})
    frame.to_csv(tmp_path / "train.csv", index=False)
    pd.DataFrame({"x": ["1", "2"]}).to_csv(tmp_path / "new.csv", index=False)
    succeeded("learn", tmp_path / "train.csv", "-t", "y", "-o", tmp_path / "m.json")
    _, classes, _ = read(succeeded("predict", tmp_path / "m.json", tmp_path / "new.csv").out)
    assert classes == ["a", "b"]


def test_an_ebnc_predicts_too(tmp_path):
    structure = ebnc.EmbeddedStructure.naive("y", ["x"])
    model = ebnc.EBNC(structure, {"x": [1, 2], "y": [False, True]}, [0.5, -1.0])
    model.save(tmp_path / "m.json")
    ran = succeeded("predict", tmp_path / "m.json", "-", "--digits", "17", stdin=b"x\n1\n2.0\n")
    header, classes, found = read(ran.out)
    assert header == ["prediction", "p(False)", "p(True)"]
    assert classes == ["True", "False"]
    assert np.array_equal(found, model.probabilities({"x": [1, 2]}))


def test_a_model_without_inputs_predicts(tmp_path):
    structure = ebnc.EmbeddedStructure("y", (("y", ()), ("x", ())))
    model = ebnc.EBNC(structure, {"x": [1, 2], "y": ["a", "b"]}, [0.5])
    model.save(tmp_path / "m.json")
    ran = succeeded("predict", tmp_path / "m.json", "-", "--digits", "17", stdin=b"x\n1\n3\n")
    _, classes, found = read(ran.out)
    assert classes == ["b", "b"]
    assert np.array_equal(found, model.probabilities({"x": [1, 2]}))


def test_nothing_is_overwritten_without_force(shared, tmp_path):
    out = tmp_path / "p.csv"
    out.write_bytes(b"precious")
    refused("predict", shared.model, shared.csv, "-o", out, words=["p.csv exists", "--force"])
    assert out.read_bytes() == b"precious"
    succeeded("predict", shared.model, shared.csv, "-o", out, "--force")
    assert out.read_bytes().startswith(b"prediction,")


def test_what_is_read_is_never_overwritten(shared, tmp_path):
    for number, given in enumerate((shared.model, shared.csv)):
        (tmp_path / given.name).write_bytes(given.read_bytes())
        read = [shared.model, shared.csv]
        read[number] = tmp_path / given.name
        refused("predict", *read, "-o", tmp_path / given.name, "--force", words="is an input file")
        assert (tmp_path / given.name).read_bytes() == given.read_bytes()


def test_errors_leave_no_output(shared, tmp_path):
    out = tmp_path / "p.csv"
    broken = shared.frame.astype({"wind speed": object})
    broken.loc[250, "wind speed"] = "fast"
    broken.to_csv(tmp_path / "bad.csv", index=False)
    refused(
        *["predict", shared.model, tmp_path / "bad.csv", "-o", out],
        words=["'wind speed' must hold numbers", "'fast'"],
    )
    refused("predict", shared.model, "-", stdin=b"a,b\n1,2\n", words="no column 'outlook'")
    refused("predict", "-", "-", words="cannot both come from standard input")
    assert not out.exists()


def test_csv_is_predicted_without_compiled_code_and_without_pandas(shared, tmp_path):
    """Loading them takes longer than all the rest."""
    pd.concat([shared.frame] * 200).to_csv(tmp_path / "many.csv", index=False)
    given = ["predict", str(shared.model), str(tmp_path / "many.csv"), "-o", str(tmp_path / "o")]
    code = (
        "import sys; from ebnc.cli import running; "
        f"assert running.run({given!r}) == 0; print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "numpy" in loaded
    assert not loaded & {"numba", "duckdb", "scipy", "sklearn", "pandas", "joblib"}


def test_labels_with_quotes_and_commas(tmp_path):
    labels = ['say "no"', "a, b", "plain", "NA"]
    frame = pd.DataFrame({"x": ["p", "q", "r", "s"] * 30, "y": labels * 30})
    model = ebnc.EBNCClassifier().fit(frame[["x"]], frame["y"])
    model.save(tmp_path / "m.json")
    frame[["x"]].to_csv(tmp_path / "x.csv", index=False)
    out = succeeded("predict", tmp_path / "m.json", tmp_path / "x.csv", "--digits", "17").out
    header, classes, found = read(out)
    assert header == ["prediction", *(f"p({label})" for label in sorted(labels))]
    assert classes == frame["y"].tolist()
    assert np.array_equal(found, model.predict_proba(frame[["x"]]))


def test_an_error_in_the_last_row_leaves_standard_output_empty(shared, tmp_path):
    text = shared.csv.read_bytes() + b"too,few\n"
    refused("predict", shared.model, "-", stdin=text, words="Expected 6 columns, got 2: too,few")


def test_identifiers_and_inputs_beside_the_predictions(shared):
    """Their text is that of the file, also of columns that the model uses."""
    ran = succeeded("predict", shared.model, shared.csv, "--id", "id", "--keep", "wind speed,play")
    frame = pd.read_csv(io.BytesIO(ran.out), dtype=str, keep_default_na=False)
    given = pd.read_csv(shared.csv, dtype=str, keep_default_na=False)
    names = ["id", "wind speed", "play"]
    assert frame.columns.tolist() == [*names, "prediction", "p(no)", "p(yes)"]
    assert frame[names].equals(given[names])
    plain = read(succeeded("predict", shared.model, shared.csv).out)[2]
    assert np.array_equal(frame[["p(no)", "p(yes)"]].astype(float), plain)
    everything = succeeded("predict", shared.model, shared.csv, "--keep", "all")
    again = pd.read_csv(io.BytesIO(everything.out), dtype=str, keep_default_na=False)
    assert again[given.columns].equals(given)
    json_line = succeeded("predict", shared.model, shared.csv, "--id", "id", "--json").text
    first = json.loads(json_line.splitlines()[0])
    jsonschema.validate(first, output_schema())
    assert first["kept"] == {"id": "row 0"}


def test_what_cannot_be_kept(shared):
    refused("predict", shared.model, shared.csv, "--id", "ids", words="did you mean 'id'?")
    data = shared.csv.read_bytes().replace(b",id,", b",prediction,", 1)
    refused(
        *["predict", shared.model, "-", "--keep", "all"], stdin=data, words="cannot be kept beside"
    )
    refused("predict", shared.csv, shared.model, words="is a table, not a model")


def test_six_digits_unless_more_are_wanted(shared):
    exact = read(succeeded("predict", shared.model, shared.csv, "--digits", "17").out)[2]
    ran = succeeded("predict", shared.model, shared.csv)
    assert max(len(entry) for line in ran.text.splitlines()[1:] for entry in line.split(",")) <= 11
    np.testing.assert_allclose(read(ran.out)[2], exact, rtol=5.1e-6)


def test_agreement_with_the_target_is_printed(shared, tmp_path):
    """As scikit-learn measures it; rows without a target do not count; pipes stay clean."""
    frame = shared.frame.copy()
    frame.loc[:9, "play"] = None
    frame.to_csv(tmp_path / "d.csv", index=False)
    out = tmp_path / "p.csv"
    ran = succeeded("predict", shared.model, tmp_path / "d.csv", "-o", out)
    model = ebnc.load(shared.model)
    p = model.predict_proba(frame[model.feature_names_in_.tolist()])[10:]
    y = frame["play"][10:]
    right = metrics.accuracy_score(y, model.classes_[p.argmax(axis=1)])
    assert "300 predictions in " in ran.text
    assert f"accuracy {right:.2%}, log-loss {metrics.log_loss(y, p):.4f}" in ran.text
    again = ["predict", shared.model, tmp_path / "d.csv", "-o", out, "--force"]
    assert succeeded(*again, "--quiet").out == b""
    without = tmp_path / "without.csv"
    frame.drop(columns="play").to_csv(without, index=False)
    assert "accuracy" not in succeeded("predict", shared.model, without, *again[3:]).text
