"""Cells and classes of cases: all that the likelihood needs of the data, whole or in parts.

A sum over rows is a function of ``CellCounts`` (see ``row_sums``); ``Counts.add_up`` evaluates it
where the rows are, in memory, on disk or on a cluster, and adds up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.parts import Parts
from ebnc.data.rows import CodedRows
from ebnc.kernels.likelihood import count_classes
from ebnc.likelihood.design import Design
from ebnc.threads import in_parallel, row_blocks
from ebnc.typing import CodeArray, FloatArray

__all__ = [
    "CellCounts",
    "Counts",
    "PartedCounts",
    "count_cells",
    "joined_counts",
]

T = TypeVar("T")


class Counts(Protocol):
    """What a posterior asks of its data. ``class_counts``: (K, cells of all bags)."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_cases(self) -> float: ...
    @property
    def class_counts(self) -> FloatArray: ...
    def add_up(self, job: Callable[..., T], *arguments: Any) -> T: ...
    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]: ...


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Rows in memory: their cells in the bags of ``design``, classes and weights.

    ``weights`` is empty where every row weighs 1. ``rows``: the codes that the cells come from.
    """

    design: Design
    rows: CodedRows
    cells: CodeArray
    classes: CodeArray
    weights: FloatArray

    @cached_property
    def class_counts(self) -> FloatArray:
        """How often each class falls into each cell, (K, cells of all bags)."""
        design = self.design

        def count(block: tuple[int, int]) -> FloatArray:
            counts = np.zeros((design.n_others + 1, int(design.offsets[-1])))
            count_classes(self.cells, design.offsets, self.classes, self.weights, *block, counts)
            return counts

        return np.asarray(np.sum(in_parallel(count, row_blocks(self.n_rows)), axis=0))

    @property
    def n_rows(self) -> int:
        """Number of rows, not of cases: a row may have a weight."""
        return int(self.cells.shape[1])

    @cached_property
    def n_cases(self) -> float:
        """N, the sum of the rows' weights."""
        return float(self.weights.sum()) if self.weights.size else float(self.n_rows)

    def add_up(self, job: Callable[..., T], *arguments: Any) -> T:
        """The job's result: there is one part."""
        return job(self, *arguments)

    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]:
        """The results of all parts: of one."""
        return [job(self, *arguments)]


@dataclass(frozen=True, eq=False)
class PartedCounts:
    """``CellCounts`` in parts, each where its cases are."""

    parts: Parts
    class_counts: FloatArray

    @property
    def n_rows(self) -> int:
        """Number of rows of all parts."""
        return self.parts.n_rows

    @property
    def n_cases(self) -> float:
        """N, the sum of the rows' weights."""
        return self.parts.total_weight

    def add_up(self, job: Callable[..., T], *arguments: Any) -> T:
        """Σ over the parts, in a fixed tree."""
        return self.parts.add_up(job, *arguments)

    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]:
        """The results of all parts, in order."""
        return self.parts.collect(job, *arguments)


def count_cells(design: Design, cases: Parts) -> Counts:
    """Cells of the cases' rows, and how often each class falls into each cell."""
    if isinstance(cases, Cases):
        return _count_part(cases, design)
    parts = cases.prepared(_count_part, design)
    return PartedCounts(parts, parts.add_up(_class_counts))


def joined_counts(parts: Sequence[CellCounts]) -> CellCounts:
    """Counts of all rows of several parts, which must fit into memory."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    codes = np.concatenate([part.rows.codes for part in parts], axis=1)
    return CellCounts(
        first.design,
        CodedRows(first.rows.names, first.rows.n_states, codes),
        np.concatenate([part.cells for part in parts], axis=1),
        np.concatenate([part.classes for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def _count_part(cases: Cases, design: Design) -> CellCounts:
    weights = np.empty(0) if cases.weights is None else cases.weights
    return CellCounts(design, cases.rows, design.cells(cases.rows), cases.classes, weights)


def _class_counts(counts: CellCounts) -> FloatArray:
    return counts.class_counts
