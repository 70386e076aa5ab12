"""``ebnc report``: write an HTML report on a model file."""

from typing import Annotated

import typer

from ebnc.cli.arguments import AsJson, Force, Model


def report(
    model: Model,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The HTML file to write; '-' is standard output.")
    ] = "report.html",
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Write a self-contained HTML report on a model.

    For classifiers from `ebnc learn --report` it includes performance on held-out data.

    For networks, also from BIF files, it draws the graph and shows the distribution of each node.
    """
    from ebnc.cli.evaluating import summary_from
    from ebnc.cli.show import read_stored
    from ebnc.cli.streams import STANDARD, output, refuse_existing_output, refuse_odd_page
    from ebnc.report import render_html

    refuse_existing_output(out, force=force, read=model)
    stored = read_stored(model)
    refuse_odd_page(out)
    content = render_html(summary_from(stored)).encode()
    with output(out, force=force) as file:
        file.write(content)
    if out == STANDARD:
        return
    if as_json:
        from ebnc.cli.printing import print_json

        print_json({"command": "report", "report": out})
    else:
        print(f"wrote {out}; open it in a browser")
