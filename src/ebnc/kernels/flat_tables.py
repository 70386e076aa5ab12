"""Tables side by side in flat arrays, and their addresses from the codes of a row."""

from typing import NamedTuple

from ebnc.typing import FloatArray, IntArray

__all__ = ["FlatTables"]


class FlatTables(NamedTuple):
    """λ_k = Σ_b tables[k, offsets[b] + cell_b]; cell_b is a mixed-radix number of a row's codes.

    Attributes
    ----------
    columns, strides
        Table b reads the codes ``columns[starts[b]:starts[b + 1]]`` with the same strides.
    starts
        The first column of each table, shape (m + 1,).
    offsets
        The first cell of each table, shape (m + 1,); a table has fewer than 2^32 cells.
    tables
        Log odds against class 0 in each cell, shape (K − 1, cells of all tables).
    """

    columns: IntArray
    strides: IntArray
    starts: IntArray
    offsets: IntArray
    tables: FloatArray
