"""The number of the version is the same wherever it is written."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_citation_and_the_changelog_have_the_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == project["version"]
    dated = re.findall(r"^## (\d+\.\d+\.\d+), \d{4}-\d{2}-\d{2}$", changelog, re.MULTILINE)
    assert dated[0] == project["version"]
