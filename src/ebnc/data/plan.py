"""``Plan``: the columns to read from a table; functions that summarise or code a batch by it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ebnc.data.batches import Batch
from ebnc.data.cases import Cases, check_weights, refuse_wrong_weights
from ebnc.data.coder import Coder, without_states
from ebnc.data.columns import Column, Numbers
from ebnc.data.rows import CodedRows
from ebnc.data.summaries import TableSummary
from ebnc.data.table import Categories, Kind, Options
from ebnc.domain import Domain
from ebnc.errors import DataError
from ebnc.typing import FloatArray

__all__ = ["Plan", "Reader", "add_batch", "as_weights", "coded_cases"]


@dataclass(frozen=True)
class Plan:
    """The columns to read, their kinds, and the options for reading entries.

    Attributes
    ----------
    names : tuple of str
        Inputs, then the target if any.
    target : str or None
        Column of the target.
    weights : str or None
        Column of the weights.
    declared : Domain
        States that are known before reading.
    options : Options
        How entries are read.
    kinds : mapping from column to {"number", "label", "date"}
        Kinds that are known before reading.
    """

    names: tuple[str, ...]
    target: str | None
    weights: str | None
    declared: Domain
    options: Options
    kinds: Mapping[str, Kind]

    @classmethod
    def of(
        cls,
        inputs: Sequence[str],
        target: str | None,
        weights: str | None,
        categories: Categories | None,
        options: Options,
    ) -> "Plan":
        """Make a plan; declared states (``categories``) and ``options.types`` determine kinds."""
        names = (*inputs, *([] if target is None else [target]))
        declared = Domain(categories or {})
        known = [name for name in names if name in declared]
        kinds = {
            **Coder(declared, known).kinds,
            **{x: kind for x, kind in options.types.items() if x in names},
        }
        return cls(
            names, target, weights, declared, without_states(options, declared, known), kinds
        )

    @property
    def read(self) -> list[str]:
        """All columns to read."""
        return list(dict.fromkeys([*self.names, *([self.weights] if self.weights else [])]))

    @property
    def as_labels(self) -> list[str]:
        """Columns whose numbers are read as labels."""
        return [x for x, kind in self.kinds.items() if kind == "label"]


class Reader(Protocol):
    """A table that is read twice, batch by batch: first summarised, then coded.

    ``memory_bytes``: the limit for coded rows; None for data that are in memory already.
    """

    names: tuple[str, ...]
    options: Options
    memory_bytes: int | None
    temp_directory: Any

    def summary(self, plan: Plan) -> TableSummary: ...

    def coded(self, plan: Plan, coder: Coder) -> Iterator[Cases]: ...


def add_batch(summary: TableSummary, batch: Batch, plan: Plan, weights: object = None) -> None:
    """Add one batch to a summary."""
    rows, counts = _weighted(batch, plan, weights, summary.n_rows)
    summary.add(rows, counts, plan.as_labels)


def coded_cases(batch: Batch, coder: Coder, plan: Plan, weights: object = None) -> Cases:
    """Code one batch."""
    rows, counts = _weighted(batch, plan, weights)
    coded = coder.encode(rows)
    if plan.target is None:
        return Cases(coder.domain, coded.names[0], coded, coded.codes[0], counts)
    inputs = CodedRows(coded.names[:-1], coded.n_states[:-1], coded.codes[:-1])
    return Cases(coder.domain, plan.target, inputs, coded.codes[-1], counts)


def _weighted(
    batch: Batch, plan: Plan, weights: object, first: int = 0
) -> tuple[Batch, FloatArray | None]:
    """Split a batch from its weights, and remove rows of weight 0."""
    if plan.weights is not None:
        counts: FloatArray | None = as_weights(batch.columns[plan.weights])
        refuse_wrong_weights(counts, first)  # type: ignore[arg-type]
    else:
        counts = check_weights(getattr(weights, "values", weights), batch.n_rows)
    columns: Mapping[str, Column] = {name: batch.columns[name] for name in plan.names}
    if counts is not None and not counts.all():
        is_positive = counts > 0
        columns = {name: column.take(is_positive) for name, column in columns.items()}
        counts = counts[is_positive]
    n_rows = batch.n_rows if counts is None else len(counts)
    return Batch(columns, n_rows, batch.where), counts


def as_weights(column: Column) -> FloatArray:
    """Return a column of weights as floats; raise if it is not numeric."""
    if not isinstance(column, Numbers):
        raise DataError("weights must be numbers")
    return np.asarray(column.values, dtype=np.float64)
