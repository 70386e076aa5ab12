"""A record of a learning run, from which a run that was killed can continue.

The record is an append-only text file: a header with the fingerprint of data and settings, then one
line of JSON for each event. An incomplete last line is ignored.
"""

import hashlib
import json
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from ebnc.data.cases import Cases
from ebnc.errors import FileError, SearchError

FORMAT = "ebnc checkpoint 2"


class Checkpoint:
    """An open record; ``events`` are those of earlier runs. Without a path it stores nothing."""

    def __init__(self, path: str | os.PathLike[str] | None, mark: str) -> None:
        self.events: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        if path is None:
            return
        self.path = Path(path)
        header = json.dumps({"format": FORMAT, "fingerprint": mark})
        try:
            lines, whole = self._whole_lines()
            self.events = [self._event(number, line) for number, line in enumerate(lines[1:], 2)]
            if lines and lines[0] != header:
                raise SearchError(
                    f"checkpoint {self.path} belongs to other data or other settings; choose "
                    "another file, or delete this one to start again"
                )
            self._file = open(self.path, "ab")  # noqa: SIM115
            self._file.truncate(whole)
            if not lines:
                self._write(header)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(
                f"checkpoint {self.path} cannot be used: {error.strerror or error}"
            ) from None

    def close(self) -> None:
        """Close the file; all appended events are already written."""
        if self._file is not None:
            self._file.close()

    def append(self, event: dict[str, Any]) -> None:
        """Append one event; any thread may call this."""
        with self._lock:
            self._write(json.dumps(event))

    def _write(self, line: str) -> None:
        if self._file is not None:
            self._file.write(line.encode() + b"\n")
            self._file.flush()

    def _whole_lines(self) -> tuple[list[str], int]:
        if not self.path.exists():
            return [], 0
        raw = self.path.read_bytes()
        whole = raw.rfind(b"\n") + 1
        try:
            lines = raw[:whole].decode().splitlines()
        except UnicodeDecodeError:
            raise self._damaged(1) from None
        if whole and not lines[0].startswith('{"format": "ebnc checkpoint'):
            raise FileError(f"{self.path} is not an ebnc checkpoint; choose another file")
        return lines, whole

    def _event(self, number: int, line: str) -> dict[str, Any]:
        try:
            event = json.loads(line)
        except ValueError:
            raise self._damaged(number) from None
        if not isinstance(event, dict):
            raise self._damaged(number)
        return event

    def _damaged(self, number: int) -> FileError:
        return FileError(
            f"checkpoint {self.path} is damaged in line {number}; delete it to start again"
        )


def fingerprint(cases: Cases, settings: Iterable[object]) -> str:
    """Return a hash of data, states and settings."""
    digest = hashlib.sha256()
    for name, states in cases.domain.items():
        digest.update(repr((name, states, cases.domain.kind(name))).encode())
    digest.update(
        repr((cases.rows.names, cases.rows.codes.shape, str(cases.rows.codes.dtype))).encode()
    )
    digest.update(cases.rows.codes.tobytes())
    if cases.weights is not None:
        digest.update(cases.weights.tobytes())
    digest.update(repr(tuple(settings)).encode())
    return digest.hexdigest()
