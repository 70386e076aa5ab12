"""One model of an average: its weight, and the parameters at which it predicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.parameters.background import Background
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.phi import Basis, phi_to_tables
from ebnc.parameters.tables import TableSum
from ebnc.parameters.unknown import with_averages
from ebnc.typing import FloatArray

__all__ = ["WeightedModel", "averaged_probabilities"]


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
        """Log odds at every draw; every input has one more state, for entries not known."""
        return tuple(
            phi_to_tables(self.basis, phi, ORTHONORMAL).with_extra_state() for phi in self.draws
        )


def averaged_probabilities(
    models: Sequence[WeightedModel],
    rows: CodedRows,
    background: Background | None,
    *,
    compiled: bool | None = None,
) -> FloatArray:
    """Σ weight · p(y|x, model), shape (rows, K); rows are coded with one more state each.

    Entries in that state are not known: p(y|x) is averaged over the background.
    """

    def predict(some: CodedRows) -> FloatArray:
        total = np.zeros((len(some), models[0].basis.n_classes))
        for model in models:
            for part in model.tables:
                p = part.probabilities(some, compiled=compiled)
                total += model.weight / len(model.tables) * p
        return total

    return with_averages(predict, rows, background)
