"""Value, gradient and Hessian against brute force and finite differences."""

import numpy as np
import pytest

from ebnc import EBNC
from ebnc.likelihood.design import Bag
from ebnc.likelihood.prior import as_prior
from ebnc.parameters.coding import ORTHONORMAL
from problems import STRUCTURES, domain_of, posterior_of, random_data, structure_named

CASES = [(name, k) for name in STRUCTURES for k in (2, 3, 4)]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def problem(request):
    name, n_classes = request.param
    structure = structure_named(name)
    domain = domain_of(structure, n_classes)
    data, _ = random_data(structure, domain, 400, seed=n_classes)
    weights = np.random.default_rng(1).integers(0, 3, 400) + 0.25
    posterior, cases = posterior_of(structure, domain, data, [0.7, 0.4], weights)
    design = posterior.design
    phi = np.random.default_rng(2).normal(size=(design.n_columns, design.n_others))
    return posterior, cases, phi


def test_log_likelihood_is_the_sum_of_weighted_log_probabilities(problem):
    """Against probabilities looked up one by one; a sum of logs (errata E2)."""
    posterior, cases, phi = problem
    design = posterior.design
    basis = design.basis
    model = EBNC(basis.structure, basis.domain, design.to_basis(phi), "orthonormal")
    data = {x: cases.rows.column(x) for x in cases.rows.names}
    p = model.probabilities(data if data else np.zeros((len(cases), 1)))
    expected = np.sum(cases.weights * np.log(p[np.arange(len(cases)), cases.classes]))
    assert posterior.log_likelihood(phi) == pytest.approx(expected, rel=1e-12)


def test_value_is_log_likelihood_plus_the_kernel_of_the_prior(problem):
    posterior, _, phi = problem
    orders = posterior.design.groups
    scales = np.array([10.0, 0.7, 0.4, 0.4])[orders][:, None]
    expected = posterior.log_likelihood(phi) - 0.5 * np.sum((phi / scales) ** 2)
    assert posterior.value_and_gradient(phi)[0] == pytest.approx(expected, rel=1e-12)


def test_prior_density_is_normalised(problem):
    """The sum of univariate normal log densities."""
    posterior, _, phi = problem
    orders = posterior.design.groups
    scales = np.broadcast_to(np.array([10.0, 0.7, 0.4, 0.4])[orders][:, None], phi.shape)
    normal = -0.5 * (phi / scales) ** 2 - np.log(scales) - 0.5 * np.log(2 * np.pi)
    found = posterior.prior.log_density(posterior.design, phi)
    assert found == pytest.approx(normal.sum(), rel=1e-12)


def test_gradient_equals_finite_differences(problem):
    posterior, _, phi = problem
    _, gradient = posterior.value_and_gradient(phi)
    step = 1e-5
    numeric = np.empty_like(phi)
    for place in np.ndindex(phi.shape):
        unit = np.zeros_like(phi)
        unit[place] = step
        ahead, _ = posterior.value_and_gradient(phi + unit)
        behind, _ = posterior.value_and_gradient(phi - unit)
        numeric[place] = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-5)


def test_hessian_equals_finite_differences_of_the_gradient(problem):
    posterior, _, phi = problem
    exact = posterior.neg_hessian(phi)
    np.testing.assert_array_equal(exact, exact.T)
    step = 1e-5
    for i, place in enumerate(np.ndindex(phi.shape)):
        unit = np.zeros_like(phi)
        unit[place] = step
        _, ahead = posterior.value_and_gradient(phi + unit)
        _, behind = posterior.value_and_gradient(phi - unit)
        numeric = (behind - ahead).ravel() / (2 * step)
        np.testing.assert_allclose(exact[i], numeric, rtol=1e-5, atol=2e-5)


def test_packing_into_bags_changes_nothing_but_the_order(problem):
    """One bag per cluster, or everything in one: the same value, gradient and Hessian."""
    posterior, cases, phi = problem
    basis = posterior.design.basis
    data = {x: cases.rows.column(x) for x in cases.rows.names} | {"Y": cases.classes}
    flat = posterior.design.to_basis(phi)
    value, gradient = posterior.value_and_gradient(phi)
    for most_cells in (1, 10**6):
        other, _ = posterior_of(
            basis.structure, basis.domain, data, [0.7, 0.4], cases.weights, most_cells
        )
        there = other.design.from_basis(flat)
        other_value, other_gradient = other.value_and_gradient(there)
        assert other_value == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(
            other.design.to_basis(other_gradient), posterior.design.to_basis(gradient), atol=1e-9
        )
        sign, log_determinant = np.linalg.slogdet(other.neg_hessian(there))
        assert sign == 1
        assert log_determinant == pytest.approx(np.linalg.slogdet(posterior.neg_hessian(phi))[1])


def test_dense_products_and_cross_tabulations_give_the_same_hessian(problem, monkeypatch):
    """The cheaper one is chosen by price; here both, whatever they cost."""
    posterior, _, phi = problem
    found = []
    for price in (0.0, np.inf):
        monkeypatch.setattr(type(posterior), "_dense_price", price)
        found.append(posterior.neg_hessian(phi))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-10, atol=1e-10)


def test_diagonal_blocks_are_those_of_the_hessian(problem):
    posterior, _, phi = problem
    whole = posterior.neg_hessian(phi)
    n_others = posterior.design.n_others
    for block, columns in zip(
        posterior.diagonal_blocks(phi), posterior.design.columns, strict=True
    ):
        where = slice(columns.start * n_others, columns.stop * n_others)
        np.testing.assert_allclose(block, whole[where, where], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n_states", [(), (3,), (2, 4, 3), (40,), (3, 40)])
def test_squares_of_a_bag_are_those_of_its_matrix_written_out(n_states):
    generator = np.random.default_rng(0)
    factors = tuple(ORTHONORMAL.full(r) for r in n_states)
    n_cells = int(np.prod(n_states))
    keep = np.sort(generator.permutation(n_cells)[: max(1, n_cells // 2)])
    bag = Bag(tuple("ABC"[: len(n_states)]), factors, keep)
    matrix = bag.to_cells(np.eye(keep.size))
    diagonal = generator.random((n_cells, 2))
    expected = [matrix.T @ (column[:, None] * matrix) for column in diagonal.T]
    np.testing.assert_allclose(bag.pull_back_squares(diagonal), expected, rtol=0, atol=1e-11)


def test_a_thinned_posterior_estimates_the_whole():
    structure = structure_named("chain")
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 40_000)
    for weights in (None, np.random.default_rng(0).random(40_000)):
        posterior, _ = posterior_of(structure, domain, data, 1.0, weights)
        thin = posterior.thinned(4_000)
        phi = 0.3 * np.ones((posterior.design.n_columns, 1))
        whole, part = posterior.value_and_gradient(phi)[0], thin.value_and_gradient(phi)[0]
        assert part == pytest.approx(whole, rel=0.05)
        assert thin.data.n_rows == pytest.approx(4_000, rel=0.05)
        whole_counts = posterior.data.class_counts.sum()
        assert thin.data.class_counts.sum() == pytest.approx(whole_counts, rel=0.01)


def test_a_thinned_posterior_keeps_rows_of_rare_cells():
    structure = structure_named("naive")
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 50_000)
    data["C"][:] = 0
    data["C"][[7, 20_000, 40_000]] = 3
    posterior, _ = posterior_of(structure, domain, data, most_cells=1)
    thin = posterior.thinned(1_000)
    bag = [bag.names for bag in posterior.design.bags].index(("C",))
    cells = slice(*posterior.design.offsets[bag : bag + 2])
    np.testing.assert_array_equal(
        thin.data.class_counts[:, cells][:, 1:], posterior.data.class_counts[:, cells][:, 1:]
    )


@pytest.mark.parametrize(
    "bad", ["x", "laplace", -1, 0, float("nan"), [], [1.0, float("inf")], None]
)
def test_bad_prior_scales_are_refused(bad):
    with pytest.raises(ValueError, match=r"prior_scale|scales"):
        as_prior(bad)
