"""The posterior mean: its gradient by finite differences, the mean by quadrature."""

import numpy as np
import pytest

from ebnc import EmbeddedStructure
from ebnc.fitting.optimum import Optimum, find_optimum
from ebnc.score.laplace import curvature_at
from ebnc.score.posterior_mean import log_determinant_gradient, posterior_mean
from problems import domain_of, posterior_of, random_data, structure_named


@pytest.mark.parametrize(("name", "n_classes"), [("naive", 2), ("chain", 4)])
def test_gradient_of_the_log_determinant_equals_finite_differences(name, n_classes):
    structure = structure_named(name)
    domain = domain_of(structure, n_classes)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 100)
    data, _ = random_data(structure, domain, 100, seed=4)
    posterior, _ = posterior_of(structure, domain, data, 0.7, weights=weights)
    optimum = find_optimum(posterior)
    gradient = log_determinant_gradient(optimum, 100)
    phi = optimum.solution.phi
    for place in [(0, 0), (3, n_classes - 2), (phi.shape[0] - 1, 0)]:
        step = np.zeros_like(phi)
        step[place] = 1e-5
        ahead, behind = (curvature_at(posterior, phi + s * step) for s in (1, -1))
        numeric = (ahead.log_determinant - behind.log_determinant) / 2e-5
        assert gradient[place] == pytest.approx(numeric, abs=1e-5)


def test_the_mean_is_nearer_to_that_of_quadrature_than_the_mode():
    """One binary input and nearly separated classes, by a grid over both parameters."""
    structure = EmbeddedStructure.from_string("[Y][B|Y]", target="Y")
    domain = domain_of(structure, 2)
    data = {"B": np.array([0] * 8 + [1] * 8), "Y": np.array([0] * 8 + [1] * 7 + [0])}
    posterior, _ = posterior_of(structure, domain, data, 1.0)
    optimum = find_optimum(posterior)
    axis = np.linspace(-8, 8, 161)
    points = np.array([[[a], [b]] for a in axis for b in axis])
    logs = np.array([posterior.value_and_gradient(point)[0] for point in points])
    weights = np.exp(logs - logs.max())
    exact = np.tensordot(weights / weights.sum(), points, axes=1)
    mode, mean = optimum.solution.phi, posterior_mean(optimum)
    assert np.abs(mode - exact).max() > 0.1
    assert np.abs(mean - exact).max() < 0.35 * np.abs(mode - exact).max()


def test_with_many_rows_mean_and_mode_are_close():
    structure = structure_named("naive")
    domain = domain_of(structure, 3)
    data, _ = random_data(structure, domain, 30_000, seed=4)
    optimum: Optimum = find_optimum(posterior_of(structure, domain, data)[0])
    shift = posterior_mean(optimum) - optimum.solution.phi
    deviations = np.sqrt((optimum.factor.inverse_root() ** 2).sum(axis=1))
    assert np.abs(shift.ravel() / deviations).max() < 0.25
