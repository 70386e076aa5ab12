"""Fit one EBNC to data: cases → posterior → φ̃ → scores (§5).

This module only connects the steps; the arithmetic is in ``ebnc.fitting`` and ``ebnc.score``.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.parts import Parts
from ebnc.data.read import learn_cases
from ebnc.data.table import Categories, Coding, Frame, Kinds, Missing, Numbers
from ebnc.domain import Domain
from ebnc.errors import NoMaximumError, ParameterError, SingularHessianError, StorageError
from ebnc.fitted import FittedEBNC
from ebnc.fitting.cholesky import factor_at
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

TOLERANCE = 1e-12  # nats

SUSPICIOUS_LOG_ODDS = 15.0
"""Larger fitted log odds make a flat-prior fit suspect: separated rows end well above 20."""

UNEQUAL, TOO_UNEQUAL = 1e6, 1e10
"""Limits on the ratio of the largest weight to the smallest. Above the first, a fit may not show
that rows are separated. Above the second, φ would be wrong in its seventh digit."""


def fit(
    structure: EmbeddedStructure,
    data: Frame,
    prior_scale: object = "evidence",
    *,
    numbers: Numbers = "smooth",
    kinds: Kinds | None = None,
    categories: Categories | None = None,
    missing: Missing = "state",
    weights: object = None,
    start: EBNC | None = None,
    max_steps: int = 1000,
) -> FittedEBNC:
    """Fit the parameters φ of an EBNC to data: find the global maximum of the posterior.

    Parameters
    ----------
    structure : EmbeddedStructure
        The inputs, the target and the embedded graph that factors p(y|x).
    data : DataFrame, table, mapping, array or path
        The training rows: a pandas, polars or pyarrow table, a mapping of columns, or a path to CSV
        or Parquet (a file, a folder or a glob, read out of core; see ``ebnc.data.files``). Columns
        are matched by name. A two-dimensional array has the inputs first and the target last.
        ``ebnc.data.states`` describes how states are learned from columns.
    prior_scale : float, list of float, "evidence" or "loo"
        σ of the normal prior: one number, or one for each order of interaction. "evidence"
        maximises the Laplace evidence over the scales. "loo" then multiplies all scales by the
        factor that minimises leave-one-out log-loss, which suits prediction. Infinity asks for
        maximum likelihood; if no maximum exists, an error names the terms that diverge.
    numbers : {"smooth", "mdlp", "quantile"}
        What numbers become: fine bins over which effects are smooth curves, intervals that are cut
        by the classes of the target (MDLP), or five intervals of equal weight.
    kinds : mapping, optional
        "nominal", "ordered" or "numeric" by column name, for columns whose entries do not show what
        they are (docs/guides/columns.md).
    categories : mapping, optional
        Declared states of columns, by column name.
    missing : {"state", "refuse"}
        Whether a missing entry is a state of its own or an error.
    weights : array or str, optional
        One number ≥ 0 for each row, or the name of a column of ``data``.
    start : EBNC, optional
        An EBNC of the same structure and domain whose φ the optimiser starts from.
    max_steps : int
        Maximum number of steps; a fit that reaches it has not converged.

    Returns
    -------
    FittedEBNC
        The EBNC at φ̃, with its prior, its scores and its standard errors.
    """
    coding = Coding.of(numbers, kinds)
    cases = _read(structure, data, coding, categories, missing, weights)
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
    """Run ``fit`` on coded data, which may have more inputs than the structure."""
    likelihood = likelihood_of(basis, cases)
    fitted = fit_likelihood(likelihood, cases, prior_scale, start=start, max_steps=max_steps)
    return with_background(with_bic(fitted, likelihood), cases)


def with_background(fit: Fit, cases: Parts, used: Sequence[str] | None = None) -> FittedEBNC:
    """Return a fit as an EBNC with background data of the inputs ``used`` (default: its own)."""
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
    """Maximise the posterior of a likelihood under this prior, and compute its evidence."""
    if not isinstance(prior_scale, str):
        posterior = likelihood.with_prior(as_prior(prior_scale))
        return with_log_evidence(_maximise(posterior, cases, start, max_steps))
    if prior_scale not in ("evidence", "loo"):
        as_prior(prior_scale)  # raises an error that lists the valid values
    dimension = likelihood.design.dimension
    if dimension > LARGEST_FACTOR:
        raise ParameterError(
            f"the model has {dimension} parameters; evidence is computed for at most "
            f"{LARGEST_FACTOR}; give prior_scale as a number"
        )
    fitted = maximise_evidence(likelihood)
    if prior_scale == "loo":
        fitted = rescaled(likelihood, fitted, best_factor(likelihood, fitted))
    return fitted


def fit_theta(
    structure: EmbeddedStructure,
    data: Frame,
    *,
    alpha: float | None = None,
    n_starts: int = 10,
    random_state: int = 0,
    numbers: Numbers = "mdlp",
    kinds: Kinds | None = None,
    categories: Categories | None = None,
    missing: Missing = "state",
    weights: object = None,
) -> ThetaFit:
    """Find local maxima of the strict model in θ from several starts; prefer ``fit`` in general.

    If the structure fills its span, both reach the same likelihood; otherwise θ reaches a lower
    one.

    Parameters
    ----------
    structure : EmbeddedStructure
        The embedded graph, as for ``fit``.
    data : DataFrame, table, mapping, array or path
        The training rows, as for ``fit``.
    alpha : float, optional
        None maximises the likelihood. A number maximises the posterior under the prior in which
        every distribution θ(·|pa) is Dirichlet(α, …, α), in log-ratio coordinates of θ
        (``ebnc.fitting.theta_posterior``). Each maximum then has a contribution to the evidence.
    n_starts : int
        Number of random θ to start from.
    random_state : int
        Seed of the starts.
    numbers : {"mdlp", "quantile"}
        How numbers are cut into intervals. θ has a probability for every state of an input, so
        there are no curves here.
    kinds : mapping, optional
        "nominal" or "ordered" by column name: their numbers are states. The order has no effect.
    categories : mapping, optional
        Declared states of columns, by column name.
    missing : {"state", "refuse"}
        Whether a missing entry is a state of its own or an error.
    weights : array or str, optional
        One number ≥ 0 for each row, or the name of a column of ``data``.

    Returns
    -------
    ThetaFit
        The distinct maxima. ``summed_bic`` and, with ``alpha``, ``summed_log_evidence`` add up
        their contributions to p(D | m), as the paper advises (§5).
    """
    if n_starts < 1:
        raise ParameterError(f"n_starts must be at least 1, got {n_starts}")
    coding = Coding.of(numbers, kinds)
    if coding.numbers == "smooth" or "numeric" in coding.kinds.values():
        raise ParameterError(
            "θ has a probability for every state, and no curves; cut numbers with numbers='mdlp' "
            "or 'quantile', and declare no column as 'numeric'"
        )
    cases = _read(structure, data, coding, categories, missing, weights)
    if not isinstance(cases, Cases):
        raise StorageError(
            f"the fit in θ needs all rows in memory, and {cases.n_rows} rows do not fit; raise "
            "memory_limit, or use ebnc.fit"
        )
    nominal = replace(cases, domain=Domain(dict(cases.domain)))
    return fit_theta_to_cases(
        structure, nominal, alpha=alpha, n_starts=n_starts, random_state=random_state
    )


def _read(
    structure: EmbeddedStructure,
    data: Frame,
    coding: Coding,
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
        coding=coding,
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
    """Maximise a posterior; under a flat prior, first check that a maximum exists."""
    design = posterior.design
    is_flat = not posterior.prior.is_proper
    small = design.n_columns * posterior.form.n_coupled <= LARGEST_FACTOR
    tolerance = TOLERANCE
    ranges = cases.collect(_range_of_weights)
    least, largest = min(low for low, _ in ranges), max(high for _, high in ranges)
    if is_flat:
        if small:
            # Identifiability depends on which rows occur, not on their weights.
            counts = count_cells(design, cases.prepared(_unweighted))
            refuse_unidentified(Posterior(design, counts, posterior.prior))
        if largest > UNEQUAL * least:  # a fit would not show that light rows are separated
            refuse_separated(design.basis, cases)
        if largest > TOO_UNEQUAL * least:
            raise ParameterError(
                f"weights between {least:g} and {largest:g} are too far apart for maximum "
                "likelihood: rounding errors of the heavy rows exceed the effect of the light "
                "ones; use a finite prior_scale, or leave out the light rows"
            )
        # Without a prior, small weights only scale the objective; they must not stop it early.
        tolerance *= min(1.0, least)
    first = None if start is None else _first(design, start)
    try:
        solution = maximise(posterior, first, tolerance=tolerance, max_steps=max_steps)
        factor = factor_at(posterior, solution.phi) if small else None
        if factor is not None:
            solution = polish(posterior, solution, factor)
    except SingularHessianError:
        if is_flat:
            refuse_separated(design.basis, cases)
        raise SingularHessianError(
            f"with weights between {least:g} and {largest:g} the Hessian of {design.dimension} "
            "parameters is numerically singular; scale the weights, or bring them closer together"
        ) from None
    fitted = fit_at(posterior, solution, factor)
    if is_flat:
        tables = phi_to_tables(design.basis, fitted.phi, ORTHONORMAL)
        farthest = max(cases.collect(_largest_log_odds, tables))
        if farthest > SUSPICIOUS_LOG_ODDS or not solution.converged:
            refuse_separated(design.basis, cases)
            if not math.isfinite(solution.value):
                raise NoMaximumError("maximum likelihood was not reached; use a finite prior_scale")
    return fitted


def _range_of_weights(cases: Cases) -> tuple[float, float]:
    if cases.weights is None or not len(cases.weights):
        return 1.0, 1.0
    return float(cases.weights.min()), float(cases.weights.max())


def _unweighted(cases: Cases) -> Cases:
    return replace(cases, weights=None)


def _largest_log_odds(cases: Cases, fitted: TableSum) -> float:
    return float(np.abs(fitted.log_odds(cases.rows)).max(initial=0.0))
