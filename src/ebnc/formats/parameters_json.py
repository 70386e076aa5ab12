"""Parameters of a classifier as JSON: what it was asked to do.

The file calls ``criterion`` "score". ``on_interrupt`` is not kept, nor is a random generator:
nothing that predicts depends on them.
"""

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

from ebnc.field import Field, scale_to_json
from ebnc.formats.domain_json import label_from_json, label_to_json
from ebnc.formats.structure_json import structure_from_json, structure_to_json
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["parameters_from_json", "parameters_to_json"]

KEPT = (
    *("structure", "score", "prior_scale", "average", "predictive", "class_weight"),
    *("max_cluster_cells", "max_parents", "required_features", "forbidden_features"),
    *("required_arcs", "forbidden_arcs", "n_jobs", "random_state", "verbose"),
)


def parameters_to_json(given: Mapping[str, Any]) -> dict[str, Any]:
    """What ``get_params`` gives, as plain data."""
    plain = {**given, "score": given["criterion"]}
    return {name: _to_json(plain[name]) for name in KEPT}


def _to_json(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, EmbeddedStructure):
        return structure_to_json(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Mapping):  # weights of classes
        return [
            {"class": label_to_json(label), "weight": float(weight)}
            for label, weight in value.items()
        ]
    if isinstance(value, Iterable):
        return [_to_json(item) for item in value]
    return None if hasattr(value, "random") else scale_to_json(value)


def parameters_from_json(field: Field) -> dict[str, Any]:
    """The keyword arguments of a classifier."""
    from ebnc.estimator.parameters import check_parameters

    parts = field.object(KEPT)
    found = {name: part.value for name, part in parts.items()}
    found["criterion"] = found.pop("score")
    if isinstance(found["structure"], dict):
        found["structure"] = structure_from_json(parts["structure"])
    if isinstance(found["class_weight"], list):
        pairs = [item.object(["class", "weight"]) for item in parts["class_weight"].items()]
        found["class_weight"] = {
            label_from_json(pair["class"]): pair["weight"].number() for pair in pairs
        }
    if isinstance(found["prior_scale"], list):
        found["prior_scale"] = [item.scale() for item in parts["prior_scale"].items()]
    elif found["prior_scale"] not in ("loo", "evidence"):
        found["prior_scale"] = parts["prior_scale"].scale()
    for name in ("required_features", "forbidden_features"):
        found[name] = parts[name].texts()
    for name in ("required_arcs", "forbidden_arcs"):
        found[name] = tuple(item.texts() for item in parts[name].items())
    field.built(lambda: check_parameters(found))
    return found
