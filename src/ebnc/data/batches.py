"""Sources of data: every one yields batches of columns, read by one rule (``columns``).

A data frame, a mapping or an array is one batch; files are many (``file_batches``). Partitions of a
Dask DataFrame are frames on the workers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ebnc.data.columns import Column, read_column
from ebnc.data.files import as_files
from ebnc.data.table import Frame, Kind, Options
from ebnc.errors import DataError

__all__ = ["Batch", "FrameSource", "Source", "column_names", "require", "source_of", "take_rows"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Columns of some rows. ``where``: what errors call the place they come from."""

    columns: Mapping[str, Column]
    n_rows: int
    where: str = ""


class Source(Protocol):
    """A table that can be read more than once, some rows at a time."""

    options: Options

    @property
    def names(self) -> tuple[str, ...]: ...

    def batches(
        self, names: Sequence[str], kinds: Mapping[str, Kind], options: Options
    ) -> Iterator[Batch]:
        """All rows in order. ``kinds``: what columns must be; others are what they are."""
        ...


class FrameSource:
    """A table in memory as one batch; a column is converted once, unless it must be of a kind.

    ``array_names``: what the columns of a two-dimensional array are; X1, X2, … unless given.
    """

    def __init__(
        self,
        data: Frame,
        array_names: Sequence[str] | None = None,
        options: Options | None = None,
        where: str = "",
    ) -> None:
        self.options = options or Options()
        self._where = where
        self._read: dict[str, Column] = {}
        self._data = data
        self._names = tuple(_names(data)) if array_names is None else tuple(array_names)
        self._is_array = isinstance(data, np.ndarray)
        if self._is_array and (data.ndim != 2 or data.shape[1] != len(self._names)):
            raise DataError(
                f"an array must have one column for each of {list(self._names)} "
                f"(shape (n, {len(self._names)})), got shape {data.shape}"
            )
        if not self._is_array:
            if array_names is not None:
                self._names = tuple(_names(data))
            if not isinstance(data, Mapping) and not hasattr(data, "iloc"):
                self._data = _arrow_table(data)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all columns."""
        return self._names

    def batches(
        self, names: Sequence[str], kinds: Mapping[str, Kind], options: Options
    ) -> Iterator[Batch]:
        """The one batch."""
        require(names, self._names)
        found = {name: self._column(name, kinds.get(name), options) for name in names}
        lengths = {name: len(column) for name, column in found.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"columns differ in length: {lengths}")
        length = next(iter(lengths.values())) if lengths else self._n_rows()
        yield Batch(found, length, self._where)

    def read(self, names: Sequence[str]) -> dict[str, Any]:
        """Columns by name."""
        (batch,) = self.batches(names, {}, self.options)
        return dict(batch.columns)

    def _n_rows(self) -> int:
        if not isinstance(self._data, Mapping):
            return len(self._data)
        return len(self._column(self._names[0], None, self.options)) if self._names else 0

    def _column(self, name: str, kind: Kind | None, options: Options) -> Column:
        read = self._read.get(name)
        if read is not None and options is self.options and (kind in (None, read.kind)):
            return read
        given = self._data[:, self._names.index(name)] if self._is_array else self._data[name]
        declared = hasattr(given, "cat") and hasattr(given, "iloc")  # pandas' categorical type
        column = read_column(name, given, kind, options, declared=declared)
        if options is self.options:
            self._read[name] = column
        return column


def source_of(data: Frame, array_names: Sequence[str] | None = None) -> Source:
    """The source of any data but a Dask DataFrame."""
    files = as_files(data)
    if files is not None:
        from ebnc.data.file_batches import FileSource

        return FileSource(files)
    return FrameSource(data, array_names)


def column_names(data: Frame) -> list[str]:
    """The names of all columns, in their order; an array's are called X1, X2, …."""
    files = as_files(data)
    return list(source_of(data).names) if files is not None else _names(data)


def _names(data: Frame) -> list[str]:
    if isinstance(data, np.ndarray):
        if data.ndim != 2:
            raise DataError(f"an array must have two dimensions, got shape {data.shape}")
        return [f"X{i}" for i in range(1, data.shape[1] + 1)]
    if isinstance(data, Mapping):
        names = list(data)
    elif hasattr(data, "collect") and not hasattr(data, "__len__"):
        raise DataError("a lazy frame has no rows yet; call its collect() first")
    elif hasattr(data, "column_names") and hasattr(data, "schema"):  # pyarrow
        names = list(data.column_names)
    elif hasattr(data, "columns") and not callable(data.columns):
        names = list(data.columns)
    elif hasattr(data, "__arrow_c_stream__"):
        names = list(_arrow_table(data).column_names)
    else:
        raise DataError(_no_frame(data))
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"column names must be strings, got {name!r}; rename the column")
    repeated = (
        sorted({name for name in names if names.count(name) > 1})
        if (len(set(names)) < len(names))
        else []
    )
    if repeated:
        raise DataError(f"the data have two columns {repeated[0]!r}; rename one")
    return names


def _arrow_table(data: Frame) -> Any:
    """Any table with the Arrow interface as one of pyarrow."""
    import pyarrow as pa

    try:
        return data if isinstance(data, pa.Table) else pa.table(data)
    except (TypeError, ValueError, pa.ArrowException):
        raise DataError(_no_frame(data)) from None


def _no_frame(data: object) -> str:
    return (
        "data must be a DataFrame (pandas, polars, pyarrow, or another with the Arrow interface), "
        "a mapping from column names to arrays, a two-dimensional NumPy array, or a path, got "
        f"{type(data).__name__}"
    )


def require(names: Sequence[str], present: Sequence[str]) -> None:
    """Raise where a column asked for is not there."""
    known = set(present)
    for name in names:
        if name not in known:
            import difflib

            close = difflib.get_close_matches(name, present, 1)
            meant = f"did you mean {close[0]!r}? " if close else ""
            shown = ", ".join(repr(other) for other in present[:8])
            more = ", …" if len(present) > 8 else ""
            raise DataError(f"the data have no column {name!r}; {meant}they have {shown}{more}")


def take_rows(columns: Mapping[str, Any], chosen: Any) -> dict[str, Column]:
    """Columns with the rows of these numbers, or where a mask is True."""
    return {name: read_column(name, given).take(chosen) for name, given in columns.items()}
