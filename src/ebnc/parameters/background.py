"""The background of a model: frequencies of states in the training data, and representative rows.

Predictions with unknown inputs average over the background (``unknown``); contributions are
differences from its mean (``contributions``).

A background has at most ``MOST_ROWS`` rows. If more configurations occurred, they are a systematic
sample: rows are sorted by predicted class and by confidence, and one row is taken at every 1/256 of
the total weight. The mean prediction of the sample is then close to that of all rows, and the
sample does not depend on the order of rows or columns, or on the names of states.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebnc.data.cases import Cases, distinct_rows
from ebnc.data.parts import Parts
from ebnc.data.rows import CodedRows
from ebnc.errors import ParameterError
from ebnc.parameters.tables import TableSum
from ebnc.typing import FloatArray, IntArray

MOST_ROWS = 256
MOST_ROWS_OF_PART = 4096  # before the rows of all parts are combined

_Weighted: TypeAlias = tuple[CodedRows, FloatArray]


@dataclass(frozen=True, eq=False)
class Background:
    """Summary of the training data, for the inputs that predictions depend on.

    Attributes
    ----------
    state_weights : mapping from str to array
        ``state_weights[x]``: shares of x's states in the training data, shape (r_x,).
    rows : CodedRows
        Configurations of the inputs that occurred.
    row_weights : array (rows,)
        The shares of the configurations.
    """

    state_weights: Mapping[str, FloatArray]
    rows: CodedRows
    row_weights: FloatArray

    def __post_init__(self) -> None:
        sizes = {x: len(weights) for x, weights in self.state_weights.items()}
        if sizes != dict(zip(self.rows.names, self.rows.n_states, strict=True)):
            raise ParameterError("a background needs a weight for every state of its inputs")
        for shares in (self.row_weights, *self.state_weights.values()):
            if not (np.all(shares >= 0) and abs(float(shares.sum()) - 1.0) < 1e-9):
                raise ParameterError("weights of a background must be shares that add up to 1")
        if self.row_weights.shape != (len(self.rows),):
            raise ParameterError("a background needs a weight for every row")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Background):
            return NotImplemented
        return (
            self.rows.names == other.rows.names
            and self.rows.n_states == other.rows.n_states
            and np.array_equal(self.rows.codes, other.rows.codes)
            and np.array_equal(self.row_weights, other.row_weights)
            and all(
                np.array_equal(weights, other.state_weights[x])
                for x, weights in self.state_weights.items()
            )
        )

    def __hash__(self) -> int:
        return hash(self.rows.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs."""
        return self.rows.names

    def configurations(self, names: Sequence[str]) -> tuple[IntArray, FloatArray]:
        """Configurations of ``names``, shape (names, configurations), and the weight of each.

        For one input these are its states with exact weights, for several those in ``rows``.
        """
        if len(names) == 1:
            weights = self.state_weights[names[0]]
            occurred = np.flatnonzero(weights)
            return occurred[None, :], weights[occurred]
        places = [self.rows.place(x) for x in names]
        codes = self.rows.codes[places]
        first, inverse = distinct_rows(list(codes), [self.rows.n_states[v] for v in places])
        return codes[:, first].astype(np.int64), _sums(inverse, self.row_weights)


def learn_background(cases: Parts, tables: TableSum, names: Sequence[str]) -> Background:
    """The background of the inputs ``names``; ``tables``: the log odds of the model."""
    counts = cases.add_up(_count_states, tuple(names))
    parts = cases.collect(_thin_out, tables, tuple(names))
    codes = np.concatenate([rows.codes for rows, _ in parts], axis=1)
    whole = CodedRows(parts[0][0].names, parts[0][0].n_states, codes)
    weights = np.concatenate([weights for _, weights in parts])
    rows, weights = _sample(*_distinct(whole, weights), tables, MOST_ROWS)
    shares = {x: count / count.sum() for x, count in zip(names, counts, strict=True)}
    return Background(shares, rows, weights / weights.sum())


def _count_states(cases: Cases, names: tuple[str, ...]) -> list[FloatArray]:
    """The weight of every state of every input."""
    return [
        np.bincount(cases.rows.column(x), cases.weights, minlength=cases.domain.n_states(x)).astype(
            np.float64
        )
        for x in names
    ]


def _thin_out(cases: Cases, tables: TableSum, names: tuple[str, ...]) -> _Weighted:
    """The distinct configurations of one part, or a sample of them."""
    places = [cases.rows.place(x) for x in names]
    n_states = tuple(cases.n_states[v] for v in places)
    rows = CodedRows(names, n_states, cases.rows.codes[places])
    weights = np.ones(len(cases)) if cases.weights is None else cases.weights
    return _sample(*_distinct(rows, weights), tables, MOST_ROWS_OF_PART)


def _distinct(rows: CodedRows, weights: FloatArray) -> _Weighted:
    if not rows.names:
        return _chosen(rows, slice(0, 1)), weights.sum(keepdims=True)
    first, inverse = distinct_rows(list(rows.codes), rows.n_states)
    return _chosen(rows, first), _sums(inverse, weights)


def _sample(rows: CodedRows, weights: FloatArray, tables: TableSum, most: int) -> _Weighted:
    """All rows if there are at most ``most``, else a systematic sample of that size.

    Rows are sorted by the frequency of their predicted class, then by confidence. This order does
    not depend on the numbers of the classes.
    """
    if len(rows) <= most:
        return rows, weights
    log_odds = tables.log_odds(rows)
    full = np.column_stack([np.zeros(len(rows)), log_odds])
    of_class = full.argmax(axis=1)
    sure = full.max(axis=1) - full.mean(axis=1)
    common = np.bincount(of_class, weights, minlength=full.shape[1])
    order = np.lexsort((-sure, -common[of_class]))
    until = np.cumsum(weights[order])
    taken = np.searchsorted(until, (np.arange(most) + 0.5) / most * until[-1])
    places, times = np.unique(order[taken], return_counts=True)
    return _chosen(rows, places), times * (until[-1] / most)


def _sums(groups: NDArray[np.intp], weights: FloatArray) -> FloatArray:
    return np.bincount(groups, weights).astype(np.float64)


def _chosen(rows: CodedRows, which: Any) -> CodedRows:
    return CodedRows(rows.names, rows.n_states, np.ascontiguousarray(rows.codes[:, which]))
