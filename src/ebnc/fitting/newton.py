"""Maximum of the posterior by Newton's method, with a Hessian no fresher than it pays.

With far more rows than parameters a thinned posterior, the *sketch*, is fitted first: its optimum
is a good start and its Hessian a good metric. ``metric`` says how steps are made and when a new
Hessian is worth its price.

The posterior is concave, so there is one maximum and every start leads to it.
"""

import math
from collections import deque
from dataclasses import replace

import numpy as np

from ebnc.fitting.cholesky import Cholesky
from ebnc.fitting.line_search import Point, search_line
from ebnc.fitting.metric import MEMORY, Metric, Step
from ebnc.fitting.solution import Solution, Status
from ebnc.likelihood.posterior import Posterior
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray

__all__ = ["LARGEST_FACTOR", "maximise", "polish"]

LARGEST_FACTOR = 8000
"""Dimension up to which A is factored (512 MB): at 4 800 that was still 3–5 times faster."""

SKETCH_ROWS = 500
"""Rows per column of a sketch: its Hessian is within 2/√500 ≈ 9 % of the full one everywhere."""


@one_blas_thread()
def maximise(
    posterior: Posterior,
    start: FloatArray | None = None,
    *,
    metric: Cholesky | None = None,
    tolerance: float = 1e-12,
    max_steps: int = 1000,
) -> Solution:
    """φ̃ to within ``tolerance`` nats of the maximum, as the Newton decrement ½ gᵀA⁻¹g tells, or to
    rounding errors of the value where these are larger.

    ``start`` and ``metric``: φ and a factor of A from a similar fit, for a warm start.
    """
    is_whole = posterior.design.dimension <= LARGEST_FACTOR
    sketch = _sketch_of(posterior) if is_whole else None
    rule = Metric(posterior, sketch, metric, is_whole=is_whole, tolerance=tolerance)
    n_values = 1
    if start is not None:
        point, afresh = Point.at(posterior, start), _first_point(posterior)
        n_values = 2
        if afresh.value > point.value:
            # Where a start is sure of wrong answers its Hessian vanishes; better to begin afresh.
            point, rule.factor = afresh, None
    elif sketch is not None:
        rough = 0.1 * posterior.design.dimension * posterior.data.n_rows / sketch.data.n_rows
        coarse = Metric(sketch, _sketch_of(sketch), None, is_whole=True, tolerance=rough)
        solution = _climb(sketch, NewtonState(_first_point(sketch)), coarse, max_steps)
        point, rule.factor = Point.at(posterior, solution.phi), coarse.factor
    else:
        point = _first_point(posterior)
    return _climb(posterior, NewtonState(point, n_values), rule, max_steps)


def polish(posterior: Posterior, solution: Solution, factor: Cholesky) -> Solution:
    """One more Newton step with the exact Hessian, where it is at hand: φ̃ to rounding errors."""
    if not solution.converged:
        return solution
    value, gradient = posterior.value_and_gradient(solution.phi)
    step = factor.solve(gradient)
    decrement = 0.5 * float(np.vdot(gradient, step))
    return replace(solution, phi=solution.phi + step, value=value + decrement, decrement=decrement)


def _first_point(posterior: Posterior) -> Point:
    """The φ that gives every row the class frequencies, one case of each class added."""
    design = posterior.design
    first_bag = slice(int(design.offsets[0]), int(design.offsets[1]))
    frequency = posterior.data.class_counts[:, first_bag].sum(axis=1) + 1.0
    phi = np.zeros((design.n_columns, design.n_others))
    intercept = int(np.flatnonzero(design.order == 0)[0])
    phi[intercept] = np.linalg.solve(design.class_map, np.log(frequency[1:] / frequency[0]))
    return Point.at(posterior, phi)


def _sketch_of(posterior: Posterior) -> Posterior | None:
    """A sample of the rows, or None where they are not many more than it would have."""
    n_rows = max(SKETCH_ROWS * posterior.design.n_columns, 2**15)
    return posterior.thinned(n_rows) if posterior.data.n_rows >= 4 * n_rows else None


class NewtonState:
    """Where a fit is, and what it has cost so far."""

    def __init__(self, point: Point, n_values: int = 1) -> None:
        self.point, self.n_values, self.steps = point, n_values, 0
        self.recent_values = deque([point.value], maxlen=MEMORY)

    def move_to(self, point: Point, n_trials: int) -> None:
        """Take a step that a line search found after ``n_trials`` values."""
        self.point = point
        self.n_values += n_trials
        self.recent_values.append(point.value)

    def solution(self, status: Status, decrement: float, n_hessians: int) -> Solution:
        """The report of a fit that ends here."""
        phi, value = self.point.phi, self.point.value
        return Solution(phi, value, decrement, status, self.steps, self.n_values, n_hessians)


def _climb(posterior: Posterior, state: NewtonState, metric: Metric, max_steps: int) -> Solution:
    """Newton steps from a state to the maximum."""
    decrement = math.inf
    while state.steps < max_steps:
        step = metric.step_from(state.point)
        is_done = _is_done(posterior, state, step, metric)
        if not is_done and metric.discard_if_worn(step.decrement):
            step = metric.step_from(state.point)
            is_done = _is_done(posterior, state, step, metric)
        decrement = step.decrement
        if is_done:
            phi, value = state.point.phi + step.direction, state.point.value + decrement
            end = state.solution(Status.CONVERGED, decrement, metric.n_hessians)
            return replace(end, phi=phi, value=value)
        state.steps += 1
        moved = search_line(posterior, state.point, step.direction, step.slope)
        if moved is None:
            return state.solution(Status.STALLED, decrement, metric.n_hessians)
        point, n_trials = moved
        metric.learn(state.point, point, n_trials, decrement)
        state.move_to(point, n_trials)
    return state.solution(Status.MOST_STEPS, decrement, metric.n_hessians)


def _is_done(posterior: Posterior, state: NewtonState, step: Step, metric: Metric) -> bool:
    """Whether the decrement is below the tolerance, or below the rounding errors of the value."""
    point, tolerance = state.point, metric.tolerance
    if step.decrement > max(tolerance, posterior.rounding(point.phi, point.value)):
        return False
    # Blocks of A underestimate the decrement; there the values must have settled as well.
    return metric.is_whole or point.value - state.recent_values[0] <= 10.0 * tolerance
