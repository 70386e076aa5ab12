"""Backtracking along a search direction, safeguarded."""

from dataclasses import dataclass

import numpy as np

from ebnc.likelihood.posterior import Posterior
from ebnc.typing import FloatArray

__all__ = ["Moved", "search_line"]

MOST_TRIALS = 30


@dataclass(frozen=True, eq=False)
class Moved:
    """Where a line search ended."""

    phi: FloatArray
    value: float
    gradient: FloatArray
    n_values: int


def search_line(
    posterior: Posterior, phi: FloatArray, value: float, step: FloatArray, slope: float
) -> Moved | None:
    """From the full step back to one that satisfies Armijo's condition; None where there is none.

    Near the optimum rounding hides the gain; there the slope decides (Hager & Zhang 2005).
    ``slope``: gᵀstep > 0.
    """
    length, noise = 1.0, posterior.rounding(phi, value)
    for n_values in range(1, MOST_TRIALS + 1):
        trial = phi + length * step
        trial_value, gradient = posterior.value_and_gradient(trial)
        if trial_value >= value + 1e-4 * length * slope:
            return Moved(trial, trial_value, gradient, n_values)
        if trial_value >= value - noise and abs(float(np.vdot(gradient, step))) <= 0.9 * slope:
            return Moved(trial, trial_value, gradient, n_values)
        lack = value + length * slope - trial_value
        length *= min(0.5, max(0.1, 0.5 * length * slope / lack))  # the parabola's maximum
    return None
