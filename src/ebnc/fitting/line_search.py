"""Backtracking along a search direction, safeguarded."""

from dataclasses import dataclass

import numpy as np

from ebnc.likelihood.posterior import Posterior
from ebnc.typing import FloatArray

MOST_TRIALS = 30


@dataclass(frozen=True, eq=False)
class Point:
    """φ with value and gradient of the objective there."""

    phi: FloatArray
    value: float
    gradient: FloatArray

    @classmethod
    def at(cls, posterior: Posterior, phi: FloatArray) -> "Point":
        """Evaluate the objective at φ."""
        return cls(phi, *posterior.value_and_gradient(phi))


def search_line(
    posterior: Posterior, start: Point, step: FloatArray, slope: float
) -> tuple[Point, int] | None:
    """Shorten the step until it satisfies Armijo's condition; None if no step does.

    Near the optimum rounding hides the gain, so the slope decides (Hager & Zhang 2005).
    ``slope``: gᵀstep > 0. Returns the new point and the number of points tried.
    """
    length, noise = 1.0, posterior.rounding(start.phi, start.value)
    for n_trials in range(1, MOST_TRIALS + 1):
        trial = Point.at(posterior, start.phi + length * step)
        if trial.value >= start.value + 1e-4 * length * slope:
            return trial, n_trials
        trial_slope = float(np.vdot(trial.gradient, step))
        if trial.value >= start.value - noise and abs(trial_slope) <= 0.9 * slope:
            return trial, n_trials
        lack = start.value + length * slope - trial.value
        length *= min(0.5, max(0.1, 0.5 * length * slope / lack))  # the parabola's maximum
    return None
