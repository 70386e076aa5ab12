"""The provenance of a model: the version that wrote it, the command and the data."""

import hashlib
import os
import re
import shlex
from dataclasses import dataclass

from ebnc.errors import FileError
from ebnc.field import Field

SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class DataSource:
    """The training data of a model: their name, their size, and the SHA-256 of the file."""

    name: str
    rows: int
    columns: int
    sha256: str | None = None


@dataclass(frozen=True)
class Provenance:
    """The origin of a model.

    Attributes
    ----------
    ebnc : str
        Version that wrote the model.
    command : tuple of str or None
        Words of the command line.
    data : DataSource or None
        Training data.
    """

    ebnc: str = ""
    command: tuple[str, ...] | None = None
    data: DataSource | None = None

    def __str__(self) -> str:
        """One line for a reader: version, data and command, as far as they are known."""
        parts = [f"ebnc {self.ebnc}"] if self.ebnc else []
        if self.data is not None:
            known = f"{self.data.name}, {self.data.rows} rows × {self.data.columns} columns"
            digest = "" if self.data.sha256 is None else f", SHA-256 {self.data.sha256}"
            parts.append(known + digest)
        if self.command:
            parts.append(shlex.join(self.command))
        return "; ".join(parts)


def fingerprint(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from None


def provenance_from_json(field: Field) -> Provenance:
    """Read a provenance that ``record_to_json`` converted."""
    provenance = field.record(Provenance)
    digest = None if provenance.data is None else provenance.data.sha256
    if digest is not None and not SHA256.fullmatch(digest):
        raise field.error("data.sha256 must be 64 hexadecimal digits")
    return provenance
