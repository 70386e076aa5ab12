"""The scale at which a model predicts best: all σ times one factor c, by leaving cases out.

    minimise over log c:   leave-one-out log-loss at c σ  −  log hyperprior(c σ)

Evidence averages over the posterior; a prediction takes its mode. With more parameters than rows
the mode is no typical point of the posterior, and the σ of largest evidence may be several times
too large or too small for it (and Laplace's evidence is least exact there). Measured on sets of 50
to 200 rows, c lies between 0.4 and 3, and saves up to a sixth of the test log-loss.
"""

import math
from dataclasses import replace

from ebnc.fitting.fit import Fit
from ebnc.fitting.optimum import find_optimum
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.score.leave_one_out import leave_one_out_log_loss
from ebnc.score.scales import log_hyperprior

__all__ = ["best_factor", "rescaled"]

STEP = 0.5  # in log c
MOST_STEPS = 6


def rescaled(likelihood: Posterior, fit: Fit, factor: float) -> Fit:
    """The same likelihood with all scales times ``factor``, fitted again.

    Its scores stay those of ``fit``: scales of prediction are not what a search compares.
    """
    scales = tuple(scale * factor for scale in fit.prior.scales)
    moved = likelihood.with_prior(NormalPrior(scales, fit.prior.intercept_scale))
    again = find_optimum(moved, fit.solution.phi)
    return replace(again, log_evidence=fit.log_evidence, bic=fit.bic)


def best_factor(likelihood: Posterior, fit: Fit) -> float:
    """c of least loss: downhill in steps of a factor e^½, then a parabola through three of them."""
    if not fit.design.order_of_interaction.any():
        return 1.0  # no input, no scale
    fits = {0: fit}
    losses: dict[int, float] = {}

    def loss(k: int) -> float:
        if k not in fits:
            near = min(fits, key=lambda known: abs(known - k))
            fits[k] = rescaled(likelihood, fits[near], math.exp(STEP * (k - near)))
        if k not in losses:
            hyper = log_hyperprior(fit.design, fits[k].prior)
            losses[k] = leave_one_out_log_loss(likelihood, fits[k]) - hyper
        return losses[k]

    best = 0
    for _ in range(MOST_STEPS):
        below, here, above = loss(best - 1), loss(best), loss(best + 1)
        if here <= min(below, above):
            bend = below + above - 2.0 * here
            inside = 0.5 * (below - above) / bend if bend > 0.0 else 0.0
            return math.exp(STEP * (best + inside))
        best += 1 if above < below else -1
    return math.exp(STEP * best)
