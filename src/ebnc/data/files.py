"""``DataFiles``: a table in CSV or Parquet files, and the options for reading it.

The path is a file, a folder or a glob. A plain path means ``DataFiles(path)``.
``ebnc.data.file_batches`` reads the files.
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

Progress: TypeAlias = Callable[[str, float], None]
"""Called with the name of the current task and the share of it that is done, 0 … 1."""

DEFAULT_MEMORY = "1GB"
"""Memory for reading and for coded rows; interpreter and compiler take ≈ 0.3 GB more."""

UNITS = {"": 1, "B": 1}
UNITS |= {f"{letter}B": 1000**i for i, letter in enumerate("KMGT", 1)}
UNITS |= {f"{letter}IB": 1024**i for i, letter in enumerate("KMGT", 1)}

CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")
ENDINGS = ", ".join(PARQUET + CSV)


@dataclass(frozen=True)
class DataFiles:
    """The files of one table, and the options for reading them.

    Parameters
    ----------
    path : str or path
        A file, a folder or a glob.
    include : sequence of str or None
        Columns to learn from; None: all.
    exclude : sequence of str
        Columns to leave out.
    types : mapping from column to {"number", "label", "date"}
        Kinds of columns; the entries determine the kinds of other columns.
    missing_words : sequence of str
        Words for a missing entry.
    delimiter : str or None
        Delimiter of CSV; None: the most frequent of , ; tab | in the header.
    decimal : {".", ","}
        Decimal mark of numbers in text.
    memory_limit : int or str
        Bytes, or text such as "800MB". If coded rows need more than 1/16 of it, equal rows are
        counted; if distinct rows need more than 1/8 of it, they are stored on disk.
    temp_directory : str, path or None
        Directory for rows on disk; None: the system's directory for temporary files.
    progress : callable or None
        Called with the name of the current task and the share of it that is done.
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
        """The options for reading entries."""
        return Options(dict(self.types), tuple(self.missing_words), self.decimal)

    @property
    def memory_bytes(self) -> int:
        """The memory limit in bytes."""
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
        """Return the columns to learn from.

        Parameters
        ----------
        names : sequence of str
            The columns of the files.
        """
        return [x for x in (self.include or names) if x not in set(self.exclude)]

    def find(self) -> tuple[str, ...]:
        """Return the files, sorted by name; raise if none exists or if formats differ."""
        path = os.fspath(self.path)
        if os.path.isdir(path):
            files = [str(file) for file in Path(path).rglob("*") if _is_data(file, Path(path))]
            if not files:
                raise DataError(f"folder {path!r} has no file whose name ends in {ENDINGS}")
        elif os.path.exists(path):
            files = [path]
        elif glob.has_magic(path):
            files = [file for file in glob.glob(path, recursive=True) if os.path.isfile(file)]
            if not files:
                raise DataError(f"no file matches {path!r}")
        else:
            raise DataError(f"file or folder {path!r} does not exist")
        files.sort()
        formats = {format_of(file): file for file in reversed(files)}
        if len(formats) > 1:
            shown = " and ".join(repr(file) for file in formats.values())
            raise DataError(f"{path!r} mixes CSV and Parquet: {shown}; use files of one format")
        return tuple(files)


def as_files(data: object) -> DataFiles | None:
    """Return ``DataFiles``, also for a path; None for other data."""
    if isinstance(data, DataFiles):
        return data
    return DataFiles(data) if isinstance(data, str | os.PathLike) else None


def format_of(file: str) -> Literal["parquet", "csv"]:
    """Return the format of a file, by its ending or by the magic number of Parquet."""
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
    raise DataError(f"cannot read file {file!r}: its name must end in {ENDINGS}; save it as CSV")


def _is_data(file: Path, folder: Path) -> bool:
    """Whether a file in a folder is data; other programs write files such as _SUCCESS and .crc."""
    hidden = any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
    return not hidden and file.name.lower().endswith(CSV + PARQUET) and file.is_file()
