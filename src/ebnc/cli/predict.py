"""``ebnc predict``: classes and probabilities for the rows of a table."""

from typing import Annotated

import typer

from ebnc.cli.arguments import AsJson, Data, Force, Model, Quiet
from ebnc.errors import DataError, FileError

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
    Columns the model does not use are ignored; what it does not know of a row is averaged over
    the data it was learned from.
    """
    from ebnc.cli.prediction_text import PredictionText
    from ebnc.cli.progress import shown_progress
    from ebnc.cli.row_writer import row_writer
    from ebnc.cli.streams import STANDARD, data_files, model_path, output, refuse_existing_output

    if model == data == STANDARD:
        raise FileError("model and data cannot both come from standard input")
    for read in (model, data):
        refuse_existing_output(out, force=force, read=read)
    from ebnc.data.file_rows import stream_rows
    from ebnc.formats.predictor import read_predictor

    predictor = read_predictor(model_path(model))
    text = PredictionText(predictor, as_json=as_json)
    n_written = 0
    with (
        shown_progress(quiet=quiet) as shown,
        data_files(data, shown.share) as files,
        output(out, force=force) as file,
    ):
        file.write(text.header)
        with row_writer(text, file, files) as write:
            for rows in stream_rows(files, predictor.domain, predictor.used, unseen_as_extra=True):
                write(rows)
                n_written += len(rows)
        if n_written == 0:
            raise DataError("the data have no rows")
