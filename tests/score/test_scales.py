"""Scales by evidence: at the maximum of what they claim to maximise."""

import numpy as np
import pytest
from scipy.optimize import minimize

import ebnc
from ebnc.fitting.optimum import find_optimum
from ebnc.likelihood.prior import NormalPrior
from ebnc.score.laplace import laplace_log_evidence
from ebnc.score.scales import HYPER_MEAN, _FitAtScales, maximise_evidence
from problems import domain_of, posterior_of, random_data, structure_named


def total(posterior, rho):
    """Laplace evidence plus hyperprior, from scratch."""
    there = posterior.with_prior(NormalPrior(tuple(np.exp(rho))))
    evidence = laplace_log_evidence(find_optimum(there))
    return evidence - 0.5 * float(np.sum((rho - HYPER_MEAN) ** 2))


@pytest.fixture(params=[("naive", 2), ("chain", 3), ("worked", 2)], ids=str)
def posterior(request):
    name, n_classes = request.param
    structure = structure_named(name)
    domain = domain_of(structure, n_classes)
    data, _ = random_data(structure, domain, 300, seed=7, scale=0.6)
    return posterior_of(structure, domain, data)[0]


def test_the_gradient_of_evidence_equals_finite_differences(posterior):
    n_orders = int(posterior.design.groups.max())
    rho = np.linspace(-0.5, 0.3, n_orders)
    place = _FitAtScales.at(posterior, rho, None, None)
    assert place.total == pytest.approx(total(posterior, rho), abs=1e-8)
    for s in range(n_orders):
        step = np.zeros(n_orders)
        step[s] = 1e-3
        numeric = (total(posterior, rho + step) - total(posterior, rho - step)) / 2e-3
        assert place.gradient[s] == pytest.approx(numeric, abs=2e-4)


def test_the_scales_found_are_where_a_search_without_gradients_ends(posterior):
    found = maximise_evidence(posterior, tolerance=1e-6)
    rho = np.log(found.prior.scales)
    peer = minimize(
        lambda r: -total(posterior, r),
        np.zeros(len(rho)),
        method="Nelder-Mead",
        options={"xatol": 1e-4, "fatol": 1e-6},
    )
    assert total(posterior, rho) >= -peer.fun - 1e-4
    np.testing.assert_allclose(rho, peer.x, atol=0.02)


def test_evidence_reports_the_scales_it_chose(posterior):
    found = maximise_evidence(posterior)
    n_orders = int(posterior.design.groups.max())
    assert len(found.prior.scales) == n_orders
    assert found.solution.converged


def test_useless_inputs_get_a_small_scale_and_strong_ones_a_large():
    generator = np.random.default_rng(0)
    a, b = generator.integers(0, 2, (2, 2_000))
    noise = {"A": a, "B": b, "Y": generator.integers(0, 2, 2_000)}
    signal = noise | {"Y": np.where(generator.random(2_000) < 0.95, a, 1 - a)}
    naive = ebnc.EmbeddedStructure.naive("Y", ["A", "B"])
    assert ebnc.fit(naive, noise).prior.scales[0] < 0.2
    assert ebnc.fit(naive, signal).prior.scales[0] > 0.6


def test_an_isolated_target_has_no_scale_to_choose():
    data = {"A": [0, 1] * 10, "Y": [0, 0, 1, 0] * 5}
    fitted = ebnc.fit(ebnc.EmbeddedStructure.from_string("[Y][A]", target="Y"), data)
    np.testing.assert_allclose(fitted.probabilities({"A": [0]})[0, 1], 0.25, atol=0.01)
