"""``ebnc predict``: predict classes with probabilities, or numbers with intervals."""

import sys
from typing import Annotated

import typer

from ebnc.cli import arguments
from ebnc.errors import DataError, FileError, ParameterError


def predict(
    model: arguments.Model,
    data: arguments.Data,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The file to write; '-' is standard output.")
    ] = "-",
    level: Annotated[
        float, typer.Option(help="Probability of the interval of a predicted number.")
    ] = 0.9,
    missing: arguments.MissingWords = None,
    delimiter: arguments.Delimiter = None,
    decimal: arguments.Decimal = ".",
    as_json: arguments.AsJson = False,
    force: arguments.Force = False,
    quiet: arguments.Quiet = False,
) -> None:
    """Predict the most probable class of every row, and the probability of each class.

    Writes CSV with the columns prediction, p(CLASS) …; with --json one JSON object per line. If the
    target is a number, the columns are prediction (the mean), low and high.
    Columns may be in any order; columns that the model does not use are ignored. For values not
    seen in training, predictions are averaged over the training data; their number is printed.
    """
    from ebnc.cli.prediction_text import NumberText, PredictionText
    from ebnc.cli.progress import shown_progress
    from ebnc.cli.streams import STANDARD, data_files, model_path, output, refuse_existing_output

    if model == data == STANDARD:
        raise FileError("model and data cannot both come from standard input")
    for read in (model, data):
        refuse_existing_output(out, force=force, read=read)
    if not 0 < level < 1:
        raise ParameterError(f"--level must lie between 0 and 1, got {level:g}")
    from ebnc.data.coder import Coder, coded_batches
    from ebnc.data.sources import source_of
    from ebnc.formats.native import read_predictor

    predictor = read_predictor(model_path(model))
    text: PredictionText | NumberText
    if predictor.density is None:
        text = PredictionText(predictor, as_json=as_json)
    else:
        text = NumberText(predictor.probabilities, predictor.density, as_json=as_json, level=level)
    coder = Coder(predictor.domain, predictor.used, "extra")
    n_written = 0
    with (
        shown_progress(quiet=quiet) as progress,
        data_files(
            data, progress.share, **arguments.reading(None, missing, delimiter, decimal)
        ) as files,
        output(out, force=force) as file,
    ):
        file.write(text.header)
        for rows in coded_batches(source_of(files), coder):
            file.write(text.lines(rows))
            n_written += len(rows)
        if n_written == 0:
            raise DataError("the data have no rows")
    if coder.unknown:
        print(f"ebnc: {coder.unknown}", file=sys.stderr)
