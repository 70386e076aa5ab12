"""Learn one EBNC from data: cases → posterior → φ̃ → scores (§5). Arranges, does not compute."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.parts import Parts
from ebnc.data.read import learn_cases
from ebnc.data.table import Categories, Frame, Missing
from ebnc.data.table import TableLike as Table
from ebnc.errors import NoMaximumError, ParameterError, SingularHessianError, StorageError
from ebnc.fitting.cholesky import Cholesky
from ebnc.fitting.multistart import ThetaFit, fit_theta_to_cases
from ebnc.fitting.newton import LARGEST_FACTOR, maximise, polish
from ebnc.fitting.optimum import Optimum
from ebnc.fitting.separation import refuse_separated, refuse_unidentified
from ebnc.fitting.solution import Solution
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior, as_prior
from ebnc.parameters.background import Background, learn_background
from ebnc.parameters.coding import INDICATOR, ORTHONORMAL
from ebnc.parameters.contributions import Weights, centred, weights_named
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.phi import Basis, Term, phi_to_tables, recode
from ebnc.parameters.tables import TableSum
from ebnc.score.bic import bic, likelihood_supremum
from ebnc.score.intervals import (
    ProbabilityIntervals,
    contribution_errors,
    probability_intervals,
    root_in_basis,
)
from ebnc.score.laplace import (
    Curvature,
    curvature_at,
    laplace_log_evidence,
    likelihood_factor,
    log_joint,
)
from ebnc.score.predictive_scale import best_factor, rescaled
from ebnc.score.scales import maximise_evidence
from ebnc.structure.embedded import EmbeddedStructure, check_structure
from ebnc.typing import FloatArray

__all__ = [
    "Fitted",
    "FittedEBNC",
    "fit",
    "fit_cases",
    "fit_theta",
    "fitted_to",
    "largest_log_likelihood",
    "maximise_posterior",
]

TOLERANCE = 1e-12  # nats

SUSPICIOUS_LOG_ODDS = 15.0
"""Larger fitted log odds make a flat-prior fit suspect: separated rows end well above 20."""

UNEQUAL, TOO_UNEQUAL = 1e6, 1e10
"""Weights that differ by more than the first hide separated rows from a fit; by more than the
second, φ would be wrong in its seventh digit."""


class Fitted(NamedTuple):
    """A posterior, its maximum φ̃, and the factor of A there, None where it is too large.

    ``log_evidence``: log p(D | m), None under a flat prior or where A is too large.
    """

    posterior: Posterior
    solution: Solution
    factor: Cholesky | None
    log_evidence: float | None


class FittedEBNC(EBNC):
    """An EBNC with the report of its fit: ``solution``, ``bic``, ``log_evidence``, standard errors.

    ``prior``: the normal prior, with the scales that were chosen. ``n_cases``: N, the sum of the
    weights. ``log_likelihood``: at φ. ``largest_log_likelihood``: its maximum over φ or, where the
    classes are separated and there is none, its supremum; None where it was not computed.
    ``factor``: of A at φ̃, or None where it is too large. ``background``: the training data in
    short.
    """

    def __init__(
        self,
        fitted: Fitted,
        n_cases: float,
        largest_log_likelihood: float | None = None,
        background: Background | None = None,
    ) -> None:
        posterior, solution, factor, log_evidence = fitted
        design = posterior.design
        basis = design.basis
        phi = design.to_basis(solution.phi)
        super().__init__(
            basis.structure, basis.domain, phi, ORTHONORMAL.name, background=background
        )
        self.solution = solution
        self.prior = posterior.prior
        self.n_cases = n_cases
        self.log_likelihood = posterior.log_likelihood(solution.phi)
        self.largest_log_likelihood = largest_log_likelihood
        self.factor = factor
        self.design = design
        self._log_evidence = log_evidence
        self._centred_roots: dict[str, list[FloatArray]] = {}
        self._log_joint = log_joint(posterior, solution.phi) if posterior.prior.is_proper else None

    @property
    def bic(self) -> float | None:
        """L(φ̂) − (d/2) log N, eq. 9, with φ̂ at maximum likelihood whatever the prior of the fit.

        Where the classes are separated no φ̂ exists; L is then its supremum, which is finite. None
        where that was not computed (too many parameters), or N < 1, where eq. 9 says nothing.
        """
        if self.largest_log_likelihood is None or self.n_cases < 1:
            return None
        return bic(self.largest_log_likelihood, self.dimension, self.n_cases)

    @property
    def log_evidence(self) -> float:
        """Laplace's log p(D | m), eq. 8, at the given scales of the prior.

        Where the scales were chosen by evidence ("evidence", "loo"), at those that maximise it,
        their hyperprior included: what a search compares.
        """
        return self.laplace() if self._log_evidence is None else self._log_evidence

    def laplace(self, curvature: Curvature = "posterior") -> float:
        """Laplace's log p(D | m), eq. 8; the paper takes the curvature of the ``"likelihood"``."""
        if self._log_joint is None:
            raise ParameterError(
                "there is no evidence under a flat prior (prior_scale=inf); use .bic, or fit with "
                "a finite prior_scale"
            )
        factor = self._curvature("the Hessian of Laplace's approximation is not computed")
        if curvature not in ("posterior", "likelihood"):
            raise ParameterError(
                f"curvature must be 'posterior' or 'likelihood', got {curvature!r}"
            )
        if curvature == "likelihood":
            precision = np.repeat(self.prior.precision(self.design), self.design.n_others)
            factor = likelihood_factor(factor, precision)
        return laplace_log_evidence(self._log_joint, factor)

    def _curvature(self, refusal: str) -> Cholesky:
        if self.factor is None:
            raise ParameterError(
                f"with {self.dimension} parameters, more than {LARGEST_FACTOR}, {refusal}"
            )
        return self.factor

    def standard_errors(self) -> FloatArray | None:
        """Standard errors of φ in the indicator coding, from the inverse Hessian (delta method)."""
        return None if self.factor is None else self._standard_errors

    @cached_property
    def _standard_errors(self) -> FloatArray:
        assert self.factor is not None
        total = np.zeros(self.dimension)
        for columns in root_in_basis(self.design, self.factor):
            total += (recode(self.basis, columns, ORTHONORMAL, INDICATOR) ** 2).sum(axis=1)
        return np.sqrt(total)

    def contribution_errors(
        self, term: Term, *, weights: Weights = "training"
    ) -> FloatArray | None:
        """Standard errors of one term's contributions, shape (r_i …, K), from the Hessian.

        Parameters
        ----------
        term : Term
            One of ``basis.terms``.
        weights : {"training", "uniform"}
            Of the states, as in ``contributions``.
        """
        if self.factor is None:
            return None
        by_state = weights_named(weights, self.background)
        if weights not in self._centred_roots:
            parts = root_in_basis(self.design, self.factor)
            self._centred_roots[weights] = [centred(self.basis, part, by_state) for part in parts]
        return contribution_errors(self.basis, self._centred_roots[weights], term, by_state)

    def probability_intervals(self, data: Table, level: float = 0.95) -> ProbabilityIntervals:
        """Intervals of p(y|x) for every row and class, by the delta method on log odds."""
        factor = self._curvature("the Hessian for intervals is not computed")
        _, rows = self._look_up(data, "error")
        return probability_intervals(self.design, self.solution.phi, factor, rows, level)


class _Input(NamedTuple):
    cases: Parts
    basis: Basis


def fit(
    structure: EmbeddedStructure,
    data: Frame,
    prior_scale: object = "evidence",
    *,
    categories: Categories | None = None,
    missing: Missing = "state",
    weights: object = None,
    start: EBNC | None = None,
    max_steps: int = 1000,
) -> FittedEBNC:
    """Fit the parameters φ of an EBNC with this structure: the global maximum of the posterior.

    ``data``: a pandas or polars DataFrame, a pyarrow table, a mapping of columns, or a path to CSV
    or Parquet (a file, a folder, a glob; read out of core, see ``ebnc.data.files``). Its columns
    are found by the structure's names (those of a two-dimensional array: inputs, then target); see
    ``ebnc.data.states`` for how states are learned.
    ``prior_scale``: σ of the normal prior, one number or one per order of interaction;
    ``"evidence"`` maximises Laplace evidence over them; ``"loo"`` then multiplies all by the factor
    of least leave-one-out log-loss, for predictions; ``inf`` is maximum likelihood, refused with
    the terms' names where it does not exist.
    ``categories``: declared states, by column. ``missing``: ``"state"`` or ``"refuse"``.
    ``weights``: one number ≥ 0 for each row, or the name of a column.
    ``start``: an EBNC of the same structure and domain.
    """
    cases, basis = _read(structure, data, categories, missing, weights)
    return fit_cases(basis, cases, prior_scale, start=start, max_steps=max_steps)


def fit_cases(
    basis: Basis,
    cases: Parts,
    prior_scale: object = "evidence",
    *,
    start: EBNC | None = None,
    max_steps: int = 1000,
) -> FittedEBNC:
    """``fit`` for coded data; the cases may have more inputs than the structure."""
    fitted = maximise_posterior(basis, cases, prior_scale, start=start, max_steps=max_steps)
    return fitted_to(cases, fitted, largest_log_likelihood(fitted))


def fitted_to(
    cases: Parts,
    fitted: Fitted,
    largest_log_likelihood: float | None,
    used: Sequence[str] | None = None,
) -> FittedEBNC:
    """A fit with the background of its cases: of ``used``, or of the inputs it depends on."""
    design = fitted.posterior.design
    names = design.basis.structure.markov_blanket if used is None else used
    tables = phi_to_tables(design.basis, design.to_basis(fitted.solution.phi), ORTHONORMAL)
    background = learn_background(cases, tables, names)
    return FittedEBNC(fitted, cases.total_weight, largest_log_likelihood, background)


def largest_log_likelihood(fitted: Fitted) -> float | None:
    """The maximum or supremum of the likelihood of a fit; None where A is too large for it."""
    posterior, solution, factor, _ = fitted
    if not posterior.prior.is_proper:
        return posterior.log_likelihood(solution.phi)
    if factor is None:
        return None
    return posterior.log_likelihood(likelihood_supremum(posterior, solution.phi).solution.phi)


def maximise_posterior(
    basis: Basis,
    cases: Parts,
    prior_scale: object = "evidence",
    *,
    start: EBNC | None = None,
    max_steps: int = 1000,
) -> Fitted:
    """The posterior with its scales, φ̃, the factor of A there, and the evidence."""
    design = Design.of(basis)
    counts = count_cells(design, cases)
    if isinstance(prior_scale, str):
        if prior_scale not in ("evidence", "loo"):
            as_prior(prior_scale)  # says what would be right
        if design.dimension > LARGEST_FACTOR:
            raise ParameterError(
                f"with {design.dimension} parameters, more than {LARGEST_FACTOR}, evidence is not "
                "computed; give prior_scale as a number"
            )
        found = maximise_evidence(Posterior(design, counts, NormalPrior((1.0,))))
        optimum = Optimum(found.posterior, found.solution, found.factor)
        if prior_scale == "loo":
            optimum = rescaled(optimum, best_factor(optimum))
        return Fitted(*optimum, found.total)
    posterior = Posterior(design, counts, as_prior(prior_scale))
    return Fitted(posterior, *_maximise(posterior, cases, start, max_steps), None)


def fit_theta(
    structure: EmbeddedStructure,
    data: Frame,
    *,
    alpha: float | None = None,
    n_starts: int = 10,
    random_state: int = 0,
    categories: Categories | None = None,
    missing: Missing = "state",
    weights: object = None,
) -> ThetaFit:
    """Local maxima of the strict model in θ, from several starts; ``fit`` is the default.

    Where the structure fills its span both reach the same likelihood; elsewhere θ reaches less.

    Parameters
    ----------
    structure, data, categories, missing, weights
        As for ``fit``.
    alpha
        None maximises the likelihood. A number maximises the posterior when every distribution
        θ(·|pa) is Dirichlet(α, …, α), in log-ratio coordinates of θ
        (``ebnc.fitting.theta_posterior``); maxima then have their contributions to the evidence.
    n_starts
        Random θ that are climbed from.
    random_state
        Seed of the starts.

    Returns
    -------
    ThetaFit
        The distinct maxima; ``summed_bic`` and, with ``alpha``, ``summed_log_evidence`` add up what
        they contribute to p(D | m), as the paper advises (§5).
    """
    if n_starts < 1:
        raise ParameterError(f"n_starts must be at least 1, got {n_starts}")
    cases, _ = _read(structure, data, categories, missing, weights)
    if not isinstance(cases, Cases):
        raise StorageError(
            f"{cases.n_rows} rows do not fit in memory, where the fit in θ needs them; raise "
            "memory_limit, or use ebnc.fit"
        )
    return fit_theta_to_cases(
        structure, cases, alpha=alpha, n_starts=n_starts, random_state=random_state
    )


def _read(
    structure: EmbeddedStructure,
    data: Frame,
    categories: Categories | None,
    missing: Missing,
    weights: object,
) -> _Input:
    check_structure(structure)
    if missing not in ("state", "refuse"):
        raise ParameterError(f"missing must be 'state' or 'refuse', got {missing!r}")
    cases = learn_cases(
        data,
        structure.inputs,
        structure.target,
        keep=structure.markov_blanket,
        categories=categories,
        missing=missing,
        weights=weights,
    )
    return _Input(cases, Basis(structure, cases.domain))


def _first(design: Design, start: EBNC) -> FloatArray:
    basis = design.basis
    if not isinstance(start, EBNC) or (start.structure, start.domain) != (
        basis.structure,
        basis.domain,
    ):
        raise ParameterError("start must be an EBNC with the structure and the states of this fit")
    return design.from_basis(start.phi_in(ORTHONORMAL.name))


def _maximise(
    posterior: Posterior, cases: Parts, start: EBNC | None, max_steps: int
) -> tuple[Solution, Cholesky | None]:
    """φ̃ and the factor of A there; under a flat prior only after the maximum is known to exist."""
    design = posterior.design
    is_flat = not posterior.prior.is_proper
    small = design.dimension <= LARGEST_FACTOR
    tolerance = TOLERANCE
    ranges = cases.collect(_range_of_weights)
    least, largest = min(low for low, _ in ranges), max(high for _, high in ranges)
    if is_flat:
        if small:
            # Which rows there are decides, not how much they weigh.
            counts = count_cells(design, cases.prepared(_unweighted))
            refuse_unidentified(Posterior(design, counts, posterior.prior))
        if largest > UNEQUAL * least:  # light rows may be separated where no fit would show it
            refuse_separated(design.basis, cases)
        if largest > TOO_UNEQUAL * least:
            raise ParameterError(
                f"weights between {least:g} and {largest:g} are too far apart for maximum "
                "likelihood: rounding errors of the heavy rows exceed what the light ones say; use "
                "a finite prior_scale, or leave out the light rows"
            )
        # Without a prior small weights only scale the problem, and must not end it early.
        tolerance *= min(1.0, least)
    first = None if start is None else _first(design, start)
    try:
        solution = maximise(posterior, first, tolerance=tolerance, max_steps=max_steps)
        factor = curvature_at(posterior, solution.phi) if small else None
        if factor is not None:
            solution = polish(posterior, solution, factor)
    except SingularHessianError:
        if is_flat:
            refuse_separated(design.basis, cases)
        raise SingularHessianError(
            f"weights between {least:g} and {largest:g} leave the Hessian of {design.dimension} "
            "parameters no precision; scale the weights, or bring them closer together"
        ) from None
    if is_flat:
        fitted = phi_to_tables(design.basis, design.to_basis(solution.phi), ORTHONORMAL)
        farthest = max(cases.collect(_largest_log_odds, fitted))
        if farthest > SUSPICIOUS_LOG_ODDS or not solution.converged:
            refuse_separated(design.basis, cases)
            if not math.isfinite(solution.value):
                raise NoMaximumError("maximum likelihood was not reached; use a finite prior_scale")
    return solution, factor


def _range_of_weights(cases: Cases) -> tuple[float, float]:
    if cases.weights is None or not len(cases.weights):
        return 1.0, 1.0
    return float(cases.weights.min()), float(cases.weights.max())


def _unweighted(cases: Cases) -> Cases:
    return replace(cases, weights=None)


def _largest_log_odds(cases: Cases, fitted: TableSum) -> float:
    return float(np.abs(fitted.log_odds(cases.rows)).max(initial=0.0))
