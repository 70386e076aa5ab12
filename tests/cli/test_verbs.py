"""``ebnc dimension``, ``report``, ``demo``; help, version, completion; usage errors."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import ebnc as library
from cli.command import COMMAND, ebnc, refused, succeeded
from ebnc.cli.demo import FILES
from ebnc.cli.printing import output_schema

WORKED = "[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]"


def test_dimension_of_the_worked_model():
    text = succeeded("dimension", WORKED, "--target", "Y", start=ebnc).text
    assert text.split()[:2] == ["dimension", "15"]
    assert "{X1, X3, X4}" in text


def test_dimension_as_json():
    ran = succeeded(
        *["dimension", "[X1][X2|X1:Y][Y]", "--target", "Y", "--json", "--generic"],
        *["--states", "Y=4", "--states", "X1=2"],
    )
    printed = json.loads(ran.out)
    jsonschema.validate(printed, output_schema())
    assert (printed["dimension"], printed["generic_dimension"]) == (12, 11)  # errata E6
    assert printed["full_table"] == 12


def test_dimension_of_a_table_too_large_to_write_down():
    names = [f"X{i}" for i in range(3000)]
    string = "[Y]" + "".join(f"[{x}|Y]" for x in names)
    printed = json.loads(succeeded("dimension", string, "--target", "Y", "--json").out)
    jsonschema.validate(printed, output_schema())
    assert (printed["dimension"], printed["full_table"]) == (3001, None)
    assert printed["full_table_log2"] == pytest.approx(3000)
    assert "about 10^903" in succeeded("dimension", string, "--target", "Y").text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["[Y][X|Z]", "--target", "Y"], "'Z'"),
        (["[Y", "--target", "Y"], "not closed"),
        (["[Y][X|Y]", "--target", "Q"], "'Q'"),
        (["[Y][X|Y]", "--target", "Y", "--states", "X"], "NAME=COUNT"),
        (["[Y][X|Y]", "--target", "Y", "--states", "X=0"], "'X' has 0 states"),
        (["[Y][X|Y]", "--target", "Y", "--states", "Q=2"], "'Q' is not a variable"),
        (["[Y][X|Y]"], "--target"),
    ],
)
def test_wrong_structures_are_refused(arguments, words):
    refused("dimension", *arguments, words=words)


def test_a_report_of_a_model_file(shared, tmp_path):
    out = tmp_path / "report.html"
    assert str(out) in succeeded("report", shared.model, "-o", out).text
    assert "outlook" in out.read_text()
    refused("report", shared.model, "-o", out, words=["exists already", "--force"])
    refused("report", shared.model, "-o", tmp_path / "m.pdf", words="end its name in .html")
    printed = json.loads(succeeded("report", shared.model, "-o", out, "--force", "--json").out)
    jsonschema.validate(printed, output_schema())
    piped = succeeded("report", "-", "-o", "-", stdin=shared.model.read_bytes(), start=ebnc)
    assert piped.out == out.read_bytes()


def test_what_is_read_is_never_overwritten(shared, tmp_path):
    """Not even with --force; nor do a model and its report share a file."""
    data, model = tmp_path / "data.csv", tmp_path / "model.json"
    data.write_bytes(shared.csv.read_bytes())
    model.write_bytes(shared.model.read_bytes())
    link = tmp_path / "link.csv"
    link.symlink_to(data)
    refused("report", model, "-o", model, "--force", words="is an input file")
    refused("learn", data, "-t", "play", "-o", link, "--force", words="is an input file")
    refused(
        "network", "learn", data, "-o", tmp_path / "n", "--report", data, "--force", words="read"
    )
    out = tmp_path / "out"
    refused("learn", data, "-t", "play", "-o", out, "--report", out, words="a file of its own")
    assert data.read_bytes() == shared.csv.read_bytes()
    assert model.read_bytes() == shared.model.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "link.csv", "model.json"]


@pytest.mark.slow
def test_the_demo_goes_all_the_way(tmp_path):
    ran = succeeded("demo", cwd=tmp_path, start=ebnc)
    place = tmp_path / "ebnc-demo"
    assert sorted(path.name for path in place.iterdir()) == sorted(FILES)
    model, network = (library.load(place / name) for name in ("model.json", "network.json"))
    assert ("age", "friend") in [tuple(sorted(c)) for c in model.structure_.clusters]
    assert "job" not in model.selected_features_  # it has no effect
    assert network["joined"].kind == "ebnc"
    assert "1 000 predictions" in ran.text
    assert "(a full table: " in ran.text
    for page in ("report.html", "network.html"):
        assert (tmp_path / "ebnc-demo" / page).resolve().as_uri() in ran.text
    refused("demo", cwd=tmp_path, start=ebnc, words=["exists already", "--force"])


def test_help_version_and_completion():
    assert "learn" in succeeded("--help").text
    assert "--target" in succeeded("learn", "-h").text
    assert succeeded("--version").text.startswith("ebnc ")
    source = subprocess.run(
        [sys.executable, "-c", "from ebnc.cli import main; main()"],
        env={"_EBNC_COMPLETE": "complete_bash", "COMP_WORDS": "ebnc le", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "learn" in source.stdout


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from ebnc.cli.running import run; run(['learn', '--help']);"
        "heavy = {'numpy', 'scipy', 'numba', 'sklearn', 'duckdb', 'pandas', 'jinja2'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_wrong_usage_is_one_line():
    words = ["No such command", "frobnicate", "ebnc --help"]
    refused("frobnicate", words=words, start=ebnc)
    refused("predict", words=["MODEL", "ebnc predict --help"])
    refused("predict", "--no-such-option", words="--no-such-option")
    assert ebnc().status == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "verb", [["--help"], ["report", "MODEL", "-o", "-"], ["predict", "MODEL", "DATA"]]
)
def test_a_reader_that_has_enough_is_no_error(shared, verb):
    given = {"MODEL": shared.model, "DATA": shared.csv}
    words = " ".join(str(given.get(word, word)) for word in verb)
    script = f"{COMMAND} {words} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_line(shared):
    for verb in (
        ["--help"],
        ["report", shared.model, "-o", "-"],
        ["predict", shared.model, shared.csv],
    ):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [COMMAND, *verb], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 2
        assert done.stderr == "ebnc: cannot use standard output: No space left on device\n"
    refused("report", shared.model, "-o", "/dev/full", words="cannot write /dev/full: No space")


def test_bugs_show_no_traceback_unless_asked(monkeypatch, capsys):
    from ebnc.cli.running import run

    monkeypatch.setattr("ebnc.EmbeddedStructure", None, raising=False)
    assert run(["dimension", "[Y]", "--target", "Y"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "this is a bug" in err
    monkeypatch.setenv("EBNC_TRACEBACK", "1")
    with pytest.raises(AttributeError):
        run(["dimension", "[Y]", "--target", "Y"])
