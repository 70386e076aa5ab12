"""``ebnc demo``: run the main commands, from tables to reports, on invented people.

The people are generated (``ebnc.cli.example.people``), so that what a model finds can be compared
with the rule behind the data.
"""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ebnc.cli.arguments import Force
from ebnc.errors import FileError

FILES = ["people.csv", "new-people.csv", "model.json", "report.html", "predictions.csv"]
FILES += ["model.sql", "network.json", "network.html"]


def demo(
    context: typer.Context,
    folder: Annotated[
        str, typer.Option("--out", "-o", metavar="FOLDER", help="The folder to write files to.")
    ] = "ebnc-demo",
    force: Force = False,
) -> None:
    """Learn who joins a sports club, predict, and write reports; prints every command it runs."""
    from ebnc.cli.example.people import COLUMNS, TARGET, people
    from ebnc.writing import write_whole

    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make folder {folder}: {error.strerror}") from None
    paths = [str(place / name) for name in FILES]
    present = [path for path in paths if Path(path).exists()]
    if present and not force:
        raise FileError(f"{present[0]} exists already; --force overwrites it")
    data, new, model, report, predictions, code, network, drawn = paths
    write_whole(data, people(2000, seed=1))
    write_whole(new, people(1000, seed=2, first=2001))
    again = ["--force"] if force else []
    target, identifier = ["--target", TARGET], ["--exclude", COLUMNS[0]]
    causes = ["--tier", ",".join(COLUMNS[1:]), "--tier", TARGET]
    steps = [
        (
            "Learn who joins a sports club from 2 000 people, and cross-validate (the first run "
            "compiles loops over rows, which takes some ten seconds).",
            ["learn", data, *target, *identifier, "--out", model, "--report", report, *again],
        ),
        ("What was learned? A sum of few terms, where a full table is huge.", ["show", model]),
        ("How good is it for 1 000 people that it has not seen?", ["evaluate", model, new]),
        (
            "Predict each of them.",
            ["predict", model, new, "--id", COLUMNS[0], "--out", predictions, *again],
        ),
        ("Predict inside a database, without ebnc.", ["export", model, "--out", code, *again]),
        (
            "A Bayesian network of all columns; its node 'joined' is a sum of small tables, too.",
            [
                *["network", "learn", data, *identifier, *causes],
                *["--out", network, "--report", drawn, *again],
            ],
        ),
        (
            "Ask it: who joins, among smokers whose friends are members?",
            ["network", "query", network, TARGET, "-e", "smoker=yes", "-e", "friend=yes"],
        ),
    ]
    for words, command in steps:
        print(f"\n# {words}\n$ ebnc {shlex.join(command)}", flush=True)
        context.find_root().command.main(command, prog_name="ebnc", standalone_mode=False)
    print("\nOpen these pages in a browser:")
    for page in (report, drawn):
        print(f"  {Path(page).resolve().as_uri()}")
    print(f"The predictions are in {predictions}, the SQL is in {code}.")
    print("Next, with a table of your own (CSV or Parquet):")
    print("  ebnc learn table.csv --target COLUMN --out my-model.json --report my-report.html")
