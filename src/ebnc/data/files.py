"""Data in files, CSV or Parquet: one file, a folder of them, or a glob; and how to read them.

``DataFiles`` only says where the data are and how they are to be read; a plain path stands for
``DataFiles(path)``. The reading is done by ``ebnc.data.file_batches``.
"""

import glob
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from ebnc.data.table import MISSING_WORDS, Kind, Options
from ebnc.errors import DataError, ParameterError

__all__ = ["DEFAULT_MEMORY", "DataFiles", "Progress", "Stamps", "as_files"]

Progress: TypeAlias = Callable[[str, float], None]
"""Told what is being done and the share of it that is done, 0 … 1."""

DEFAULT_MEMORY = "1GB"
"""Memory for reading and for the rows that are kept; interpreter and compiler take ≈ 0.3 GB more.
"""

UNITS = {"": 1, "B": 1}
UNITS |= {f"{letter}B": 1000**i for i, letter in enumerate("KMGT", 1)}
UNITS |= {f"{letter}IB": 1024**i for i, letter in enumerate("KMGT", 1)}

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
    """Files of one table, and how they are read.

    Parameters
    ----------
    path : str or path
        A file, a folder or a glob.
    include, exclude : sequences of str
        The columns to learn from (all unless given), and columns to leave out.
    types : mapping from column to {"number", "label", "date"}
        What these columns hold, instead of what their entries look like.
    missing_words : sequence of str
        Text that is a missing entry.
    delimiter : str or None
        Of CSV; unless given, whichever of , ; tab | is most frequent in the header.
    decimal : {".", ","}
        The decimal point of numbers that are written as text.
    memory_limit : int or str
        Bytes, or text such as "800MB". Coded rows that need more than a 16th of it are
        counted; distinct rows that need more than an eighth stay on disk.
    temp_directory : str, path or None
        Where they stay; the system's unless given.
    progress : callable or None
        Told what is being done and the share of it that is done.
    """

    path: str | os.PathLike[str]
    include: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    types: Mapping[str, Kind] = field(default_factory=dict)
    missing_words: Sequence[str] = MISSING_WORDS
    delimiter: str | None = None
    decimal: str = "."
    memory_limit: str | int = DEFAULT_MEMORY
    temp_directory: str | os.PathLike[str] | None = None
    progress: Progress | None = None

    @property
    def options(self) -> Options:
        """How entries are read."""
        return Options(dict(self.types), tuple(self.missing_words), self.decimal)

    @property
    def memory_bytes(self) -> int:
        """The memory limit as a number."""
        given = self.memory_limit
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(given))
        if isinstance(given, bool) or match is None or match[2].upper() not in UNITS:
            raise ParameterError(
                f"memory_limit must be bytes or text such as '800MB', got {given!r}"
            )
        found = int(float(match[1]) * UNITS[match[2].upper()])
        if found < 1:
            raise ParameterError(f"memory_limit must be positive, got {given!r}")
        return found

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
