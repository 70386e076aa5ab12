"""``ebnc network query``: compute p(variables | evidence)."""

from itertools import product
from typing import Annotated, TypeAlias

import typer

from ebnc.cli.arguments import AsJson, Model
from ebnc.errors import QueryError

METHODS = ("auto", "exact", "weighting", "gibbs")
METHOD_HELP = "auto, exact, or an estimate with standard errors: weighting, gibbs."

Evidence: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--evidence", "-e", metavar="NAME=STATE", help="An observed state."),
]


def query(
    model: Model,
    variables: Annotated[
        list[str], typer.Argument(metavar="VARIABLE...", help="Variables to query.")
    ],
    evidence: Evidence = None,
    method: Annotated[str, typer.Option(help=METHOD_HELP)] = "auto",
    as_json: AsJson = False,
) -> None:
    """Compute the distribution of one or several variables, given observed states of others."""
    from ebnc.cli.network.files import evidence_from, read_network, state_text

    check_method(method)
    network = read_network(model)
    known = evidence_from(evidence or [], network.domain)
    answer = network.query(variables, known, method=method)  # type: ignore[arg-type]  # checked
    from ebnc.cli.printing import print_json, print_table

    values = answer.probabilities.ravel().tolist()
    errors = None if answer.standard_errors is None else answer.standard_errors.ravel().tolist()
    states = [[state_text(state) for state in key] for key in product(*answer.states)]
    if as_json:
        print_json(
            {
                "command": "network query",
                "variables": list(answer.variables),
                "evidence": {name: state_text(state) for name, state in known.items()},
                "method": answer.method,
                "log_evidence": answer.log_evidence,
                "warning": answer.warning,
                "answers": [
                    {
                        "states": key,
                        "probability": p,
                        "standard_error": errors[i] if errors else None,
                    }
                    for i, (key, p) in enumerate(zip(states, values, strict=True))
                ],
            }
        )
        return
    header = (*answer.variables, "p", *(["std. error"] if errors else []))
    rows = [
        (*(text or "(missing)" for text in key), p, *([errors[i]] if errors else []))
        for i, (key, p) in enumerate(zip(states, values, strict=True))
    ]
    print_table(rows, header)


def check_method(method: str) -> None:
    """Raise if there is no such method."""
    if method not in METHODS:
        raise QueryError(f"--method takes one of {', '.join(METHODS)}, got {method!r}")
