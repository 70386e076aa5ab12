"""Configurations of a few variables as mixed-radix numbers, and their counts."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebnc.data.cases import Cases, distinct_rows
from ebnc.data.rows import CodedRows
from ebnc.typing import FloatArray, IntArray

__all__ = [
    "count_cells",
    "distinct_configurations",
    "largest_log_likelihood",
    "number_configurations",
]


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


def count_cells(cases: Cases, parents: Sequence[str]) -> FloatArray:
    """Return N_jk for all configurations j of the parents, zeros included, shape (q, K)."""
    from ebnc.kernels.likelihood import count_with_columns

    n_classes = cases.domain.n_states(cases.target)
    n_cells = prod(cases.domain.n_states(x) for x in parents) * n_classes
    counts = np.zeros(n_cells)
    weights = np.empty(0) if cases.weights is None else cases.weights
    inside = number_configurations(cases, parents)
    starts, column, size = np.array([0, n_cells]), np.zeros(1, np.int64), np.array([n_classes])
    count_with_columns(inside, cases.classes[None, :], column, size, weights, starts, counts)
    return counts.reshape(-1, n_classes)


def distinct_configurations(cases: Cases, names: Sequence[str]) -> Cases:
    """Return the distinct configurations of ``names`` and the target, with summed weights."""
    sizes = [cases.domain.n_states(x) for x in (*names, cases.target)]
    columns: Sequence[NDArray[np.integer[Any]]]
    classes: NDArray[np.integer[Any]]
    if prod(sizes) <= max(1024, len(cases)):
        counts = count_cells(cases, names).ravel()
        present = np.flatnonzero(counts)
        weights = counts[present]
        *columns, classes = np.unravel_index(present, sizes)
    else:
        whole = [*(cases.rows.column(x) for x in names), cases.classes]
        first, inverse = distinct_rows(whole, sizes)
        weights = np.bincount(inverse, cases.weights, len(first)).astype(np.float64)
        *columns, classes = (column[first] for column in whole)
    codes = np.empty((len(names), len(weights)), dtype=cases.rows.codes.dtype)
    for v, column in enumerate(columns):
        codes[v] = column
    rows = CodedRows(tuple(names), tuple(sizes[:-1]), codes)
    return Cases(cases.domain, cases.target, rows, classes.astype(cases.classes.dtype), weights)


def largest_log_likelihood(counts: FloatArray) -> float:
    """Σ N_jk log N_jk/N_j, the maximum of L over all tables; axis 1 of ``counts`` is k."""
    totals = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    present = counts > 0
    return float(counts[present] @ np.log(counts[present] / totals[present]))
