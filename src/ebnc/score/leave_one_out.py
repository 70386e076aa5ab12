"""Approximate leave-one-out log-loss of a fit, without refitting (Rad & Maleki 2020).

Without case i the optimum moves, to second order, so that the log odds of the case become

    λ₋ᵢ = λ_i − H_i (I − W_i H_i)⁻¹ (e_y − p_i),      W_i = diag p_i − p_i p_iᵀ

H_i = J_iᵀ A⁻¹ J_i is the covariance of λ_i, and A the curvature with all cases. A case is one unit
of weight; the loss of a row of weight n counts n times. Where the curvature has separate classes,
the case has the information c p_k (1 − p_k) in class k, and the scores f_k become

    f_k − h_k (e_y − p)_k / (1 − c p_k (1 − p_k) h_k),      h_k = z_iᵀ V_k⁻¹ z_i

With many rows, a sample is enough. Its choice must not depend on names of states or the order of
columns, rows and classes, so *signatures* make it: the signature of a cell is a hash of its class
counts, where a class is identified by its total; that of a row hashes the sum over its cells.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ebnc.data.cases import distinct_rows
from ebnc.data.rows import CodedRows
from ebnc.fitting.fit import Fit
from ebnc.likelihood.counts import CellCounts, joined_counts
from ebnc.likelihood.posterior import Posterior
from ebnc.score.row_covariance import RowChunk, class_probabilities, rows_with_covariance
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray, IntArray

Signatures = NDArray[np.uint64]

MOST_ROWS = 2_000
"""Maximum number of distinct rows to evaluate; with more, d/N is small and a sample is enough."""


@one_blas_thread()
def leave_one_out_log_loss(posterior: Posterior, fit: Fit) -> float:
    """Return −Σ n_i log p(y_i|x_i, D without case i), over all cases, in nats."""
    data = chosen_rows(posterior)
    total = float(data.weights @ losses_of_rows(data, fit))
    return total * posterior.data.n_cases / float(data.weights.sum())


@one_blas_thread()
def losses_of_rows(data: CellCounts, fit: Fit) -> FloatArray:
    """Return −log p(y_i|x_i, D without case i) of weighted rows, which may be of another design."""
    cells = data.cells if data.design is fit.design else fit.design.cells(data.rows)
    parts = [np.empty(0)]
    for chunk in rows_with_covariance(fit, cells):
        weights = np.minimum(data.weights[chunk.rows], 1.0)
        parts.append(_losses(chunk, data.classes[chunk.rows].astype(np.int64), weights))
    return np.concatenate(parts)


def chosen_rows(posterior: Posterior) -> CellCounts:
    """Return all rows with the ``MOST_ROWS`` smallest signatures, equal rows merged."""
    counts = posterior.data
    of_cells = np.concatenate(
        [
            _cell_signatures(counts.class_counts[:, start:stop])
            for start, stop in pairwise(posterior.design.offsets.tolist())
        ]
    )
    smallest = np.unique(np.concatenate(counts.collect(_smallest, of_cells)))
    last = smallest[min(MOST_ROWS, len(smallest)) - 1]
    chosen = joined_counts(counts.collect(_up_to, of_cells, last))
    columns = [*chosen.cells, chosen.classes]
    sizes = [*(bag.n_cells for bag in posterior.design.bags), posterior.design.n_others + 1]
    first, inverse = distinct_rows(columns, sizes)
    row_weights = chosen.weights if chosen.weights.size else None
    weights = np.bincount(inverse, row_weights, minlength=len(first)).astype(np.float64)
    return replace(_rows_of(chosen, first), weights=weights)


def _smallest(counts: CellCounts, of_cells: Signatures) -> Signatures:
    return np.unique(_row_signatures(counts, of_cells))[:MOST_ROWS]


def _up_to(counts: CellCounts, of_cells: Signatures, last: np.uint64) -> CellCounts:
    chosen = _rows_of(counts, np.flatnonzero(_row_signatures(counts, of_cells) <= last))
    return replace(chosen, weights=chosen.weights.copy())


def _rows_of(counts: CellCounts, where: IntArray) -> CellCounts:
    rows = CodedRows(counts.rows.names, counts.rows.n_states, counts.rows.codes[:, where])
    weights = counts.weights[where] if counts.weights.size else counts.weights
    return CellCounts(counts.design, rows, counts.cells[:, where], counts.classes[where], weights)


def _cell_signatures(class_counts: FloatArray) -> Signatures:
    """Return a number for each cell of a table, from its class counts, shape (K, cells)."""
    totals = class_counts.sum(axis=1, keepdims=True)
    of_classes = _mixed(_bits(class_counts) + _mixed(_bits(totals)))
    return _mixed(of_classes.sum(axis=0, dtype=np.uint64))


def _row_signatures(counts: CellCounts, of_cells: Signatures) -> Signatures:
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


def _losses(chunk: RowChunk, classes: IntArray, weights: FloatArray) -> FloatArray:
    """Return −log p(y_i|x_i, D without ``weights`` of the row), shape (rows,)."""
    n_rows, n_others = chunk.log_odds.shape
    p = class_probabilities(chunk.log_odds)
    if chunk.variances is not None:
        return _losses_of_separate(chunk.log_odds, chunk.variances, p, classes, weights)
    information = p[:, :, None] * (np.eye(n_others) - p[:, None, :])
    own_class = np.arange(1, n_others + 1) == classes[:, None]
    lost = np.eye(n_others) - weights[:, None, None] * (information @ chunk.covariance)
    pull = np.linalg.solve(lost, (weights[:, None] * (own_class - p))[:, :, None])
    scores = np.zeros((n_rows, n_others + 1))
    scores[:, 1:] = chunk.log_odds - (chunk.covariance @ pull)[:, :, 0]
    return _log_losses(scores, classes)


def _losses_of_separate(
    log_odds: FloatArray,
    variances: FloatArray,
    p_others: FloatArray,
    classes: IntArray,
    weights: FloatArray,
) -> FloatArray:
    """Return the same for separate classes, each with a leverage of its own."""
    n_classes = variances.shape[1]
    p = np.column_stack([1.0 - p_others.sum(axis=1), p_others])
    information = n_classes / (n_classes - 1.0) * p * (1.0 - p)
    pull = weights[:, None] * ((np.arange(n_classes) == classes[:, None]) - p)
    shift = variances * pull / (1.0 - weights[:, None] * information * variances)
    return _log_losses(np.pad(log_odds, ((0, 0), (1, 0))) - shift, classes)


def _log_losses(scores: FloatArray, classes: IntArray) -> FloatArray:
    """−log softmax of the own class, shape (rows,)."""
    scores = scores - scores.max(axis=1, keepdims=True)
    log_z = np.log(np.exp(scores).sum(axis=1))
    return np.asarray(log_z - scores[np.arange(len(scores)), classes])
