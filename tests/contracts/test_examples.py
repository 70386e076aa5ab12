"""What the printed examples import is installed by ``make demo``."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
IMPORTED = re.compile(r"^(?:>>>|\.\.\.) +(?:import|from) +(.+)$", re.MULTILINE)


def installed():
    """Names of modules; where they differ from those of their distributions, both."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["examples"]
    names = {re.match(r"[\w-]+", text)[0].replace("-", "_") for text in wanted}
    return {*names, "sklearn", "ebnc", *sys.stdlib_module_names}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_import_only_what_the_demo_installs(page):
    found = set()
    for words in IMPORTED.findall(page.read_text(encoding="utf-8")):
        parts = words.split(" import ")[0].split(",")
        found |= {part.split(" as ")[0].strip().split(".")[0] for part in parts}
    assert found <= installed()


def test_the_examples_are_found():
    assert sum(len(IMPORTED.findall(page.read_text(encoding="utf-8"))) for page in PAGES) > 10
