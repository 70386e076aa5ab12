"""Sources yield batches of columns; a table in memory is a source of one batch.

``entries`` holds the rule that reads a column. Files yield many batches (``file_batches``); the
partitions of a Dask DataFrame are frames on the workers (``dask_read``).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ebnc.data.columns import Column
from ebnc.data.entries import read_column
from ebnc.data.table import Frame, Kind, Options
from ebnc.errors import DataError

__all__ = ["Batch", "FrameSource", "Source", "is_dask_frame", "require", "take_rows"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Columns of some rows. ``where`` is the name of their place in messages, such as a file."""

    columns: Mapping[str, Column]
    n_rows: int
    where: str = ""


class Source(Protocol):
    """A table that can be read several times, batch by batch.

    ``names``: all columns. ``is_small(names)``: whether these columns easily fit in memory.
    ``batches``: all rows in order; ``kinds`` fixes the kinds of some columns, and the entries of
    the others determine their kinds.
    """

    options: Options
    names: tuple[str, ...]

    def is_small(self, names: Sequence[str]) -> bool: ...

    def batches(
        self, names: Sequence[str], kinds: Mapping[str, Kind], options: Options
    ) -> Iterator[Batch]: ...


class FrameSource:
    """A table in memory as one batch.

    ``array_names``: names of the columns of a two-dimensional array; default X1, X2, ….
    """

    def __init__(self, data: Frame, array_names: Sequence[str] | None = None) -> None:
        self.options = Options()
        self._columns = _columns(data, array_names)
        self.names = tuple(self._columns)
        self._n_rows = 0 if isinstance(data, Mapping) else len(data)

    def is_small(self, names: Sequence[str]) -> bool:  # noqa: ARG002
        """Always true: the table is already in memory."""
        return True

    def batches(
        self, names: Sequence[str], kinds: Mapping[str, Kind], options: Options
    ) -> Iterator[Batch]:
        """Yield the whole table as one batch."""
        require(names, self.names)
        some = names or self.names[:1]  # counts rows even if no column is requested
        columns = {name: self._read(name, kinds.get(name), options) for name in some}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"columns differ in length: {lengths}")
        yield Batch(columns, next(iter(lengths.values()), self._n_rows))

    def read(self, names: Sequence[str]) -> dict[str, Column]:
        """Return columns by name."""
        (batch,) = self.batches(names, {}, self.options)
        return dict(batch.columns)

    def _read(self, name: str, kind: Kind | None, options: Options) -> Column:
        entries = self._columns[name]
        declared = hasattr(entries, "cat") and hasattr(entries, "iloc")  # pandas' categorical type
        return read_column(name, entries, kind, options, declared=declared)


def _columns(data: Frame, array_names: Sequence[str] | None) -> dict[str, Any]:
    """The columns of a table in memory, in the types of its library."""
    if isinstance(data, Mapping):
        names, columns = list(data), list(data.values())
    elif isinstance(data, np.ndarray):
        if data.ndim != 2 or (array_names is not None and data.shape[1] != len(array_names)):
            n = "m" if array_names is None else len(array_names)
            wanted = "name" if array_names is None else f"of {list(array_names)}"
            raise DataError(
                f"an array must have one column for each {wanted} (shape (n, {n})), got shape "
                f"{data.shape}"
            )
        names = list(array_names or (f"X{i}" for i in range(1, data.shape[1] + 1)))
        columns = list(data.T)
    elif hasattr(data, "iloc") and hasattr(data, "columns"):
        names = list(data.columns)
        columns = [data.iloc[:, i] for i in range(len(names))]
    else:
        table = _arrow_table(data)
        names, columns = list(table.column_names), list(table.columns)
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"column names must be strings, got {name!r}; rename the column")
    by_name = dict(zip(names, columns, strict=True))
    if len(by_name) < len(names):
        repeated = min(name for name in by_name if names.count(name) > 1)
        raise DataError(f"the data have two columns {repeated!r}; rename one")
    return by_name


def _arrow_table(data: Frame) -> Any:
    """Convert any table with the Arrow interface to pyarrow."""
    if hasattr(data, "collect") and not hasattr(data, "__len__"):
        raise DataError("a lazy frame has no rows yet; call its collect() first")
    import pyarrow as pa

    try:
        return data if isinstance(data, pa.Table) else pa.table(data)
    except (TypeError, ValueError, pa.ArrowException):
        raise DataError(
            "data must be a DataFrame (pandas, polars, pyarrow, or another with the Arrow "
            "interface), a mapping from column names to arrays, a two-dimensional NumPy array, or "
            f"a path, got {type(data).__name__}"
        ) from None


def is_dask_frame(data: object) -> bool:
    """Whether data is a Dask DataFrame; does not import Dask."""
    return type(data).__module__.startswith("dask.") and hasattr(data, "to_delayed")


def require(names: Sequence[str], present: Sequence[str]) -> None:
    """Raise if a requested column does not exist."""
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
    """Select rows of columns, by numbers or by a mask."""
    return {name: read_column(name, entries).take(chosen) for name, entries in columns.items()}
