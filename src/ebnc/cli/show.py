"""``ebnc show``: what a model file holds."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ebnc.cli.arguments import AsJson, Model

if TYPE_CHECKING:
    from ebnc.formats.native import ModelFile
    from ebnc.report.summary import InputSummary

MOST_LABELS = 5


def show(
    model: Model,
    most: Annotated[
        int, typer.Option(min=1, metavar="COUNT", help="Most inputs or variables to list.")
    ] = 30,
    as_json: AsJson = False,
) -> None:
    """Show what a model is: its target, inputs and their importance, formula, and parameters.

    Reads model files, and networks in BIF files. `ebnc report` shows the same with pictures.
    """
    from ebnc.cli.printing import print_json, print_table

    stored = read_stored(model)
    plain, rows, header = described(stored)
    if as_json:
        print_json({"command": "show", **plain})
        return
    print_table(_facts(plain))
    if rows:
        print_table(rows[:most], header)
    if len(rows) > most:
        print(f" and {len(rows) - most} more (--most)")


def read_stored(path: str) -> "ModelFile":
    """Read a model file, or a network from a BIF file."""
    from ebnc.cli.streams import model_path
    from ebnc.formats.native import ModelFile, read_model

    if path.lower().endswith(".bif"):
        from ebnc.network.network import Network

        return ModelFile(Network.read_bif(path))
    return read_model(model_path(path))


def described(
    stored: "ModelFile",
) -> tuple[dict[str, Any], list[tuple[object, ...]], tuple[str, ...]]:
    """Describe a model: plain facts, and a table of its inputs or variables with a header."""
    from ebnc.network.network import Network

    if isinstance(stored.model, Network):
        return _network(stored)
    return _predicting(stored)


def _predicting(
    stored: "ModelFile",
) -> tuple[dict[str, Any], list[tuple[object, ...]], tuple[str, ...]]:
    """A classifier, a regressor or an EBNC."""
    import numpy as np

    from ebnc.data.rows import CodedRows, code_type
    from ebnc.formats.native import predictor_of
    from ebnc.report import summarise
    from ebnc.report.words import input_sizes, shortened

    model = stored.model
    predictor = predictor_of(model)
    summary = summarise(getattr(model, "classifier_", model))
    sizes = input_sizes(summary)
    inputs: list[dict[str, Any]] = [
        {
            "name": x.name,
            "kind": _kind(x),
            "states": len(x.states),
            "selected": x.selected,
            "importance": x.worth,
            "typical_effect": sizes[i],
        }
        for i, x in enumerate(summary.inputs)
    ]
    inputs.sort(key=lambda x: (not x["selected"], -(x["importance"] or 0), -x["typical_effect"]))
    n_states = tuple(predictor.domain.n_states(x) + 1 for x in predictor.used)
    nothing = np.array(n_states, dtype=code_type(n_states))[:, None] - 1
    rates = predictor.probabilities(CodedRows(predictor.used, n_states, nothing))[0].tolist()
    density = predictor.density
    plain = {
        "kind": {"classifier_": "regressor", "models_": "classifier"}.get(
            next((x for x in ("classifier_", "models_") if hasattr(model, x)), ""), "ebnc"
        ),
        "target": summary.target,
        **(
            {"classes": dict(zip(summary.classes, rates, strict=True))}
            if density is None
            else {"mean": float(density.mean(np.array([rates]))[0]), "bins": len(rates)}
        ),
        **_origin(stored),
        "inputs": inputs,
        "terms": [[summary.inputs[i].name for i in cluster] for cluster in summary.clusters],
        "parameters": summary.fit.dimension,
        "full_table": summary.fit.full_table,
        "full_table_log10": summary.fit.log10_full_table,
        "weights": sorted((weight for weight, _ in predictor.weighted), reverse=True),
        "log_evidence": summary.fit.log_evidence,
    }
    table: list[tuple[object, ...]] = [
        (
            shortened(x["name"]),
            x["kind"],
            x["states"],
            "" if x["importance"] is None else f"{x['importance']:.1f}",
            f"{x['typical_effect']:.2f}" if x["selected"] else "not used",
        )
        for x in inputs
    ]
    return plain, table, ("input", "kind", "states", "importance (nats)", "typical effect")


def _network(
    stored: "ModelFile",
) -> tuple[dict[str, Any], list[tuple[object, ...]], tuple[str, ...]]:
    from math import prod

    network = stored.model
    full = {
        x: (network.domain.n_states(x) - 1) * prod(map(network.domain.n_states, network.parents(x)))
        for x in network
    }
    nodes = [
        {
            "name": x,
            "kind": network[x].kind,
            "states": network.domain.n_states(x),
            "parents": list(network.parents(x)),
            "parameters": int(network[x].dimension),
        }
        for x in network
    ]
    plain = {
        "kind": "network",
        **_origin(stored),
        "nodes": nodes,
        "arcs": len(network.arcs),
        "parameters": int(network.dimension),
        "full_table": sum(full.values()) if sum(full.values()) < 2**53 else None,
        "full_table_log10": _log10(sum(full.values())),
    }
    from ebnc.report.words import listed, shortened

    table: list[tuple[object, ...]] = [
        (
            shortened(node["name"]),
            node["kind"],
            node["states"],
            listed(node["parents"], most=6) if node["parents"] else "",
            node["parameters"],
        )
        for node in nodes
    ]
    return plain, table, ("variable", "kind", "states", "parents", "parameters")


def _log10(count: int) -> float:
    from math import log10

    return log10(count) if count else 0.0


def _kind(x: "InputSummary") -> str:
    """What an input is, in words."""
    missing = ", or missing" if x.has_missing else ""
    if x.cuts is not None:
        return f"number{' (a curve)' if x.is_ordered else ' (intervals)'}{missing}"
    labels = list(x.states[: len(x.states) - x.has_missing])
    more = ", …" if len(labels) > MOST_LABELS else ""
    listed = ", ".join(labels[:MOST_LABELS])
    return f"{'ordered' if x.is_ordered else 'label'}: {listed}{more}{missing}"


def _origin(stored: "ModelFile") -> dict[str, Any]:
    """Version, data and command that produced the model, as far as they are known."""
    from ebnc.field import record_to_json

    provenance = stored.provenance
    data = None if provenance.data is None else record_to_json(provenance.data)
    command = None if provenance.command is None else list(provenance.command)
    return {"ebnc": provenance.ebnc, "data": data, "learned_by": command}


def _facts(plain: dict[str, Any]) -> list[tuple[str, str]]:
    """The facts as names and texts."""
    import shlex

    from ebnc.cli.printing import readable_count
    from ebnc.report.words import large_count_text

    rows = [("model", _KINDS[plain["kind"]])]
    if "classes" in plain:
        rates = [f"{name} {rate:.1%}" for name, rate in plain["classes"].items()]
        shown = ", ".join(rates[:MOST_LABELS])
        more = f" and {len(rates) - MOST_LABELS} more" if len(rates) > MOST_LABELS else ""
        rows.append(("target", f"{plain['target']}: {shown}{more}"))
    elif "mean" in plain:
        rows.append(("target", f"{plain['target']}: a number, on average {plain['mean']:.5g}"))
    data, command = plain["data"], plain["learned_by"]
    if data is not None:
        size = f"{readable_count(data['rows'])} rows × {data['columns']} columns"
        rows.append(("learned from", f"{data['name']}, {size}"))
    if command is not None:
        rows.append(("by", f"{shlex.join(command)}  (ebnc {plain['ebnc']})"))
    full = large_count_text(plain["full_table"], plain["full_table_log10"])
    if "nodes" in plain:
        rows += [("variables", str(len(plain["nodes"]))), ("arcs", str(plain["arcs"]))]
        rows.append(("parameters", f"{plain['parameters']:,} (full tables: {full})"))
        return rows
    used = sum(x["selected"] for x in plain["inputs"])
    rows.append(("inputs used", f"{used} of {len(plain['inputs'])}"))
    terms = [f"f({', '.join(term)})" for term in plain["terms"]]
    rows.append(("log odds", " + ".join(["a", *terms])))
    rows.append(("parameters", f"{readable_count(plain['parameters'])} (a full table: {full})"))
    weights = plain["weights"]
    if len(weights) > 1:
        shares = ", ".join(f"{weight:.0%}" for weight in weights[:MOST_LABELS])
        rows.append(("predictions", f"averaged over {len(weights)} models: {shares}"))
    if plain["log_evidence"] is not None:
        rows.append(("log evidence", f"{plain['log_evidence']:.2f} nats"))
    return rows


_KINDS = {
    "classifier": "a classifier (EBNC)",
    "regressor": "a regressor: an EBNC of the target's bins",
    "ebnc": "an EBNC, a distribution of one variable",
    "network": "a Bayesian network",
}
