"""Checks of the parameters of an ``EBNCClassifier``."""

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from ebnc.data.table import Coding
from ebnc.errors import ParameterError
from ebnc.likelihood.prior import as_prior
from ebnc.search.families import FAMILIES
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.threads import check_time_limit


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise ``ParameterError`` with the name and the value of the first wrong parameter."""
    Coding.of(parameters["numbers"], parameters["kinds"])  # raises with its own message
    for name, value in parameters.items():
        if name in ("numbers", "kinds"):
            continue
        if name == "prior_scale":
            if not _is_one_of("loo", "evidence")(value):
                as_prior(value)  # raises with its own message
            continue
        if name == "time_limit":
            check_time_limit(value)  # raises with its own message
            continue
        is_allowed, allowed = ALLOWED[name]
        if not is_allowed(value):
            raise ParameterError(f"{name} must be {allowed}, got {value!r}")


def _is_one_of(*options: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in options


def _is_criterion(value: Any) -> bool:
    from ebnc.score.criterion import CRITERIA

    return _is_one_of(*CRITERIA)(value)


def _is_structure(value: Any) -> bool:
    return isinstance(value, EmbeddedStructure) or _is_one_of("search", *FAMILIES)(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def _are_names(value: Any) -> bool:
    return _is_list(value) and all(isinstance(name, str) for name in value)


def _are_arcs(value: Any) -> bool:
    return _is_list(value) and all(_are_names(arc) and len(arc) == 2 for arc in value)


ALLOWED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "structure": (_is_structure, f"'search', one of {list(FAMILIES)} or an EmbeddedStructure"),
    "criterion": (_is_criterion, "'laplace' or 'bic'"),
    "average": (lambda value: isinstance(value, bool | np.bool_), "True or False"),
    "class_weight": (
        lambda value: value is None or isinstance(value, Mapping) or _is_one_of("balanced")(value),
        "a dict, 'balanced' or None",
    ),
    "max_cluster_cells": (lambda value: _is_whole(value) and value > 0, "a positive whole number"),
    "max_parents": (lambda value: _is_whole(value) and value >= 0, "a whole number, 0 or more"),
    "required_features": (_are_names, "a list of names"),
    "forbidden_features": (_are_names, "a list of names"),
    "required_arcs": (_are_arcs, "a list of arcs (parent, child)"),
    "forbidden_arcs": (_are_arcs, "a list of arcs (parent, child)"),
    "n_jobs": (
        lambda value: value is None or (_is_whole(value) and value != 0),
        "None or a whole number other than 0",
    ),
    "random_state": (
        lambda value: value is None or _is_whole(value) or hasattr(value, "random"),
        "None, a whole number or a random generator",
    ),
    "verbose": (lambda value: isinstance(value, Integral), "a whole number"),
    "on_interrupt": (_is_one_of("raise", "best"), "'raise' or 'best'"),
}
"""Maps every other parameter to a test of its value and the allowed values."""
