"""What the columns of CSV files are: names from the header, types from every entry.

The rules are pandas': the first line names the columns; empty entries and ``MISSING`` are missing;
a column whose other entries are all whole numbers, numbers or true/false is one of these, and text
otherwise. The delimiter is whichever of , ; tab | is most frequent in the header.
"""

import csv
import gzip
from collections.abc import Sequence

from ebnc.data.engine import Engine, quoted
from ebnc.errors import DataError

__all__ = ["csv_source", "csv_types", "read_header"]

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
TYPES = ("BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR")


def read_header(file: str) -> tuple[str, list[str]]:
    """The delimiter and the names in the first line of a file."""
    try:
        open_text = gzip.open if file.lower().endswith(".gz") else open
        with open_text(file, "rt", encoding="utf-8-sig", newline="") as text:
            first = text.readline()
            if not first.strip():
                raise DataError(f"file {file!r} is empty; its first line must name the columns")
            if "\0" in first:
                raise DataError(f"file {file!r} holds zero bytes; it is not text")
            delimiter = max(DELIMITERS, key=first.count)
            while first.count('"') % 2:  # a quoted name may hold a line break
                more = text.readline()
                if not more:
                    raise DataError(f"the header of file {file!r} has a quote that does not end")
                first += more
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"file {file!r} cannot be read: {error}") from None
    return delimiter, next(csv.reader([first], delimiter=delimiter))


def csv_source(files: Sequence[str]) -> tuple[str, list[str]]:
    """SQL of all files as one table of text, columns c0, c1, … and filename; and their names."""
    delimiter, names = read_header(files[0])
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise DataError(f"file {files[0]!r} has two columns {min(repeated)!r}; rename one")
    for file in files[1:]:
        _, others = read_header(file)
        if others != names:
            raise DataError(
                f"file {file!r} has other columns than {files[0]!r}: "
                f"{others[:8]} instead of {names[:8]}"
            )
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
