"""Log odds as a sum of small tables, compiled into flat arrays for the kernels.

    λ_k(x) = Σ_t f_{t,k}(x_t)

θ (through κ, eq. 7) and φ (through its clusters) both end here; from here on there is one way to
compute λ and p(y|x).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.errors import refuse_if_too_large
from ebnc.typing import FloatArray, IntArray

__all__ = ["TableSum", "log_odds_to_probabilities", "refuse_large_table"]


@dataclass(frozen=True, eq=False)
class TableSum:
    """Tables over ``scopes``; the array of scope (a, b) has shape (r_a, r_b, K − 1)."""

    scopes: tuple[tuple[str, ...], ...]
    tables: tuple[FloatArray, ...]
    n_outputs: int

    def log_odds(self, rows: CodedRows) -> FloatArray:
        """λ, shape (rows, K − 1). The rows must be coded with the tables' numbers of states."""
        from ebnc.kernels.gather import sum_tables

        columns, strides, starts = self._addresses(rows)
        offsets, values = self._flat
        return sum_tables(rows.codes, columns, strides, starts, offsets, values, self.n_outputs)

    @cached_property
    def _flat(self) -> tuple[IntArray, FloatArray]:
        """Where each table begins, and all their cells one after the other."""
        sizes = [table.size for table in self.tables]
        offsets = np.cumsum([0, *sizes[:-1]], dtype=np.int64)
        return offsets, np.concatenate([np.ravel(table) for table in self.tables])

    def _addresses(self, rows: CodedRows) -> tuple[IntArray, IntArray, IntArray]:
        """Which columns each table reads, with which strides (last variable fastest)."""
        place = {name: v for v, name in enumerate(rows.names)}
        columns: list[int] = []
        strides: list[int] = []
        starts = [0]
        for scope, table in zip(self.scopes, self.tables, strict=True):
            shape = table.shape[:-1]
            columns += [place[name] for name in scope]
            strides += [prod(shape[i + 1 :]) for i in range(len(shape))]
            starts.append(len(columns))
        return np.array(columns, np.int64), np.array(strides, np.int64), np.array(starts, np.int64)


def log_odds_to_probabilities(log_odds: FloatArray) -> FloatArray:
    """Softmax of (0, λ), eq. 3, shape (rows, K); shifted by the largest, so nothing overflows."""
    n_rows, n_others = log_odds.shape
    result = np.empty((n_rows, n_others + 1))
    result[:, 0] = 0.0
    result[:, 1:] = log_odds
    result -= result.max(axis=1, keepdims=True)
    np.exp(result, out=result)
    result /= result.sum(axis=1, keepdims=True)
    return result


def refuse_large_table(shape: Sequence[int], what: str) -> None:
    """Refuse a table that would not fit in memory, or in 32-bit cell numbers, before it is made."""
    n_cells = prod(shape)
    n_bytes = 8 * n_cells if n_cells < 2**32 else max(8 * n_cells, 2**64)
    refuse_if_too_large(n_bytes, what, "use a structure with smaller clusters")
