"""Numbers that tell cells, rows and classes apart by their counts, not by their names or places.

A choice that must be made without chance, such as which rows to look at, must not depend on what
states are called or how columns, rows and classes are ordered. So it is made by signatures: a
cell's signature is a hash of its class counts, a class being known by its total, and a row's is
the sum of those of its cells. Cells with equal counts have equal signatures: rows are then chosen
together, which is harmless; draws of the posterior move such cells together, so where counts tie
exactly the spread between them is lost.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ebnc.likelihood.counts import CellCounts
from ebnc.typing import FloatArray

__all__ = [
    "Signatures",
    "cell_signatures",
    "class_signatures",
    "name_signature",
    "normals",
    "row_signatures",
]

Signatures = NDArray[np.uint64]


def class_signatures(class_counts: FloatArray) -> Signatures:
    """A number for each cell and class, shape as ``class_counts`` (K, cells of one table)."""
    totals = class_counts.sum(axis=1, keepdims=True)
    return _mixed(_bits(class_counts) + _mixed(_bits(totals)))


def cell_signatures(class_counts: FloatArray) -> Signatures:
    """A number for each cell, shape (cells,): the same in whatever order the classes are."""
    return _mixed(class_signatures(class_counts).sum(axis=0, dtype=np.uint64))


def row_signatures(counts: CellCounts, of_cells: Signatures) -> Signatures:
    """A number for each row, shape (rows,), from those of the cells of all bags."""
    total = np.zeros(counts.n_rows, dtype=np.uint64)
    for cells, start in zip(counts.cells, counts.design.offsets[:-1], strict=True):
        total += of_cells[int(start) + cells.astype(np.int64)]
    return _mixed(total)


def name_signature(names: Sequence[str], number: int) -> np.uint64:
    """A number for a set of inputs, and for one of several uses of it."""
    text = "\0".join([*sorted(names), str(number)])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def normals(signatures: Signatures) -> FloatArray:
    """A standard normal number for each signature: the same for the same one."""
    from scipy.special import ndtri

    uniform = (_mixed(signatures) >> np.uint64(11)).astype(np.float64) + 0.5
    return np.asarray(ndtri(uniform * 2.0**-53))


def _bits(values: FloatArray) -> Signatures:
    """Numbers as whole ones; rounded, so that sums in another order are the same."""
    return np.ascontiguousarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)


def _mixed(values: Signatures) -> Signatures:
    """The hash of Steele, Lea & Flood (2014), SplitMix64: every bit depends on every other."""
    with np.errstate(over="ignore"):
        z = values + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))
