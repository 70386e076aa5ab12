"""``ebnc dimension``: count the parameters of a structure."""

import math
from typing import Annotated

import typer

from ebnc.cli.arguments import AsJson
from ebnc.errors import DomainError


def dimension(
    structure: Annotated[
        str, typer.Argument(metavar="STRING", help="A model string such as '[X1][Y|X1][X2|X1:Y]'.")
    ],
    target: Annotated[str, typer.Option(help="The variable to predict.")],
    states: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COUNT", help="Number of states of a variable (default: 2)."),
    ] = None,
    generic: Annotated[
        bool,
        typer.Option(
            "--generic", help="Also print the generic dimension, the rank of the Jacobian of θ → λ."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Count the parameters of an embedded network: the dimension of its span, in closed form.

    Also prints the number of parameters of a full table, and the clusters of inputs that interact.
    """
    import ebnc

    parsed = ebnc.EmbeddedStructure.from_string(structure, target=target)
    n_states = dict.fromkeys(parsed.names, 2) | _counts(states or [], parsed.names)
    d = ebnc.dimension(parsed, n_states)
    full = (n_states[target] - 1) * math.prod(n_states[x] for x in parsed.inputs)
    rank = ebnc.generic_dimension(parsed, n_states) if generic else None
    from ebnc.cli.printing import print_json, print_table, readable_count

    if as_json:
        print_json(
            {
                "command": "dimension",
                "structure": str(parsed),
                "target": target,
                "states": n_states,
                "dimension": d,
                "generic_dimension": rank,
                "full_table": full if full < 2**53 else None,
                "full_table_log2": math.log2(full) if full else None,
                "clusters": [list(cluster) for cluster in parsed.clusters],
                "selected": list(parsed.markov_blanket),
                "fills_span": parsed.fills_span,
            }
        )
        return
    rows: list[tuple[str, str]] = [("dimension", readable_count(d))]
    if rank is not None:
        rows.append(("generic dimension", readable_count(rank)))
    rows.append(("full table", readable_count(full)))
    rows.append(("clusters", "  ".join("{" + ", ".join(c) + "}" for c in parsed.clusters[:20])))
    if len(parsed.clusters) > 20:
        rows.append(("", f"… and {len(parsed.clusters) - 20} more"))
    rows.append(("fills its span", "yes" if parsed.fills_span else "no"))
    print_table(rows)


def _counts(texts: list[str], names: tuple[str, ...]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in texts:
        name, equals, count = text.rpartition("=")
        if not equals or not count.isascii() or not count.isdigit() or not 1 <= len(count) <= 9:
            raise DomainError(f"--states takes NAME=COUNT, such as X1=3, got {text!r}")
        if name not in names:
            raise DomainError(f"--states {text}: {name!r} is not a variable of the structure")
        counts[name] = int(count)
    return counts
