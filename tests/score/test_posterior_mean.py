"""The posterior mean, by quadrature."""

import numpy as np

from ebnc import EmbeddedStructure
from ebnc.fitting.optimum import find_optimum
from ebnc.score.posterior_mean import posterior_mean
from problems import domain_of, posterior_of, random_data, structure_named


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
    mode, mean = optimum.solution.phi, posterior_mean(posterior, optimum)
    assert np.abs(mode - exact).max() > 0.1
    assert np.abs(mean - exact).max() < 0.35 * np.abs(mode - exact).max()


def test_with_many_rows_mean_and_mode_are_close():
    structure = structure_named("naive")
    domain = domain_of(structure, 3)
    data, _ = random_data(structure, domain, 30_000, seed=4)
    posterior, _ = posterior_of(structure, domain, data)
    optimum = find_optimum(posterior)
    shift = posterior_mean(posterior, optimum) - optimum.solution.phi
    deviations = np.sqrt((optimum.factor.inverse_root() ** 2).sum(axis=1))
    assert np.abs(shift.ravel() / deviations).max() < 0.25
