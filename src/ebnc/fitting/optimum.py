"""A posterior with its maximum and the curvature there: all that scores and predictions need."""

from typing import NamedTuple

from ebnc.fitting.cholesky import Cholesky
from ebnc.fitting.newton import maximise, polish
from ebnc.fitting.solution import Solution
from ebnc.likelihood.posterior import Posterior
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray

__all__ = ["Optimum", "find_optimum"]


class Optimum(NamedTuple):
    """φ̃ of a posterior, and the factor of A, minus the Hessian of its logarithm, at φ̃."""

    posterior: Posterior
    solution: Solution
    factor: Cholesky


@one_blas_thread()
def find_optimum(
    posterior: Posterior, start: FloatArray | None = None, metric: Cholesky | None = None
) -> Optimum:
    """φ̃ to rounding errors, with its exact curvature; ``start`` and ``metric`` for a warm start."""
    solution = maximise(posterior, start, metric=metric)
    factor = Cholesky.of(posterior.upper_neg_hessian(solution.phi))
    return Optimum(posterior, polish(posterior, solution, factor), factor)
