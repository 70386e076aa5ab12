"""The criteria that a search maximises: Laplace's evidence (eq. 8) and BIC (eq. 9).

A criterion fits a structure (``fit``) and computes its ``value``, in nats, without the prior of
structures; higher is better. Searches that only estimate the gain of a block of parameters need
the part of its contribution to the score that is not its fit (``price``), and what to add to the
diagonal of the curvature of its likelihood (``ridge``).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ebnc.fitting.fit import Fit
from ebnc.fitting.optimum import find_optimum
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.score.bic import bic, likelihood_supremum
from ebnc.score.laplace import laplace_log_evidence
from ebnc.score.scales import log_hyperprior
from ebnc.typing import FloatArray

RIDGE = 1e-9
"""Added curvature, relative to the largest, because data may not determine all parameters."""


class LocalScores(Protocol):
    """What is known of a local distribution that is not an EBNC, such as a table or a tree."""

    @property
    def log_evidence(self) -> float:
        """log p(D | m)."""
        ...

    @property
    def log_likelihood(self) -> float:
        """The largest log-likelihood."""
        ...

    @property
    def dimension(self) -> int:
        """d, the number of free parameters."""
        ...


class Criterion(Protocol):
    """The score of a structure without the prior of structures, in nats; higher is better."""

    @property
    def prior(self) -> NormalPrior | None:
        """The fixed prior of φ, which must be proper; None without one, or if scales are tuned."""
        ...

    @property
    def tunes_scales(self) -> bool:
        """Whether evidence chooses the scales of the prior for each structure."""
        ...

    def fit(
        self, likelihood: Posterior, prior: NormalPrior | None, start: FloatArray | None, /
    ) -> Fit:
        """Fit a structure, so that ``value`` can score it."""
        ...

    def value(self, fit: Fit) -> float:
        """Return the score of a fit."""
        ...

    def of_local(self, local: LocalScores, n_cases: float, /) -> float:
        """Return the score of a table, tree, …, on the same scale as that of an EBNC."""
        ...

    def price(self, precision: FloatArray, log_determinant: float, n_cases: float, /) -> float:
        """Return the part of a block's contribution to the score that is not its fit.

        ``precision``: 1/σ² of each. ``log_determinant``: log |V| of the block's curvature V.
        """
        ...

    def ridge(self, precision: FloatArray, curvature: FloatArray, /) -> FloatArray:
        """Return the values to add to the diagonal of the curvature of a block's likelihood."""
        ...


@dataclass(frozen=True)
class Laplace:
    """Laplace's log p(D | m), at a fixed prior or, without one, at the scales that maximise it.

    If evidence chooses the scales (``score.scales``), the value includes their hyperprior.
    """

    prior: NormalPrior | None = None
    """The fixed prior of φ; None: evidence chooses the scales for each structure."""

    @property
    def tunes_scales(self) -> bool:
        """Whether evidence chooses the scales of the prior for each structure."""
        return self.prior is None

    def fit(
        self, likelihood: Posterior, prior: NormalPrior | None, start: FloatArray | None
    ) -> Fit:
        assert prior is not None
        fit = find_optimum(likelihood.with_prior(prior), start)
        hyper = log_hyperprior(fit.design, prior) if self.tunes_scales else 0.0
        return replace(fit, log_evidence=laplace_log_evidence(fit) + hyper)

    def value(self, fit: Fit) -> float:
        """log p(D | m)."""
        assert fit.log_evidence is not None
        return fit.log_evidence

    def of_local(self, local: LocalScores, _n_cases: float) -> float:
        """Return log p(D | m)."""
        return local.log_evidence

    def price(self, precision: FloatArray, log_determinant: float, _n_cases: float) -> float:
        """½ log |prior precision| − ½ log |V|, with V the curvature of the block."""
        return 0.5 * float(np.log(precision).sum()) - 0.5 * log_determinant

    def ridge(self, precision: FloatArray, _curvature: FloatArray) -> FloatArray:
        """The precision of the prior."""
        return precision


@dataclass(frozen=True)
class BIC:
    """L(φ̂) − (d/2) log N, with the likelihood at its maximum or supremum."""

    prior: None = None
    tunes_scales: bool = False

    def fit(
        self, likelihood: Posterior, _prior: NormalPrior | None, start: FloatArray | None
    ) -> Fit:
        fit = likelihood_supremum(likelihood, start)
        return replace(fit, bic=bic(fit.log_likelihood, fit.design.dimension, fit.n_cases))

    def value(self, fit: Fit) -> float:
        """BIC."""
        assert fit.bic is not None
        return fit.bic

    def of_local(self, local: LocalScores, n_cases: float) -> float:
        """Return BIC."""
        return bic(local.log_likelihood, local.dimension, n_cases)

    def price(self, precision: FloatArray, _log_determinant: float, n_cases: float) -> float:
        """−(d/2) log N."""
        return -0.5 * len(precision) * math.log(n_cases)

    def ridge(self, precision: FloatArray, curvature: FloatArray) -> FloatArray:
        """Return values that make the curvature positive definite if data do not determine it."""
        return np.maximum(precision, RIDGE * float(curvature.diagonal().max()))


CRITERIA: dict[str, Callable[[NormalPrior | None], Criterion]] = {
    "laplace": Laplace,
    "bic": lambda _: BIC(),
}
"""Criteria by name; the argument is the fixed prior of φ, or None to tune its scales. Add new ones
here."""
