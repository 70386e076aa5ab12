"""The scale at which a model predicts best: leave-one-out chooses one factor c for all σ.

    minimise over log c:   leave-one-out log-loss at c σ  −  log hyperprior(c σ)

Evidence averages over the posterior; a prediction uses its mode. With more parameters than rows the
mode is not a typical point of the posterior, and the σ of largest evidence may be several times too
large or too small for it (Laplace's evidence is also least exact there). On data sets of 50 to 200
rows, c was between 0.4 and 3 and reduced the test log-loss by up to a sixth.
"""

import math
from dataclasses import replace

from ebnc.fitting.fit import Fit
from ebnc.fitting.optimum import find_optimum
from ebnc.likelihood.posterior import Posterior
from ebnc.score.leave_one_out import leave_one_out_log_loss
from ebnc.score.scales import log_hyperprior

STEP = 0.5  # in log c
MOST_STEPS = 6
ROUGHLY = 1e-4  # nats: a fit whose leave-one-out loss is only compared with others


def rescaled(likelihood: Posterior, fit: Fit, factor: float, tolerance: float = 1e-12) -> Fit:
    """Refit the same likelihood with all scales multiplied by ``factor``.

    The scores stay those of ``fit``, because a search does not compare predictive scales.
    ``tolerance``: nats at which one more Newton step ends the fit.
    """
    moved = likelihood.with_prior(fit.prior.multiplied(factor))
    again = find_optimum(moved, fit.solution.phi, tolerance=tolerance)
    return replace(again, log_evidence=fit.log_evidence, bic=fit.bic)


def best_factor(likelihood: Posterior, fit: Fit, near: float = 1.0) -> float:
    """Return the c of least loss: descend in factors of e^½, then fit a parabola.

    ``near``: where to begin, if it is known for a similar model.
    """
    if not fit.design.scale_groups:
        return 1.0  # a model without inputs has no scales
    fits = {0: fit}
    losses: dict[int, float] = {}

    def loss(k: int) -> float:
        if k not in fits:
            near = min(fits, key=lambda known: abs(known - k))
            fits[k] = rescaled(likelihood, fits[near], math.exp(STEP * (k - near)), ROUGHLY)
        if k not in losses:
            hyper = log_hyperprior(fit.design, fits[k].prior)
            losses[k] = leave_one_out_log_loss(likelihood, fits[k]) - hyper
        return losses[k]

    best = round(math.log(near) / STEP)
    for _ in range(MOST_STEPS):
        below, here, above = loss(best - 1), loss(best), loss(best + 1)
        if here <= min(below, above):
            bend = below + above - 2.0 * here
            inside = 0.5 * (below - above) / bend if bend > 0.0 else 0.0
            return math.exp(STEP * (best + inside))
        best += 1 if above < below else -1
    return math.exp(STEP * best)
