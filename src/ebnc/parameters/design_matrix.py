"""The explicit design matrix of an EBNC: a sparse matrix of products of columns of codings.

Fitting looks up cells instead. The matrix serves for reading, for other solvers, and for tests of
the data such as separation.
"""

from typing import TYPE_CHECKING

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.parameters.coding import INDICATOR
from ebnc.parameters.phi import Basis, Term
from ebnc.typing import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def indicator_design(basis: Basis, rows: CodedRows) -> "csr_array":
    """Columns of the indicator coding in the order of the terms; shape (rows, d / t_Y).

    For nominal inputs they are Π_{i∈S} I(x_i^s), s ≥ 1; curves have a column for each wave.
    """
    from scipy.sparse import csr_array, hstack

    if any(levels.n_ordered for levels in basis.levels.values()):
        return csr_array(hstack([csr_array(_products(term, rows)) for term in basis.terms]))
    entries, columns = [], []
    width = 0
    for term in basis.terms:
        sizes = [basis.domain.n_states(x) - 1 for x in term.inputs]
        cell = np.zeros(len(rows), dtype=np.int64)
        on = np.ones(len(rows), dtype=bool)
        for x, size in zip(term.inputs, sizes, strict=True):
            state = rows.column(x).astype(np.int64)
            on &= state > 0
            cell = cell * size + (state - 1)
        entries.append(np.flatnonzero(on))
        columns.append(width + cell[on])
        width += int(np.prod(sizes, dtype=np.int64))
    row_numbers, column_numbers = np.concatenate(entries), np.concatenate(columns)
    ones = np.ones(len(row_numbers))
    return csr_array((ones, (row_numbers, column_numbers)), shape=(len(rows), width))


def _products(term: Term, rows: CodedRows) -> FloatArray:
    """The columns of one term, shape (rows, products)."""
    result = np.ones((len(rows), len(term.columns)))
    for x, levels, columns in zip(term.inputs, term.levels, term.columns.T, strict=True):
        result *= INDICATOR.matrix(levels)[rows.column(x)][:, columns]
    return result
