"""What the columns of CSV files are: names from the header, types from every entry.

The rules are pandas': the first line names the columns; empty entries and ``MISSING`` are missing;
a column whose other entries are all whole numbers, numbers or true/false is one of these, and text
otherwise. The delimiter is whichever of , ; tab | is most frequent in the header.
"""

import csv
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, NamedTuple

from ebnc.data.engine import Engine, quoted
from ebnc.errors import DataError

__all__ = ["Header", "csv_header", "csv_source", "csv_types", "opened_csv", "read_entries"]

MISSING = (
    "",
    "#N/A",
    "#N/A N/A",
    "#NA",
    "-1.#IND",
    "-1.#QNAN",
    "-NaN",
    "-nan",
    "1.#IND",
    "1.#QNAN",
    "<NA>",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "None",
    "n/a",
    "nan",
    "null",
)
DELIMITERS = ",;\t|"
TRUE_FALSE = ("True", "TRUE", "true", "False", "FALSE", "false")
COUNTED = 2**20  # bytes in which lines are counted at a time
TYPES = ("BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR")


class Header(NamedTuple):
    """The first line of a file: its delimiter, the names in it, and its size in bytes."""

    delimiter: str
    names: list[str]
    size: int


def csv_header(files: Sequence[str]) -> list[Header]:
    """The headers of files that are one table: names differ, and are the same in all of them."""
    headers = [_read_header(file) for file in files]
    names = headers[0].names
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise DataError(f"file {files[0]!r} has two columns {min(repeated)!r}; rename one")
    for file, header in zip(files, headers, strict=True):
        if header.names != names:
            raise DataError(
                f"file {file!r} has other columns than {files[0]!r}: "
                f"{header.names[:8]} instead of {names[:8]}"
            )
    return headers


def _read_header(file: str) -> Header:
    with opened_csv(file) as (binary, _):
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
        first = text.readline()
        if not first.strip("\ufeff \t\r\n"):
            raise DataError(f"file {file!r} is empty; its first line must name the columns")
        if "\0" in first:
            raise DataError(f"file {file!r} holds zero bytes; it is not text")
        while first.count('"') % 2:  # a quoted name may hold a line break
            more = text.readline()
            if not more:
                raise DataError(f"the header of file {file!r} has a quote that does not end")
            first += more
    line = first.removeprefix("\ufeff")  # the mark of UTF-8 is no part of a name
    delimiter = max(DELIMITERS, key=line.count)
    return Header(delimiter, next(csv.reader([line], delimiter=delimiter)), len(first.encode()))


def read_entries(file: str, header: Header, offset: int | None = None) -> Iterator[list[str]]:
    """The rows below the header, or from an offset on, as text."""
    offset = header.size if offset is None else offset
    with opened_csv(file) as (binary, _):
        binary.seek(offset)
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
        reader = csv.reader(text, delimiter=header.delimiter, strict=True)
        try:
            for row in reader:
                if row and len(row) != len(header.names):
                    raise csv.Error(f"{len(row)} entries instead of {len(header.names)}")
                if row:
                    yield row
        except csv.Error as error:
            line = _n_lines(file, offset) + reader.line_num
            raise DataError(
                f"the data cannot be read: file {file!r}, line {line}: {error}"
            ) from None


@contextmanager
def opened_csv(file: str) -> Iterator[tuple[IO[bytes], Callable[[], int]]]:
    """The bytes of the text in a file, and how far the file itself is read."""
    try:
        with open(file, "rb") as raw:
            if file.lower().endswith(".gz"):
                with gzip.open(raw) as text:
                    yield text, raw.tell  # type: ignore[misc]
            else:
                yield raw, raw.tell
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"file {file!r} cannot be read: {error}") from None


def _n_lines(file: str, offset: int) -> int:
    with opened_csv(file) as (binary, _):
        blocks = iter(lambda: binary.read(min(COUNTED, offset - binary.tell())), b"")
        return sum(block.count(b"\n") for block in blocks)


def csv_source(files: Sequence[str]) -> tuple[str, list[str]]:
    """SQL of all files as one table of text, columns c0, c1, … and filename; and their names."""
    delimiter, names, _ = csv_header(files)[0]
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    return (
        f"read_csv({quoted(files)}, auto_detect = false, delim = {quoted(delimiter)}, "
        f"quote = '\"', escape = '\"', header = true, columns = {{{columns}}}, "
        f"nullstr = {quoted(MISSING)}, filename = true)"
    ), names


def csv_types(
    engine: Engine, source: str, wanted: Sequence[int], names: Sequence[str]
) -> list[str]:
    """The type of each wanted column, from all entries of all files.

    Files where a column is of another kind than elsewhere (numbers here, text there) are refused;
    a file where it is missing throughout agrees with all.
    """
    parts = ["filename"]
    for i in wanted:
        number = f"TRY_CAST(c{i} AS DOUBLE) IS NOT NULL AND NOT contains(c{i}, '_')"
        whole = f"TRY_CAST(c{i} AS BIGINT) IS NOT NULL AND NOT regexp_matches(c{i}, '[.eE_]')"
        logical = f"c{i} IN ({quoted(TRUE_FALSE)[1:-1]})"
        for test in (whole, number, logical):
            parts.append(f"bool_and({test}) FILTER (c{i} IS NOT NULL)")
    query = f"SELECT {', '.join(parts)} FROM {source} GROUP BY filename ORDER BY filename"
    found = engine.rows(query, "finding types")
    types = []
    for place, i in enumerate(wanted):
        by_file = {}
        for row in found:
            flags = row[1 + 3 * place : 4 + 3 * place]
            if flags[0] is not None:  # not missing throughout
                by_file[row[0]] = [*flags, True].index(True)
        kinds = {max(code, 1): file for file, code in reversed(by_file.items())}
        if len(kinds) > 1:
            shown = ", ".join(
                f"{'number' if kind == 1 else TYPES[kind].lower()} in file {file!r}"
                for kind, file in kinds.items()
            )
            raise DataError(f"column {names[i]!r} differs in type between files: {shown}")
        types.append(TYPES[max(by_file.values())] if by_file else "VARCHAR")
    return types
