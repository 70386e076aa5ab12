"""Parameters of a classifier as JSON: what it was asked to do."""

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from ebnc.field import Field, scale_to_json
from ebnc.formats.domain_json import label_from_json, label_to_json
from ebnc.formats.structure_json import structure_from_json, structure_to_json
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["parameters_from_json", "parameters_to_json"]

COUNTS = ("max_cluster_cells", "max_parents", "verbose")
NAMES = ("required_features", "forbidden_features")
ARCS = ("required_arcs", "forbidden_arcs")
OTHERS = (
    "structure",
    "score",
    "prior_scale",
    "average",
    "predictive",
    "class_weight",
    "n_jobs",
    "random_state",
)


def parameters_to_json(given: Mapping[str, Any]) -> dict[str, Any]:
    """What ``get_params`` gives, as plain data."""
    structure, weights = given["structure"], given["class_weight"]
    found: dict[str, Any] = {
        "structure": structure_to_json(structure)
        if isinstance(structure, EmbeddedStructure)
        else structure,
        "score": given["score"],
        "prior_scale": _scales_to_json(given["prior_scale"]),
        "average": bool(given["average"]),
        "predictive": given["predictive"],
        "class_weight": [
            {"class": label_to_json(label), "weight": float(weight)}
            for label, weight in weights.items()
        ]
        if isinstance(weights, Mapping)
        else weights,
        "n_jobs": _whole_or_none(given["n_jobs"]),
        "random_state": _whole_or_none(given["random_state"]),
    }
    found |= {name: int(given[name]) for name in COUNTS}
    found |= {name: _listed(given[name]) for name in NAMES}
    return found | {name: [list(arc) for arc in given[name]] for name in ARCS}


def parameters_from_json(field: Field) -> dict[str, Any]:
    """The keyword arguments of a classifier."""
    from ebnc.estimator.families import FAMILIES

    parts = field.object([*OTHERS, *COUNTS, *NAMES, *ARCS])
    structure, weights, scale = parts["structure"], parts["class_weight"], parts["prior_scale"]
    found: dict[str, Any] = {
        "structure": structure_from_json(structure)
        if isinstance(structure.value, dict)
        else structure.choice(["search", *FAMILIES]),
        "score": parts["score"].choice(["laplace", "bic"]),
        "average": parts["average"].boolean(),
        "predictive": parts["predictive"].choice(["map", "posterior"]),
    }
    if isinstance(scale.value, str) and scale.value in ("evidence", "loo"):
        found["prior_scale"] = scale.value
    elif isinstance(scale.value, list):
        found["prior_scale"] = [item.scale() for item in scale.items()]
    else:
        found["prior_scale"] = scale.scale()
    if isinstance(weights.value, list):
        pairs = [item.object(["class", "weight"]) for item in weights.items()]
        found["class_weight"] = {
            label_from_json(pair["class"]): pair["weight"].number() for pair in pairs
        }
    else:
        found["class_weight"] = None if weights.is_null() else weights.choice(["balanced"])
    for name in ("n_jobs", "random_state"):
        found[name] = None if parts[name].is_null() else parts[name].integer(-(2**31))
    found |= {name: parts[name].integer(-(2**31)) for name in COUNTS}
    found |= {name: parts[name].texts() for name in NAMES}
    for name in ARCS:
        arcs = (item.pair() for item in parts[name].items())
        found[name] = tuple((tail.text(), head.text()) for tail, head in arcs)
    return found


def _scales_to_json(prior_scale: Any) -> Any:
    if isinstance(prior_scale, str):
        return prior_scale
    if isinstance(prior_scale, Iterable):
        return [scale_to_json(scale) for scale in prior_scale]
    return scale_to_json(prior_scale)


def _whole_or_none(given: Any) -> int | None:
    """Numbers are kept; random generators are not: nothing that predicts depends on them."""
    return int(given) if isinstance(given, numbers.Integral) else None


def _listed(names: Iterable[str]) -> list[str]:
    return [str(name) for name in names]
