"""``ebnc network predict``: predict one variable of the rows of a table from the others."""

from typing import TYPE_CHECKING, Annotated

import typer

from ebnc.cli import arguments
from ebnc.errors import FileError, ParameterError

if TYPE_CHECKING:
    from ebnc.data.rows import CodedRows
    from ebnc.typing import FloatArray


def predict(
    model: arguments.Model,
    data: arguments.Data,
    target: Annotated[str, typer.Option(metavar="COLUMN", help="The variable to predict.")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="The file to write; '-' is standard output.")
    ] = "-",
    id_column: arguments.IdColumn = None,
    keep: arguments.Keep = None,
    digits: arguments.Digits = 6,
    level: Annotated[
        float, typer.Option(help="Probability of the interval of a predicted number.")
    ] = 0.9,
    samples: Annotated[
        int | None,
        typer.Option(
            min=1, help="Samples for rows with too many missing entries for an exact sum."
        ),
    ] = None,
    missing: arguments.MissingWords = None,
    delimiter: arguments.Delimiter = None,
    decimal: arguments.Decimal = ".",
    as_json: arguments.AsJson = False,
    force: arguments.Force = False,
    quiet: arguments.Quiet = False,
) -> None:
    """Predict one variable of every row from the others; missing entries are summed out.

    Writes the same CSV or JSON as `ebnc predict`. Columns may be in any order, and some may be
    absent. The target's own column is not used; if it is there, accuracy and log-loss are printed.
    Rows whose exact sum is too large are an error; with --samples they are estimated.
    """
    from ebnc.cli.network.files import read_network
    from ebnc.cli.streams import STANDARD, data_files, output, refuse_existing_output

    if model == data == STANDARD:
        raise FileError("model and data cannot both come from standard input")
    for read in (model, data):
        refuse_existing_output(out, force=force, read=read)
    if not 0 < level < 1:
        raise ParameterError(f"--level must lie between 0 and 1, got {level:g}")
    from ebnc.cli.predicting import Answers, kept_columns, print_result, write_predictions
    from ebnc.cli.prediction_text import prediction_text
    from ebnc.data.coder import Coder, Unknown
    from ebnc.data.sources import source_of

    network = read_network(model)
    predictor = network.predictor(target, n_samples=samples)
    density = predictor.density
    options = arguments.reading(None, missing, delimiter, decimal)
    with data_files(data, **options) as files, output(out, force=force) as file:
        source = source_of(files)
        coder = Coder(network.domain, network.inputs_among(source.names, target), "extra")
        kept = kept_columns(source, id_column, keep)
        classes = predictor.classes.tolist()
        text = prediction_text(
            classes, density, as_json=as_json, level=level, digits=digits, kept=kept
        )

        def probabilities(rows: "CodedRows") -> "FloatArray":
            p = predictor.probabilities(rows)
            return p if density is None else density.given_known(p)

        answers = Answers(target, probabilities, predictor.best, density)
        n_rows, score = write_predictions(source, coder, text, answers, file, kept)
    unknown = Unknown(others=coder.unknown.others)
    print_result(n_rows, score, out, unknown, quiet=quiet or as_json)
