"""``ebnc demo``: run all verbs, from a table to a report, on an example that the package includes.

The data are the 2 201 people on board the Titanic, as the four-way table of counts published by
Dawson (1995, Journal of Statistics Education 3) and distributed with R.
"""

import shlex
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from ebnc.cli.arguments import Force
from ebnc.errors import FileError


def demo(
    context: typer.Context,
    folder: Annotated[
        str, typer.Option("--out", "-o", metavar="FOLDER", help="The folder to write files to.")
    ] = "ebnc-demo",
    force: Force = False,
) -> None:
    """Learn who survived the Titanic, predict, and write reports; prints every command it runs."""
    from ebnc.writing import write_whole

    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make folder {folder}: {error.strerror}") from None
    names = ["titanic.csv", "model.json", "report.html", "predictions.csv"]
    names += ["network.json", "network.html"]
    paths = [str(place / name) for name in names]
    data, model, report, predictions, network, drawn = paths
    present = [path for path in paths if Path(path).exists()]
    if present and not force:
        raise FileError(f"{present[0]} exists already; --force overwrites it")
    write_whole(data, (files("ebnc.cli") / "example" / "titanic.csv").read_bytes())
    again = ["--force"] if force else []
    table = "[class][sex][age][survived|class:sex:age]"
    target, counts = ["--target", "survived"], ["--weights", "people"]
    commands = [
        ["learn", data, *target, *counts, "--out", model, "--report", report, *again],
        ["predict", model, data, "--out", predictions, *again],
        ["dimension", table, *target, "--states", "class=4"],
        ["network", "learn", data, *counts, "--out", network, "--report", drawn, *again],
        ["network", "query", network, "survived", "--evidence", "sex=female"],
        ["network", "sample", network, "--rows", "3"],
    ]
    for command in commands:
        print(f"$ ebnc {shlex.join(command)}", flush=True)  # verbs may bypass the buffer of print
        context.find_root().command.main(command, prog_name="ebnc", standalone_mode=False)
    print(f"Predictions are in {predictions}. Open these in a browser:")
    for page in (report, drawn):
        print(f"  {Path(page).resolve().as_uri()}")
