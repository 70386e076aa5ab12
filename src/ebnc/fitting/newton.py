"""Maximum of the posterior by Newton's method, which reuses a Hessian while that is cheaper.

If the data have far more rows than parameters, the posterior of a sample, the *sketch*, is fitted
first: its optimum is a good start and its Hessian a good metric. ``metric`` makes the steps and
decides when to recompute the Hessian.

The posterior is concave, so it has one maximum and every start leads to it.
"""

import math
from collections import deque
from dataclasses import replace

import numpy as np

from ebnc.fitting.cholesky import Factor
from ebnc.fitting.line_search import Point, search_line
from ebnc.fitting.metric import MEMORY, Metric
from ebnc.fitting.solution import Solution, Status
from ebnc.likelihood.posterior import Posterior
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray

LARGEST_FACTOR = 8000
"""Largest dimension at which A is factored (512 MB); at 4 800 it was still 3–5 times faster."""

SKETCH_ROWS = 500
"""Rows per column of a sketch: its Hessian is within 2/√500 ≈ 9 % of the full one."""


@one_blas_thread()
def maximise(
    posterior: Posterior,
    start: FloatArray | None = None,
    *,
    metric: Factor | None = None,
    tolerance: float = 1e-12,
    max_steps: int = 1000,
    largest_factor: int = LARGEST_FACTOR,
    sketch_rows: int = SKETCH_ROWS,
) -> Solution:
    """Return φ̃, accurate to ``tolerance`` nats or to rounding errors, whichever is larger.

    The Newton decrement ½ gᵀA⁻¹g measures the accuracy. ``start`` and ``metric``: φ and a factor
    of A from a similar fit, for a warm start. ``largest_factor``: the dimension above which only
    the blocks of A are factored. ``sketch_rows``: rows of a sketch for each column.
    """
    is_whole = posterior.design.n_columns * posterior.form.n_coupled <= largest_factor
    sketch = _sketch_of(posterior, sketch_rows) if is_whole else None
    rule = Metric(posterior, sketch, metric, is_whole=is_whole, tolerance=tolerance)
    n_values = 1
    if start is not None:
        point, afresh = Point.at(posterior, start), _first_point(posterior)
        n_values = 2
        if afresh.value > point.value:
            # A confident but wrong start has a Hessian near zero; the default start is better.
            point, rule.factor = afresh, None
    elif sketch is not None:
        rough = 0.1 * posterior.design.dimension * posterior.data.n_rows / sketch.data.n_rows
        coarse = Metric(
            sketch, _sketch_of(sketch, sketch_rows), None, is_whole=True, tolerance=rough
        )
        solution = _climb(sketch, _first_point(sketch), coarse, max_steps)
        point, rule.factor = Point.at(posterior, solution.phi), coarse.factor
    else:
        point = _first_point(posterior)
    return _climb(posterior, point, rule, max_steps, n_values)


def polish(posterior: Posterior, solution: Solution, factor: Factor) -> Solution:
    """Take one more Newton step with the exact Hessian: φ̃ to rounding errors."""
    if not solution.converged:
        return solution
    value, gradient = posterior.value_and_gradient(solution.phi)
    step = factor.solve(gradient)
    decrement = 0.5 * float(np.vdot(gradient, step))
    return replace(solution, phi=solution.phi + step, value=value + decrement, decrement=decrement)


def _first_point(posterior: Posterior) -> Point:
    """The φ that predicts the class frequencies, after adding one row of each class."""
    design = posterior.design
    first_bag = slice(int(design.offsets[0]), int(design.offsets[1]))
    frequency = posterior.data.class_counts[:, first_bag].sum(axis=1) + 1.0
    phi = np.zeros((design.n_columns, design.n_outputs))
    intercept = int(np.flatnonzero(design.order == 0)[0])
    log_odds = np.log(frequency[1:] / frequency[0])
    phi[intercept] = np.linalg.lstsq(design.class_map, log_odds, rcond=None)[0]
    return Point.at(posterior, phi)


def _sketch_of(posterior: Posterior, rows_per_column: int) -> Posterior | None:
    """The posterior of a sample of the rows; None for fewer than four times as many rows."""
    n_rows = max(rows_per_column * posterior.design.n_columns, 2**15)
    return posterior.thinned(n_rows) if posterior.data.n_rows >= 4 * n_rows else None


def _climb(
    posterior: Posterior, point: Point, metric: Metric, max_steps: int, n_values: int = 1
) -> Solution:
    """Newton steps from a point to the maximum; ``n_values``: values computed so far."""
    recent_values = deque([point.value], maxlen=MEMORY)

    def is_done(decrement: float) -> bool:
        """Whether the decrement is below the tolerance or the rounding errors of the value."""
        if decrement > max(metric.tolerance, posterior.rounding(point.phi, point.value)):
            return False
        # Blocks of A underestimate the decrement, so the values must have settled as well.
        return metric.is_whole or point.value - recent_values[0] <= 10.0 * metric.tolerance

    status, decrement, n_steps = Status.MOST_STEPS, math.inf, 0
    while n_steps < max_steps:
        step = metric.step_from(point)
        if not is_done(step.decrement) and metric.discard_if_worn(step.decrement):
            step = metric.step_from(point)
        decrement = step.decrement
        if is_done(decrement):
            status = Status.CONVERGED
            point = replace(point, phi=point.phi + step.direction, value=point.value + decrement)
            break
        n_steps += 1
        moved = search_line(posterior, point, step.direction, step.slope)
        if moved is None:
            status = Status.STALLED
            break
        before, (point, n_trials) = point, moved
        metric.learn(before, point, n_trials, decrement)
        n_values += n_trials
        recent_values.append(point.value)
    return Solution(point.phi, point.value, decrement, status, n_steps, n_values, metric.n_hessians)
