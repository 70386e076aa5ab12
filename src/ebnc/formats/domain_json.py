"""Domains as JSON: a list of variables with their labels; the types of labels are preserved.

    {"name": "grade", "states": ["poor", "fair", null], "ordered": true}

Only variables whose states are in order have the field "ordered".

    str "dry"    bool true    None null    int 3    float {"float": 2.5}
    Interval {"interval": ["-inf", 2.5]}    int beyond 2⁵³ {"int": "36893488147419103232"}

Floats are tagged because JSON does not distinguish 1.0 from 1; large integers are tagged because
other readers of JSON would round them.
"""

from typing import Any

import numpy as np

from ebnc.domain import Domain, Interval, State
from ebnc.errors import FormatError
from ebnc.field import Field, scale_to_json
from ebnc.formats.strict_json import LONGEST_INTEGER

EXACT_IN_JSON = 2**53


def domain_to_json(domain: Domain) -> list[dict[str, Any]]:
    """Convert a domain to plain data; the order of variables and labels is preserved."""
    return [
        {"name": name, "states": [label_to_json(label) for label in labels]}
        | ({"ordered": True} if name in domain.ordered else {})
        for name, labels in domain.items()
    ]


def domain_from_json(field: Field) -> Domain:
    """Invert ``domain_to_json``."""
    states: dict[str, list[State]] = {}
    ordered = []
    for item in field.items():
        variable = item.object(["name", "states"], ["ordered"])
        name = variable["name"].text()
        if name in states:
            raise item.error(f"variable {name!r} is given twice")
        states[name] = [label_from_json(label) for label in variable["states"].items()]
        if "ordered" in variable and variable["ordered"].boolean():
            ordered.append(name)
    return field.built(lambda: Domain(states, ordered))


def label_to_json(label: State) -> Any:
    """Convert one state; raise ``FormatError`` for types that a file cannot hold."""
    if label is None or isinstance(label, bool):
        return label
    if isinstance(label, np.bool_):
        return bool(label)
    if isinstance(label, str):
        return str(label)
    if isinstance(label, Interval):
        return {"interval": [scale_to_json(label.low), scale_to_json(label.high)]}
    if isinstance(label, int | np.integer):
        value = int(label)
        if abs(value) < EXACT_IN_JSON:
            return value
        if len(str(value)) > LONGEST_INTEGER:
            raise FormatError(f"state {str(value)[:20]}… has too many digits for a model file")
        return {"int": str(value)}
    if isinstance(label, float | np.floating):
        return {"float": scale_to_json(float(label))}
    raise FormatError(
        f"state {label!r} is a {type(label).__name__}; a model file holds strings, numbers, "
        "booleans, None and intervals: turn such states into strings before fitting"
    )


def label_from_json(field: Field) -> State:
    """Invert ``label_to_json``."""
    value = field.value
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return field.integer(-EXACT_IN_JSON + 1, EXACT_IN_JSON - 1)
    if isinstance(value, dict) and len(value) == 1:
        tagged = field.object([], ["interval", "float", "int"])
        if "float" in tagged:
            return tagged["float"].scale()
        if "interval" in tagged:
            low, high = tagged["interval"].pair()
            return Interval(low.scale(), high.scale())
        digits = tagged["int"].text(LONGEST_INTEGER)
        if digits.removeprefix("-").isdecimal() and digits.isascii():
            return int(digits)
    raise field.error(f"{str(value)[:60]!r} is not a state")
