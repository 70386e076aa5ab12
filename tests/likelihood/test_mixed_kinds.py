"""Variables of all kinds, weak pairs, ordered targets: against explicit columns in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns import columns_of, random_codes
from ebnc import EmbeddedStructure
from ebnc.fitting.optimum import find_optimum
from ebnc.likelihood.prior import NormalPrior
from explicit import DOMAINS, Problem, problem_named
from strategies import mixed_models, seeds

PRIOR = NormalPrior((0.7, 0.4), intercept_scale=3.0, weak_scale=0.2)


@pytest.fixture(params=[(name, weak) for name in DOMAINS for weak in (False, True)], ids=str)
def setting(request):
    problem = problem_named(*request.param)
    posterior = problem.posterior(PRIOR)
    phi = 0.5 * np.random.default_rng(1).normal(size=posterior.design.dimension)
    return problem, posterior, phi


def places(design):
    """The place in the flat φ of the basis of every element in the design's order."""
    return design.from_basis(np.arange(design.dimension, dtype=float)).ravel().astype(int)


def test_value_and_gradient_are_those_of_softmax_regression(setting):
    problem, posterior, phi = setting
    value, gradient = posterior.value_and_gradient(posterior.design.from_basis(phi))
    assert value == pytest.approx(problem.value(phi, PRIOR), rel=1e-12)
    expected = problem.gradient(phi, PRIOR)
    np.testing.assert_allclose(posterior.design.to_basis(gradient), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("price", [0.0, np.inf], ids=["rows written out", "cross-tabulations"])
def test_hessian_is_that_of_softmax_regression(setting, price, monkeypatch):
    problem, posterior, phi = setting
    monkeypatch.setattr(type(posterior), "_dense_price", price)
    found = posterior.neg_hessian(posterior.design.from_basis(phi))
    where = places(posterior.design)
    expected = problem.neg_hessian(phi, PRIOR)[np.ix_(where, where)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    blocks = posterior.diagonal_blocks(posterior.design.from_basis(phi))
    n_outputs = posterior.design.n_outputs
    for block, columns in zip(blocks, posterior.design.columns, strict=True):
        own = slice(columns.start * n_outputs, columns.stop * n_outputs)
        np.testing.assert_allclose(block, expected[own, own], rtol=0, atol=1e-8)


def test_derivatives_are_those_of_finite_differences(setting):
    """Of the package's own value and gradient, along random directions."""
    _, posterior, phi = setting
    design, step = posterior.design, 1e-5
    generator = np.random.default_rng(3)
    here = design.from_basis(phi)
    gradient = posterior.value_and_gradient(here)[1]
    curvature = posterior.neg_hessian(here)
    for _ in range(10):
        direction = generator.normal(size=here.shape)
        ahead = posterior.value_and_gradient(here + step * direction)
        behind = posterior.value_and_gradient(here - step * direction)
        slope = (ahead[0] - behind[0]) / (2 * step)
        assert slope == pytest.approx(np.vdot(gradient, direction), rel=1e-5, abs=1e-4)
        bend = (behind[1] - ahead[1]).ravel() / (2 * step)
        np.testing.assert_allclose(curvature @ direction.ravel(), bend, rtol=1e-5, atol=1e-4)


def test_one_bag_or_many_give_the_same_value(setting):
    problem, posterior, phi = setting
    for most_cells in (1, 10**5):
        other = problem.posterior(PRIOR, most_cells)
        value, gradient = other.value_and_gradient(other.design.from_basis(phi))
        assert value == pytest.approx(problem.value(phi, PRIOR), rel=1e-12)
        expected = problem.gradient(phi, PRIOR)
        np.testing.assert_allclose(other.design.to_basis(gradient), expected, rtol=0, atol=1e-9)
    assert other.design.dimension == posterior.design.dimension


def test_the_fit_is_the_maximum_that_scipy_finds(setting):
    problem, posterior, _ = setting
    fit = find_optimum(posterior)
    assert fit.solution.converged
    expected = problem.optimum(PRIOR)
    np.testing.assert_allclose(fit.phi, expected, rtol=0, atol=1e-6)
    assert np.abs(problem.gradient(fit.phi, PRIOR)).max() < 1e-6


def test_the_prior_is_normal_with_a_scale_for_each_group(setting):
    problem, posterior, phi = setting
    precision = problem.precision(PRIOR)
    expected = 0.5 * np.sum(np.log(precision / (2 * np.pi)) - precision * phi**2)
    found = PRIOR.log_density(posterior.design, posterior.design.from_basis(phi))
    assert found == pytest.approx(expected, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(
        mixed_models(max_inputs=4, most_states=5, wide=False, most=600),
        mixed_models(max_inputs=3, most=1500),
    ),
    st.booleans(),
    seeds,
)
def test_value_and_gradient_of_random_models(model, weak_pairs, seed):
    """Any structure and any kinds of variables."""
    generator = np.random.default_rng(seed)
    codes = random_codes(model.structure, model.domain, 12, generator)
    problem = Problem(model.structure, model.domain, codes, generator.random(12) + 0.1, weak_pairs)
    posterior = problem.posterior(PRIOR)
    phi = generator.normal(size=posterior.design.dimension)
    value, gradient = posterior.value_and_gradient(posterior.design.from_basis(phi))
    assert value == pytest.approx(problem.value(phi, PRIOR), rel=1e-10, abs=1e-10)
    expected = problem.gradient(phi, PRIOR)
    np.testing.assert_allclose(posterior.design.to_basis(gradient), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["three kinds", "ordered target", "numeric target"])
def test_blocks_outside_of_a_design_are_those_of_the_larger_model(name):
    """Gradient, curvature and mixed derivatives of A · B, which screening of moves uses."""
    narrow = problem_named(name)
    naive = EmbeddedStructure.naive("Y", ["A", "B", "C"])
    narrow = Problem(naive, narrow.domain, narrow.codes, narrow.weights, weak_pairs=False)
    larger = EmbeddedStructure.from_string("[Y][A|Y][B|A:Y][C|Y]", "Y")
    wide = Problem(larger, narrow.domain, narrow.codes, narrow.weights, weak_pairs=False)
    posterior = narrow.posterior(PRIOR)
    design = posterior.design
    phi = 0.5 * np.random.default_rng(5).normal(size=design.dimension)
    bag = design.bag_of(("A", "B"), [design.term_of(("A", "B"))])
    (found,) = posterior.outside_blocks(design.from_basis(phi), [bag])
    flat = NormalPrior((np.inf,), np.inf, np.inf)
    is_new = [inputs == ("A", "B") for inputs, *_ in columns_of(larger, wide.domain)]
    new = np.repeat(is_new, design.n_outputs)
    padded = np.zeros(len(new))
    padded[~new] = phi
    np.testing.assert_allclose(found.gradient[0], wide.gradient(padded, flat)[new], atol=1e-9)
    curvature = wide.neg_hessian(padded, flat)
    np.testing.assert_allclose(found.own[0], curvature[np.ix_(new, new)], atol=1e-8)
    cross = curvature[np.ix_(new, ~new)][:, places(design)]
    np.testing.assert_allclose(found.cross[0], cross, atol=1e-8)
