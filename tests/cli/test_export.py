"""``ebnc export``: what ``ebnc.export`` writes."""

import json

import jsonschema
import pytest

import ebnc as library
from cli.command import ebnc, refused, succeeded
from ebnc.cli.printing import output_schema


@pytest.mark.parametrize("end", [".sql", ".py", ".js"])
def test_the_file_is_that_of_python(shared, tmp_path, end):
    out = tmp_path / f"model{end}"
    ran = succeeded("export", shared.model, "-o", out)
    assert (ran.out, ran.err) == (b"", "")
    library.export(library.load(shared.model), tmp_path / f"same{end}")
    assert out.read_bytes() == (tmp_path / f"same{end}").read_bytes()
    refused("export", shared.model, "-o", out, words=["exists already", "--force"])
    printed = json.loads(succeeded("export", shared.model, "-o", out, "--force", "--json").out)
    jsonschema.validate(printed, output_schema())


def test_a_pipe(shared):
    model = shared.model.read_bytes()
    ran = succeeded("export", "-", "--to", "sql", "--table", "my data", stdin=model, start=ebnc)
    assert b'FROM "my data"' in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the language: --to sql, python, js, onnx"),
        (["--to", "c"], "must be one of sql, python, js, onnx, got 'c'"),
        (["-o", "model.txt"], "'model.txt', does not tell the language"),
    ],
)
def test_a_wrong_language(shared, arguments, words):
    refused("export", shared.model, *arguments, words=words)


def test_a_network_is_refused(tmp_path):
    library.Network([library.Table("a", [], {"a": 2}, [0.5, 0.5])]).save(tmp_path / "n.json")
    out = tmp_path / "n.sql"
    refused("export", tmp_path / "n.json", "-o", out, words=["n.json: a network does not predict"])
    assert not out.exists()
