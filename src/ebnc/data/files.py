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

__all__ = ["DEFAULT_MEMORY", "DataFiles", "Progress", "as_files", "format_of"]

Progress: TypeAlias = Callable[[str, float], None]
"""Told what is being done and the share of it that is done, 0 … 1."""

DEFAULT_MEMORY = "1GB"
"""Memory for reading and for the rows that are kept; interpreter and compiler take ≈ 0.3 GB more.
"""

UNITS = {"": 1, "B": 1}
UNITS |= {f"{letter}B": 1000**i for i, letter in enumerate("KMGT", 1)}
UNITS |= {f"{letter}IB": 1024**i for i, letter in enumerate("KMGT", 1)}

CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")
ENDINGS = ", ".join(PARQUET + CSV)


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
        limit = self.memory_limit
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(limit))
        if isinstance(limit, bool) or match is None or match[2].upper() not in UNITS:
            raise ParameterError(
                f"memory_limit must be bytes or text such as '800MB', got {limit!r}"
            )
        n_bytes = int(float(match[1]) * UNITS[match[2].upper()])
        if n_bytes < 1:
            raise ParameterError(f"memory_limit must be positive, got {limit!r}")
        return n_bytes

    def chosen(self, names: Sequence[str]) -> list[str]:
        """The columns to learn from, of all these."""
        return [x for x in (self.include or names) if x not in set(self.exclude)]

    def find(self) -> tuple[str, ...]:
        """The files, in order of their names; at least one, all of one format."""
        path = os.fspath(self.path)
        if os.path.isdir(path):
            files = [str(file) for file in Path(path).rglob("*") if _is_data(file, Path(path))]
            if not files:
                raise DataError(f"folder {path!r} has no file that ends in {ENDINGS}")
        elif os.path.exists(path):
            files = [path]
        elif glob.has_magic(path):
            files = [file for file in glob.glob(path, recursive=True) if os.path.isfile(file)]
            if not files:
                raise DataError(f"no file matches {path!r}")
        else:
            raise DataError(f"there is no file or folder {path!r}")
        files.sort()
        formats = {format_of(file): file for file in reversed(files)}
        if len(formats) > 1:
            shown = " and ".join(repr(file) for file in formats.values())
            raise DataError(f"{path!r} mixes CSV and Parquet: {shown}; give one format")
        return tuple(files)


def as_files(data: object) -> DataFiles | None:
    """``DataFiles`` from a path; None where ``data`` is something else."""
    if isinstance(data, DataFiles):
        return data
    return DataFiles(data) if isinstance(data, str | os.PathLike) else None


def format_of(file: str) -> Literal["parquet", "csv"]:
    """By its ending, or else by Parquet's magic number."""
    if file.lower().endswith(CSV):
        return "csv"
    if file.lower().endswith(PARQUET):
        return "parquet"
    try:
        with open(file, "rb") as opened:
            if opened.read(4) == b"PAR1":
                return "parquet"
    except OSError as error:
        raise DataError(f"file {file!r} cannot be read: {error.strerror}") from None
    raise DataError(f"file {file!r} is neither Parquet nor CSV by its name; end it in {ENDINGS}")


def _is_data(file: Path, folder: Path) -> bool:
    """Whether a file of a folder is data; names such as _SUCCESS and .crc are of other programs."""
    hidden = any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
    return not hidden and file.name.lower().endswith(CSV + PARQUET) and file.is_file()
