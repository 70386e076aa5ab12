"""Backgrounds as JSON: shares of the states of each input, and weighted rows of all inputs."""

from typing import Any

import numpy as np

from ebnc.data.rows import CodedRows, code_type
from ebnc.domain import Domain
from ebnc.field import Field
from ebnc.parameters.background import Background
from ebnc.structure.embedded import EmbeddedStructure


def background_to_json(background: Background) -> dict[str, Any]:
    """Convert a background to plain data; ``rows`` holds one list of codes per row."""
    return {
        "inputs": list(background.names),
        "state_weights": [background.state_weights[x].tolist() for x in background.names],
        "rows": background.rows.codes.T.tolist(),
        "row_weights": background.row_weights.tolist(),
    }


def background_from_json(field: Field, domain: Domain, structure: EmbeddedStructure) -> Background:
    """Invert ``background_to_json``; all inputs that the structure uses must be present."""
    parts = field.object(["inputs", "state_weights", "rows", "row_weights"])
    names = parts["inputs"].texts()
    missing = set(structure.markov_blanket) - set(names)
    wrong = [x for x in names if x not in domain or x == structure.target]
    if missing or wrong or len(set(names)) != len(names):
        raise parts["inputs"].error(
            "must be different inputs of the domain, and include all that the model uses"
        )
    n_states = tuple(domain.n_states(x) for x in names)
    state_weights = [item.numbers(1.0) for item in parts["state_weights"].items()]
    rows = [list(row.items()) for row in parts["rows"].items()]
    if len(state_weights) != len(names) or any(len(row) != len(names) for row in rows):
        raise field.error("must have one entry for each of its inputs")
    codes = np.empty((len(names), len(rows)), dtype=code_type(n_states))
    for number, row in enumerate(rows):
        codes[:, number] = [code.integer(0, r - 1) for code, r in zip(row, n_states, strict=True)]
    weights = dict(zip(names, state_weights, strict=True))
    row_weights = parts["row_weights"].numbers(1.0)
    return field.built(lambda: Background(weights, CodedRows(names, n_states, codes), row_weights))
