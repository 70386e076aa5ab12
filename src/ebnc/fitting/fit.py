"""``Fit``: the maximum of a posterior, the curvature there, and its scores."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ebnc.errors import ParameterError
from ebnc.fitting.solution import Solution
from ebnc.likelihood.design import Design
from ebnc.likelihood.prior import NormalPrior
from ebnc.typing import FloatArray

if TYPE_CHECKING:
    from ebnc.fitting.cholesky import Cholesky  # loads scipy, which a model file does without

__all__ = ["Fit"]


@dataclass(frozen=True, eq=False)
class Fit:
    """φ̃ of a posterior, what it says of the data, and A, minus the Hessian there.

    It holds no rows: a search keeps hundreds of fits, and the cells of all rows take bags × N
    numbers each. Functions that need rows take the posterior as well.

    Attributes
    ----------
    design : Design
        The columns that φ̃ belongs to.
    prior : NormalPrior
        The prior of φ, with the scales that were chosen.
    solution : Solution
        φ̃, and how it was reached.
    factor : Cholesky or None
        The Cholesky factor of A; None where A is too large, or was not kept.
    n_cases : float
        N, the sum of the weights.
    log_likelihood : float
        L(φ̃).
    log_evidence : float or None
        Laplace's log p(D | m), eq. 8. Where evidence chose the scales, their hyperprior is
        included. None under a flat prior, without a factor, or where it was not asked for.
    bic : float or None
        L(φ̂) − (d/2) log N, eq. 9. None where it was not asked for, or has no value.
    n_fits : int
        How many fits it took to choose the scales.
    """

    design: Design
    prior: NormalPrior
    solution: Solution
    factor: "Cholesky | None"
    n_cases: float
    log_likelihood: float
    log_evidence: float | None = None
    bic: float | None = None
    n_fits: int = 1

    @property
    def phi(self) -> FloatArray:
        """φ̃ in the orthonormal coding and the order of the basis, shape (d,)."""
        return self.design.to_basis(self.solution.phi)

    @property
    def curvature(self) -> "Cholesky":
        """The factor of A, or an error that says why there is none."""
        if self.factor is None:
            from ebnc.fitting.newton import LARGEST_FACTOR

            raise ParameterError(
                f"this fit of {self.design.dimension} parameters has no Hessian: it is not "
                f"computed for more than {LARGEST_FACTOR}, and model files do not keep it"
            )
        return self.factor
