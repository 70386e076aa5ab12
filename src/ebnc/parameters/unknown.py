"""p(y|known): predictions for rows with unknown inputs.

    p(y | x_known) = Σ_u w(u) p(y | x_known, u)

u runs over the states of one unknown input, or over the configurations of several in the rows of
the ``Background``; w(u) is the share of u in the training data. So the average respects dependence
among unknown inputs, and if all inputs are unknown p(y) is the class frequencies. It ignores
dependence between unknown and known inputs.
"""

from collections.abc import Callable
from itertools import compress
from typing import NamedTuple

import numpy as np

from ebnc.data.cases import distinct_rows
from ebnc.data.rows import CodedRows
from ebnc.parameters.background import Background
from ebnc.typing import CodeArray, FloatArray, IntArray

CHUNK_ROWS = 2**16

Predict = Callable[[CodedRows], FloatArray]


class Averages(NamedTuple):
    """``probabilities[i]``: p(y|known) of row ``places[i]``, which has unknown entries."""

    places: IntArray
    probabilities: FloatArray


def average_over_unknown(
    predict: Predict, rows: CodedRows, background: Background | None
) -> Averages | None:
    """Averages for the rows with unknown entries; None without such rows or a background.

    ``predict``: p(y|x) of rows whose entries are all known, shape (rows, K).
    ``rows``: an entry is unknown if its code exceeds the states of its input in the background.
    """
    if background is None:
        return None
    declared = zip(background.names, background.rows.n_states, strict=True)
    inputs = [(x, r) for x, r in declared if x in rows.names]
    unknown = {x: rows.column(x) >= r for x, r in inputs}
    unknown = {x: where for x, where in unknown.items() if where.any()}
    if not unknown:
        return None
    places = np.flatnonzero(np.any(list(unknown.values()), axis=0))
    codes = rows.codes[:, places]
    columns = [codes[rows.place(x)] for x, _ in inputs]
    first, inverse = distinct_rows(columns, [r + 1 for _, r in inputs])
    gaps = np.array([where[places[first]] for where in unknown.values()])
    patterns, of_pattern = np.unique(gaps, axis=1, return_inverse=True)
    groups = [np.flatnonzero(of_pattern.ravel() == i) for i in range(patterns.shape[1])]
    parts = [
        _average(
            predict, rows, codes[:, first[group]], list(compress(unknown, pattern)), background
        )
        for group, pattern in zip(groups, patterns.T, strict=True)
    ]
    averages = np.concatenate(parts)[np.argsort(np.concatenate(groups))]
    return Averages(places, averages[inverse])


def _average(
    predict: Predict, rows: CodedRows, codes: CodeArray, gone: list[str], background: Background
) -> FloatArray:
    """p(y|known) of rows with these codes and unknown inputs ``gone``, chunk by chunk."""
    states, weights = background.configurations(gone)
    step = max(1, CHUNK_ROWS // len(weights))
    parts = []
    for start in range(0, codes.shape[1], step):
        some = codes[:, start : start + step]
        p = predict(_filled(rows, some, gone, states))
        parts.append(np.einsum("ncK,c->nK", p.reshape(some.shape[1], len(weights), -1), weights))
    return np.concatenate(parts)


def with_averages(predict: Predict, rows: CodedRows, background: Background | None) -> FloatArray:
    """p(y|x) of all rows, averaged over unknown entries, shape (rows, K)."""
    probabilities = predict(rows)
    averages = average_over_unknown(predict, rows, background)
    if averages is not None:
        probabilities[averages.places] = averages.probabilities
    return probabilities


def _filled(rows: CodedRows, codes: CodeArray, gone: list[str], states: IntArray) -> CodedRows:
    """Each row combined with each configuration, shape (names, rows · configurations)."""
    filled = np.repeat(codes, states.shape[1], axis=1)
    filled[[rows.place(x) for x in gone]] = np.tile(states, (1, codes.shape[1]))
    return CodedRows(rows.names, rows.n_states, np.ascontiguousarray(filled))
