"""What every local distribution p(z | parents) of a network offers, whatever its kind (§2).

``EBNC``, ``Table`` and ``Tree`` do; a network mixes them freely. Another kind needs these members,
a learner in ``network.nodes`` and an entry in ``formats.native``.
"""

from typing import Protocol

import numpy as np

from ebnc.data.encoding import Table as Rows
from ebnc.domain import Domain
from ebnc.typing import CodeArray, FloatArray

__all__ = ["Local", "draw_states"]


class Local(Protocol):
    """p(z | parents) of one node."""

    @property
    def kind(self) -> str:
        """Name of the kind: ebnc, table, tree."""

    @property
    def target(self) -> str:
        """Z, the node."""

    @property
    def parents(self) -> tuple[str, ...]:
        """The variables that p(z | ·) depends on."""

    @property
    def domain(self) -> Domain:
        """States of the node and of its parents."""

    @property
    def dimension(self) -> int:
        """Number of free parameters."""

    def probabilities(self, data: Rows) -> FloatArray:
        """p(z | parents), shape (rows, K)."""

    def log_probability(self, data: Rows) -> FloatArray:
        """log p of every row's own z, shape (rows,)."""


def draw_states(probabilities: FloatArray, uniforms: FloatArray) -> CodeArray:
    """A state for every row of ``probabilities`` (rows, K), by inversion of one uniform number."""
    below = np.cumsum(probabilities[:, :-1], axis=1) <= uniforms[:, None]
    drawn: CodeArray = below.sum(axis=1).astype(np.uint32)
    return drawn
