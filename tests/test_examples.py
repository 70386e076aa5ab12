"""The examples run and print what they promise."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    expected = {
        "admissions": "applicant = women: no 0.182, yes 0.818",
        "dimension": "1 + 1 + 2 + 3 + 4 + 4 = 15",
        "titanic": "Evidence prefers",
    }[path.stem]
    assert expected in printed
