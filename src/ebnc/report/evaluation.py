"""Evaluate a model on a table that also holds the target."""

from dataclasses import dataclass, replace

import numpy as np

from ebnc.data.batches import Source
from ebnc.data.coder import Coder, Unknown
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.errors import DataError
from ebnc.parameters.smooth_density import SmoothDensity
from ebnc.predictor import Predictor
from ebnc.report.held_out import measured
from ebnc.report.regression import LEVELS, NumberHeldOut, number_measured
from ebnc.report.summary import HeldOut
from ebnc.typing import FloatArray, IntArray

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a model predicts on a table, against what came.

    ``measures``: of the rows that have a target the model knows. ``n_missing``: number of rows
    without a target; ``n_unseen``: number of rows of a class that the model has never seen.
    ``calibration_slope``: None for numbers, and where it is not finite. ``losses``: −log p(y|x) of
    the rows in order, NaN for rows that were left out; ``weights``: of all rows.
    """

    measures: HeldOut | NumberHeldOut
    calibration_slope: float | None
    n_missing: int
    n_unseen: int
    unknown: Unknown
    losses: FloatArray
    weights: FloatArray


def evaluate(
    predictor: Predictor, source: Source, target: str | None = None, weights: str | None = None
) -> Evaluation:
    """Predict all rows of a source, and compare with its column ``target``.

    ``target``: the column; None: the model's own name of it. ``weights``: the column of weights.
    """
    column = predictor.target if target is None else target
    if column in predictor.used:
        raise DataError(f"{column!r} is an input of the model, so it cannot be the target")
    states = predictor.domain[predictor.target]
    inputs = {x: predictor.domain[x] for x in predictor.used}
    coder = Coder(Domain({**inputs, column: states}), [*predictor.used, column], "extra")
    parts = []
    plan = replace(coder.plan(source.options), weights=weights)
    for batch in source.batches(plan):
        kept, of_rows = batch.weighted(plan)
        coded = coder.encode(kept)
        rows = CodedRows(coded.names[:-1], coded.n_states[:-1], coded.codes[:-1])
        y = np.zeros(len(rows))
        if predictor.density is not None:
            y = coder.numbers(column, kept.columns[column])
        weight = np.ones(len(rows)) if of_rows is None else of_rows
        parts.append((predictor.probabilities(rows), coded.codes[-1].astype(np.int64), y, weight))
    if not sum(len(part[0]) for part in parts):
        raise DataError("the data have no rows")
    coder.unknown.refuse_wholly_unknown(coder.domain)
    p, classes, numbers, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
    known = classes < len(states)
    if not known.any():
        raise DataError(f"no row has an entry of {column!r}")
    losses = np.full(len(p), np.nan)
    measures: HeldOut | NumberHeldOut
    slope = None
    if predictor.density is None:
        with np.errstate(divide="ignore"):
            losses[known] = -np.log(p[known, classes[known]])
        measures = _of_classes(p[known], classes[known], weight[known])
        slope = calibration_slope(p[known], classes[known], weight[known])
    else:
        log_p = np.log(np.maximum(p[known], TINY))
        losses[known] = -predictor.density.log_density(log_p, numbers[known])
        measures = _of_numbers(
            predictor.density, p[known], numbers[known], -losses[known], weight[known]
        )
    unknown = coder.unknown
    n_missing, n_unseen = unknown.gaps.pop(column, 0), unknown.others.pop(column, 0)
    return Evaluation(measures, slope, n_missing, n_unseen, unknown, losses, weight)


def _of_classes(p: FloatArray, classes: IntArray, weight: FloatArray) -> HeldOut:
    shares = np.bincount(classes, weight, minlength=p.shape[1]) / weight.sum()
    return measured(p, classes, weight, np.broadcast_to(shares, p.shape))


def _of_numbers(
    density: SmoothDensity,
    p: FloatArray,
    numbers: FloatArray,
    log_p: FloatArray,
    weight: FloatArray,
) -> NumberHeldOut:
    below = numbers[:, None] <= density.quantiles(p, np.array(LEVELS))
    mean = np.average(numbers, weights=weight)
    spread = np.sqrt(np.average((numbers - mean) ** 2, weights=weight)) or TINY
    base = (np.full(len(numbers), mean), np.full(len(numbers), spread))
    return number_measured(numbers, density.mean(p), log_p, below, base, weight)


def calibration_slope(p: FloatArray, classes: IntArray, weight: FloatArray) -> float | None:
    """The b that maximises the likelihood of softmax(a_k + b log p_k); None if none does.

    None does if all rows have the same class: the intercepts alone explain it.

    1 is perfect; smaller: predictions are too extreme; larger: they are too timid.
    """
    from scipy.optimize import minimize

    if len(np.unique(classes)) < 2:
        return None
    log_p = np.log(np.maximum(p, TINY))
    n_classes, total = p.shape[1], weight.sum()
    hits = np.eye(n_classes)[classes]

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        odds = np.append(0.0, x[1:]) + x[0] * log_p
        odds = odds - odds.max(axis=1, keepdims=True)
        log_q = odds - np.log(np.exp(odds).sum(axis=1, keepdims=True))
        gap = (np.exp(log_q) - hits) * (weight / total)[:, None]
        value = -float((weight / total) @ log_q[np.arange(len(p)), classes])
        return value, np.append((gap * log_p).sum(), gap.sum(axis=0)[1:])

    found = minimize(loss, np.append(1.0, np.zeros(n_classes - 1)), jac=True, method="BFGS")
    slope = float(found.x[0])
    return slope if np.abs(found.jac).max() < 1e-4 and abs(slope) < 100 else None
