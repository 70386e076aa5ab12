"""Data in files, CSV or Parquet: one file, a folder of them, or a glob; read out of core.

``DataFiles`` only says where the data are and what reading them may cost; a plain path stands for
``DataFiles(path)``. The reading is done by ``ebnc.data.file_table`` through DuckDB.
"""

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ebnc.errors import DataError

__all__ = ["DEFAULT_MEMORY", "DataFiles", "Progress", "Stamps", "as_files"]

Progress: TypeAlias = Callable[[str, float], None]
"""Told what is being done and the share of it that is done, 0 … 1."""

DEFAULT_MEMORY = "1GB"
"""Memory for reading and for the rows that are kept; interpreter and compiler take ≈ 0.3 GB more.
"""

SUFFIXES: dict[str, Literal["parquet", "csv"]] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
}


@dataclass(frozen=True)
class DataFiles:
    """Files of one table and the means to read them.

    ``memory_limit``: bytes as a number, or as text such as "800MB". Distinct rows that do not fit
    into half of it stay on disk, in ``temp_directory`` (the system's unless given), as do all
    intermediate results; at most ``disk_limit`` of them. ``threads``: all cores unless given.
    """

    path: str | os.PathLike[str]
    memory_limit: str | int = DEFAULT_MEMORY
    temp_directory: str | os.PathLike[str] | None = None
    disk_limit: str | int | None = None
    threads: int | None = None
    progress: Progress | None = None

    def find(self) -> tuple[str, ...]:
        """The files, in order of their names; at least one, all of one format."""
        given = os.fspath(self.path)
        if os.path.isdir(given):
            found = [str(file) for file in Path(given).rglob("*") if _is_data(file, Path(given))]
            if not found:
                raise DataError(f"folder {given!r} has no file that ends in {_endings()}")
        elif os.path.exists(given):
            found = [given]
        elif glob.has_magic(given):
            found = [file for file in glob.glob(given, recursive=True) if os.path.isfile(file)]
            if not found:
                raise DataError(f"no file matches {given!r}")
        else:
            raise DataError(f"there is no file or folder {given!r}")
        found.sort()
        formats = {format_of(file): file for file in reversed(found)}
        if len(formats) > 1:
            shown = " and ".join(repr(file) for file in formats.values())
            raise DataError(f"{given!r} mixes CSV and Parquet: {shown}; give one format")
        return tuple(found)


class Stamps:
    """Sizes and times of files, to see whether they change while they are read."""

    def __init__(self, files: Sequence[str]) -> None:
        self._stamps = {file: _stamp(file) for file in files}

    def refuse_changed(self) -> None:
        """Raise where a file is not any more what it was at the beginning."""
        for file, stamp in self._stamps.items():
            if _stamp(file) != stamp:
                raise DataError(f"file {file!r} was changed while it was read; read it again")


def _stamp(file: str) -> tuple[int, int]:
    try:
        status = os.stat(file)
    except OSError as error:
        raise DataError(f"file {file!r} cannot be read any more: {error.strerror}") from None
    return status.st_size, status.st_mtime_ns


def as_files(data: object) -> DataFiles | None:
    """``DataFiles`` from a path; None where ``data`` is something else."""
    if isinstance(data, DataFiles):
        return data
    return DataFiles(data) if isinstance(data, str | os.PathLike) else None


def format_of(file: str) -> Literal["parquet", "csv"]:
    """By its ending, or else by Parquet's magic number."""
    for suffix, format_ in SUFFIXES.items():
        if file.lower().endswith(suffix):
            return format_
    try:
        with open(file, "rb") as opened:
            if opened.read(4) == b"PAR1":
                return "parquet"
    except OSError as error:
        raise DataError(f"file {file!r} cannot be read: {error.strerror}") from None
    raise DataError(f"file {file!r} is neither Parquet nor CSV by its name; end it in {_endings()}")


def _is_data(file: Path, folder: Path) -> bool:
    """Whether a file of a folder is data; names such as _SUCCESS and .crc are of other programs."""
    hidden = any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
    return not hidden and file.name.lower().endswith(tuple(SUFFIXES)) and file.is_file()


def _endings() -> str:
    return ", ".join(SUFFIXES)
