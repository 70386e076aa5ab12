"""Where a model comes from: the version that wrote it, the data, the command."""

import hashlib
import os
import re
from dataclasses import dataclass

from ebnc.errors import FileError
from ebnc.field import Field

__all__ = ["DataSource", "Provenance", "fingerprint", "provenance_from_json"]

SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class DataSource:
    """The data a model was learned from: their name, size, and the SHA-256 of the file's bytes."""

    name: str
    rows: int
    columns: int
    sha256: str | None = None


@dataclass(frozen=True)
class Provenance:
    """``ebnc``: the version that wrote the model. ``command``: the words of the command line."""

    ebnc: str = ""
    command: tuple[str, ...] | None = None
    data: DataSource | None = None


def fingerprint(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from None


def provenance_from_json(field: Field) -> Provenance:
    """What ``record_to_json`` made of a provenance."""
    provenance = field.record(Provenance)
    digest = None if provenance.data is None else provenance.data.sha256
    if digest is not None and not SHA256.fullmatch(digest):
        raise field.error("data.sha256 must be 64 hexadecimal digits")
    return provenance
