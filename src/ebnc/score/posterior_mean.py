"""The posterior mean of φ, to second order (Tierney & Kadane 1986).

    E φ ≈ φ̃ − ½ A⁻¹ ∇ log |A|

If classes are nearly separated, the posterior is skewed away from 0, and draws centred at its mode
would give predictions that are far too uncertain.
"""

from ebnc.fitting.fit import Fit
from ebnc.likelihood.posterior import Posterior
from ebnc.score.log_determinant import log_determinant_gradient
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray

__all__ = ["posterior_mean"]


@one_blas_thread()
def posterior_mean(posterior: Posterior, fit: Fit) -> FloatArray:
    """Return E φ, shape (columns, K − 1)."""
    gradient = log_determinant_gradient(posterior, fit)
    return fit.solution.phi - 0.5 * fit.curvature.solve(gradient)
