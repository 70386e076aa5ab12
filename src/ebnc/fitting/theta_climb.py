"""A local maximum of the likelihood in θ, from one start."""

from typing import NamedTuple

from ebnc.fitting.theta_likelihood import ThetaLikelihood
from ebnc.typing import FloatArray

__all__ = ["Climb", "climb"]

LARGEST_LOGIT = 300.0


class Climb(NamedTuple):
    """The end point of one climb of the likelihood."""

    logits: FloatArray
    value: float
    converged: bool


def climb(likelihood: ThetaLikelihood, start: FloatArray) -> Climb:
    """A local maximum of the likelihood in θ, by L-BFGS.

    Often the supremum lies at infinite logits (some θ → 0). The climb ends when a step gains less
    than 1e-13 of the value, or at ``LARGEST_LOGIT``, where θ does not underflow.
    """
    from scipy.optimize import minimize

    def negative(logits: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = likelihood.value_and_gradient(logits)
        return -value, -gradient

    options = {"maxiter": 2_000, "maxfun": 10_000, "ftol": 1e-13, "gtol": 1e-10}
    bounds = [(-LARGEST_LOGIT, LARGEST_LOGIT)] * len(start)
    end = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return Climb(end.x, -float(end.fun), bool(end.success))
