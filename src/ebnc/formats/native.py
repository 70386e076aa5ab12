"""The native model file: versioned JSON, described by ``schema/model-1.schema.json``.

    {"format": "ebnc model", "version": 1, "kind": "classifier",
     "provenance": {…}, "model": {…}, "findings": {…}}

``save`` writes beside and renames, after reading back what it is going to write. ``load`` executes
nothing, checks every field, and raises ``FormatError`` with the place of what is wrong. Numbers
are the shortest decimals that read back as the same float, so predictions are equal bit by bit.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, NamedTuple

from ebnc.errors import FormatError
from ebnc.field import Field, record_to_json
from ebnc.formats.provenance import Provenance, provenance_from_json
from ebnc.formats.strict_json import parse_json, read_json, to_json_bytes
from ebnc.predictor import Predictor
from ebnc.writing import write_whole

__all__ = [
    "FORMAT_VERSION",
    "ModelFile",
    "document",
    "load",
    "model_bytes",
    "own_version",
    "read_model",
    "read_predictor",
    "save",
    "schema",
]

FORMAT = "ebnc model"
FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a file holds: the model, where it comes from, and findings for a report (plain data)."""

    model: Any
    provenance: Provenance = field(default_factory=Provenance)
    findings: Mapping[str, Any] = field(default_factory=dict)


class Kind(NamedTuple):
    """A type of model and its two ways."""

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


def _network() -> Kind:
    from ebnc.formats.network_json import network_from_json, network_to_json
    from ebnc.network.network import Network

    return Kind(Network, network_to_json, network_from_json)


KINDS: Mapping[str, Callable[[], Kind]] = {
    "ebnc": _ebnc,
    "classifier": _classifier,
    "network": _network,
}
"""Every kind of model, imported when it is needed."""


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    provenance: Provenance | None = None,
    findings: Mapping[str, Any] | None = None,
    overwrite: bool = True,
) -> None:
    """Write a model to a file that ``ebnc.load`` reads.

    ``findings``: plain data (dicts with string keys, lists, strings, finite numbers, booleans,
    None) that a report shows beside the model. ``overwrite=False`` refuses a path that exists.
    """
    write_whole(path, model_bytes(model, provenance, findings), overwrite=overwrite)


def model_bytes(
    model: Any, provenance: Provenance | None = None, findings: Mapping[str, Any] | None = None
) -> bytes:
    """The contents of a model file; whatever could not be read back is refused."""
    content = to_json_bytes(document(model, provenance, findings))
    _read_document(parse_json(content))
    return content


def document(
    model: Any, provenance: Provenance | None = None, findings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The contents of a model file as plain data."""
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
    raise FormatError(f"a {type(model).__name__} is no model; known are {list(KINDS)}")


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model from a file: an EBNC, a fitted classifier or a network."""
    return read_model(path).model


def read_model(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model with its provenance and findings; errors begin with the name of the file."""
    with _named(path):
        return _read_document(read_json(path))


def read_predictor(path: str | os.PathLike[str]) -> Predictor:
    """The predictor in a model file, every field of which is checked, as in ``load``.

    It loads nothing that only learning needs (scikit-learn, numba).
    """
    from ebnc.formats.classifier_json import stored_from_json
    from ebnc.formats.ebnc_json import ebnc_from_json

    with _named(path):
        opened = _open_document(read_json(path))
        if opened.kind == "classifier":
            return stored_from_json(opened.model).predictor
        if opened.kind == "ebnc":
            return Predictor.of_ebnc(ebnc_from_json(opened.model), compiled=False)
        raise FormatError(f"a model of kind {opened.kind!r} does not predict one variable")


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of a format begin with the name of the file."""
    try:
        yield
    except FormatError as error:
        raise FormatError(f"{os.fspath(path)}: {error}") from None


def schema() -> dict[str, Any]:
    """The JSON Schema of this version of the format."""
    name = f"model-{FORMAT_VERSION}.schema.json"
    found: dict[str, Any] = parse_json((files("ebnc.formats") / "schema" / name).read_bytes())
    return found


class _Opened(NamedTuple):
    """A model file whose frame was checked; ``model`` was not yet."""

    kind: str
    provenance: Provenance
    model: Field
    findings: Mapping[str, Any]


def _open_document(value: Any) -> _Opened:
    """Check the frame of a file: that it is one, its version, its kind."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise FormatError("this is no ebnc model file; it has no field 'format' that says so")
    written_by = Field(value.get("version"), "version").integer(1)
    if written_by > FORMAT_VERSION:
        raise FormatError(
            f"written by ebnc format {written_by}; this version reads up to {FORMAT_VERSION}; "
            "upgrade ebnc"
        )
    parts = Field(value).object(["format", "version", "kind", "provenance", "model", "findings"])
    findings = parts["findings"].value
    if not isinstance(findings, dict):
        raise parts["findings"].error("must be an object")
    provenance = provenance_from_json(parts["provenance"])
    return _Opened(parts["kind"].choice(KINDS), provenance, parts["model"], findings)


def _read_document(value: Any) -> ModelFile:
    opened = _open_document(value)
    model = KINDS[opened.kind]().from_json(opened.model)
    return ModelFile(model, opened.provenance, opened.findings)


def own_version() -> str:
    """The version of this package, as it goes into files."""
    from importlib.metadata import PackageNotFoundError, version  # 20 ms, only to write

    try:
        return version("ebnc")
    except PackageNotFoundError:
        return "not installed"
