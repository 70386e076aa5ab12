"""All variables of a binary network as indicators of their rarer state, in the network's order.

All nodes share one copy: node d reads the columns before it. Rows are sparse lists if ones are
rare, otherwise a matrix for BLAS.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ebnc.data.cases import Cases
from ebnc.kernels.indicators import add_up, cross_products, log_odds_of
from ebnc.typing import FloatArray, IntArray

DENSE_SHARE = 0.15  # share of ones above which BLAS is faster than lists
DENSE_BYTES = 2**30  # maximum size of the matrix


@dataclass(frozen=True, eq=False)
class Indicators:
    """``ones``: (variables, rows), True where a variable is in its rarer state ``rare``.

    ``dense_share``: the share of ones above which the rows are a matrix.
    """

    names: tuple[str, ...]
    rare: tuple[int, ...]
    ones: NDArray[np.bool_]
    counts: FloatArray
    states: NDArray[np.bool_]
    dense_share: float = DENSE_SHARE

    @classmethod
    def of(cls, cases: Cases, order: Sequence[str]) -> "Indicators":
        """Build indicators from cases whose variables have at most two states."""
        counts = np.ones(len(cases)) if cases.weights is None else cases.weights
        states = np.array([cases.rows.column(x) == 1 for x in order])
        often = states @ counts > 0.5 * counts.sum()
        rare = tuple(np.where(often, 0, 1).tolist())
        return cls(tuple(order), rare, states ^ often[:, None], counts, states)

    @cached_property
    def _is_dense(self) -> bool:
        share = float(self.ones.mean()) if self.ones.size else 0.0
        return share > self.dense_share and 8 * (self.ones.size + self.ones.shape[1]) <= DENSE_BYTES

    @cached_property
    def _matrix(self) -> FloatArray:
        """(1, x), shape (rows, variables + 1), columns contiguous."""
        matrix = np.empty((self.ones.shape[1], len(self.names) + 1), order="F")
        matrix[:, 0] = 1.0
        matrix[:, 1:] = self.ones.T
        return matrix

    @cached_property
    def _lists(self) -> tuple[IntArray, IntArray]:
        rows, columns = np.nonzero(self.ones.T)
        starts = np.zeros(self.ones.shape[1] + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=self.ones.shape[1]), out=starts[1:])
        return starts, columns.astype(np.int64)

    def log_odds(self, beta: FloatArray) -> FloatArray:
        """beta[0] + Σ beta[j + 1] x_j of every row, over the first len(beta) − 1 variables."""
        if self._is_dense:
            return np.asarray(self._matrix[:, : len(beta)] @ beta)
        return np.asarray(log_odds_of(*self._lists, len(beta) - 1, beta))

    def add_up(self, values: FloatArray, d: int) -> FloatArray:
        """Σ values (1, x), the first d variables."""
        if self._is_dense:
            return np.asarray(self._matrix[:, : d + 1].T @ values)
        return np.asarray(add_up(*self._lists, d, values))

    def cross_products(self, weights: FloatArray, d: int) -> FloatArray:
        """Σ weights (1, x)(1, x)ᵀ, lower triangle, the first d variables."""
        if self._is_dense:
            # NumPy computes a matrix times its own transpose by BLAS's syrk and releases the GIL;
            # SciPy's dsyrk holds it.
            scaled = self._matrix[:, : d + 1] * np.sqrt(weights)[:, None]
            return np.asarray((scaled.T @ scaled).T)
        return np.asarray(cross_products(*self._lists, d, weights))
