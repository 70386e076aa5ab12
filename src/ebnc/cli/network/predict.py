"""``ebnc network predict``: predict one variable of the rows of a table from the others."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ebnc.cli import arguments
from ebnc.errors import DataError, FileError, ParameterError

if TYPE_CHECKING:
    from ebnc.cli.prediction_text import NumberText, PredictionText
    from ebnc.data.rows import CodedRows
    from ebnc.network.inference.prediction import NodePredictor
    from ebnc.typing import FloatArray


def predict(
    model: arguments.Model,
    data: arguments.Data,
    target: Annotated[str, typer.Option(metavar="COLUMN", help="The variable to predict.")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="The file to write; '-' is standard output.")
    ] = "-",
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
) -> None:
    """Predict one variable of every row from the others; missing entries are summed out.

    Writes the same CSV or JSON as `ebnc predict`. Columns may be in any order, and some may be
    absent; the target's own column is not used. Rows whose exact sum is too large are an error;
    with --samples they are estimated.
    """
    from ebnc.cli.network.files import read_network
    from ebnc.cli.streams import STANDARD, data_files, output, refuse_existing_output

    if model == data == STANDARD:
        raise FileError("model and data cannot both come from standard input")
    for read in (model, data):
        refuse_existing_output(out, force=force, read=read)
    if not 0 < level < 1:
        raise ParameterError(f"--level must lie between 0 and 1, got {level:g}")
    from ebnc.data.coder import Coder, Unknown, coded_batches
    from ebnc.data.sources import source_of

    network = read_network(model)
    text = _text(network.predictor(target, n_samples=samples), as_json=as_json, level=level)
    n_written = 0
    options = arguments.reading(None, missing, delimiter, decimal)
    with data_files(data, **options) as files, output(out, force=force) as file:
        source = source_of(files)
        coder = Coder(network.domain, network.inputs_among(source.names, target), "extra")
        file.write(text.header)
        for rows in coded_batches(source, coder):
            file.write(text.lines(rows))
            n_written += len(rows)
        if n_written == 0:
            raise DataError("the data have no rows")
    if coder.unknown.others:
        print(f"ebnc: {Unknown(others=coder.unknown.others)}", file=sys.stderr)


def _text(
    predictor: "NodePredictor", *, as_json: bool, level: float
) -> "PredictionText | NumberText":
    from ebnc.cli.prediction_text import NumberText, PredictionText

    density = predictor.density
    if density is None:
        return PredictionText(predictor, as_json=as_json)

    def bins(rows: "CodedRows") -> "FloatArray":
        return density.given_known(predictor.probabilities(rows))

    return NumberText(bins, density, as_json=as_json, level=level)
