"""The notebooks of docs/examples run, and print what is stored in them."""

import ast
import contextlib
import io
import json
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "docs" / "examples"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(autouse=True)
def without_a_window():
    mpl.use("Agg")
    yield
    plt.close("all")


def run(code, names):
    """Run a cell; return what it prints, with the value of its last line unless that ends in ;."""
    parts = ast.parse(code)
    last = parts.body[-1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if isinstance(last, ast.Expr) and not code.rstrip().endswith(";"):
            parts.body.pop()
            exec(compile(parts, "cell", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if value is not None:
                print(value if hasattr(value, "to_string") else repr(value))
        else:
            exec(code, names)
    return printed.getvalue().strip()


def stored(cell):
    """The text that a cell shows."""
    found = []
    for output in cell["outputs"]:
        text = output.get("text") or output.get("data", {}).get("text/plain") or []
        found.append("".join(text))
    return "".join(found).strip()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_says(path):
    names = {}
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    for cell in cells:
        printed = run("".join(cell["source"]), names)
        assert [line.split() for line in printed.splitlines()] == [
            line.split() for line in stored(cell).splitlines()
        ]


def test_the_notebooks_are_found_and_in_the_gallery():
    gallery = (FOLDER / "index.md").read_text()
    assert len(NOTEBOOKS) == 5
    assert all(f"({path.name})" in gallery for path in NOTEBOOKS)
