"""Probabilities of one row by several models at once, bit-identical to those of ``numpy_lookup``.

A call of NumPy costs more than the arithmetic of one row, so the tables of all models are stacked:
one gather and one softmax serve them all. The terms of each model are added in the order of
``tiles.gather``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ebnc.kernels.numpy_lookup import FlatTables, softmax
from ebnc.typing import FloatArray, IntArray


class StackedTables(NamedTuple):
    """The tables of M models as places (g, i, m): table i of the g-th four of model m.

    A place is the row Σ_j strides[j] codes[columns[j]] of ``tables``, shape (cells, K − 1); its j
    begin at ``starts``. The code of one further column is 1, and its stride is the offset. Places
    without a table have a row of zeros.
    """

    columns: IntArray
    strides: IntArray
    starts: IntArray
    tables: FloatArray
    n_models: int

    @classmethod
    def of(cls, models: Sequence[FlatTables], n_columns: int) -> "StackedTables":
        """Stack the tables of models that read the same ``n_columns`` codes."""
        places = [_in_fours(len(flat.starts) - 1) for flat in models]
        n_fours = max(map(len, places))
        tables = np.concatenate(
            [np.zeros((1, len(models[0].tables))), *(m.tables.T for m in models)]
        )
        first_rows = np.cumsum([1, *(flat.tables.shape[1] for flat in models)])
        columns: list[int] = []
        strides: list[int] = []
        starts: list[int] = []
        for g in range(n_fours):
            for i in range(4):
                for flat, fours, first in zip(models, places, first_rows.tolist(), strict=False):
                    starts.append(len(columns))
                    b = fours[g][i] if g < len(fours) else None
                    columns.append(n_columns)
                    if b is None:
                        strides.append(0)
                        continue
                    strides.append(first + int(flat.offsets[b]))
                    inside = slice(flat.starts[b], flat.starts[b + 1])
                    columns += flat.columns[inside].tolist()
                    strides += flat.strides[inside].tolist()
        return cls(
            np.array(columns, dtype=np.int64),
            np.array(strides, dtype=np.int64),
            np.array(starts, dtype=np.int64),
            np.ascontiguousarray(tables),
            len(models),
        )

    def probabilities(self, codes: IntArray) -> FloatArray:
        """Softmax of (0, λ) of every model, shape (M, K). ``codes``: of one row, then 1."""
        cells = np.add.reduceat(codes.take(self.columns) * self.strides, self.starts)
        terms = self.tables.take(cells, axis=0).reshape(-1, 4, self.n_models, self.tables.shape[1])
        fours = (terms[:, 0] + terms[:, 1]) + (terms[:, 2] + terms[:, 3])
        log_odds = np.zeros((self.tables.shape[1] + 1, self.n_models))
        log_odds[1:] = np.add.accumulate(fours)[-1].T
        return softmax(log_odds)


def _in_fours(n: int) -> list[tuple[int | None, ...]]:
    """Tables 0 … n − 1 four at a time, and the last ones alone."""
    whole = n // 4 * 4
    fours: list[tuple[int | None, ...]] = [tuple(range(i, i + 4)) for i in range(0, whole, 4)]
    return fours + [(i, None, None, None) for i in range(whole, n)]
