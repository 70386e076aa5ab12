"""``FittedEBNC``: an EBNC with its fit, returned by ``ebnc.fit`` or read from a file."""

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ebnc.data.table import TableLike as Table
from ebnc.fitting.fit import Fit
from ebnc.parameters.background import Background
from ebnc.parameters.coding import INDICATOR, ORTHONORMAL
from ebnc.parameters.contributions import Weights, centred, weights_named
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.phi import Term, recode
from ebnc.typing import FloatArray

if TYPE_CHECKING:
    from ebnc.score.intervals import ProbabilityIntervals
    from ebnc.score.laplace import Curvature


class FittedEBNC(EBNC):
    """An EBNC with the record of its fit.

    Parameters
    ----------
    fit : Fit
        The maximum of the posterior, which provides φ.
    background : Background, optional
        Summary of the training data, as for an ``EBNC``.
    standard_errors : array, optional
        Standard errors of φ in the indicator coding, if a file stores them without the Hessian.

    Attributes
    ----------
    fit : Fit
        Design, solution, prior and scores; the attributes below come from it.
    solution : Solution
        φ̃, with the number of steps and whether the optimiser converged.
    prior : NormalPrior
        The normal prior with the scales of this fit.
    n_cases : float
        N, the sum of the row weights.
    log_likelihood : float
        L(φ̃).
    bic : float or None
        L(φ̂) − (d/2) log N, eq. 9, with φ̂ at maximum likelihood whatever the prior of the fit.
        If the classes are separated, no φ̂ exists and L is its supremum, which is finite. None if
        the model has more than 3 000 parameters, or if N < 1 (eq. 9 is meaningless).
    """

    def __init__(
        self,
        fit: Fit,
        *,
        background: Background | None = None,
        standard_errors: FloatArray | None = None,
    ) -> None:
        basis = fit.design.basis
        super().__init__(
            basis.structure, basis.domain, fit.phi, ORTHONORMAL.name, background=background
        )
        self.fit = fit
        self.solution = fit.solution
        self.prior = fit.prior
        self.n_cases = fit.n_cases
        self.log_likelihood = fit.log_likelihood
        self.bic = fit.bic
        self._kept_errors = standard_errors
        self._centred_roots: dict[str, list[FloatArray]] = {}

    @property
    def largest_log_likelihood(self) -> float | None:
        """L(φ̂), the maximum or supremum of the log-likelihood; None if ``bic`` is None."""
        if self.bic is None:
            return None
        return self.bic + 0.5 * self.dimension * math.log(self.n_cases)

    @property
    def log_evidence(self) -> float:
        """Laplace's log p(D | m), eq. 8, at the scales of the prior.

        With ``prior_scale`` "evidence" or "loo" this is the value at the scales that maximise the
        evidence, hyperprior included; searches compare this value. Raises an error under a flat
        prior or with too many parameters.
        """
        return self.laplace() if self.fit.log_evidence is None else self.fit.log_evidence

    def _facts(self) -> list[tuple[str, object]]:
        return [*super()._facts(), *self.fit.facts]

    def laplace(self, curvature: "Curvature" = "posterior") -> float:
        """Return Laplace's log p(D | m), eq. 8.

        Parameters
        ----------
        curvature : {"posterior", "likelihood"}
            Which Hessian to take; the paper takes that of the likelihood.
        """
        from ebnc.score.laplace import laplace_log_evidence

        return laplace_log_evidence(self.fit, curvature)

    def standard_errors(self) -> FloatArray | None:
        """Return standard errors of φ in the indicator coding (inverse Hessian, delta method).

        Returns None if the Hessian is too large to compute.
        """
        return self._kept_errors if self.fit.factor is None else self._standard_errors

    @cached_property
    def _standard_errors(self) -> FloatArray:
        from ebnc.score.intervals import root_in_basis

        total = np.zeros(self.dimension)
        for columns in root_in_basis(self.fit):
            total += (recode(self.basis, columns, ORTHONORMAL, INDICATOR) ** 2).sum(axis=1)
        return np.sqrt(total)

    def contribution_errors(
        self, term: Term, *, weights: Weights = "training"
    ) -> FloatArray | None:
        """Return standard errors of one term's contributions, shape (r_i …, K), from the Hessian.

        Returns None if the Hessian is too large to compute.

        Parameters
        ----------
        term : Term
            One of ``basis.terms``.
        weights : {"training", "uniform"}
            The weights of the states, as in ``contributions``.
        """
        if self.fit.factor is None:
            return None
        from ebnc.score.intervals import contribution_errors, root_in_basis

        by_state = weights_named(weights, self.background)
        if weights not in self._centred_roots:
            parts = root_in_basis(self.fit)
            self._centred_roots[weights] = [centred(self.basis, part, by_state) for part in parts]
        return contribution_errors(self.basis, self._centred_roots[weights], term, by_state)

    def probability_intervals(self, data: Table, level: float = 0.95) -> "ProbabilityIntervals":
        """Return intervals of p(y|x) for every row and class (delta method on log odds).

        Parameters
        ----------
        data : table
            Rows with the inputs of the model.
        level : float
            Probability that an interval covers, between 0 and 1.
        """
        from ebnc.score.intervals import probability_intervals

        _, rows = self._look_up(data, "error")
        return probability_intervals(self.fit, rows, level)
