"""The commands of the README, copied line by line."""

import subprocess
from pathlib import Path

import pytest

from cli.command import COMMAND

pytestmark = pytest.mark.slow

README = Path(__file__).parents[2] / "README.md"


def commands():
    section = README.read_text(encoding="utf-8").split("## From a CSV file, without Python")[1]
    block = section.split("```")[1]
    return [line for line in block.splitlines() if line.startswith("ebnc")]


def test_the_commands_of_the_readme_run(tmp_path):
    listed = commands()
    assert len(listed) >= 5
    script = "set -e -o pipefail\n" + "\n".join(listed)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={"PATH": f"{COMMAND.parent}:/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    names = {path.name for path in tmp_path.iterdir()}
    models, pages = {"model.json", "network.json"}, {"report.html", "again.html", "network.html"}
    assert names == {"demo", "predictions.csv", "model.sql", *models, *pages}
