"""The result of a fit: φ̃, its accuracy, and the cost of the fit."""

from dataclasses import dataclass
from enum import Enum

from ebnc.typing import FloatArray


class Status(Enum):
    """Why a fit ended."""

    CONVERGED = "The Newton decrement fell below the tolerance."
    MOST_STEPS = "The fit stopped after the largest number of steps; increase max_steps."
    STALLED = "No step along the search direction improves the objective; rounding errors dominate."

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return Status, (self.value,)  # skops asks for this one


@dataclass(frozen=True, eq=False)
class Solution:
    """φ̃ in the design's order, shape (columns, K − 1), and the report of the fit.

    ``value``: log-likelihood minus ½ Σ φ²/σ² there. ``decrement``: ½ gᵀA⁻¹g, the approximate
    distance to the optimum in nats. ``steps``, ``n_values``, ``n_hessians``: the cost of the fit.
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
