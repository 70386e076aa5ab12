"""Bad data and bad model files: every verb says what is wrong in one line, and writes nothing."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

import ebnc as library
from cli.command import ebnc as process
from cli.command import refused, succeeded
from ebnc.report import render_html, summarise_network

GOOD = b"a,b,y\n" + b"u,1,no\nv,2,yes\nu,3,yes\nv,1,no\n" * 5
SCRIPT = "<script>alert(1)</script>"

BAD_DATA = {
    "missing file": (None, "does not exist"),
    "binary junk": (bytes(range(256)) * 40, "data.csv"),
    "zeros": (bytes(5000), "zero bytes"),
    "empty": (b"", "is empty"),
    "header only": (b"a,b,y\n", "no "),
    "wrong delimiter": (GOOD.replace(b",", b"^"), "column"),
    "duplicate columns": (GOOD.replace(b"a,b,y", b"a,a,y"), "two columns 'a'"),
    "not UTF-8": (GOOD.replace(b"u,1", b"\xe4,1"), "data.csv"),
    "ragged": (GOOD + b"u,1\n", "data.csv"),
    "unclosed quote": (GOOD + b'"u,1,no\n' * 5, "data.csv"),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Small models: a classifier of a column y, and a network of a, b and y."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "data.csv").write_bytes(GOOD)
    learn = ["learn", folder / "data.csv", "-t", "y", "-o", folder / "m.json"]
    succeeded(*learn, "--structure", "naive", "--quiet")
    domain = {"a": ["u", "v"], "b": [1, 2, 3], "y": ["no", "yes"]}
    nodes = [
        library.Table("a", [], domain, [0.5, 0.5]),
        library.Table("b", [], domain, [0.5, 0.25, 0.25]),
        library.Table("y", ["a"], domain, [[0.75, 0.25], [0.25, 0.75]]),
    ]
    library.Network(nodes).save(folder / "n.json")
    return SimpleNamespace(
        csv=folder / "data.csv", model=folder / "m.json", network=folder / "n.json"
    )


DATA_VERBS = {
    "learn": lambda good, data, out: ["learn", data, "-t", "y", "-o", out],
    "predict": lambda good, data, out: ["predict", good.model, data, "-o", out],
    "network learn": lambda good, data, out: ["network", "learn", data, "-o", out],
    "network loglik": lambda good, data, out: ["network", "loglik", good.network, data, "-o", out],
}


@pytest.mark.parametrize("verb", DATA_VERBS)
@pytest.mark.parametrize("kind", BAD_DATA)
def test_bad_data(good, verb, kind, tmp_path):
    content, words = BAD_DATA[kind]
    data = tmp_path / "data.csv"
    if content is not None:
        data.write_bytes(content)
    if (verb, kind) == ("network learn", "wrong delimiter"):
        return  # a table of one column is a table
    refused(*DATA_VERBS[verb](good, data, tmp_path / "out.json"), words=words)
    assert {path.name for path in tmp_path.iterdir()} <= {"data.csv"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (GOOD.replace(b",y\n", b",z\n"), "no column 'y'"),
        (GOOD.replace(b"yes", b"no"), "'y'"),
        (GOOD + b"u,1,\n", "missing"),
        (b"y\nno\nyes\n", "no columns are left"),
        (b"", "standard input is empty"),
    ],
)
def test_bad_targets(content, words, tmp_path):
    out = tmp_path / "m.json"
    refused("learn", "-", "-t", "y", "-o", out, stdin=content, words=words)
    assert not out.exists()


@pytest.mark.parametrize("verb", DATA_VERBS)
def test_folders_other_endings_and_other_columns(good, verb, tmp_path):
    out = tmp_path / "out.json"
    refused(*DATA_VERBS[verb](good, tmp_path, out), words="no file whose name ends in")
    for name, content in {"data.xlsx": b"PK\x03\x04", "cut.parquet": b"PAR1 and no more"}.items():
        (tmp_path / name).write_bytes(content)
        refused(*DATA_VERBS[verb](good, tmp_path / name, out), words=name)
    if "learn" not in verb:
        (tmp_path / "data.csv").write_bytes(GOOD.replace(b"a,b", b"c,d"))
        refused(*DATA_VERBS[verb](good, tmp_path / "data.csv", out), words="no column 'a'")
    assert not out.exists()


@pytest.mark.slow
def test_as_a_user_runs_them(good, tmp_path):
    """One path of every verb in a process of its own."""
    data, model, out = tmp_path / "none.csv", tmp_path / "none.json", tmp_path / "out.bif"
    commands = [command(good, data, out) for command in DATA_VERBS.values()]
    commands += [command(model, good, out) for _, command in MODEL_VERBS.values()]
    for command in commands:
        refused(*command, words="none.", start=process)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_ten_thousand_columns(good, tmp_path):
    """A classifier is learned; a network is refused; both predict."""
    header = ",".join(f"x{i}" for i in range(10_000))
    cells = np.random.default_rng(0).integers(0, 2, (20, 10_000))
    lines = [",".join(map(str, row)) + f",u,1,{'yes' if row[7] else 'no'}" for row in cells]
    data, model = tmp_path / "wide.csv", tmp_path / "m.json"
    data.write_text(f"{header},a,b,y\n" + "\n".join(lines) + "\n")
    learn = ["learn", data, "-t", "y", "-o", model]
    succeeded(*learn, "--structure", "naive", "--prior-scale", "1")
    for known in (model, good.model):
        assert succeeded("predict", known, data).text.count("\n") == 21
    assert "rows" in succeeded("network", "loglik", good.network, data).text
    learn = ["network", "learn", data, "-o", tmp_path / "n.json", "--report", tmp_path / "n.html"]
    refused(*learn, words="a network of 10003 variables cannot be learned")
    assert {path.name for path in tmp_path.iterdir()} == {"wide.csv", "m.json"}


# -- model files ---------------------------------------------------------------------------------

MODEL_VERBS = {
    "predict": ("model", lambda model, good, out: ["predict", model, good.csv, "-o", out]),
    "report": ("model", lambda model, good, out: ["report", model, "-o", out]),
    "sample": ("network", lambda model, good, out: ["network", "sample", model, "-o", out]),
    "query": ("network", lambda model, good, out: ["network", "query", model, "y"]),
    "loglik": (
        "network",
        lambda model, good, out: ["network", "loglik", model, good.csv, "-o", out],
    ),
    "export": ("network", lambda model, good, out: ["network", "export", model, "-o", out]),
}
NUMBERS = rb'("(?:phi|theta)": \[)'


@pytest.mark.parametrize("verb", MODEL_VERBS)
def test_model_files_cut_off(good, verb, tmp_path):
    which, command = MODEL_VERBS[verb]
    content = getattr(good, which).read_bytes()
    cut, out = tmp_path / "cut.json", tmp_path / "out.bif"
    for length in range(0, len(content), 100):
        cut.write_bytes(content[:length])
        refused(*command(cut, good, out), words="cut.json")
    assert not out.exists()


@pytest.mark.parametrize("verb", MODEL_VERBS)
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b'"version": 2', b'"version": 7', "this ebnc reads versions up to 2; upgrade ebnc"),
        (NUMBERS, rb"\g<1>NaN, ", "NaN"),
        (NUMBERS, rb"\g<1>1e999, ", "too large"),
        (NUMBERS, rb"\g<1>1e300, ", "too large"),
        (NUMBERS, rb"\g<1>" + b"9" * 3000 + b", ", "digits"),
        (b'"kind": "', b'"kind": "no ', "kind"),
        (b'"kind"', b'"kind": 1, "kind"', "given twice"),
        (b'"format": "ebnc model"', b'"format": "x"', "not an ebnc model file"),
    ],
)
def test_model_files_with_nonsense(good, tmp_path, verb, old, new, words):
    which, command = MODEL_VERBS[verb]
    content, n_changes = re.subn(old, new, getattr(good, which).read_bytes(), count=1)
    assert n_changes == 1
    model, out = tmp_path / "m.json", tmp_path / "out.bif"
    model.write_bytes(content)
    refused(*command(model, good, out), words=["m.json", words])
    assert not out.exists()


@pytest.mark.parametrize("verb", MODEL_VERBS)
def test_files_that_are_no_models(good, tmp_path, verb):
    which, command = MODEL_VERBS[verb]
    out = tmp_path / "out.bif"
    names = ["n.json"] if verb == "predict" else ["n.json", "n.bif"]
    for content in (b"", b"PK\x03\x04", bytes(range(256)), b"[" * 10**5, b"{}"):
        for name in names:
            (tmp_path / name).write_bytes(content)
            refused(*command(tmp_path / name, good, out), words=name)
    refused(*command(tmp_path, good, out), words="cannot read")
    if which == "network":
        refused(*command(good.model, good, out), words="not a network")
    assert not out.exists()


# -- markup --------------------------------------------------------------------------------------


def test_a_script_in_a_state_is_text_everywhere(tmp_path):
    """In the model file, in predictions, and escaped in the report."""
    rows = [f'"{SCRIPT}",{SCRIPT}'] * 12 + ["calm,no"] * 12
    (tmp_path / "data.csv").write_text("x,y\n" + "\n".join(rows) + "\n")
    succeeded(
        *["learn", tmp_path / "data.csv", "-t", "y", "-o", tmp_path / "m.json"],
        *["--report", tmp_path / "r.html", "--folds", "2"],
    )
    ran = succeeded("predict", tmp_path / "m.json", tmp_path / "data.csv")
    assert ran.text.splitlines()[1].startswith(SCRIPT)
    assert SCRIPT not in (tmp_path / "r.html").read_text()
    assert SCRIPT in json.loads((tmp_path / "m.json").read_text())["model"]["classes"]["labels"]


def test_a_script_in_a_state_of_a_network(tmp_path):
    """Text in rows and tables; escaped in the report."""
    rows = [f'"{SCRIPT}",x'] * 15 + ["calm,y"] * 15 + [f'"{SCRIPT}",y'] * 5
    (tmp_path / "data.csv").write_text(f"{SCRIPT},b\n" + "\n".join(rows) + "\n")
    model = tmp_path / "n.json"
    succeeded("network", "learn", tmp_path / "data.csv", "-o", model)
    assert SCRIPT not in render_html(summarise_network(library.load(model)))
    assert SCRIPT in succeeded("network", "sample", model, "-n", "50").text
    assert SCRIPT in succeeded("network", "query", model, SCRIPT, "--json").text
