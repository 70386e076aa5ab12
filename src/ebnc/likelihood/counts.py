"""Cells and classes of the rows, on which the likelihood depends, in memory or in parts.

A sum over rows is a function of ``CellCounts`` (see ``row_sums``); ``Counts.add_up`` evaluates it
for every part, in memory, on disk or on a cluster, and adds the results.
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
from ebnc.likelihood.sparse_rows import SparseRows, UsualStates
from ebnc.threads import in_parallel, row_blocks
from ebnc.typing import CodeArray, FloatArray

T = TypeVar("T")

LISTED_BAGS = 4  # with fewer bags, cross-tabulations are cheap


class Counts(Protocol):
    """The data of a posterior. ``class_counts``: (K, cells of all bags).

    ``usual_states``: None if rows cannot be listed.
    """

    @property
    def n_rows(self) -> int: ...
    @property
    def n_cases(self) -> float: ...
    @property
    def class_counts(self) -> FloatArray: ...
    @property
    def usual_states(self) -> UsualStates | None: ...
    def add_up(self, job: Callable[..., T], *arguments: Any) -> T: ...
    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]: ...


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Rows in memory: their cells in the bags of ``design``, classes and weights.

    ``weights`` is empty if all weights are 1. ``rows``: the codes from which cells are computed.
    """

    design: Design
    rows: CodedRows
    cells: CodeArray
    classes: CodeArray
    weights: FloatArray

    @cached_property
    def class_counts(self) -> FloatArray:
        """Weight of each class in each cell, (K, cells of all bags)."""
        design = self.design

        def count(block: tuple[int, int]) -> FloatArray:
            counts = np.zeros((design.n_others + 1, int(design.offsets[-1])))
            count_classes(self.cells, design.offsets, self.classes, self.weights, *block, counts)
            return counts

        return np.asarray(np.sum(in_parallel(count, row_blocks(self.n_rows)), axis=0))

    @property
    def n_rows(self) -> int:
        """Number of rows, regardless of their weights."""
        return int(self.cells.shape[1])

    @cached_property
    def n_cases(self) -> float:
        """N, the sum of the rows' weights."""
        return float(self.weights.sum()) if self.weights.size else float(self.n_rows)

    @cached_property
    def usual_states(self) -> UsualStates | None:
        """The usual states of the inputs, if the design has main effects only, and many."""
        design = self.design
        has_pairs = design.max_order > 1 or design.basis.weak_pairs
        if has_pairs or len(design.bags) < LISTED_BAGS or not self.n_rows:
            return None
        return UsualStates.of(self.rows)

    @cached_property
    def sparse_rows(self) -> SparseRows:
        """The rows as lists, if they have usual states."""
        assert self.usual_states is not None
        return SparseRows.of(self.design, self.rows, self.usual_states)

    def add_up(self, job: Callable[..., T], *arguments: Any) -> T:
        """The result of the job on the only part."""
        return job(self, *arguments)

    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]:
        """The result of the job on the only part, as a list."""
        return [job(self, *arguments)]


@dataclass(frozen=True, eq=False)
class PartedCounts:
    """``CellCounts`` in parts, each stored with its rows."""

    parts: Parts
    class_counts: FloatArray
    usual_states: None = None

    @property
    def n_rows(self) -> int:
        """Number of rows of all parts."""
        return self.parts.n_rows

    @property
    def n_cases(self) -> float:
        """N, the sum of the rows' weights."""
        return self.parts.total_weight

    def add_up(self, job: Callable[..., T], *arguments: Any) -> T:
        """The sum of the job's results over the parts, in a fixed order."""
        return self.parts.add_up(job, *arguments)

    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]:
        """The results of all parts, in order."""
        return self.parts.collect(job, *arguments)


def count_cells(design: Design, cases: Parts) -> Counts:
    """Compute the cells of all rows and the weight of each class in each cell."""
    if isinstance(cases, Cases):
        return _count_part(cases, design)
    parts = cases.prepared(_count_part, design)
    return PartedCounts(parts, parts.add_up(_class_counts))


def joined_counts(parts: Sequence[CellCounts]) -> CellCounts:
    """Concatenate several parts, which must fit into memory."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    codes = np.concatenate([part.rows.codes for part in parts], axis=1)
    weights = np.empty(0)
    if any(part.weights.size for part in parts):  # parts that were not counted have none
        weights = np.concatenate(
            [p.weights if p.weights.size else np.ones(len(p.classes)) for p in parts]
        )
    return CellCounts(
        first.design,
        CodedRows(first.rows.names, first.rows.n_states, codes),
        np.concatenate([part.cells for part in parts], axis=1),
        np.concatenate([part.classes for part in parts]),
        weights,
    )


def _count_part(cases: Cases, design: Design) -> CellCounts:
    weights = np.empty(0) if cases.weights is None else cases.weights
    return CellCounts(design, cases.rows, design.cells(cases.rows), cases.classes, weights)


def _class_counts(counts: CellCounts) -> FloatArray:
    return counts.class_counts
