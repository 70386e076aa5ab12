"""Parameters of a classifier as JSON.

In the file ``criterion`` is named "score". ``on_interrupt``, ``time_limit`` and random generators
are not saved: they matter only while a model is learned. "predictive" is always "map"; older files
may have "posterior", for draws from the posterior of φ. Files of version 1 have neither "numbers"
nor "kinds": there, MDLP cut all numbers.
"""

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

from ebnc.field import Field, scale_to_json
from ebnc.formats.domain_json import label_from_json, label_to_json
from ebnc.formats.structure_json import structure_from_json, structure_to_json
from ebnc.structure.embedded import EmbeddedStructure

KEPT = (
    *("structure", "score", "prior_scale", "average", "predictive", "class_weight"),
    *("max_cluster_cells", "max_parents", "required_features", "forbidden_features"),
    *("required_arcs", "forbidden_arcs", "n_jobs", "random_state", "verbose"),
)
SINCE_2: dict[str, Any] = {"numbers": "mdlp", "kinds": None}
"""Parameters since version 2, with their values in version 1."""


def parameters_to_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the result of ``get_params`` to plain data."""
    plain = {**parameters, "score": parameters["criterion"], "predictive": "map"}
    kinds = None if parameters["kinds"] is None else dict(parameters["kinds"])
    kept = {name: _to_json(plain[name]) for name in KEPT}
    return kept | {"numbers": parameters["numbers"], "kinds": kinds}


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


def parameters_from_json(field: Field) -> tuple[dict[str, Any], bool]:
    """Return the keyword arguments of a classifier, and whether its models are at the maximum φ̃."""
    from ebnc.estimator.parameters import check_parameters

    parts = field.object(KEPT, SINCE_2)
    values = SINCE_2 | {name: part.value for name, part in parts.items()}
    del values["score"], values["predictive"]
    if isinstance(values["structure"], dict):
        values["structure"] = structure_from_json(parts["structure"])
    if isinstance(values["class_weight"], list | dict):
        pairs = [item.object(["class", "weight"]) for item in parts["class_weight"].items()]
        values["class_weight"] = {
            label_from_json(pair["class"]): pair["weight"].number() for pair in pairs
        }
    if isinstance(values["prior_scale"], list):
        values["prior_scale"] = [item.scale() for item in parts["prior_scale"].items()]
    elif values["prior_scale"] not in ("loo", "evidence"):
        values["prior_scale"] = parts["prior_scale"].scale()
    for name in ("required_features", "forbidden_features"):
        values[name] = parts[name].texts()
    for name in ("required_arcs", "forbidden_arcs"):
        values[name] = tuple(item.texts() for item in parts[name].items())
    field.built(lambda: check_parameters(values))
    # Not looked up in the table of criteria, which would load all that learning needs.
    values["criterion"] = parts["score"].text()
    return values, parts["predictive"].choice(["map", "posterior"]) == "map"
