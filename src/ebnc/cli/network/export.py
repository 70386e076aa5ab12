"""``ebnc network export``: write a network for other programs."""

import sys
from typing import Annotated

import typer

from ebnc.cli.arguments import AsJson, Force, Model
from ebnc.errors import FormatError


def export(
    model: Model,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The file to write; its name must end in .bif.")
    ],
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Export a network to BIF (full tables only); reports what is lost."""
    from ebnc.cli.network.files import read_network
    from ebnc.cli.printing import print_json
    from ebnc.cli.streams import refuse_existing_output

    if not out.lower().endswith(".bif"):
        raise FormatError(f"the name of the output file must end in .bif, got {out!r}")
    refuse_existing_output(out, force=force, read=model)
    losses = [
        " ".join(text.split()) for text in read_network(model).write_bif(out, overwrite=force)
    ]
    if as_json:
        print_json({"command": "network export", "file": out, "lost": losses})
        return
    for loss in losses:
        print(f"ebnc: note: {loss}", file=sys.stderr)
