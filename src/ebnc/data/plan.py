"""What is read of a table, and what becomes of one batch by that plan: a summary, or cases."""

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
    """What is to be read: columns, what they must be, and how entries are read.

    ``names``: inputs, then the target if there is one. ``weights``: the column of weights.
    ``declared``: states that are known beforehand.
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
        """With the kinds that follow from declared states and from the options."""
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
        """All columns that are read."""
        return list(dict.fromkeys([*self.names, *([self.weights] if self.weights else [])]))

    @property
    def as_labels(self) -> list[str]:
        """Columns whose numbers are labels."""
        return [x for x, kind in self.kinds.items() if kind == "label"]


class Reader(Protocol):
    """A table that is read twice: summarised, then coded, some rows at a time.

    ``memory_bytes``: what coded rows may take, None where they are in memory anyway.
    """

    names: tuple[str, ...]
    options: Options
    memory_bytes: int | None
    temp_directory: Any

    def summary(self, plan: Plan) -> TableSummary: ...

    def coded(self, plan: Plan, coder: Coder) -> Iterator[Cases]: ...


def add_batch(summary: TableSummary, batch: Batch, plan: Plan, weights: object = None) -> None:
    """Summarise one more batch."""
    rows, counts = _weighted(batch, plan, weights, summary.n_rows)
    summary.add(rows, counts, plan.as_labels)


def coded_cases(batch: Batch, coder: Coder, plan: Plan, weights: object = None) -> Cases:
    """The cases of one batch."""
    rows, counts = _weighted(batch, plan, weights)
    coded = coder.encode(rows)
    if plan.target is None:
        return Cases(coder.domain, coded.names[0], coded, coded.codes[0], counts)
    inputs = CodedRows(coded.names[:-1], coded.n_states[:-1], coded.codes[:-1])
    return Cases(coder.domain, plan.target, inputs, coded.codes[-1], counts)


def _weighted(
    batch: Batch, plan: Plan, weights: object, first: int = 0
) -> tuple[Batch, FloatArray | None]:
    """A batch without its column of weights and without rows of weight 0, and the weights."""
    if plan.weights is not None:
        counts: FloatArray | None = as_weights(batch.columns[plan.weights])
        refuse_wrong_weights(counts, first)  # type: ignore[arg-type]
    else:
        counts = check_weights(getattr(weights, "values", weights), batch.n_rows)
    columns: Mapping[str, Column] = {name: batch.columns[name] for name in plan.names}
    if counts is not None and not counts.all():
        kept = counts > 0
        columns = {name: column.take(kept) for name, column in columns.items()}
        counts = counts[kept]
    n_rows = batch.n_rows if counts is None else len(counts)
    return Batch(columns, n_rows, batch.where), counts


def as_weights(column: Column) -> FloatArray:
    """A column of weights."""
    if not isinstance(column, Numbers):
        raise DataError("weights must be numbers")
    return np.asarray(column.values, dtype=np.float64)
