"""Fitted classifiers as JSON: parameters, classes, features, the best EBNC and all averaged models.

``StoredClassifier`` holds the contents of a file. Its predictor works without scikit-learn;
``to_classifier`` makes an ``EBNCClassifier``.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ebnc.domain import Domain
from ebnc.errors import FormatError
from ebnc.field import Field, record_to_json
from ebnc.fitted import FittedEBNC
from ebnc.formats.domain_json import (
    domain_from_json,
    domain_to_json,
    label_from_json,
    label_to_json,
)
from ebnc.formats.ebnc_json import ebnc_from_json, ebnc_to_json
from ebnc.formats.parameters_json import parameters_from_json, parameters_to_json
from ebnc.formats.phi_json import basis_from_json, phi_from_json, terms_to_json
from ebnc.formats.structure_json import structure_from_json, structure_to_json
from ebnc.predictor import Predictor, WeightedModel
from ebnc.search.trace import FeatureWorth, SearchTrace, Step

if TYPE_CHECKING:
    from ebnc.estimator.classifier import EBNCClassifier

FIELDS = ["parameters", "classes", "features", "domain", "ebnc", "models", "search"]
FIELDS += ["feature_worths"]
CLASS_TYPES = ["bool", "str", "object", "float32", "float64", "int8", "int16", "int32", "int64"]
CLASS_TYPES += ["uint8", "uint16", "uint32", "uint64"]


@dataclass(frozen=True, eq=False)
class StoredClassifier:
    """The contents of the file of a fitted classifier."""

    parameters: dict[str, Any]
    classes: NDArray[Any]
    n_features: int
    feature_names: tuple[str, ...] | None
    ebnc: FittedEBNC
    models: list[WeightedModel]
    trace: SearchTrace | None
    feature_worths: tuple[FeatureWorth, ...]

    @property
    def predictor(self) -> Predictor:
        """The predictor for coded rows, without compiled kernels."""
        return Predictor.of_models(self.models, self.ebnc, self.classes, compiled=False)

    def to_classifier(self) -> "EBNCClassifier":
        """Make the estimator; its predictions equal those of the saved one bit for bit."""
        from ebnc.estimator.classifier import EBNCClassifier

        classifier = EBNCClassifier(**self.parameters)
        names = self.feature_names or tuple(f"x{i}" for i in range(self.n_features))
        classifier.classes_ = self.classes
        classifier.n_features_in_ = self.n_features
        classifier._names = names
        if self.feature_names is not None:
            classifier.feature_names_in_ = np.array(names, dtype=object)
        classifier.constant_features_ = [x for x in names if x not in self.ebnc.domain]
        classifier._keep(self.ebnc, self.models, self.trace, self.feature_worths)
        return classifier


def classifier_to_json(classifier: "EBNCClassifier") -> dict[str, Any]:
    """Convert a fitted classifier to plain data; all models share one domain."""
    names = getattr(classifier, "feature_names_in_", None)
    trace = classifier.trace_
    return {
        "parameters": parameters_to_json(classifier.get_params(deep=False)),
        "classes": _classes_to_json(classifier.classes_),
        "features": {
            "count": int(classifier.n_features_in_),
            "names": None if names is None else [str(name) for name in names],
        },
        "domain": domain_to_json(classifier.ebnc_.domain),
        "ebnc": ebnc_to_json(classifier.ebnc_, with_domain=False),
        "models": [_weighted_to_json(model) for model in classifier.models_],
        "search": None if trace is None else _trace_to_json(trace),
        "feature_worths": [record_to_json(worth) for worth in classifier.feature_worths_],
    }


def stored_from_json(field: Field) -> StoredClassifier:
    """Invert ``classifier_to_json``, and check every field."""
    parts = field.object(FIELDS)
    domain = domain_from_json(parts["domain"])
    ebnc = ebnc_from_json(parts["ebnc"], domain)
    if not isinstance(ebnc, FittedEBNC):
        raise parts["ebnc"].error("field 'fit' is missing")
    classes = _classes_from_json(parts["classes"])
    n_states = domain.n_states(ebnc.target)
    if len(classes) != n_states or len(classes) < 2:
        raise parts["classes"].error(
            f"{len(classes)} classes, but the target has {n_states} states"
        )
    items = parts["models"].items(most=10_000)
    models = [_weighted_from_json(item, domain, ebnc) for item in items]
    if abs(sum(model.weight for model in models) - 1.0) > 1e-9:
        raise parts["models"].error("the weights do not add up to 1")
    parameters, is_at_maximum = parameters_from_json(parts["parameters"])
    if not is_at_maximum:
        models = [WeightedModel.of(1.0, ebnc.fit)]
    return StoredClassifier(
        parameters,
        classes,
        *_features_from_json(parts["features"], set(domain) - {ebnc.target}),
        ebnc,
        models,
        parts["search"].optional(_trace_from_json),
        tuple(item.record(FeatureWorth) for item in parts["feature_worths"].items()),
    )


# -- averaged models ---------------------------------------------------------------------------


def _weighted_to_json(model: WeightedModel) -> dict[str, Any]:
    return {
        "weight": float(model.weight),
        "structure": structure_to_json(model.basis.structure),
        **({"weak_pairs": True} if model.basis.weak_pairs else {}),
        "terms": terms_to_json(model.basis),
        "draws": [model.phi.tolist()],
    }


def _weighted_from_json(field: Field, domain: Domain, ebnc: FittedEBNC) -> WeightedModel:
    """Read one model of an average; ``ebnc`` must have its target and inputs."""
    parts = field.object(["weight", "structure", "terms", "draws"], ["weak_pairs"])
    weight = parts["weight"].number()
    if not 0 < weight <= 1:
        raise parts["weight"].error(f"must lie between 0 and 1, got {weight:g}")
    structure = structure_from_json(parts["structure"])
    if structure.target != ebnc.target:
        raise parts["structure"].error(f"has target {structure.target!r}, not {ebnc.target!r}")
    weak = "weak_pairs" in parts and parts["weak_pairs"].boolean()
    basis, order = basis_from_json(structure, domain, parts["terms"], weak_pairs=weak)
    others = set(basis.structure.markov_blanket).difference(ebnc.domain)
    if others:
        raise parts["structure"].error(f"has input {min(others)!r}, which 'ebnc' does not have")
    draws = [phi_from_json(basis, order, draw) for draw in parts["draws"].items()]
    if not draws:
        raise parts["draws"].error("must have at least one item")
    return WeightedModel(weight, basis, draws[0])


def _trace_to_json(trace: SearchTrace) -> dict[str, Any]:
    return {
        "steps": [record_to_json(step) for step in trace.steps],
        "screened": int(trace.n_screened),
        "fitted": int(trace.n_fits),
        "interrupted": bool(trace.interrupted),
    }


def _trace_from_json(field: Field) -> SearchTrace:
    parts = field.object(["steps", "screened", "fitted", "interrupted"])
    return SearchTrace(
        [item.record(Step) for item in parts["steps"].items()],
        parts["screened"].integer(0),
        parts["fitted"].integer(0),
        parts["interrupted"].boolean(),
    )


# -- classes and features ----------------------------------------------------------------------


def _classes_to_json(classes: NDArray[Any]) -> dict[str, Any]:
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    if kind not in CLASS_TYPES:
        raise FormatError(f"a model file cannot hold classes of type {classes.dtype}")
    return {"type": kind, "labels": [label_to_json(label) for label in classes.tolist()]}


def _classes_from_json(field: Field) -> NDArray[Any]:
    parts = field.object(["type", "labels"])
    kind = parts["type"].choice(CLASS_TYPES)
    labels = [label_from_json(item) for item in parts["labels"].items()]
    if kind == "object":
        classes = np.empty(len(labels), dtype=object)
        classes[:] = labels
        return classes
    python = {"b": bool, "s": str, "f": float}.get(kind[0], int)
    if any(type(label) is not python for label in labels):
        raise parts["labels"].error(f"must all be of type {kind}")
    try:
        return np.array(labels, dtype=kind)
    except (OverflowError, ValueError):
        raise parts["labels"].error(f"do not fit into {kind}") from None


def _features_from_json(field: Field, inputs: set[str]) -> tuple[int, tuple[str, ...] | None]:
    """Read the columns of X; a fixed structure may use only some of them."""
    parts = field.object(["count", "names"])
    count = parts["count"].integer(1, 10_000_000)
    names = parts["names"].optional(Field.texts)
    known = [f"x{i}" for i in range(count)] if names is None else names
    if not len(known) == len(set(known)) == count or not inputs <= set(known):
        raise field.error("must list 'count' different names, and include all inputs of the domain")
    return count, names
