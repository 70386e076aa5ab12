"""What a fit returns: φ̃, how good it is, how it was reached."""

from dataclasses import dataclass
from enum import Enum

from ebnc.typing import FloatArray

__all__ = ["Solution", "Status"]


class Status(Enum):
    """How a fit ended, in full sentences."""

    CONVERGED = "The Newton decrement fell below the tolerance."
    MOST_STEPS = "The fit stopped after the largest number of steps; increase max_steps."
    STALLED = "No step along the search direction improves the objective; rounding errors dominate."


@dataclass(frozen=True, eq=False)
class Solution:
    """φ̃ in the design's order, shape (columns, K − 1), and the report of the fit.

    ``value``: log-likelihood minus ½ Σ φ²/σ² there. ``decrement``: ½ gᵀA⁻¹g, an estimate of how
    many nats the optimum is away. ``steps``, ``n_values``, ``n_hessians``: what it cost.
    """

    phi: FloatArray
    value: float
    decrement: float
    status: Status
    steps: int
    n_values: int
    n_hessians: int

    @property
    def converged(self) -> bool:
        """Whether the optimum was reached."""
        return self.status is Status.CONVERGED
