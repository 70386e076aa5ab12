"""One table out of many files: columns of known type, ready for SQL.

Inside, columns are called c0, c1, … in the order of the files, so that names of any kind (also two
that differ in case only) are no trouble. ``FileTable.view`` has those that were asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ebnc.data.columns import require
from ebnc.data.csv_columns import csv_source, csv_types
from ebnc.data.engine import Engine, quoted
from ebnc.data.files import Stamps, format_of
from ebnc.errors import DataError

__all__ = ["Entry", "FileColumn", "FileTable"]

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
WHOLE = (*INTEGERS, *(f"U{name}" for name in INTEGERS))
LABELS = ("VARCHAR", "BOOLEAN", "DATE", "TIME", "TIMESTAMP", "UUID", "ENUM", "BLOB", "INTERVAL")


@dataclass(frozen=True)
class FileColumn:
    """A column: its name in the files, its name here, and its type in DuckDB."""

    name: str
    key: str
    type: str

    @property
    def is_whole(self) -> bool:
        """Whether it holds whole numbers by its type."""
        return self.type in WHOLE

    @property
    def is_numeric(self) -> bool:
        """Whether it holds numbers (booleans are labels)."""
        return self.is_whole or self.type in ("FLOAT", "DOUBLE") or self.type.startswith("DECIMAL")

    @property
    def kind(self) -> str:
        """What files must agree on."""
        if self.is_numeric:
            return "number"
        return "text" if self.type.startswith(("VARCHAR", "ENUM")) else self.type.lower()


class Entry(NamedTuple):
    """SQL of an entry of the source as text and as a number; NULL where it is missing or none."""

    text: str
    number: str


class FileTable:
    """The files of an engine as one view; ``columns`` by their names in the files."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.view = "typed"
        self.files = engine.files.find()
        self._stamps = Stamps(self.files)
        self.is_csv = format_of(self.files[0]) == "csv"
        self.columns: dict[str, FileColumn] = {}
        if self.is_csv:
            self.source, self.names = csv_source(self.files)
        else:
            self.source = f"read_parquet({quoted(self.files)}, union_by_name = true)"
            self.names = [name for name, _ in self._described(self.files[0])]

    def select(self, names: Sequence[str]) -> None:
        """Make the view of these columns; says so where a file lacks one or has another type."""
        require(names, self.names)
        if self.is_csv:
            wanted = [self.names.index(name) for name in names]
            types = csv_types(self.engine, self.source, wanted, self.names)
            for i, name, type_ in zip(wanted, names, types, strict=True):
                self.columns[name] = FileColumn(name, f"c{i}", type_)
            selected = [f"CAST({c.key} AS {c.type}) AS {c.key}" for c in self.columns.values()]
        else:
            self._refuse_different(names)
            of_all = dict(self._described(self.source))
            for i, name in enumerate(self.names):
                if name in names:
                    self.columns[name] = _checked(FileColumn(name, f"c{i}", of_all[name]))
            selected = [f"{_present(c)} AS {c.key}" for c in self.columns.values()]
        query = f"SELECT {', '.join(selected)} FROM {self.source}"
        self.engine.run(f"CREATE VIEW typed AS {query}")

    def entries(self, names: Sequence[str]) -> dict[str, Entry]:
        """How to read columns of Parquet whose states are known already."""
        require(names, self.names)
        self._refuse_different(names)
        of_all = dict(self._described(self.source))
        found = {}
        for name in names:
            column = _checked(FileColumn(name, "", of_all[name]))
            text = f"CAST({_present(column)} AS VARCHAR)"
            number = _present(column) if column.is_numeric else text
            found[name] = Entry(text, f"TRY_CAST({number} AS DOUBLE)")
        return found

    def leave_out(self, condition: str) -> None:
        """Drop rows from the view."""
        self.engine.run(f"CREATE VIEW kept AS SELECT * FROM typed WHERE NOT ({condition})")
        self.view = "kept"

    def refuse_changed(self) -> None:
        """Raise where a file is not any more what it was at the beginning."""
        self._stamps.refuse_changed()

    def _refuse_different(self, names: Sequence[str]) -> None:
        first = None
        for file in self.files:
            here = {
                name: FileColumn(name, "", type_)
                for name, type_ in self._described(file)
                if name in names
            }
            for name in names:
                if name not in here:
                    raise DataError(f"file {file!r} has no column {name!r}, unlike others")
            first = first or here
            for name in names:
                if here[name].kind != first[name].kind:
                    raise DataError(
                        f"column {name!r} differs in type between files: {first[name].kind} in "
                        f"file {self.files[0]!r}, {here[name].kind} in file {file!r}"
                    )

    def _described(self, source: str) -> list[tuple[str, str]]:
        """Names and types of one file or of a table function."""
        table = source if source.startswith("read_") else f"read_parquet({quoted(source)})"
        try:
            rows = self.engine.rows(f"DESCRIBE SELECT * FROM {table}")
        except DataError as error:
            named = "" if source.startswith("read_") else f"file {source!r}: "
            raise DataError(f"{named}{error}") from None
        return [(row[0], row[1]) for row in rows]


def _checked(column: FileColumn) -> FileColumn:
    if column.is_numeric or (column.type.startswith(LABELS) and not column.type.endswith("]")):
        return column
    raise DataError(f"entries of column {column.name!r} cannot be labels: they are {column.type}")


def _present(column: FileColumn) -> str:
    """A column under its name in the files, with NaN as missing."""
    name = '"' + column.name.replace('"', '""') + '"'
    if column.type in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END"
    return name
