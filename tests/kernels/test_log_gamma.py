"""log and log Γ against arbitrary precision; evidences against sums over SciPy's log Γ."""

import flint
import numpy as np
import pytest
from numba import njit
from scipy.special import gammaln

from ebnc.kernels.dirichlet import log_evidences_of_counts
from ebnc.kernels.exponential import log_of_positive
from ebnc.kernels.log_gamma import log_gamma


@njit(error_model="numpy")
def _evaluate(z, log_gammas, logs):
    for i in range(z.size):
        log_gammas[i] = log_gamma(z[i])
        logs[i] = log_of_positive(z[i])


def test_logarithms_and_log_gammas_are_exact_but_for_rounding():
    rng = np.random.default_rng(0)
    beside_8 = np.nextafter(8.0, [0.0, 9.0])
    special = [0.5, 1.0, 2.0, 8.0, *beside_8, np.sqrt(0.5), np.sqrt(2.0), 1e-300, 1e300]
    z = np.concatenate([10.0 ** rng.uniform(-300, 300, 500), rng.uniform(0, 20, 2000), special])
    log_gammas, logs = np.empty_like(z), np.empty_like(z)
    _evaluate(z, log_gammas, logs)
    with flint.ctx.workprec(200):
        exact = np.array([float(flint.arb(x).lgamma().mid()) for x in z.tolist()])
        exact_logs = np.array([float(flint.arb(x).log().mid()) for x in z.tolist()])
    np.testing.assert_allclose(log_gammas, exact, rtol=2e-15, atol=1e-14)
    np.testing.assert_allclose(logs, exact_logs, rtol=5e-16, atol=0)


@pytest.mark.parametrize("shape", [(1, 2, 1), (7, 3, 1), (4, 2, 5), (3, 4, 2)])
def test_evidences_of_counts(shape):
    rng = np.random.default_rng(sum(shape))
    counts = rng.poisson(3, shape) * rng.random(shape)  # weights, and cells without cases
    counts[0] = 0.0
    alphas = np.array([1e-3, 0.1, 1.0, 12.5])
    found = log_evidences_of_counts(counts, alphas)
    n_classes = shape[1]
    for alpha, one in zip(alphas, found, strict=True):
        cells = gammaln(counts + alpha) - gammaln(alpha)
        totals = gammaln(counts.sum(axis=1) + n_classes * alpha) - gammaln(n_classes * alpha)
        assert one == pytest.approx(cells.sum() - totals.sum(), rel=1e-13, abs=1e-12)
