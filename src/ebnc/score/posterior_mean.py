"""The posterior mean of φ, to second order (Tierney & Kadane 1986): the mode lies off-centre.

    E φ ≈ φ̃ − ½ A⁻¹ ∇ log |A|

Where cases are nearly separated the posterior leans away from 0, and draws around its mode would
be far too unsure of everything.
"""

from ebnc.fitting.fit import Fit
from ebnc.likelihood.posterior import Posterior
from ebnc.score.log_determinant import log_determinant_gradient
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray

__all__ = ["posterior_mean"]


@one_blas_thread()
def posterior_mean(posterior: Posterior, fit: Fit) -> FloatArray:
    """E φ, shape (columns, K − 1)."""
    leaning = log_determinant_gradient(posterior, fit)
    return fit.solution.phi - 0.5 * fit.curvature.solve(leaning)
