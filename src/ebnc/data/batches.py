"""Sources yield batches of columns; a table in memory is a source of one batch.

``entries`` holds the rule that reads a column. Files yield many batches (``file_batches``); the
partitions of a Dask DataFrame are frames on the workers (``dask_read``).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ebnc.data.cases import check_weights, refuse_wrong_weights
from ebnc.data.columns import Column, Numbers
from ebnc.data.entries import read_column
from ebnc.data.plan import Plan
from ebnc.data.table import Frame, Options
from ebnc.errors import DataError, alternatives
from ebnc.typing import FloatArray

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Batch:
    """Columns of some rows.

    ``where``: their place in messages, such as a file. ``first``: the number of the first row.
    """

    columns: Mapping[str, Column]
    n_rows: int
    where: str = ""
    first: int = 0

    def weights_of(self, name: str) -> FloatArray:
        """Return a column of weights as floats."""
        column = self.columns[name]
        if not isinstance(column, Numbers):
            raise DataError("weights must be numbers")
        weights = np.asarray(column.values, dtype=np.float64)
        refuse_wrong_weights(weights, self.first)
        return weights

    def weighted(self, plan: Plan) -> tuple["Batch", FloatArray | None]:
        """Split the columns of a plan from their weights, and remove rows of weight 0."""
        columns = {name: self.columns[name] for name in plan.names}
        if plan.weights is None:
            return Batch(columns, self.n_rows, self.where), None
        weights = self.weights_of(plan.weights)
        if not weights.all():
            is_positive = weights > 0
            columns = {name: column.take(is_positive) for name, column in columns.items()}
            weights = weights[is_positive]
        return Batch(columns, len(weights), self.where), weights


class Source(ABC):
    """A table that can be read several times, batch by batch.

    ``names``: all columns. ``memory_bytes``: the limit for coded rows; None for data that are in
    memory already. ``is_small``: whether the table easily fits in memory.
    """

    names: tuple[str, ...]
    options: Options = Options()
    memory_bytes: int | None = None
    temp_directory: Any = None
    is_small: bool = True
    _held_for: Plan | None = None
    _held: Sequence[Batch] = ()

    @abstractmethod
    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the columns of a plan, all rows in order."""

    def each(self, job: Callable[..., T], plan: Plan, *arguments: Any) -> Iterator[T]:
        """Yield job(batch, plan, …) for every batch; a small table is read once and held."""
        batches: Iterable[Batch] = self._held
        if plan is not self._held_for:
            batches = self.batches(plan)
            if self.is_small:
                self._held_for, self._held = plan, list(batches)
                batches = self._held
        for batch in batches:
            yield job(batch, plan, *arguments)


class FrameSource(Source):
    """A table in memory as one batch.

    ``array_names``: names of the columns of a two-dimensional array; default X1, X2, ….
    """

    def __init__(self, data: Frame, array_names: Sequence[str] | None = None) -> None:
        self._columns = _columns(data, array_names)
        self.names = tuple(self._columns)
        self._n_rows = 0 if isinstance(data, Mapping) else len(data)

    def add_weights(self, weights: Any, like: str) -> str:
        """Add an array of weights, as long as column ``like``, as a column; return its name."""
        name = "weights"
        while name in self._columns:
            name += "_"
        (batch,) = self.batches(Plan((like,)))
        checked = check_weights(getattr(weights, "values", weights), batch.n_rows)
        self._columns[name] = np.asarray(checked)
        self.names = tuple(self._columns)
        return name

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the whole table as one batch."""
        require(plan.read, self.names)
        names = plan.read or self.names[:1]  # counts rows even if no column is requested
        columns = {name: self._read(name, plan) for name in names}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"columns differ in length: {lengths}")
        yield Batch(columns, next(iter(lengths.values()), self._n_rows))

    def _read(self, name: str, plan: Plan) -> Column:
        entries = self._columns[name]
        declared = hasattr(entries, "cat") and hasattr(entries, "iloc")  # pandas' categorical type
        return read_column(name, entries, plan.kinds.get(name), plan.options, declared=declared)


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
    try:
        return data if isinstance(data, pa.Table) else pa.table(data)
    except (TypeError, ValueError, pa.ArrowException):
        raise DataError(
            "data must be a DataFrame (pandas, polars, pyarrow, or another with the Arrow "
            "interface), a mapping from column names to arrays, a two-dimensional NumPy array, or "
            f"a path, got {type(data).__name__}"
        ) from None


def require(names: Sequence[str], present: Sequence[str]) -> None:
    """Raise if a requested column does not exist."""
    known = set(present)
    for name in names:
        if name not in known:
            others = alternatives(name, present, "they have")
            raise DataError(f"the data have no column {name!r}; {others}")
