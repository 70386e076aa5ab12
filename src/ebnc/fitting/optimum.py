"""The maximum of a posterior as a ``Fit``, with its exact curvature."""

from ebnc.data.parts import Parts
from ebnc.fitting.cholesky import Factor, factor_at
from ebnc.fitting.fit import Fit
from ebnc.fitting.newton import maximise, polish
from ebnc.fitting.solution import Solution
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.phi import Basis
from ebnc.threads import one_blas_thread
from ebnc.typing import FloatArray


def likelihood_of(basis: Basis, cases: Parts, *, separate: bool = False) -> Posterior:
    """The posterior of the cases with the placeholder prior N(0, 1); see ``with_prior``.

    ``separate``: whether A has one block for each class.
    """
    design = Design.of(basis)
    return Posterior(design, count_cells(design, cases), NormalPrior((1.0,)), separate)


@one_blas_thread()
def find_optimum(
    posterior: Posterior,
    start: FloatArray | None = None,
    metric: Factor | None = None,
    tolerance: float = 1e-12,
) -> Fit:
    """φ̃ to rounding errors, with its curvature; ``start`` and ``metric`` for a warm start.

    ``tolerance``: nats at which one more Newton step, with this curvature, ends the fit.
    """
    solution = maximise(posterior, start, metric=metric, tolerance=tolerance)
    factor = factor_at(posterior, solution.phi)
    return fit_at(posterior, polish(posterior, solution, factor), factor)


def fit_at(posterior: Posterior, solution: Solution, factor: Factor | None) -> Fit:
    """The ``Fit`` of a maximum: L(φ̃) is its value without the prior's penalty."""
    penalty = 0.5 * float(posterior.precision @ (solution.phi**2).sum(axis=1))
    return Fit(
        posterior.design,
        posterior.prior,
        solution,
        factor,
        n_cases=posterior.data.n_cases,
        log_likelihood=solution.value + penalty,
    )
