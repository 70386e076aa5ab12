"""``ebnc network marginals``: compute the distribution of every variable, given evidence."""

from typing import Annotated

import typer

from ebnc.cli.arguments import AsJson, Model
from ebnc.cli.network.query import METHOD_HELP, Evidence, check_method


def marginals(
    model: Model,
    evidence: Evidence = None,
    method: Annotated[str, typer.Option(help=METHOD_HELP)] = "auto",
    as_json: AsJson = False,
) -> None:
    """Compute the distribution of every variable, given observed states of others.

    Sampled probabilities have 95 % intervals.
    """
    from ebnc.cli.network.files import evidence_from, read_network, state_text

    check_method(method)
    network = read_network(model)
    known = evidence_from(evidence or [], network.domain)
    answers = network.marginals(known, method=method)  # type: ignore[arg-type]  # checked
    from ebnc.cli.printing import print_json, print_table

    rows = [
        (name, state_text(state), p, low, high, answer.method)
        for name, answer in answers.items()
        for state, p, low, high in zip(
            answer.states[0],
            answer.probabilities.tolist(),
            *(ends.tolist() for ends in answer.intervals()),
            strict=True,
        )
    ]
    if as_json:
        names = ("variable", "state", "probability", "low", "high", "method")
        print_json(
            {
                "command": "network marginals",
                "evidence": {name: state_text(state) for name, state in known.items()},
                "answers": [dict(zip(names, row, strict=True)) for row in rows],
            }
        )
        return
    is_exact = all(answer.standard_errors is None for answer in answers.values())
    kept = 3 if is_exact else 5
    shown = [(name, state or "(missing)", *rest)[:kept] for name, state, *rest in rows]
    print_table(shown, ("variable", "state", "p", "low", "high")[:kept])
