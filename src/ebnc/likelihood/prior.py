"""Normal prior of φ: one scale for each order of interaction, in the orthonormal coding.

    Φ_S ~ N(0, σ²_{|S|}),  S ≠ ∅;     the intercept has a wide normal of its own

Weak pairs have a scale of their own, and so has the count of a node that counts. Curves are smooth
by their coding (``parameters.coding``).

It is a prior on functions: it does not depend on the names of states or the choice of the baseline
class. It is nested: Φ_S = 0 gives the prior of the model without S. σ = ∞ is flat, which gives
maximum likelihood.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ebnc.errors import ParameterError
from ebnc.likelihood.design import Design
from ebnc.parameters.phi import WEAK
from ebnc.typing import FloatArray

INTERCEPT_SCALE = 10.0
WEAK_SCALE = 0.05  # where evidence begins; it was between 0.01 and 0.2 on many data sets
LARGEST_SCALE = 1e100  # its square and the inverse of its square are finite and positive
LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True)
class NormalPrior:
    """``scales[s − 1]`` is σ of terms with s inputs; the last scale applies to higher orders."""

    scales: tuple[float, ...]
    intercept_scale: float = INTERCEPT_SCALE
    weak_scale: float = WEAK_SCALE

    @property
    def is_proper(self) -> bool:
        """Whether every scale is finite, so that the evidence exists."""
        return all(map(math.isfinite, (*self.scales, self.intercept_scale)))

    @classmethod
    def of_groups(cls, groups: Sequence[int], scales: Sequence[float]) -> "NormalPrior":
        """The prior with these scales of groups 1, 2, …, and possibly ``WEAK``, the last."""
        if groups[-1:] == (WEAK,):
            return cls(tuple(scales[:-1]), weak_scale=scales[-1])
        return cls(tuple(scales))

    def scale_of(self, group: int) -> float:
        """σ of a group of terms: those with this number of inputs, or the weak pairs."""
        if group == WEAK:
            return self.weak_scale
        return self.scales[min(group, len(self.scales)) - 1] if group else self.intercept_scale

    def multiplied(self, factor: float) -> "NormalPrior":
        """The prior with all scales times ``factor``, except that of the intercept."""
        scales = tuple(scale * factor for scale in self.scales)
        return NormalPrior(scales, self.intercept_scale, self.weak_scale * factor)

    def precision(self, design: Design) -> FloatArray:
        """1/σ² of every column of the design; 0 for a flat prior."""
        by_group = [self.scale_of(s) ** -2 for s in (*range(design.max_order + 1), WEAK)]
        precision: FloatArray = np.array(by_group)[design.groups]  # WEAK = −1 is the last
        return precision

    def log_density(self, design: Design, phi: FloatArray) -> float:
        """log p(φ), including its normalising constant; φ is in the design's order."""
        precision = np.repeat(self.precision(design), design.n_outputs)
        flat = phi.ravel()
        return float(0.5 * np.sum(np.log(precision) - LOG_2PI - precision * flat**2))


def as_prior(prior_scale: object) -> NormalPrior:
    """Convert one σ > 0 for all terms, or one per order of interaction, to a prior."""
    given: Any = prior_scale if isinstance(prior_scale, Sequence | np.ndarray) else [prior_scale]
    try:
        if isinstance(given, str | bytes):
            raise TypeError
        scales = tuple(float(scale) for scale in given)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            f"prior_scale must be a positive number, a list of them (one per order of "
            f"interaction), infinity, 'evidence' or 'loo', got {prior_scale!r}"
        ) from None
    if not scales or not all(scale > 0 for scale in scales):
        raise ParameterError(f"prior_scale must be positive, got {prior_scale!r}")
    if all(map(math.isinf, scales)):
        return NormalPrior(scales, math.inf)
    if any(map(math.isinf, scales)):
        raise ParameterError(f"scales must be all finite or all infinite, got {prior_scale!r}")
    if not all(1 / LARGEST_SCALE <= scale <= LARGEST_SCALE for scale in scales):
        raise ParameterError(
            f"prior_scale must lie between {1 / LARGEST_SCALE:g} and {LARGEST_SCALE:g}, or be "
            f"infinite, got {prior_scale!r}"
        )
    return NormalPrior(scales)
