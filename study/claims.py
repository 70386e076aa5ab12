"""Numbers that README and docs quote from tracked results; nothing is typed by hand.

In Markdown, ``<!-- claim NAME -->2.31<!-- end -->`` holds a number and, on lines of their own,
``<!-- table NAME -->`` … ``<!-- end -->`` a table. ``fill`` puts in what the results say, and a
test holds that all files are filled. Each claim says where it comes from, and how to make that.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["Claim", "fill", "markdown_files", "markdown_table", "names_in"]

ROOT = Path(__file__).parent.parent
MARK = re.compile(
    r"(<!-- (?P<kind>claim|table) (?P<name>[\w./-]+) -->)(?P<text>.*?)(<!-- end -->)", re.DOTALL
)


class Claim(NamedTuple):
    """What is said, and where it comes from: a file, its rows, and the command that makes them."""

    text: str
    source: str


def fill(text: str, claims: Mapping[str, Claim]) -> str:
    """``text`` with every marked place filled in; a name that is not known is an error."""

    def put(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in claims:
            raise KeyError(f"no claim {name}; there are {', '.join(sorted(claims))}")
        new = claims[name].text
        if match["kind"] == "table":
            new = f"\n{new}\n"
        return f"{match[1]}{new}{match[5]}"

    return MARK.sub(put, text)


def names_in(text: str) -> list[str]:
    return [match["name"] for match in MARK.finditer(text)]


def markdown_files(root: Path = ROOT) -> Iterator[Path]:
    yield root / "README.md"
    yield from sorted((root / "docs").rglob("*.md"))


def markdown_table(columns: Mapping[str, list[str]]) -> str:
    """A table with the first column to the left, the others to the right."""
    names = list(columns)
    lines = ["| " + " | ".join(names) + " |", "|---" + "|--:" * (len(names) - 1) + "|"]
    for row in zip(*columns.values(), strict=True):
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)
