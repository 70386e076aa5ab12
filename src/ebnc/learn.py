"""Learn one EBNC from data: cases → posterior → φ̃ → scores (§5). Arranges, does not compute."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.parts import Parts
from ebnc.data.read import learn_cases
from ebnc.data.table import Categories, Frame, Missing
from ebnc.errors import NoMaximumError, ParameterError, SingularHessianError, StorageError
from ebnc.fitted import FittedEBNC
from ebnc.fitting.cholesky import Cholesky
from ebnc.fitting.fit import Fit
from ebnc.fitting.multistart import ThetaFit, fit_theta_to_cases
from ebnc.fitting.newton import LARGEST_FACTOR, maximise, polish
from ebnc.fitting.optimum import fit_at, likelihood_of
from ebnc.fitting.separation import refuse_separated, refuse_unidentified
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import as_prior
from ebnc.parameters.background import learn_background
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.phi import Basis, phi_to_tables
from ebnc.parameters.tables import TableSum
from ebnc.score.bic import with_bic
from ebnc.score.laplace import with_log_evidence
from ebnc.score.predictive_scale import best_factor, rescaled
from ebnc.score.scales import maximise_evidence
from ebnc.structure.embedded import EmbeddedStructure, check_structure
from ebnc.typing import FloatArray

__all__ = ["fit", "fit_cases", "fit_likelihood", "fit_theta", "with_background"]

TOLERANCE = 1e-12  # nats

SUSPICIOUS_LOG_ODDS = 15.0
"""Larger fitted log odds make a flat-prior fit suspect: separated rows end well above 20."""

UNEQUAL, TOO_UNEQUAL = 1e6, 1e10
"""Weights that differ by more than the first hide separated rows from a fit; by more than the
second, φ would be wrong in its seventh digit."""


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

    Parameters
    ----------
    structure : EmbeddedStructure
        How p(y|x) is factored.
    data : DataFrame, table, mapping, array or path
        pandas, polars, pyarrow, a mapping of columns, or a path to CSV or Parquet (a file, a
        folder, a glob; read out of core, see ``ebnc.data.files``). Columns are found by the
        structure's names; those of a two-dimensional array are the inputs, then the target. How
        states are learned: ``ebnc.data.states``.
    prior_scale : float, list of float, "evidence" or "loo"
        σ of the normal prior, one for all or one for each order of interaction. "evidence"
        maximises Laplace evidence over them; "loo" then multiplies all by the factor of least
        leave-one-out log-loss, for predictions. Infinity is maximum likelihood, refused with the
        names of the terms where it does not exist.
    categories : mapping, optional
        Declared states, by column.
    missing : {"state", "refuse"}
        Missing entries are a state of their own, or an error.
    weights : array or str, optional
        One number ≥ 0 for each row, or the name of a column.
    start : EBNC, optional
        Where to begin: an EBNC of the same structure and domain.
    max_steps : int
        Steps after which a fit ends without having converged.
    """
    cases = _read(structure, data, categories, missing, weights)
    return fit_cases(
        Basis(structure, cases.domain), cases, prior_scale, start=start, max_steps=max_steps
    )


def fit_cases(
    basis: Basis,
    cases: Parts,
    prior_scale: object = "evidence",
    *,
    start: EBNC | None = None,
    max_steps: int = 1000,
) -> FittedEBNC:
    """``fit`` for coded data; the cases may have more inputs than the structure."""
    likelihood = likelihood_of(basis, cases)
    found = fit_likelihood(likelihood, cases, prior_scale, start=start, max_steps=max_steps)
    return with_background(with_bic(found, likelihood), cases)


def with_background(fit: Fit, cases: Parts, used: Sequence[str] | None = None) -> FittedEBNC:
    """A fit as an EBNC with the background of its cases: of ``used``, or of its own inputs."""
    basis = fit.design.basis
    names = basis.structure.markov_blanket if used is None else used
    background = learn_background(cases, phi_to_tables(basis, fit.phi, ORTHONORMAL), names)
    return FittedEBNC(fit, background=background)


def fit_likelihood(
    likelihood: Posterior,
    cases: Parts,
    prior_scale: object = "evidence",
    *,
    start: EBNC | None = None,
    max_steps: int = 1000,
) -> Fit:
    """The maximum of the posterior that a likelihood has with this prior, and its evidence."""
    if not isinstance(prior_scale, str):
        posterior = likelihood.with_prior(as_prior(prior_scale))
        return with_log_evidence(_maximise(posterior, cases, start, max_steps))
    if prior_scale not in ("evidence", "loo"):
        as_prior(prior_scale)  # says what would be right
    dimension = likelihood.design.dimension
    if dimension > LARGEST_FACTOR:
        raise ParameterError(
            f"with {dimension} parameters, more than {LARGEST_FACTOR}, evidence is not computed; "
            "give prior_scale as a number"
        )
    found = maximise_evidence(likelihood)
    if prior_scale == "loo":
        found = rescaled(likelihood, found, best_factor(likelihood, found))
    return found


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
    cases = _read(structure, data, categories, missing, weights)
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
) -> Parts:
    check_structure(structure)
    if missing not in ("state", "refuse"):
        raise ParameterError(f"missing must be 'state' or 'refuse', got {missing!r}")
    return learn_cases(
        data,
        structure.inputs,
        structure.target,
        keep=structure.markov_blanket,
        categories=categories,
        missing=missing,
        weights=weights,
    )


def _first(design: Design, start: EBNC) -> FloatArray:
    basis = design.basis
    if not isinstance(start, EBNC) or (start.structure, start.domain) != (
        basis.structure,
        basis.domain,
    ):
        raise ParameterError("start must be an EBNC with the structure and the states of this fit")
    return design.from_basis(start.phi_in(ORTHONORMAL.name))


def _maximise(posterior: Posterior, cases: Parts, start: EBNC | None, max_steps: int) -> Fit:
    """The maximum of a posterior; under a flat prior only after it is known to exist."""
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
        factor = Cholesky.of(posterior.upper_neg_hessian(solution.phi)) if small else None
        if factor is not None:
            solution = polish(posterior, solution, factor)
    except SingularHessianError:
        if is_flat:
            refuse_separated(design.basis, cases)
        raise SingularHessianError(
            f"weights between {least:g} and {largest:g} leave the Hessian of {design.dimension} "
            "parameters no precision; scale the weights, or bring them closer together"
        ) from None
    found = fit_at(posterior, solution, factor)
    if is_flat:
        tables = phi_to_tables(design.basis, found.phi, ORTHONORMAL)
        farthest = max(cases.collect(_largest_log_odds, tables))
        if farthest > SUSPICIOUS_LOG_ODDS or not solution.converged:
            refuse_separated(design.basis, cases)
            if not math.isfinite(solution.value):
                raise NoMaximumError("maximum likelihood was not reached; use a finite prior_scale")
    return found


def _range_of_weights(cases: Cases) -> tuple[float, float]:
    if cases.weights is None or not len(cases.weights):
        return 1.0, 1.0
    return float(cases.weights.min()), float(cases.weights.max())


def _unweighted(cases: Cases) -> Cases:
    return replace(cases, weights=None)


def _largest_log_odds(cases: Cases, fitted: TableSum) -> float:
    return float(np.abs(fitted.log_odds(cases.rows)).max(initial=0.0))
