"""Maximum of the posterior by Newton's method, with a Hessian no fresher than it pays.

1. With far more rows than parameters a thinned posterior, the *sketch*, is fitted first: its
   optimum is a good start and its Hessian a good metric.
2. Directions are limited-memory BFGS whose initial matrix is A⁻¹ from a Cholesky factor: a fresh
   factor gives Newton's step, an old one is corrected by the gradients seen since.
3. At contraction c of the decrement, log(tolerance/decrement)/log c more gradients are needed.
   Where a new Hessian costs less, it is computed (from the sketch while there is one).
4. Above ``LARGEST_FACTOR`` parameters only the blocks of single bags are factored: O(d) memory.

The posterior is concave, so there is one maximum and every start leads to it.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ebnc.fitting.cholesky import BagCholesky, Cholesky
from ebnc.fitting.line_search import search_line
from ebnc.fitting.solution import Solution, Status
from ebnc.likelihood.posterior import Posterior
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray

__all__ = ["LARGEST_FACTOR", "maximise", "polish"]

LARGEST_FACTOR = 8000
"""Dimension up to which A is factored (512 MB): at 4 800 that was still 3–5 times faster."""

SKETCH_ROWS = 500
"""Rows per column of a sketch: its Hessian is within 2/√500 ≈ 9 % of the full one everywhere."""

RENT = 0.7
"""A new Hessian is bought once this share of its price went into gradients (0.5–1 are alike)."""

POOR = 0.5
"""Contraction right after a Hessian of the sketch that is worse than this gives the sketch up."""

POOR_SEARCH = 4
"""A line search with more trials than this shows a metric that is of no use here any more."""

MEMORY = 20
Pair = tuple[FloatArray, FloatArray, float]


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
    return _maximise(posterior, start, metric, tolerance, max_steps)[0]


def polish(posterior: Posterior, solution: Solution, factor: Cholesky) -> Solution:
    """One more Newton step with the exact Hessian, where it is at hand: φ̃ to rounding errors."""
    if not solution.converged:
        return solution
    value, gradient = posterior.value_and_gradient(solution.phi)
    step = factor.solve(gradient)
    decrement = 0.5 * float(np.vdot(gradient, step))
    return replace(solution, phi=solution.phi + step, value=value + decrement, decrement=decrement)


def _maximise(
    posterior: Posterior,
    start: FloatArray | None,
    metric: Cholesky | BagCholesky | None,
    tolerance: float,
    max_steps: int,
) -> tuple[Solution, Cholesky | BagCholesky | None]:
    design = posterior.design
    dense = design.dimension <= LARGEST_FACTOR
    phi = intercept_only(posterior) if start is None else start
    sketch: Posterior | None = None
    sketch_rows = max(SKETCH_ROWS * design.n_columns, 2**15)
    if dense and posterior.data.n_rows >= 4 * sketch_rows:
        sketch = posterior.thinned(sketch_rows)
        if start is None:
            rough = 0.1 * design.dimension * posterior.data.n_rows / sketch.data.n_rows
            coarse, metric = _maximise(sketch, phi, None, rough, max_steps)
            phi = coarse.phi
    hessian_of = sketch or posterior
    price = hessian_of.hessian_price / posterior.gradient_price

    value, gradient = posterior.value_and_gradient(phi)
    n_values, n_hessians, steps = 1, 0, 0
    if start is not None:
        # Where a start is sure of wrong answers its Hessian vanishes; better to begin afresh.
        afresh = intercept_only(posterior)
        afresh_value, afresh_gradient = posterior.value_and_gradient(afresh)
        n_values += 1
        if afresh_value > value:
            phi, value, gradient, metric = afresh, afresh_value, afresh_gradient, None
    pairs: list[Pair] = []
    values = [value]
    since, fresh = 0, 0.01  # steps since the last Hessian; contraction right after a sketch's
    status, decrement, previous = Status.MOST_STEPS, math.inf, math.inf
    while steps < max_steps:
        if metric is None:
            upper = hessian_of.upper_neg_hessian(phi) if dense else None
            metric = BagCholesky.at(posterior, phi) if upper is None else Cholesky.of(upper)
            n_hessians += 1
            pairs, previous, since = [], math.inf, 0
        step = _inverse_times(metric, pairs, gradient)
        slope = float(np.vdot(gradient, step))
        decrement = 0.5 * slope
        # Blocks of A underestimate the decrement; there the values must have settled as well.
        if decrement <= max(tolerance, posterior.rounding(phi, value)) and (
            dense or value - values[max(0, len(values) - MEMORY)] <= 10.0 * tolerance
        ):
            phi, value, status = phi + step, value + decrement, Status.CONVERGED
            break
        if pairs and dense:
            since += 1
            contraction = decrement / previous
            if sketch is not None and since == 1 and n_hessians:
                fresh = contraction
                if fresh > POOR:  # the sample does not show the curvature; from now on all rows
                    sketch, hessian_of, metric = None, posterior, None
                    price = posterior.hessian_price / posterior.gradient_price
                    continue
            again = 2.0 if sketch is None else _steps_left(decrement, tolerance, fresh)
            wait = _steps_left(decrement, tolerance, contraction)
            if since >= RENT * price and wait > price + again:
                metric = None
                continue
        previous = decrement
        steps += 1
        moved = search_line(posterior, phi, value, step, slope)
        if moved is None:
            status = Status.STALLED
            break
        n_values += moved.n_values
        if moved.n_values > POOR_SEARCH and dense:
            phi, value, gradient, metric = moved.phi, moved.value, moved.gradient, None
            values.append(value)
            continue
        change, bend = moved.phi - phi, gradient - moved.gradient
        curvature = float(np.vdot(change, bend))
        if curvature > 0.0:
            pairs = [*pairs[-(MEMORY - 1) :], (change, bend, curvature)]
        phi, value, gradient = moved.phi, moved.value, moved.gradient
        values.append(value)
    return Solution(phi, value, decrement, status, steps, n_values, n_hessians), metric


def intercept_only(posterior: Posterior) -> FloatArray:
    """φ that gives every row the class frequencies, one case of each class added: a start."""
    design = posterior.design
    first_bag = slice(int(design.offsets[0]), int(design.offsets[1]))
    frequency = posterior.data.class_counts[:, first_bag].sum(axis=1) + 1.0
    phi = np.zeros((design.n_columns, design.n_others))
    intercept = int(np.flatnonzero(design.order == 0)[0])
    phi[intercept] = np.linalg.solve(design.class_map, np.log(frequency[1:] / frequency[0]))
    return phi


def _steps_left(decrement: float, tolerance: float, contraction: float) -> float:
    if contraction >= 1.0:
        return math.inf
    return math.log(tolerance / decrement) / math.log(contraction)


def _inverse_times(
    metric: Cholesky | BagCholesky, pairs: Sequence[Pair], gradient: FloatArray
) -> FloatArray:
    """Two-loop recursion of L-BFGS (Nocedal & Wright, algorithm 7.4) with the metric's A⁻¹."""
    vector = gradient.copy()
    weights = []
    for change, bend, curvature in reversed(pairs):
        weight = float(np.vdot(change, vector)) / curvature
        vector -= weight * bend
        weights.append(weight)
    vector = metric.solve(vector)
    if pairs and isinstance(metric, BagCholesky):
        # Blocks do not know of each other and overshoot; this halved the steps.
        _, bend, curvature = pairs[-1]
        vector *= curvature / float(np.vdot(bend, metric.solve(bend)))
    for (change, bend, curvature), weight in zip(pairs, reversed(weights), strict=True):
        vector += (weight - float(np.vdot(bend, vector)) / curvature) * change
    return vector
