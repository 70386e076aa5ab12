"""``ebnc compare``: two models side by side."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ebnc.cli import arguments
from ebnc.errors import DataError, ParameterError

if TYPE_CHECKING:
    from ebnc.formats.native import ModelFile
    from ebnc.report.evaluation import Evaluation


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="A model file.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another model file.")],
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="DATA", help="A table with the target, to evaluate both models on."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="As for evaluate.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of row weights (counts).")
    ] = None,
    missing: arguments.MissingWords = None,
    delimiter: arguments.Delimiter = None,
    decimal: arguments.Decimal = ".",
    as_json: arguments.AsJson = False,
) -> None:
    """Compare two models: what they use, their terms, and with --data how well they predict.

    Two networks: the arcs that differ, and with --data the log-likelihood of both.
    """
    from ebnc.cli.show import read_stored
    from ebnc.cli.streams import STANDARD, data_files
    from ebnc.network.network import Network

    if STANDARD in (first, second):
        raise ParameterError("compare reads model files, not standard input")
    both = [read_stored(first), read_stored(second)]
    are_networks = [isinstance(stored.model, Network) for stored in both]
    if any(are_networks) and not all(are_networks):
        raise ParameterError("one is a network and the other is not; compare models of one kind")
    options = arguments.reading(None, missing, delimiter, decimal)
    if all(are_networks):
        if data is None:
            found = both[0].model.compare(both[1].model)
        else:
            with data_files(data, **options) as files:
                found = both[0].model.compare(
                    both[1].model, files, "log_likelihood", weights=weights
                )
        _print_networks(found, as_json=as_json)
        return
    evaluations = None
    if data is not None:
        from ebnc.cli.evaluate import evaluation_of

        with data_files(data, **options) as files:
            evaluations = [evaluation_of(stored, files, target, weights) for stored in both]
    _print_models((first, second), both, evaluations, as_json=as_json)


def _print_networks(found: Any, *, as_json: bool) -> None:
    from ebnc.cli.printing import print_json, print_table

    kinds = ("shared", "missing", "extra", "reversed")
    if as_json:
        print_json(
            {
                "command": "compare",
                "distance": found.distance,
                "class_distance": found.class_distance,
                **{kind: [list(arc) for arc in getattr(found, kind)] for kind in kinds},
                "log_likelihoods": None if found.scores is None else list(found.scores),
            }
        )
        return
    titles = ("arcs in both", "only in A", "only in B", "reversed in B")
    rows = [("arcs that differ", f"{found.distance} (up to equivalence: {found.class_distance})")]
    for kind, title in zip(kinds, titles, strict=True):
        arcs = [f"{tail} → {head}" for tail, head in getattr(found, kind)]
        shown = "" if kind == "shared" or not arcs else f": {', '.join(arcs)}"
        rows.append((title, f"{len(arcs)}{shown}"))
    if found.scores is not None:
        ours, theirs = found.scores
        better = "A" if ours > theirs else "B"
        rows.append(("log-likelihood", f"A {ours:.2f}, B {theirs:.2f} nats ({better} is higher)"))
    print_table(rows)


def _print_models(
    names: tuple[str, str],
    both: list["ModelFile"],
    evaluations: "list[Evaluation] | None",
    *,
    as_json: bool,
) -> None:
    from ebnc.cli.evaluate import measure_rows, plain_measures
    from ebnc.cli.printing import print_json, print_table, readable_count
    from ebnc.cli.show import described

    plain = [described(stored)[0] for stored in both]
    if plain[0]["kind"] != plain[1]["kind"] and "regressor" in (plain[0]["kind"], plain[1]["kind"]):
        raise ParameterError("one model predicts a number and the other classes")
    terms = [[tuple(term) for term in each["terms"]] for each in plain]
    sets = [{frozenset(term) for term in each} for each in terms]
    shared = [term for term in terms[0] if frozenset(term) in sets[1]]
    only = [[term for term in terms[i] if frozenset(term) not in sets[1 - i]] for i in range(2)]
    gain = None if evaluations is None else _gain(*evaluations)
    if as_json:
        models = [
            {
                "model": name,
                "target": each["target"],
                "inputs_used": sum(x["selected"] for x in each["inputs"]),
                "parameters": each["parameters"],
                "log_evidence": each["log_evidence"],
                "only_terms": [list(term) for term in mine],
                "measures": None if evaluations is None else plain_measures(evaluations[i]),
            }
            for i, (name, each, mine) in enumerate(zip(names, plain, only, strict=True))
        ]
        print_json(
            {
                "command": "compare",
                "models": models,
                "shared_terms": [list(term) for term in shared],
                "loss_difference": None if gain is None else {"mean": gain[0], "error": gain[1]},
            }
        )
        return
    same = both[0].provenance.data
    is_same = same is not None and same == both[1].provenance.data
    rows: list[tuple[str, ...]] = [
        ("target", *(each["target"] for each in plain)),
        ("learned from", *(_data(each) for each in plain)),
        ("inputs used", *(str(sum(x["selected"] for x in each["inputs"])) for each in plain)),
        ("parameters", *(readable_count(each["parameters"]) for each in plain)),
        ("models averaged", *(str(len(each["weights"])) for each in plain)),
    ]
    evidences = [each["log_evidence"] for each in plain]
    if is_same and None not in evidences:
        rows.append(("log evidence", *(f"{x:.2f} nats" for x in evidences)))
    if evaluations is not None:
        parts = [measure_rows(found) for found in evaluations]
        rows += [
            (name, mine.split("  ")[0], other.split("  ")[0])
            for (name, mine), (_, other) in zip(*parts, strict=False)
        ]
    print_table(rows, ("", *(f"{x} {name}" for x, name in zip("AB", names, strict=True))))
    rest = [("terms in both", _sum(shared))]
    rest += [(f"only in {x}", _sum(mine)) for x, mine in zip("AB", only, strict=True)]
    if gain is not None:
        mean, error = gain
        better = "A" if mean > 0 else "B"
        sure = "" if abs(mean) > 2 * error else "; that is within the noise"
        words = f"{abs(mean):.4f} ± {error:.4f} nats a row lower for {better}{sure}"
        rest.append(("loss", words))
    print_table(rest)


def _gain(first: "Evaluation", second: "Evaluation") -> tuple[float, float]:
    """By how much the first model's mean loss is lower, and its standard error (paired rows)."""
    import numpy as np

    gains = second.losses - first.losses
    known = np.isfinite(gains)
    if not known.any():
        raise DataError("no row has a finite loss under both models")
    gains, weights = gains[known], first.weights[known]
    mean = float(np.average(gains, weights=weights))
    variance = float(np.average((gains - mean) ** 2, weights=weights))
    return mean, (variance / max(float(weights.sum()), 1.0)) ** 0.5


def _data(plain: dict[str, Any]) -> str:
    from ebnc.cli.printing import readable_count

    data = plain["data"]
    return "unknown" if data is None else f"{data['name']}, {readable_count(data['rows'])} rows"


def _sum(terms: list[tuple[str, ...]]) -> str:
    return " + ".join(f"f({', '.join(term)})" for term in terms) or "none"
