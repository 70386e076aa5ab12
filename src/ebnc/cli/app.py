"""The application ``ebnc``: registers all its verbs."""

from typing import Annotated

import typer

from ebnc.cli import compare, demo, dimension, evaluate, export, learn, predict, report, show
from ebnc.cli.network import export as network_export
from ebnc.cli.network import learn as network_learn
from ebnc.cli.network import loglik, marginals, query, sample
from ebnc.cli.network import predict as network_predict

app = typer.Typer(
    name="ebnc",
    help="Embedded Bayesian network classifiers: learn from a table, predict, count parameters.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"ebnc {version('ebnc')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Embedded Bayesian network classifiers: learn from a table, predict, count parameters."""
    del version


app.command("learn")(learn.learn)
app.command("predict")(predict.predict)
app.command("evaluate")(evaluate.evaluate)
app.command("show")(show.show)
app.command("compare")(compare.compare)
app.command("dimension")(dimension.dimension)
app.command("report")(report.report)
app.command("export")(export.export)
app.command("demo")(demo.demo)

network = typer.Typer(
    help="Bayesian networks: learn, sample, query, predict, evaluate, export.",
    no_args_is_help=True,
)
network.command("learn")(network_learn.learn)
network.command("sample")(sample.sample)
network.command("query")(query.query)
network.command("marginals")(marginals.marginals)
network.command("predict")(network_predict.predict)
network.command("loglik")(loglik.loglik)
network.command("export")(network_export.export)
app.add_typer(network, name="network")
