"""``ebnc network learn``: learn a Bayesian network from a table."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ebnc.cli import arguments
from ebnc.errors import DataError

if TYPE_CHECKING:
    from ebnc.network.network import LearnedNetwork


def learn(
    data: arguments.Data,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The model file to write; '-' is standard output.")
    ],
    report: Annotated[
        str | None, typer.Option(help="Also write an HTML report that draws the network.")
    ] = None,
    exclude: arguments.Exclude = None,
    include: arguments.Include = None,
    types: arguments.Types = None,
    kinds: arguments.VariableKinds = None,
    numbers: arguments.NumbersOption = "quantile",
    missing: arguments.MissingWords = None,
    gaps: Annotated[
        str,
        typer.Option(
            metavar="[state|refuse|em]",
            help="A missing entry is a state of its own, an error, or unknown (structural EM).",
        ),
    ] = "state",
    delimiter: arguments.Delimiter = None,
    decimal: arguments.Decimal = ".",
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of row weights (counts).")
    ] = None,
    local: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="Kinds of nodes: ebnc, table, tree (default: these), naive, counting, graph, "
            "noisy-max.",
        ),
    ] = None,
    score: arguments.ScoreOption = "laplace",
    max_parents: Annotated[
        int | None, typer.Option(min=0, help="Maximum parents per node.")
    ] = None,
    orders: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Learn dense networks for so many orders, and save the one that scores best.",
        ),
    ] = None,
    tier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN,…",
            help="Variables that come before those of the next --tier: no arc points back.",
        ),
    ] = None,
    require_arc: arguments.RequireArc = None,
    forbid_arc: arguments.ForbidArc = None,
    order: Annotated[
        str | None,
        typer.Option(metavar="COLUMN,…", help="All variables in order; no arc points back."),
    ] = None,
    regime: Annotated[
        str,
        typer.Option(
            metavar="[auto|sparse|dense]",
            help="Search for arcs, or give every variable all that come before it.",
        ),
    ] = "auto",
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Record the run in this file; if it is killed, it continues."
        ),
    ] = None,
    n_jobs: arguments.NJobs = None,
    as_json: arguments.AsJson = False,
    force: arguments.Force = False,
    time_limit: arguments.TimeLimit = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Learn a Bayesian network of all columns, and write it to a model file.

    Ctrl-C during the search saves the network so far.
    """
    from ebnc.cli.progress import shown_progress
    from ebnc.cli.provenance import provenance_of
    from ebnc.cli.streams import STANDARD, data_files, finishing, refuse_outputs, write_with_report

    refuse_outputs(out, report, data, force=force)
    from ebnc.cli.evaluating import findings_of
    from ebnc.data.sources import column_names
    from ebnc.data.table import Coding
    from ebnc.formats.native import model_bytes
    from ebnc.network.learning.learn_network import check_missing, refuse_many_variables
    from ebnc.network.local.kinds import DEFAULT_KINDS
    from ebnc.network.network import Network
    from ebnc.report import render_html, summarise_network

    options = arguments.reading(types, missing, delimiter, decimal)
    check_missing(gaps, "--gaps")
    coding = Coding.of(numbers, arguments.variable_kinds(kinds))
    with (
        shown_progress(quiet=quiet) as progress,
        data_files(data, progress.share, **options) as table,
    ):
        chosen = arguments.chosen_columns(table, include, exclude, weights=weights)
        if not chosen:
            raise DataError("no columns are left to learn from")
        refuse_many_variables(len(chosen))
        files = replace(table, include=[*chosen, *([weights] if weights else [])])
        progress.show("searching")
        network = Network.learn(
            files,
            score=score,
            local=tuple(local or DEFAULT_KINDS),
            max_parents=max_parents,
            n_orders=orders,
            tiers=[arguments.columns_from([members], chosen) for members in tier or ()],
            required=arguments.arcs_from("--require-arc", require_arc, chosen),
            forbidden=arguments.arcs_from("--forbid-arc", forbid_arc, chosen),
            order=None if order is None else arguments.columns_from([order], chosen),
            regime=regime,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            numbers=coding.numbers,
            kinds=coding.kinds,
            missing=gaps,  # type: ignore[arg-type]  # checked
            weights=weights,
            on_interrupt="best",
            time_limit=time_limit,
        )
        provenance = provenance_of(files, data, round(network.n_cases), len(column_names(table)))
        command = str(provenance)
        stopped = network.trace.interrupted
        interrupted = stopped and time_limit is None
        why = "interrupted" if interrupted else "the time limit ended learning"
        note = f"{why}; the network so far was saved" if stopped else ""
        summary = None
        if not interrupted:
            try:
                measured = None if gaps == "em" else files  # losses of nodes need complete rows
                summary = summarise_network(
                    network, measured, weights=weights, learned_from=True, provenance=command
                )
            except KeyboardInterrupt:
                note = "interrupted; the network is complete, its likelihood was not computed"
    with finishing(out):
        if summary is None:
            summary = summarise_network(network, provenance=command)
        content = model_bytes(network, provenance, findings_of(summary))
        page = b"" if report is None else render_html(summary).encode()
        write_with_report(out, content, report, page, force=force)
        if note:
            print(f"ebnc: {note}", file=sys.stderr)
        facts = _summary(network, out, report)
        from ebnc.cli.printing import print_json, print_table, readable_count

        stream = sys.stderr if out == STANDARD else sys.stdout
        if as_json and out != STANDARD:
            print_json(facts)
        elif not quiet:
            rows = [
                (node["name"], node["kind"], ", ".join(node["parents"]), node["dimension"])
                for node in facts["nodes"]
            ]
            print_table(rows, ("variable", "kind", "parents", "parameters"), stream=stream)
            n_rows = readable_count(round(network.n_cases))
            rest = [("rows", n_rows), ("arcs", str(len(network.arcs)))]
            rest += [("score", f"{network.learned_score:.2f}"), ("model file", out)]
            rest += [("report", report)] if report is not None else []
            print_table(rest, stream=stream)


def _summary(network: "LearnedNetwork", out: str, report: str | None) -> dict[str, Any]:
    return {
        "command": "network learn",
        "model": out,
        "report": report,
        "cases": float(network.n_cases),
        "score": float(network.learned_score),
        "dimension": int(network.dimension),
        "nodes": [
            {
                "name": name,
                "kind": network[name].kind,
                "parents": list(network.parents(name)),
                "dimension": int(network[name].dimension),
                "score": float(network.scores[name]),
            }
            for name in network
        ],
        "interrupted": bool(network.trace.interrupted),
    }
