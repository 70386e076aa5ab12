"""Convert a ``RegressionSummary`` to the content of a page."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ebnc.report.axes import Axis, axis_of, axis_ticks
from ebnc.report.charts import Tick, reliability_chart
from ebnc.report.performance import Figure
from ebnc.report.regression import RegressionSummary
from ebnc.report.summary import InputSummary
from ebnc.report.tables import TermView, number_view, state_order
from ebnc.report.view import escaped_json, input_data
from ebnc.report.words import count_text, interval_text, listed, number, shortened

MOST_EFFECTS = 60
WIDTH, HEIGHT, MARGIN, UNDER = 420.0, 150.0, 22.0, 36.0


@dataclass(frozen=True, slots=True)
class DensityChart:
    """Places of the bins of the target along an axis: (left, width, text); the page draws them."""

    width: float
    height: float
    bottom: float
    tall: float
    bins: tuple[tuple[float, float, str], ...]
    ticks: tuple[Tick, ...]
    title: str


class RegressionView:
    """The content of a regressor's page, in the order of the template."""

    def __init__(self, summary: RegressionSummary) -> None:
        held = summary.findings.held_out
        sizes = [effect.size for effect in summary.effects]
        self.digits = _digits(summary)
        self.sentences = _sentences(summary, self.number)
        self.figures = _figures(summary, self.number)
        self.effects = [
            (summary.inputs[effect.input], self.number(effect.size), 100 * effect.size / max(sizes))
            for effect in summary.effects
            if max(sizes) > 0
        ]
        self.terms: list[TermView] = [
            number_view(
                summary.inputs[effect.input],
                effect.input,
                effect.values,
                effect.size,
                summary.n_cases,
                self.signed,
            )
            for effect in summary.effects[:MOST_EFFECTS]
        ]
        self.unselected = [x.name for x in summary.inputs if not x.selected]
        self.fields = [] if summary.panel is None else [effect.input for effect in summary.effects]
        self.orders = [state_order(x) for x in summary.inputs]
        self.calibration = None if held is None else reliability_chart(held.quantiles)
        self.chart = _density_chart(summary)
        self.mean = self.number(summary.mean)

    def number(self, value: float) -> str:
        """A number in the unit of the target."""
        return number(value, self.digits) if self.digits else count_text(value).replace("-", "−")

    def signed(self, value: float) -> str:
        """A number in the unit of the target, with its sign."""
        return ("+" if value >= 0 else "") + self.number(value)


def regression_data(summary: RegressionSummary, view: RegressionView) -> str:
    """JSON for the page's script."""
    density = summary.density
    return escaped_json(
        {
            "inputs": input_data(summary.inputs),
            "states": summary.states,
            "panel": summary.panel,
            "bins": {
                "means": density.bins.means.tolist(),
                "offsets": density.offsets.tolist(),
                "corrections": density.corrections.tolist(),
                "widths": [width for _, width, _ in view.chart.bins],
                "digits": view.digits,
            },
        }
    )


def _digits(summary: RegressionSummary) -> int:
    """Digits after the point: three significant ones of the typical spread of the target."""
    means = summary.density.bins.means
    spread = float(np.quantile(means, 0.75) - np.quantile(means, 0.25)) or abs(float(means[0]))
    return int(np.clip(2 - math.floor(math.log10(spread or 1.0)), 0, 12))


def _sentences(summary: RegressionSummary, write: Callable[[float], str]) -> tuple[str, ...]:
    names = [shortened(summary.inputs[effect.input].name) for effect in summary.effects]
    target, total = shortened(summary.target), count_text(len(summary.inputs))
    start = f"The model predicts the distribution of {target} without any input."
    if names:
        start = (
            f"The model predicts the distribution of {target} from {count_text(len(names))} of "
            f"{total} inputs; the largest effects are those of {listed(names[:3])}."
        )
    held = summary.findings.held_out
    if held is None:
        return start, "Its performance is not reported: no data were held out."
    return (
        start,
        f"On held-out data ({count_text(round(held.n_cases))} rows, {held.n_folds} folds) its root "
        f"mean squared error is {write(held.rmse)} ({write(held.base_rmse)} when "
        "always predicting the mean).",
    )


def _figures(summary: RegressionSummary, write: Callable[[float], str]) -> list[Figure]:
    held, n_inputs = summary.findings.held_out, len(summary.effects)
    used = Figure("inputs used", count_text(n_inputs), f"of {count_text(len(summary.inputs))}")
    if held is None:
        figures = [used, Figure("parameters", count_text(summary.dimension), "")]
        if summary.n_cases is not None:
            figures.append(Figure("training rows", count_text(summary.n_cases), ""))
        return figures
    log_density = "−∞" if held.log_density is None else number(held.log_density)
    base = f"normal distribution: {number(held.base_log_density)}"
    return [
        Figure("RMSE", write(held.rmse), f"of the mean: {write(held.base_rmse)}"),
        Figure("R²", number(held.r2), "share of the variance"),
        Figure("log-density", log_density, base),
        Figure("coverage", f"{held.coverage:.1%}", "of 90 % intervals"),
    ]


def _density_chart(summary: RegressionSummary) -> DensityChart:
    cuts = tuple(summary.density.bins.cuts.tolist())
    ends = (-math.inf, *cuts, math.inf)
    labels = tuple(interval_text(low, high) for low, high in pairwise(ends))
    target = InputSummary(summary.target, labels, cuts, False, True, None, True)
    axis: Axis = axis_of(target)
    bounds = MARGIN + (WIDTH - 2 * MARGIN) * axis.bounds
    bins = tuple(
        (float(left), float(right - left), label)
        for (left, right), label in zip(pairwise(bounds), labels, strict=True)
    )
    ticks = tuple(
        Tick(MARGIN + (WIDTH - 2 * MARGIN) * place, text) for place, text in axis_ticks(axis, 6)
    )
    bottom = HEIGHT - UNDER
    return DensityChart(WIDTH, HEIGHT, bottom, bottom - 8, bins, ticks, axis.title)
