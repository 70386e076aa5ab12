"""``ebnc predict``: classes and probabilities for the rows of a table."""

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ebnc.cli.arguments import AsJson, Data, Force, Model, Quiet
from ebnc.errors import DataError, FileError

if TYPE_CHECKING:
    from ebnc.data.rows import CodedRows
    from ebnc.formats.predictor import Predictor

__all__ = ["predict"]


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        str, typer.Option("--out", "-o", help="Where predictions go; '-' is standard output.")
    ] = "-",
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Predict every row: the most probable class, and the probability of each.

    Writes CSV with the columns prediction, p(CLASS) …; with --json one JSON object a line.
    Columns the model does not use are ignored; entries it never saw count as the average.
    """
    from ebnc.cli.prediction_writer import csv_writer, json_writer
    from ebnc.cli.progress import shown_progress
    from ebnc.cli.streams import STANDARD, data_files, model_path, output, refuse_existing_output

    if model == data == STANDARD:
        raise FileError("model and data cannot both come from standard input")
    refuse_existing_output(out, force=force)
    from ebnc.data.file_rows import stream_rows
    from ebnc.formats.predictor import read_predictor

    predictor = read_predictor(model_path(model))
    ready = threading.Thread(target=_warm_up, args=(predictor,), daemon=True)
    ready.start()  # compiled code is loaded while the data are read
    write = (json_writer if as_json else csv_writer)(predictor.classes.tolist())
    with shown_progress(quiet=quiet) as shown, data_files(data, shown.share) as files:
        batches = stream_rows(files, predictor.domain, predictor.used, unseen_as_extra=True)
        batches = _after(ready, batches)
        probabilities = (predictor.probabilities(rows) for rows in batches)
        first = next(probabilities)  # all rows are read and checked before anything is written
        if len(first) == 0:
            raise DataError("the data have no rows")
        with output(out, force=force) as file:
            write(file, first, True)
            for more in probabilities:
                write(file, more, False)


def _warm_up(predictor: "Predictor") -> None:
    """Predict one row, of first states."""
    import numpy as np

    from ebnc.data.rows import CodedRows, code_type

    n_states = tuple(predictor.domain.n_states(name) + 1 for name in predictor.used)
    codes = np.zeros((len(n_states), 1), dtype=code_type(n_states))
    predictor.probabilities(CodedRows(predictor.used, n_states, codes))


def _after(ready: threading.Thread, batches: "Iterator[CodedRows]") -> "Iterator[CodedRows]":
    for rows in batches:
        ready.join()
        yield rows
