"""Where a model comes from: the version that wrote it, the data, the command."""

import hashlib
import os
import re
from dataclasses import dataclass
from typing import Any

from ebnc.errors import FileError
from ebnc.formats.field import Field

__all__ = ["DataSource", "Provenance", "fingerprint", "provenance_from_json", "provenance_to_json"]

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


def provenance_to_json(provenance: Provenance) -> dict[str, Any]:
    """Plain data; what is not known is null."""
    data, command = provenance.data, provenance.command
    return {
        "ebnc": provenance.ebnc,
        "command": None if command is None else list(command),
        "data": None
        if data is None
        else {
            "name": data.name,
            "rows": data.rows,
            "columns": data.columns,
            "sha256": data.sha256,
        },
    }


def provenance_from_json(field: Field) -> Provenance:
    """The inverse of ``provenance_to_json``."""
    parts = field.object(["ebnc", "command", "data"])
    command = None if parts["command"].is_null() else parts["command"].texts()
    source = None
    if not parts["data"].is_null():
        data = parts["data"].object(["name", "rows", "columns", "sha256"])
        digest = None if data["sha256"].is_null() else data["sha256"].text()
        if digest is not None and not SHA256.fullmatch(digest):
            raise data["sha256"].error("must be 64 hexadecimal digits")
        source = DataSource(
            data["name"].text(), data["rows"].integer(0), data["columns"].integer(0), digest
        )
    return Provenance(parts["ebnc"].text(), command, source)
