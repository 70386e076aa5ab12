"""``ebnc export``: write a model as code for other programs."""

from typing import Annotated

import typer

from ebnc.cli.arguments import AsJson, Force, Model
from ebnc.errors import ParameterError


def export(
    model: Model,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="[sql|python|js|onnx]", help="The language (default: by the name of the file)."
        ),
    ] = None,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The file to write; '-' is standard output.")
    ] = "-",
    table: Annotated[
        str, typer.Option(metavar="NAME", help="In SQL, the table to predict from.")
    ] = "data",
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Write a model as code that predicts without ebnc, with equal results.

    SQL is one SELECT that adds the prediction and the probabilities to the columns of a table.
    Python and JavaScript are modules that predict one row and need no library. ONNX is a graph.
    For a target that is a number, the code computes the mean.
    """
    from ebnc.cli.streams import STANDARD, model_path, output, refuse_existing_output
    from ebnc.formats.code.export import LANGUAGES, code_of, language
    from ebnc.formats.native import read_predictor

    if to is None and out == STANDARD:
        raise ParameterError(f"name the language: --to {', '.join(LANGUAGES)}")
    to = language(to, out)
    refuse_existing_output(out, force=force, read=model)
    code = code_of(read_predictor(model_path(model)), to, table)
    with output(out, force=force) as file:
        file.write(code)
    if as_json and out != STANDARD:
        from ebnc.cli.printing import print_json

        print_json({"command": "export", "file": out, "language": to})
