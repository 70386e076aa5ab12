"""Configurations of a few variables as mixed-radix numbers, and their counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ebnc.data.cases import Cases, distinct_rows
from ebnc.data.rows import CodedRows, all_configurations
from ebnc.kernels.likelihood import count_with_column
from ebnc.score.dirichlet import best_alpha
from ebnc.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ConfigurationCounts:
    """The counts of a table or of leaves, as a criterion scores them.

    ``counts``: (q, K, …), configurations without rows may be left out. ``alphas``: values of the
    Dirichlet prior, from which evidence chooses.
    """

    counts: FloatArray
    dimension: int
    alphas: ArrayLike

    @property
    def log_evidence(self) -> float:
        """The exact log evidence."""
        return best_alpha(self.counts, self.alphas)[1]

    @property
    def log_likelihood(self) -> float:
        """The largest log-likelihood."""
        return largest_log_likelihood(self.counts)


def number_configurations(cases: Cases, names: Sequence[str]) -> IntArray:
    """Return the number of every row's configuration; the last of ``names`` runs fastest.

    Numbers take two bytes if possible, because every table that is counted reads them all.
    """
    sizes = [cases.domain.n_states(x) for x in names]
    number: type[Any] = np.uint16 if prod(sizes) <= 2**16 else np.int64
    numbers = np.zeros(len(cases), number)
    for name, size in zip(names, sizes, strict=True):
        column = cases.classes if name == cases.target else cases.rows.column(name)
        if name != names[0]:
            numbers *= number(size)
        numbers += column.astype(number, copy=False)
    return numbers


def count_with(
    cases: Cases, numbers: NDArray[Any], n_numbers: int, column: NDArray[Any], n_states: int
) -> FloatArray:
    """Return how often each number occurs with each state of one more column, zeros included."""
    counts = np.zeros(n_numbers * n_states)
    weights = np.empty(0) if cases.weights is None else cases.weights
    count_with_column(numbers, column, n_states, weights, counts)
    return counts.reshape(n_numbers, n_states)


def count_cells(cases: Cases, parents: Sequence[str]) -> FloatArray:
    """Return N_jk for all configurations j of the parents, zeros included, shape (q, K)."""
    numbers = number_configurations(cases, parents)
    n_numbers = prod(cases.domain.n_states(x) for x in parents)
    n_classes = cases.domain.n_states(cases.target)
    return count_with(cases, numbers, n_numbers, cases.classes, n_classes)


def count_by(cases: Cases, numbers: NDArray[Any], n_numbers: int) -> FloatArray:
    """Return how often each class occurs with each number of a row, shape (n_numbers, K)."""
    n_classes = cases.domain.n_states(cases.target)
    cells = numbers * n_classes + cases.classes
    counts = np.bincount(cells, cases.weights, n_numbers * n_classes)
    return counts.astype(np.float64).reshape(n_numbers, n_classes)


def count_configurations(
    cases: Cases, parents: Sequence[str]
) -> tuple[NDArray[np.integer[Any]], FloatArray]:
    """Return the codes of the configurations that occur, (parents, q′), and their N_jk, (q′, K).

    Configurations that do not occur take no memory, so the number of parents is not limited.
    """
    sizes = [cases.domain.n_states(x) for x in parents]
    if prod(sizes) <= max(1024, len(cases)):
        counts = count_cells(cases, parents)
        where = np.flatnonzero(counts.any(axis=1))
        return all_configurations(cases.domain, parents).codes[:, where], counts[where]
    columns = [cases.rows.column(x) for x in parents]
    first, inverse = distinct_rows(columns, sizes)
    codes = np.array([column[first] for column in columns])
    return codes, count_by(cases, inverse, len(first))


def distinct_configurations(cases: Cases, names: Sequence[str]) -> Cases:
    """Return the distinct configurations of ``names`` and the target, with summed weights."""
    sizes = tuple(cases.domain.n_states(x) for x in names)
    n_classes = cases.domain.n_states(cases.target)
    if prod(sizes) * n_classes > max(1024, len(cases)):
        rows = CodedRows(tuple(names), sizes, cases.rows.codes[[*map(cases.rows.place, names)]])
        return Cases(cases.domain, cases.target, rows, cases.classes, cases.weights).distinct()
    counts = count_cells(cases, names).ravel()
    present = np.flatnonzero(counts)
    *columns, classes = np.unravel_index(present, (*sizes, n_classes))
    codes = np.array(columns, cases.rows.codes.dtype).reshape(len(names), len(present))
    rows = CodedRows(tuple(names), sizes, codes)
    seen = classes.astype(cases.classes.dtype)
    return Cases(cases.domain, cases.target, rows, seen, counts[present])


def largest_log_likelihood(counts: FloatArray) -> float:
    """Σ N_jk log N_jk/N_j, the maximum of L over all tables; axis 1 of ``counts`` is k."""
    totals = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    present = counts > 0
    return float(counts[present] @ np.log(counts[present] / totals[present]))
