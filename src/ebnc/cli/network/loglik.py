"""``ebnc network loglik``: compute the log-likelihood of the rows of a table."""

import math
from typing import Annotated

import typer

from ebnc.cli import arguments
from ebnc.errors import DataError, FileError


def loglik(
    model: arguments.Model,
    data: arguments.Data,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", help="Also write log p of every row as CSV; '-' is standard output."
        ),
    ] = None,
    missing: arguments.MissingWords = None,
    delimiter: arguments.Delimiter = None,
    decimal: arguments.Decimal = ".",
    samples: Annotated[
        int | None,
        typer.Option(
            min=1, help="Samples for rows with too many missing entries for an exact sum."
        ),
    ] = None,
    as_json: arguments.AsJson = False,
    force: arguments.Force = False,
) -> None:
    """Compute the log-likelihood of rows, in nats; missing entries are summed out exactly.

    Rows whose exact sum is too large are an error. With --samples they are estimated, and a warning
    on standard error reports their number and the standard error.
    """
    from ebnc.cli.network.files import read_network
    from ebnc.cli.streams import STANDARD, data_files, output, refuse_existing_output

    if model == data == STANDARD:
        raise FileError("model and data cannot both come from standard input")
    refuse_existing_output(out, force=force, read=data)
    network = read_network(model)
    options = arguments.reading(None, missing, delimiter, decimal)
    with data_files(data, **options) as files:
        values = network.log_likelihood(files, n_samples=samples)
    n_rows = len(values)
    if n_rows == 0:
        raise DataError("the data have no rows")
    if out is not None:
        with output(out, force=force) as file:
            lines = ["log_likelihood", *map(repr, values.tolist()), ""]
            file.write("\n".join(lines).encode())
    from ebnc.cli.printing import print_json, print_table, readable_count

    total, mean = float(values.sum()), float(values.mean())
    if out == STANDARD:
        return
    if as_json:
        possible = math.isfinite(total)  # JSON has no −∞
        totals = {"log_likelihood": total, "mean_log_likelihood": mean}
        shown = totals if possible else dict.fromkeys(totals)
        print_json({"command": "network loglik", "rows": n_rows, **shown})
    else:
        rows = [("rows", readable_count(n_rows)), ("log-likelihood", f"{total:.4f}")]
        print_table([*rows, ("per row", f"{mean:.6f}")])
