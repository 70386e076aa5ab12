"""Bad data and bad model files: one clear line, exit status 2, nothing written."""

import json

import numpy as np
import pytest

from cli.command import ebnc, ebnc_here, refused, succeeded

GOOD = b"a,b,y\n" + b"u,1,no\nv,2,yes\nu,3,yes\nv,1,no\n" * 5
BAD = {
    "missing file": (None, "does not exist"),
    "binary junk": (bytes(range(256)) * 40, "cannot be read"),
    "zeros": (bytes(5000), "zero bytes"),
    "empty": (b"", "is empty"),
    "header only": (b"a,b,y\n", ["no rows", "no value", "nothing to"]),
    "wrong delimiter": (GOOD.replace(b",", b"^"), "no column 'y'"),
    "duplicate columns": (GOOD.replace(b"a,b,y", b"a,a,y"), "two columns 'a'"),
    "not UTF-8": (GOOD.replace(b"u,1", b"\xe4,1"), ["data", "read"]),
    "unknown target": (GOOD.replace(b",y\n", b",z\n"), "no column 'y'"),
    "one class": (GOOD.replace(b"yes", b"no"), "'y'"),
    "ragged": (GOOD + b"u,1\n", "cannot be read"),
    "unclosed quote": (GOOD + b'"u,1,no\n' * 5, "cannot be read"),
    "missing target": (GOOD + b"u,1,\n", "missing"),
    "no inputs": (b"y\nno\nyes\n", "no columns are left"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_data_are_refused_by_learn(kind, tmp_path):
    content, words = BAD[kind]
    path = tmp_path / "data.csv"
    if content is not None:
        path.write_bytes(content)
    before = sorted(p.name for p in tmp_path.iterdir())
    start = ebnc if kind in ("missing file", "binary junk") else ebnc_here
    learn = ["learn", path, "-t", "y", "-o", tmp_path / "m.json"]
    ran = refused(*learn, words=[], start=start)
    listed = [words] if isinstance(words, str) else words
    assert any(word in ran.err for word in listed), ran.err
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_directories_and_other_endings(tmp_path):
    refused("learn", tmp_path, "-t", "y", "-o", tmp_path / "m", words="no file whose name ends in")
    (tmp_path / "data.xlsx").write_bytes(b"PK\x03\x04")
    refused("learn", tmp_path / "data.xlsx", "-t", "y", "-o", tmp_path / "m", words="data.xlsx")
    (tmp_path / "data.parquet").write_bytes(b"PAR1 and no more")
    refused("learn", tmp_path / "data.parquet", "-t", "y", "-o", tmp_path / "m", words="parquet")
    refused("learn", "-", "-t", "y", "-o", tmp_path / "m", words="standard input is empty")


@pytest.mark.slow
def test_ten_thousand_columns(tmp_path):
    """Wide data are learned from, in the time it takes."""
    generator = np.random.default_rng(0)
    cells = generator.integers(0, 2, (20, 10_000))
    header = ",".join(f"x{i}" for i in range(10_000))
    lines = [",".join(map(str, row)) + f",{'yes' if row[7] else 'no'}" for row in cells]
    (tmp_path / "wide.csv").write_text(f"{header},y\n" + "\n".join(lines) + "\n")
    learn = ["learn", tmp_path / "wide.csv", "-t", "y", "-o", tmp_path / "m.json"]
    succeeded(*learn, "--structure", "naive", "--prior-scale", "1")
    ran = succeeded("predict", tmp_path / "m.json", tmp_path / "wide.csv")
    assert ran.text.count("\n") == 21


# -- model files ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_model_file_cut_off_at_every_byte(tmp_path):
    (tmp_path / "data.csv").write_bytes(GOOD)
    small = ["--structure", "naive", "--exclude", "b"]
    succeeded("learn", tmp_path / "data.csv", "-t", "y", "-o", tmp_path / "m.json", *small)
    content = (tmp_path / "m.json").read_bytes()
    cut = tmp_path / "cut.json"
    for length in range(len(content)):
        cut.write_bytes(content[:length])
        refused("predict", cut, tmp_path / "data.csv", words="cut.json")
    refused("report", cut, "-o", tmp_path / "r.html", words="cut.json", start=ebnc)
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b'"version": 1', b'"version": 7', "this ebnc reads versions up to 1; upgrade ebnc"),
        (b'"phi": [', b'"phi": [NaN, ', "NaN"),
        (b'"phi": [', b'"phi": [1e999, ', "too large"),
        (b'"phi": [', b'"phi": [1e300, ', "too large"),
        (b'"phi": [', b'"phi": [' + b"9" * 3000 + b", ", "digits"),
        (b'"kind": "classifier"', b'"kind": "pickle"', "kind"),
        (b'"kind"', b'"kind": 1, "kind"', "given twice"),
        (b'"format": "ebnc model"', b'"format": "x"', "not an ebnc model file"),
    ],
)
def test_model_files_with_nonsense(shared, tmp_path, old, new, words):
    content = shared.model.read_bytes()
    assert old in content
    (tmp_path / "m.json").write_bytes(content.replace(old, new, 1))
    for verb in (["predict", tmp_path / "m.json", shared.csv], ["report", tmp_path / "m.json"]):
        refused(*verb, "-o", tmp_path / "out", words=["m.json", words])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", bytes(range(256)), b"[" * 10**5, b"{}"])
def test_files_that_are_no_models(shared, tmp_path, content):
    (tmp_path / "m.json").write_bytes(content)
    refused("predict", tmp_path / "m.json", shared.csv, words="m.json")
    refused("predict", tmp_path / "missing.json", shared.csv, words="missing.json")
    refused("predict", tmp_path, shared.csv, words="cannot read")
    refused("predict", shared.csv, shared.csv, words="data.csv")


def test_a_script_in_a_state_is_text_everywhere(tmp_path):
    """In the model file, in predictions, and escaped in the report."""
    script = "<script>alert(1)</script>"
    rows = [f'"{script}",{script}'] * 12 + ["calm,no"] * 12
    (tmp_path / "data.csv").write_text("x,y\n" + "\n".join(rows) + "\n")
    succeeded(
        *["learn", tmp_path / "data.csv", "-t", "y", "-o", tmp_path / "m.json"],
        *["--report", tmp_path / "r.html", "--folds", "2"],
    )
    ran = succeeded("predict", tmp_path / "m.json", tmp_path / "data.csv")
    assert ran.text.splitlines()[1].startswith(script)
    assert script not in (tmp_path / "r.html").read_text()
    assert script in json.loads((tmp_path / "m.json").read_text())["model"]["classes"]["labels"]
