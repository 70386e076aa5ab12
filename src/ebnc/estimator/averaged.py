"""One model of an average: its weight, and the parameters at which it predicts."""

from dataclasses import dataclass
from functools import cached_property

from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.phi import Basis, phi_to_tables
from ebnc.parameters.tables import TableSum
from ebnc.typing import FloatArray

__all__ = ["WeightedModel"]


@dataclass(frozen=True, eq=False)
class WeightedModel:
    """``draws``: φ in the orthonormal coding, the most probable one or draws from the posterior.

    Its prediction is the average of p(y|x) over the draws.
    """

    weight: float
    basis: Basis
    draws: tuple[FloatArray, ...]

    @cached_property
    def tables(self) -> tuple[TableSum, ...]:
        """Log odds at every draw; every input has one more state, for labels never seen."""
        return tuple(
            phi_to_tables(self.basis, phi, ORTHONORMAL).with_extra_state() for phi in self.draws
        )
