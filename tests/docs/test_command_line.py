"""The page of the command line names every command, and no other."""

import re
from pathlib import Path

from typer.main import get_command

from ebnc.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"


def commands():
    found = set()
    for name, command in get_command(app).commands.items():
        found |= {f"{name} {verb}" for verb in getattr(command, "commands", {})} or {name}
    return found


def test_every_command_has_a_line_and_every_line_a_command():
    text = PAGE.read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `ebnc ((?:network )?[a-z]+)", text, flags=re.MULTILINE))
    assert listed == commands()
