"""``ebnc network sample``: draw rows from a network."""

from typing import Annotated

import typer

from ebnc.cli.arguments import AsJson, Force, Model

BATCH_ROWS = 100_000


def sample(
    model: Model,
    rows: Annotated[int, typer.Option("--rows", "-n", min=0, help="Number of rows.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The file to write; '-' is standard output.")
    ] = "-",
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Draw rows from the joint distribution, as CSV; missing entries are empty.

    With --json every line is one object, and missing entries are null.
    """
    import csv
    import io
    import json
    import math

    from ebnc.cli.network.files import read_network, state_text
    from ebnc.cli.streams import output, refuse_existing_output

    refuse_existing_output(out, force=force, read=model)
    network = read_network(model)
    import numpy as np

    from ebnc.network.inference.sampling import sample_codes, sample_numbers

    generator = np.random.default_rng(seed)
    nothing = None if as_json else ""
    labels = [
        [None if as_json and state is None else state_text(state) for state in network.domain[x]]
        for x in network.variables
    ]
    with output(out, force=force) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        if not as_json:
            writer.writerow(network.variables)
        for start in range(0, rows, BATCH_ROWS):
            codes = sample_codes(network, min(BATCH_ROWS, rows - start), generator)
            numbers = sample_numbers(network, codes, generator)
            columns = [
                [nothing if math.isnan(x) else x for x in numbers[name].tolist()]
                if name in numbers
                else [texts[code] for code in column.tolist()]
                for name, texts, column in zip(network.variables, labels, codes, strict=True)
            ]
            drawn = zip(*columns, strict=True)
            if not as_json:
                writer.writerows(drawn)
                continue
            for row in drawn:
                values = dict(zip(network.variables, row, strict=True))
                text.write(json.dumps({"row": values}, ensure_ascii=False) + "\n")
        text.detach()
