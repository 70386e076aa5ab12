"""Rows of main effects as short lists of the inputs that are not in their usual state.

    m_l = Tᵀ z_l,     z_l = (1, I(x_j = a) for every input j and every state a but its usual one)

m_l: the row of the design. The first row of T is the design's row of usual states; the others say
what each other state changes in it. Where most states are usual, as the zeros of baskets, sums over
pairs of columns cost only the pairs on a row's list:

    Σ_l w_l m_l m_lᵀ = Tᵀ (Σ_l w_l z_l z_lᵀ) T,     m_lᵀ C m_l = z_lᵀ (T C Tᵀ) z_l
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ebnc.data.rows import CodedRows
from ebnc.kernels.sparse_rows import cross_products, list_unusual, quadratic_forms
from ebnc.likelihood.design import Design
from ebnc.typing import FloatArray, IntArray

SAMPLE = 1024
"""Rows from which usual states are found; any state would be correct."""


@dataclass(frozen=True, eq=False)
class UsualStates:
    """The most frequent state of each input, and how many pairs a row lists on average."""

    states: IntArray
    n_pairs: float

    @classmethod
    def of(cls, rows: CodedRows) -> "UsualStates":
        """The usual states in a sample of evenly spaced rows."""
        some = rows.codes[:, :: max(1, len(rows) // SAMPLE)]
        states = np.array([np.bincount(column).argmax() for column in some], dtype=np.int64)
        listed = (some != states[:, None]).sum(axis=0) + 1.0
        return cls(states, float((listed**2).mean()) / 2 if listed.size else 0.0)


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows as lists (see ``kernels.sparse_rows``), and T of the design, (indicators, columns)."""

    starts: IntArray
    columns: IntArray
    transfer: "csr_array[np.float64]"

    @classmethod
    def of(cls, design: Design, rows: CodedRows, usual: UsualStates) -> "SparseRows":
        """The lists of rows; ``design`` has main effects only."""
        places = np.cumsum([1, *(r - 1 for r in rows.n_states)], dtype=np.int64)[:-1]
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum((rows.codes != usual.states[:, None]).sum(axis=0), out=starts[1:])
        columns = np.empty(starts[-1], dtype=np.int64)
        list_unusual(rows.codes, usual.states, places, starts[:-1].copy(), columns)
        return cls(starts, columns, _transfer(design, rows, usual.states))

    def cross_products(self, weights: FloatArray, first: int) -> FloatArray:
        """Σ_l w_l m_l m_lᵀ of consecutive rows from ``first`` on, (columns, columns)."""
        lower = np.zeros(2 * self.transfer.shape[:1])
        starts = self.starts[first : first + len(weights) + 1]
        cross_products(starts, self.columns, weights, lower)
        lower += np.tril(lower, -1).T
        return np.asarray(self.transfer.T @ (self.transfer.T @ lower).T)

    def quadratic_forms(self, matrix: FloatArray, first: int, last: int) -> FloatArray:
        """m_lᵀ C m_l of the rows first … last, for a symmetric matrix C (columns, columns)."""
        of_indicators = np.ascontiguousarray(self.transfer @ (self.transfer @ matrix).T)
        out = np.empty(last - first)
        quadratic_forms(self.starts[first : last + 1], self.columns, of_indicators, out)
        return out


def _transfer(design: Design, rows: CodedRows, usual: IntArray) -> "csr_array[np.float64]":
    """T: the design's row of the usual states, and what each other state changes in it."""
    others = [np.delete(np.arange(r), state) for r, state in zip(rows.n_states, usual, strict=True)]
    states = np.concatenate([np.empty(0, np.int64), *others])
    codes = np.repeat(usual[:, None], 1 + len(states), axis=1).astype(rows.codes.dtype)
    inputs = np.repeat(np.arange(len(usual)), [len(each) for each in others])
    codes[inputs, 1 + np.arange(len(states))] = states
    matrix = design.rows_of(design.cells(CodedRows(rows.names, rows.n_states, codes)))
    matrix[1:] -= matrix[0]
    return csr_array(matrix)
