"""The metric of Newton's method: a factor of A, corrected by gradients, recomputed when it pays.

1. Directions are limited-memory BFGS whose initial matrix is A⁻¹ from a Cholesky factor: a fresh
   factor gives Newton's step; gradients computed since then correct an old one.
2. At contraction c of the decrement, log(tolerance/decrement)/log c more gradients are needed.
   If a new Hessian costs less, it is computed (from the sketch, if there is one).
3. If A is too large, only the blocks of single bags are factored: O(d) memory.
"""

import math
from typing import NamedTuple

import numpy as np

from ebnc.fitting.cholesky import BagCholesky, Factor, factor_at
from ebnc.fitting.line_search import Point
from ebnc.likelihood.posterior import Posterior
from ebnc.typing import FloatArray

RENT = 0.7
"""Recompute the Hessian once the gradients since the last one cost this fraction of it (0.5–1
perform the same)."""

POOR = 0.5
"""Discard the sketch if the first contraction after its Hessian is worse than this."""

POOR_SEARCH = 4
"""Discard the factor after a line search with more trials than this."""

MEMORY = 20
"""Number of recent steps whose gradients correct the factor."""


class Step(NamedTuple):
    """A search direction A⁻¹g, and its ``slope`` gᵀA⁻¹g."""

    direction: FloatArray
    slope: float

    @property
    def decrement(self) -> float:
        """½ gᵀA⁻¹g: the approximate distance to the maximum in nats."""
        return 0.5 * self.slope


class _Correction(NamedTuple):
    """A secant pair of one step: ``bend`` ≈ A · ``change``, ``curvature`` = their product > 0."""

    change: FloatArray
    bend: FloatArray
    curvature: float


class Metric:
    """A⁻¹ for the steps of one fit.

    ``sketch``: the posterior of a sample of the rows, whose Hessian is cheaper. ``factor``: the
    initial factor; without one, the first step computes it. ``is_whole``: whether A is factored as
    a whole, or only the blocks of its bags. ``tolerance``: the decrement at which the fit ends.
    """

    def __init__(
        self,
        posterior: Posterior,
        sketch: Posterior | None,
        factor: Factor | BagCholesky | None,
        *,
        is_whole: bool,
        tolerance: float,
    ) -> None:
        self.factor = factor
        self.is_whole, self.tolerance = is_whole, tolerance
        self.n_hessians = 0
        self._posterior, self._sketch = posterior, sketch
        self._corrections: list[_Correction] = []
        self._previous_decrement = math.inf
        self._n_steps = 0  # since the last Hessian
        self._fresh_contraction = 0.01  # in the step right after a Hessian of the sketch

    def step_from(self, point: Point) -> Step:
        """Return the step at a point; computes a factor if the metric has none."""
        if self.factor is None:
            self.factor = self._factor_at(point.phi)
            self.n_hessians += 1
            self._corrections, self._previous_decrement, self._n_steps = [], math.inf, 0
        direction = _inverse_times(self.factor, self._corrections, point.gradient)
        return Step(direction, float(np.vdot(point.gradient, direction)))

    def _factor_at(self, phi: FloatArray) -> Factor | BagCholesky:
        if not self.is_whole:
            return BagCholesky.at(self._posterior, phi)
        return factor_at(self._sketch or self._posterior, phi)

    def discard_if_worn(self, decrement: float) -> bool:
        """Discard the factor if a new Hessian costs less than the steps it would save.

        ``decrement``: of the next step with this factor. Returns whether the factor was discarded.
        """
        if not self._corrections or not self.is_whole:
            return False
        self._n_steps += 1
        contraction = decrement / self._previous_decrement
        is_first = self._n_steps == 1 and self.n_hessians > 0
        if self._sketch is not None and is_first:
            self._fresh_contraction = contraction
            if contraction > POOR:  # the sample misses the curvature: use all rows from here on
                self._sketch, self.factor = None, None
                return True
        price = (self._sketch or self._posterior).hessian_price / self._posterior.gradient_price
        left = self._steps_left(decrement, contraction)
        left_afresh = 2.0
        if self._sketch is not None:
            left_afresh = self._steps_left(decrement, self._fresh_contraction)
        if self._n_steps >= RENT * price and left > price + left_afresh:
            self.factor = None
        return self.factor is None

    def _steps_left(self, decrement: float, contraction: float) -> float:
        if contraction >= 1.0:
            return math.inf
        return math.log(self.tolerance / decrement) / math.log(contraction)

    def learn(self, before: Point, after: Point, n_trials: int, decrement: float) -> None:
        """Update the metric after a step from ``before`` to ``after``.

        ``n_trials``: number of points that the line search tried. ``decrement``: of the step.
        """
        self._previous_decrement = decrement
        if n_trials > POOR_SEARCH and self.is_whole:
            self.factor = None
            return
        change, bend = after.phi - before.phi, before.gradient - after.gradient
        curvature = float(np.vdot(change, bend))
        if curvature > 0.0:
            recent = self._corrections[-(MEMORY - 1) :]
            self._corrections = [*recent, _Correction(change, bend, curvature)]


def _inverse_times(
    factor: Factor | BagCholesky, corrections: list[_Correction], gradient: FloatArray
) -> FloatArray:
    """Two-loop recursion of L-BFGS (Nocedal & Wright, algorithm 7.4) with the factor's A⁻¹."""
    vector = gradient.copy()
    weights = []
    for change, bend, curvature in reversed(corrections):
        weight = float(np.vdot(change, vector)) / curvature
        vector -= weight * bend
        weights.append(weight)
    vector = factor.solve(vector)
    if corrections and isinstance(factor, BagCholesky):
        # The blocks ignore each other and overshoot; this scaling halved the number of steps.
        last = corrections[-1]
        vector *= last.curvature / float(np.vdot(last.bend, factor.solve(last.bend)))
    for (change, bend, curvature), weight in zip(corrections, reversed(weights), strict=True):
        vector += (weight - float(np.vdot(bend, vector)) / curvature) * change
    return vector
