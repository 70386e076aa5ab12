"""Print results: tables for people, JSON for programs."""

import json
import sys
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from ebnc.report.regression import NumberHeldOut
    from ebnc.report.summary import HeldOut


def print_json(value: Any) -> None:
    """Print one JSON value on a line; ``output_schema`` describes it."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False))


def output_schema() -> dict[str, Any]:
    """Return the JSON Schema of the output of ``--json``."""
    text = (files("ebnc.cli") / "schema" / "output-1.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def print_table(
    rows: Iterable[Sequence[object]],
    header: Sequence[str] = (),
    stream: TextIO | None = None,
) -> None:
    """Print a table as wide as the terminal; columns of numbers are aligned to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    listed = [tuple(row) for row in rows]
    table = Table(box=SIMPLE_HEAD if header else None, show_header=bool(header))
    width = max([len(header), *(len(row) for row in listed)], default=0)
    for place in range(width):
        numeric = all(isinstance(row[place], int | float) for row in listed if place < len(row))
        name = header[place] if place < len(header) else ""
        table.add_column(
            Text(name), justify="right" if numeric and listed else "left", overflow="fold"
        )
    for row in listed:
        table.add_row(*(Text(_shown(cell)) for cell in row))
    file = stream or sys.stdout
    console = Console(file=file, highlight=False, width=None if file.isatty() else 100)
    console.print(table)


def readable_count(count: int) -> str:
    """Format a count with its digits grouped, or as an order of magnitude from 10^15 on."""
    if count < 10**15:
        return f"{count:,}".replace(",", " ")
    return f"about 10^{(count.bit_length() - 1) * 0.30103:.0f}"


def averaged_text(n_models: int) -> str:
    """Say how many models a prediction averages over."""
    return f"{n_models} models" if n_models > 1 else "no other model"


def held_out_text(held: "HeldOut | NumberHeldOut") -> str:
    """Say on what rows a model was measured."""
    if held.n_folds > 1:
        return f"{held.n_folds} folds"
    rows = readable_count(round(held.n_cases))
    return f"on {rows} rows that a second model, learned from the others, had not seen"


def _shown(cell: object) -> str:
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
