"""Every verb that reads data or a model says what is wrong with them, and writes nothing."""

from types import SimpleNamespace

import numpy as np
import pytest

import ebnc as library
from cli.command import ebnc as process
from cli.command import refused, succeeded
from ebnc.errors import FormatError
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
    "predict": lambda good, data, out: ["predict", good.model, data, "-o", out],
    "network learn": lambda good, data, out: ["network", "learn", data, "-o", out],
    "network loglik": lambda good, data, out: ["network", "loglik", good.network, data, "-o", out],
}


@pytest.mark.parametrize("verb", DATA_VERBS)
@pytest.mark.parametrize("kind", BAD_DATA)
def test_bad_data(good, verb, kind, tmp_path):
    content, words = BAD_DATA[kind]
    data, out = tmp_path / "data.csv", tmp_path / "out.json"
    if content is not None:
        data.write_bytes(content)
    if (verb, kind) == ("network learn", "wrong delimiter"):
        return  # a table of one column is a table
    refused(*DATA_VERBS[verb](good, data, out), words=words)
    assert not out.exists()
    assert {path.name for path in tmp_path.iterdir()} <= {"data.csv"}


@pytest.mark.parametrize("verb", DATA_VERBS)
def test_a_folder_without_data_and_other_columns(good, verb, tmp_path):
    out = tmp_path / "out.json"
    refused(*DATA_VERBS[verb](good, tmp_path, out), words="no file whose name ends in")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    refused(*DATA_VERBS[verb](good, tmp_path / "cut.parquet", out), words="cut.parquet")
    if verb != "network learn":
        (tmp_path / "data.csv").write_bytes(GOOD.replace(b"a,b", b"c,d"))
        refused(*DATA_VERBS[verb](good, tmp_path / "data.csv", out), words="no column 'a'")
    assert not out.exists()


@pytest.mark.slow
def test_as_a_user_runs_them(good, tmp_path):
    """One path of every verb in a process of its own."""
    out = tmp_path / "out.bif"
    for verb in (
        ["predict", good.model, tmp_path / "none.csv", "-o", out],
        ["network", "learn", tmp_path / "none.csv", "-o", out],
        ["network", "loglik", good.network, tmp_path / "none.csv", "-o", out],
        ["network", "sample", tmp_path / "none.json", "-o", out],
        ["network", "query", tmp_path / "none.json", "y"],
        ["network", "export", tmp_path / "none.json", "-o", out],
    ):
        refused(*verb, words="none.", start=process)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_ten_thousand_columns(good, tmp_path):
    """Predicted from and, where a network is asked for, refused or learned, never half done."""
    header = ",".join(f"x{i}" for i in range(10_000))
    cells = np.random.default_rng(0).integers(0, 2, (3, 10_000))
    rows = "\n".join(",".join(map(str, row)) + ",u,1,no" for row in cells)
    data = tmp_path / "wide.csv"
    data.write_text(f"{header},a,b,y\n{rows}\n")
    assert succeeded("predict", good.model, data).text.count("\n") == 4
    assert "rows" in succeeded("network", "loglik", good.network, data).text
    out = tmp_path / "n.json"
    learn = ["network", "learn", data, "-o", out, "--report", tmp_path / "n.html"]
    refused(*learn, words="a network of 10003 variables cannot be learned")
    assert list(tmp_path.iterdir()) == [data]


# -- model files ---------------------------------------------------------------------------------

MODEL_VERBS = {
    "sample": lambda model, good, out: ["network", "sample", model, "-o", out],
    "query": lambda model, good, out: ["network", "query", model, "y"],
    "loglik": lambda model, good, out: ["network", "loglik", model, good.csv, "-o", out],
    "export": lambda model, good, out: ["network", "export", model, "-o", out],
}


def test_a_network_cut_off_at_every_byte(good, tmp_path):
    """All bytes here, every 100th for the verbs: they read models in one way."""
    content = good.network.read_bytes()
    cut, out = tmp_path / "cut.json", tmp_path / "out.bif"
    for length in range(len(content)):
        cut.write_bytes(content[:length])
        with pytest.raises(FormatError, match=r"cut\.json"):
            library.load(cut)
        for command in MODEL_VERBS.values() if length % 100 == 0 else ():
            refused(*command(cut, good, out), words="cut.json")
    assert not out.exists()


@pytest.mark.parametrize("verb", MODEL_VERBS)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"0.75", b"NaN"),
        (b"0.75", b"1e999"),
        (b"0.75", b"1e300"),
        (b"0.75", b"-0.75"),
        (b"0.75", b"9" * 3000),
        (b'"version": 1', b'"version": 7'),
        (b'"kind": "network"', b'"kind": "pickle"'),
    ],
)
def test_networks_with_nonsense(good, tmp_path, verb, old, new):
    content = good.network.read_bytes()
    assert old in content
    model, out = tmp_path / "n.json", tmp_path / "out.bif"
    model.write_bytes(content.replace(old, new, 1))
    refused(*MODEL_VERBS[verb](model, good, out), words="n.json")
    assert not out.exists()


@pytest.mark.parametrize("verb", MODEL_VERBS)
def test_what_is_no_network(good, tmp_path, verb):
    out = tmp_path / "out.bif"
    for content in (b"", b"PK\x03\x04", bytes(range(256)), b"[" * 10**5, b"{}"):
        (tmp_path / "n.json").write_bytes(content)
        refused(*MODEL_VERBS[verb](tmp_path / "n.json", good, out), words="n.json")
        (tmp_path / "n.bif").write_bytes(content)
        refused(*MODEL_VERBS[verb](tmp_path / "n.bif", good, out), words="n.bif")
    refused(*MODEL_VERBS[verb](tmp_path, good, out), words="cannot read")
    refused(*MODEL_VERBS[verb](good.model, good, out), words="not a network")
    assert not out.exists()


def test_a_script_in_a_state_of_a_network(tmp_path):
    """Text in rows and tables; escaped in the report."""
    rows = [f'"{SCRIPT}",x'] * 15 + ["calm,y"] * 15 + [f'"{SCRIPT}",y'] * 5
    (tmp_path / "data.csv").write_text(f"{SCRIPT},b\n" + "\n".join(rows) + "\n")
    model = tmp_path / "n.json"
    succeeded("network", "learn", tmp_path / "data.csv", "-o", model)
    assert SCRIPT not in render_html(summarise_network(library.load(model)))
    assert SCRIPT in succeeded("network", "sample", model, "-n", "50").text
    assert SCRIPT in succeeded("network", "query", model, SCRIPT, "--json").text
