"""The content of a regressor's report as plain data: effects on the mean, and held-out measures.

The effect of a state x = s is the mean prediction over the training data (a sample of at most 256
rows that the model keeps) with x set to s in every row, minus its average over the states.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ebnc.data.cases import check_weights
from ebnc.data.columns import Numbers
from ebnc.data.entries import read_column
from ebnc.data.rows import CodedRows
from ebnc.errors import DataError
from ebnc.field import Field, record_to_json
from ebnc.parameters.smooth_density import SmoothDensity
from ebnc.report.effects import input_summaries
from ebnc.report.held_out import Progress, wilson_interval
from ebnc.report.models import ReportedModel, reported
from ebnc.report.panel import panel_of
from ebnc.report.summary import Bin, InputSummary
from ebnc.typing import CodeArray, FloatArray, IntArray

VERSION = 1
LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


@runtime_checkable
class DensityRegressor(Protocol):
    """The part of a fitted ``EBNCRegressor`` that reports use."""

    classifier_: Any
    density_: SmoothDensity

    def predict(self, X: Any) -> FloatArray: ...  # noqa: N803

    def predict_quantiles(self, X: Any, q: Any) -> FloatArray: ...  # noqa: N803

    def log_density(self, X: Any, y: Any) -> FloatArray: ...  # noqa: N803


@dataclass(frozen=True, slots=True)
class NumberHeldOut:
    """Performance on held-out data, in the unit of the target and in nats per row.

    ``base_rmse``: of the mean of the training rows. ``log_density``: mean log p(y|x), None if
    infinite; ``base_log_density``: of a normal distribution without inputs. ``quantiles``: for
    every level the share of the rows that do not exceed the predicted quantile.
    """

    n_folds: int
    n_cases: float
    rmse: float
    base_rmse: float
    mean_absolute_error: float
    log_density: float | None
    base_log_density: float
    quantiles: tuple[Bin, ...]

    @property
    def r2(self) -> float:
        """Share of the squared error of the mean that the model removes."""
        return 1.0 - (self.rmse / self.base_rmse) ** 2 if self.base_rmse else 0.0

    @property
    def coverage(self) -> float:
        """Share of the rows inside their central 90 % intervals."""
        return self.quantiles[-1].observed - self.quantiles[0].observed


@dataclass(frozen=True, slots=True)
class RegressionFindings:
    """The part of a report that needs data; model files store it."""

    version: int
    held_out: NumberHeldOut | None

    def to_json(self) -> dict[str, Any]:
        """Plain lists, dicts, numbers and text."""
        plain: dict[str, Any] = record_to_json(self)
        return plain

    @classmethod
    def from_json(cls, plain: object) -> "RegressionFindings":
        """The inverse of ``to_json``; checks every field, and errors name it."""
        field = Field(plain, "findings")
        findings = field.record(cls)
        if findings.version != VERSION:
            raise field.error(f"version {findings.version} is not {VERSION}")
        held = findings.held_out
        if held is not None and len(held.quantiles) != len(LEVELS):
            raise field.error(f"held_out must have {len(LEVELS)} quantiles")
        return findings


@dataclass(frozen=True, slots=True)
class InputEffect:
    """The effect of an input on the mean, for each of its states; ``size``: root mean square."""

    input: int
    values: tuple[float, ...]
    size: float


@dataclass(frozen=True, slots=True)
class RegressionSummary:
    """The content of a regressor's report.

    ``effects``: of the selected inputs, the largest first. ``mean``: the mean prediction over the
    training data. ``states``: of a typical row: medians, and the most frequent states of inputs
    without an order.
    """

    title: str
    target: str
    inputs: tuple[InputSummary, ...]
    effects: tuple[InputEffect, ...]
    mean: float
    states: tuple[int, ...]
    structure: str
    dimension: int
    n_cases: float | None
    density: SmoothDensity
    findings: RegressionFindings
    provenance: str
    panel: dict[str, Any] | None


def summarise_regressor(
    model: Any,
    X: Any = None,  # noqa: N803
    y: Any = None,
    *,
    sample_weight: Any = None,
    target: str | None = None,
    title: str | None = None,
    n_folds: int = 5,
    random_state: int = 0,
    findings: RegressionFindings | None = None,
    provenance: str = "",
) -> RegressionSummary:
    """Summarise a fitted ``EBNCRegressor`` for its report.

    Parameters
    ----------
    model : EBNCRegressor
        The fitted model.
    X : table, optional
        Data for cross-validation; the model is refitted on each fold.
    y : array, optional
        The numbers to predict.
    sample_weight : array, optional
        The weight of each row.
    target : str, optional
        The name of the target on the page.
    title : str, optional
        The heading of the page.
    n_folds : int
        Number of folds; fewer than 2 skip cross-validation.
    random_state : int
        The seed of the folds.
    findings : RegressionFindings, optional
        Findings from a model file, to be used instead of ``X`` and ``y``.
    provenance : str
        A line for the foot of the page, for example the command that was run.
    """
    if not isinstance(model, DensityRegressor):
        raise DataError(f"the model is a {type(model).__name__}, not a fitted EBNCRegressor")
    adapter = reported(model.classifier_, target)
    inputs = input_summaries(adapter)
    mean, effects = effects_on_mean(adapter, model.density_)
    if findings is None:
        held_out = (
            None
            if X is None
            else number_held_out(model, X, y, sample_weight, n_folds, random_state)
        )
        findings = RegressionFindings(VERSION, held_out)
    fit = getattr(adapter.ebnc, "fit", None)
    return RegressionSummary(
        title=title or f"What predicts {adapter.target}",
        target=adapter.target,
        inputs=inputs,
        effects=effects,
        mean=mean,
        states=tuple(map(_typical_state, inputs)),
        structure=str(adapter.ebnc.structure),
        dimension=adapter.ebnc.dimension,
        n_cases=None if fit is None else fit.n_cases,
        density=model.density_,
        findings=findings,
        provenance=provenance,
        panel=panel_of(adapter),
    )


def _typical_state(x: InputSummary) -> int:
    """The median of an ordered input, without missing entries; else the most frequent state."""
    if not x.shares:
        return 0
    shares = np.array(x.shares)
    if not x.is_ordered:
        return int(shares.argmax())
    below = np.cumsum(shares[: len(shares) - x.has_missing])
    return int((below < below[-1] / 2).sum())


def effects_on_mean(
    adapter: ReportedModel, density: SmoothDensity
) -> tuple[float, tuple[InputEffect, ...]]:
    """The mean prediction, and the effects of the selected inputs, the largest first."""
    known, predictor = adapter.ebnc.background, adapter.predictor
    if known is None:
        return math.nan, ()
    names, n_states = known.rows.names, tuple(n + 1 for n in known.rows.n_states)

    def mean_of(codes: CodeArray) -> float:
        rows = CodedRows(names, n_states, codes)
        means = density.mean(predictor.probabilities(rows))
        return float(means @ known.row_weights)

    effects = []
    for v, name in enumerate(names):
        if name not in adapter.ebnc.structure.markov_blanket:
            continue
        shares = known.state_weights[name]
        values = np.empty(len(shares))
        for state in range(len(shares)):
            codes = known.rows.codes.copy()
            codes[v] = state
            values[state] = mean_of(codes)
        values -= values @ shares
        size = math.sqrt(float(values**2 @ shares))
        effects.append(InputEffect(adapter.inputs.index(name), tuple(values.tolist()), size))
    effects.sort(key=lambda effect: -effect.size)
    return mean_of(known.rows.codes), tuple(effects)


def number_held_out(
    model: Any,
    x: Any,
    y: Any,
    weights: Any = None,
    n_folds: int = 5,
    random_state: int = 0,
    *,
    n_run: int | None = None,
    progress: Progress | None = None,
) -> NumberHeldOut | None:
    """Cross-validated measures; None for fewer than two folds. Other parameters as ``held_out``."""
    from sklearn.base import clone
    from sklearn.model_selection import KFold

    if y is None:
        raise DataError("y is missing; pass the numbers too: summarise_regressor(model, X, y)")
    columns = {name: read_column(name, c) for name, c in model.classifier_.columns(x).items()}
    column = read_column("y", y)
    if not isinstance(column, Numbers) or column.missing.any():
        raise DataError("y must be numbers without missing entries")
    numbers = np.asarray(column.values, dtype=np.float64)
    weight = check_weights(weights, len(numbers))
    weight = np.ones(len(numbers)) if weight is None else weight
    n_folds = min(n_folds, len(numbers) // 2)
    if n_folds < 2:
        return None
    predicted, base, spread, log_p = (np.zeros(len(numbers)) for _ in range(4))
    below = np.zeros((len(numbers), len(LEVELS)), dtype=bool)
    done = np.zeros(len(numbers), dtype=bool)
    folds = list(KFold(n_folds, shuffle=True, random_state=random_state).split(numbers))[:n_run]
    for number, (seen, unseen) in enumerate(folds, 1):
        if progress is not None:
            progress(number, len(folds))
        done[unseen] = True
        again = clone(model).fit(_rows(columns, seen), numbers[seen], weight[seen])
        rows = _rows(columns, unseen)
        predicted[unseen] = again.predict(rows)
        log_p[unseen] = again.log_density(rows, numbers[unseen])
        below[unseen] = numbers[unseen, None] <= again.predict_quantiles(rows, LEVELS)
        mean = float(np.average(numbers[seen], weights=weight[seen]))
        base[unseen] = mean
        spread[unseen] = math.sqrt(np.average((numbers[seen] - mean) ** 2, weights=weight[seen]))
    return number_measured(
        numbers[done],
        predicted[done],
        log_p[done],
        below[done],
        (base[done], spread[done]),
        weight[done],
        n_folds=len(folds),
    )


def number_measured(
    numbers: FloatArray,
    predicted: FloatArray,
    log_p: FloatArray,
    below: NDArray[np.bool_],
    base: tuple[FloatArray, FloatArray],
    weight: FloatArray,
    *,
    n_folds: int = 0,
) -> NumberHeldOut:
    """Measures of predictions of numbers.

    ``log_p``: log p(y|x). ``below``: whether numbers do not exceed the predicted quantiles of
    ``LEVELS``, (rows, levels). ``base``: mean and standard deviation of a prediction without
    inputs. ``n_folds``: 0 if the rows are a data set of their own.
    """
    mean, spread = base
    errors, base_errors = numbers - predicted, numbers - mean
    normal = -0.5 * (base_errors / spread) ** 2 - np.log(spread) - 0.5 * math.log(2 * math.pi)
    total = float(weight.sum())
    log_density = float(np.average(log_p, weights=weight))
    return NumberHeldOut(
        n_folds=n_folds,
        n_cases=total,
        rmse=math.sqrt(np.average(errors**2, weights=weight)),
        base_rmse=math.sqrt(np.average(base_errors**2, weights=weight)),
        mean_absolute_error=float(np.average(np.abs(errors), weights=weight)),
        log_density=log_density if math.isfinite(log_density) else None,
        base_log_density=float(np.average(normal, weights=weight)),
        quantiles=tuple(
            _quantile(level, float(np.average(column, weights=weight)), total)
            for level, column in zip(LEVELS, below.T, strict=True)
        ),
    )


def _quantile(level: float, observed: float, total: float) -> Bin:
    return Bin(total, level, observed, *wilson_interval(observed, total))


def _rows(columns: dict[str, Any], chosen: IntArray) -> dict[str, Any]:
    return {name: column.take(chosen) for name, column in columns.items()}
