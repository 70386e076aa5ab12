"""Signatures: numbers that identify cells, rows and classes by their counts, not by their names.

A deterministic choice, such as which rows to evaluate, must not depend on the names of states or
the order of columns, rows and classes. Signatures make such choices. The signature of a cell is a
hash of its class counts, where a class is identified by its total; the signature of a row is
the sum over its cells. Cells with equal counts have equal signatures. Their rows are chosen
together, which is harmless.
"""

import numpy as np
from numpy.typing import NDArray

from ebnc.likelihood.counts import CellCounts
from ebnc.typing import FloatArray

__all__ = ["Signatures", "cell_signatures", "row_signatures"]

Signatures = NDArray[np.uint64]


def cell_signatures(class_counts: FloatArray) -> Signatures:
    """Return a number for each cell of a table, from its class counts, shape (K, cells).

    The numbers do not depend on the order of classes.
    """
    totals = class_counts.sum(axis=1, keepdims=True)
    of_classes = _mixed(_bits(class_counts) + _mixed(_bits(totals)))
    return _mixed(of_classes.sum(axis=0, dtype=np.uint64))


def row_signatures(counts: CellCounts, of_cells: Signatures) -> Signatures:
    """Return a number for each row, shape (rows,), from the signatures of its cells."""
    total = np.zeros(counts.n_rows, dtype=np.uint64)
    for cells, start in zip(counts.cells, counts.design.offsets[:-1], strict=True):
        total += of_cells[int(start) + cells.astype(np.int64)]
    return _mixed(total)


def _bits(values: FloatArray) -> Signatures:
    """Return the bits of numbers, rounded so that the order of summation does not matter."""
    return np.ascontiguousarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)


def _mixed(values: Signatures) -> Signatures:
    """The hash of Steele, Lea & Flood (2014), SplitMix64: every bit depends on every other."""
    with np.errstate(over="ignore"):
        z = values + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))
