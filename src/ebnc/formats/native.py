"""The native model file: versioned JSON, described by ``schema/model-2.schema.json``.

    {"format": "ebnc model", "version": 2, "kind": "classifier",
     "provenance": {…}, "model": {…}, "findings": {…}}

``save`` first checks that ``load`` can read the text, and then writes the file atomically. ``load``
executes nothing, checks every field, and raises ``FormatError`` with the place of an error. Numbers
are the shortest decimals that read back as the same float, so predictions are equal bit for bit.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, NamedTuple

from ebnc.errors import FormatError
from ebnc.field import Field, record_to_json
from ebnc.formats.provenance import Provenance, provenance_from_json
from ebnc.formats.strict_json import parse_json, read_json, to_json_bytes
from ebnc.predictor import Predictor
from ebnc.writing import write_whole

FORMAT = "ebnc model"
FORMAT_VERSION = 2
"""Version 2 has ordered variables, weak pairs, and what a classifier makes of numbers. Files of
version 1 have fields of version 2 only, so the same functions read them."""


@dataclass(frozen=True, eq=False)
class ModelFile:
    """The contents of a file: the model, its provenance, and findings for a report (plain data)."""

    model: Any
    provenance: Provenance = field(default_factory=Provenance)
    findings: Mapping[str, Any] = field(default_factory=dict)


class Kind(NamedTuple):
    """A type of model, with its conversions to and from JSON."""

    type: type
    to_json: Callable[[Any], dict[str, Any]]
    from_json: Callable[[Field], Any]


def _ebnc() -> Kind:
    from ebnc.formats.ebnc_json import ebnc_from_json, ebnc_to_json
    from ebnc.parameters.ebnc import EBNC

    return Kind(EBNC, ebnc_to_json, ebnc_from_json)


def _classifier() -> Kind:
    from ebnc.estimator.classifier import EBNCClassifier
    from ebnc.formats.classifier_json import classifier_to_json, stored_from_json

    return Kind(
        EBNCClassifier, classifier_to_json, lambda field: stored_from_json(field).to_classifier()
    )


def _regressor() -> Kind:
    from ebnc.estimator.regressor import EBNCRegressor
    from ebnc.formats.regressor_json import regressor_to_json, stored_regressor_from_json

    return Kind(
        EBNCRegressor,
        regressor_to_json,
        lambda field: stored_regressor_from_json(field).to_regressor(),
    )


def _network() -> Kind:
    from ebnc.formats.network_json import network_from_json, network_to_json
    from ebnc.network.network import Network

    return Kind(Network, network_to_json, network_from_json)


def _average() -> Kind:
    from ebnc.formats.network_json import average_from_json, average_to_json
    from ebnc.network.inference.average import NetworkAverage

    return Kind(NetworkAverage, average_to_json, average_from_json)


KINDS: Mapping[str, Callable[[], Kind]] = {
    "ebnc": _ebnc,
    "network": _network,
    "network-average": _average,
    "classifier": _classifier,
    "regressor": _regressor,
}
"""Maps every kind of model to a function that imports it; the classifier's takes a second of
imports, which saving other models must not wait for."""


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    provenance: Provenance | None = None,
    findings: Mapping[str, Any] | None = None,
    overwrite: bool = True,
) -> None:
    """Save a model to a file that ``ebnc.load`` reads.

    Parameters
    ----------
    model : EBNC, EBNCClassifier, EBNCRegressor, Network or NetworkAverage
        The model; a classifier or regressor must be fitted.
    path : str or path
        The file to write. After an error, an existing file is unchanged.
    provenance : Provenance or None
        Version, command and data that produced the model; None records only the version.
    findings : mapping or None
        Plain data (dicts with string keys, lists, strings, finite numbers, booleans, None) that a
        report shows beside the model.
    overwrite : bool
        Whether to replace an existing file.
    """
    write_whole(path, model_bytes(model, provenance, findings), overwrite=overwrite)


def model_bytes(
    model: Any, provenance: Provenance | None = None, findings: Mapping[str, Any] | None = None
) -> bytes:
    """Return the contents of a model file; raise if they could not be read back."""
    content = to_json_bytes(document(model, provenance, findings))
    _read_document(parse_json(content))
    return content


def document(
    model: Any, provenance: Provenance | None = None, findings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the contents of a model file as plain data."""
    for name, make in KINDS.items():
        kind = make()
        if isinstance(model, kind.type):
            return {
                "format": FORMAT,
                "version": FORMAT_VERSION,
                "kind": name,
                "provenance": record_to_json(provenance or Provenance(ebnc=own_version())),
                "model": kind.to_json(model),
                "findings": dict(findings or {}),
            }
    raise FormatError(
        f"a {type(model).__name__} is not a model; a model is one of {', '.join(KINDS)}"
    )


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model from a file that ``ebnc.save`` wrote.

    Parameters
    ----------
    path : str or path
        The file. Nothing in it is executed.

    Returns
    -------
    EBNC, EBNCClassifier, EBNCRegressor, Network or NetworkAverage
        The model.
    """
    return read_model(path).model


def read_model(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model with its provenance and findings; errors name the file."""
    with _named(path):
        return _read_document(read_json(path))


def read_predictor(path: str | os.PathLike[str]) -> Predictor:
    """Read the predictor of a model file, and check every field as ``load`` does.

    This does not import libraries that only learning needs (scikit-learn, numba).
    """
    from ebnc.formats.classifier_json import stored_from_json
    from ebnc.formats.ebnc_json import ebnc_from_json
    from ebnc.formats.regressor_json import stored_regressor_from_json

    with _named(path):
        opened = _open_document(read_json(path))
        if opened.kind == "classifier":
            return stored_from_json(opened.model).predictor
        if opened.kind == "regressor":
            return stored_regressor_from_json(opened.model).predictor
        if opened.kind == "ebnc":
            return Predictor.of_ebnc(ebnc_from_json(opened.model), compiled=False)
        raise FormatError(
            f"a {opened.kind} does not predict one variable; see `ebnc network --help`"
        )


def predictor_of(model: Any) -> Predictor:
    """Return the predictor of a fitted classifier, regressor or EBNC."""
    from ebnc.parameters.ebnc import EBNC

    if isinstance(model, EBNC):
        return Predictor.of_ebnc(model)
    if hasattr(model, "density_"):
        of_bins: Predictor = model.classifier_.predictor_
        return replace(of_bins, density=model.density_)
    if hasattr(model, "predictor_"):
        of_classes: Predictor = model.predictor_
        return of_classes
    raise FormatError(
        f"a {type(model).__name__} does not predict one variable; a fitted classifier, regressor "
        "or EBNC does"
    )


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the name of the file before the message of a ``FormatError``."""
    try:
        yield
    except FormatError as error:
        raise FormatError(f"{os.fspath(path)}: {error}") from None


def schema() -> dict[str, Any]:
    """Return the JSON Schema of this version of the format."""
    name = f"model-{FORMAT_VERSION}.schema.json"
    content: dict[str, Any] = parse_json((files("ebnc.formats") / "schema" / name).read_bytes())
    return content


class _Document(NamedTuple):
    """A model file whose outer fields were checked; ``model`` is not checked yet."""

    kind: str
    provenance: Provenance
    model: Field
    findings: Mapping[str, Any]


def _open_document(value: Any) -> _Document:
    """Check the outer fields of a file: format, version and kind."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise FormatError(f"this is not an ebnc model file; field 'format' must be {FORMAT!r}")
    written_by = Field(value.get("version"), "version").integer(1)
    if written_by > FORMAT_VERSION:
        raise FormatError(
            f"the file has format version {written_by}; this ebnc reads versions up to "
            f"{FORMAT_VERSION}; upgrade ebnc"
        )
    parts = Field(value).object(["format", "version", "kind", "provenance", "model", "findings"])
    findings = parts["findings"].value
    if not isinstance(findings, dict):
        raise parts["findings"].error("must be an object")
    provenance = provenance_from_json(parts["provenance"])
    return _Document(parts["kind"].choice(KINDS), provenance, parts["model"], findings)


def _read_document(value: Any) -> ModelFile:
    opened = _open_document(value)
    model = KINDS[opened.kind]().from_json(opened.model)
    return ModelFile(model, opened.provenance, opened.findings)


def own_version() -> str:
    """Return the version of this package for model files."""
    from importlib.metadata import (
        PackageNotFoundError,
        version,
    )  # takes 20 ms, and only writing needs it

    try:
        return version("ebnc")
    except PackageNotFoundError:
        return "not installed"
