"""``ebnc predict``: predict classes with probabilities, or numbers with intervals."""

from typing import Annotated

import typer

from ebnc.cli import arguments
from ebnc.errors import FileError, ParameterError


def predict(
    model: arguments.Model,
    data: arguments.Data,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The file to write; '-' is standard output.")
    ] = "-",
    id_column: arguments.IdColumn = None,
    keep: arguments.Keep = None,
    digits: arguments.Digits = 6,
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
    seen in training, predictions are averaged over the training data; their number is printed. If
    the data have the target, accuracy and log-loss are printed, too.
    """
    from ebnc.cli.progress import shown_progress
    from ebnc.cli.streams import STANDARD, data_files, model_path, output, refuse_existing_output

    if model == data == STANDARD:
        raise FileError("model and data cannot both come from standard input")
    for read in (model, data):
        refuse_existing_output(out, force=force, read=read)
    if not 0 < level < 1:
        raise ParameterError(f"--level must lie between 0 and 1, got {level:g}")
    from ebnc.cli.predicting import Answers, kept_columns, print_result, write_predictions
    from ebnc.cli.prediction_text import prediction_text
    from ebnc.data.coder import Coder
    from ebnc.data.sources import source_of
    from ebnc.formats.native import read_predictor

    predictor = read_predictor(model_path(model))
    density = predictor.density
    coder = Coder(predictor.domain, predictor.used, "extra")
    with (
        shown_progress(quiet=quiet) as progress,
        data_files(
            data, progress.share, **arguments.reading(None, missing, delimiter, decimal)
        ) as files,
        output(out, force=force) as file,
    ):
        source = source_of(files)
        kept = kept_columns(source, id_column, keep)
        classes = predictor.classes.tolist()
        text = prediction_text(
            classes, density, as_json=as_json, level=level, digits=digits, kept=kept
        )
        answers = Answers(predictor.target, predictor.probabilities, predictor.best, density)
        n_rows, score = write_predictions(source, coder, text, answers, file, kept)
    print_result(n_rows, score, out, coder.unknown, quiet=quiet or as_json)
