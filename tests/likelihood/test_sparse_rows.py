"""Sums over rows that list only inputs in unusual states: against explicit columns in NumPy."""

import numpy as np
import pytest

from ebnc import Domain, EmbeddedStructure
from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows
from ebnc.fitting.optimum import find_optimum, likelihood_of
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.phi import Basis
from ebnc.score.log_determinant import log_determinant_gradient
from explicit import Problem
from strategies import bins

PRIOR = NormalPrior((0.6,), intercept_scale=3.0)
INPUTS = {"A": 2, "B": 3, "C": bins(6), "D": 2, "E": 4, "F": [1, 2, 3], "G": 2, "H": 3, "I": 2}
TARGETS = {"binary": (2, ""), "nominal": (3, ""), "ordered": (["low", "middle", "high"], "Y")}


@pytest.fixture(params=TARGETS)
def problem(request):
    """Most inputs are in one state, not always the first; I never varies in the data."""
    states, ordered = TARGETS[request.param]
    domain = Domain(INPUTS | {"Y": states}, ["C", "F", *ordered])
    rng = np.random.default_rng(0)
    n_rows = 150
    codes = {}
    for x in INPUTS:
        r = len(domain[x])
        shares = np.full(r, 0.15 / (r - 1))
        shares[rng.integers(r)] = 0.85
        codes[x] = rng.choice(r, n_rows, p=shares)
    codes["I"] = np.ones(n_rows, dtype=int)
    codes["Y"] = (codes["A"] + codes["B"] + rng.integers(0, 4, n_rows)) % len(domain["Y"])
    structure = EmbeddedStructure.naive("Y", list(INPUTS))
    return Problem(structure, domain, codes, rng.integers(1, 4, n_rows) / 2.0, False)


def places(design):
    """The place in the flat φ of the basis of every element in the design's order."""
    return design.from_basis(np.arange(design.dimension, dtype=float)).ravel().astype(int)


def test_hessian_is_that_of_softmax_regression(problem):
    posterior = problem.posterior(PRIOR, most_cells=12)
    assert posterior.lists_rows
    phi = 0.5 * np.random.default_rng(1).normal(size=posterior.design.dimension)
    where = places(posterior.design)
    found = posterior.neg_hessian(posterior.design.from_basis(phi))
    expected = problem.neg_hessian(phi, PRIOR)[np.ix_(where, where)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_gradient_of_the_log_determinant_is_that_of_finite_differences(problem):
    posterior = problem.posterior(PRIOR, most_cells=12)
    fit = find_optimum(posterior)
    design = posterior.design
    gradient = design.to_basis(log_determinant_gradient(posterior, fit))
    for place in (0, 1, len(gradient) // 2, len(gradient) - 1):
        step = np.zeros(len(gradient))
        step[place] = 1e-5
        ahead, behind = (
            np.linalg.slogdet(problem.neg_hessian(fit.phi + sign * step, PRIOR))[1]
            for sign in (1, -1)
        )
        assert gradient[place] == pytest.approx((ahead - behind) / 2e-5, abs=1e-5)


def test_sums_over_some_of_the_rows_add_up(problem):
    """Rows are summed in chunks: of explicit columns z, Σ w z zᵀ and zᵀCz of some rows."""
    posterior = problem.posterior(PRIOR, most_cells=12)
    design, rows = posterior.design, posterior.data.sparse_rows
    z = problem.z[:, design.order]
    weights = np.random.default_rng(2).normal(size=60)
    expected = z[50:110].T @ (weights[:, None] * z[50:110])
    np.testing.assert_allclose(rows.cross_products(weights, 50), expected, atol=1e-12)
    matrix = np.random.default_rng(3).normal(size=(z.shape[1], z.shape[1]))
    matrix += matrix.T
    forms = np.einsum("li,ij,lj->l", z[20:70], matrix, z[20:70])
    np.testing.assert_allclose(rows.quadratic_forms(matrix, 20, 70), forms, atol=1e-12)


def test_lists_are_for_main_effects_of_many_inputs(problem):
    """Few bags are tabulated, and interactions have columns that no list names."""
    assert not problem.posterior(PRIOR, most_cells=10**6).lists_rows
    inputs = list(INPUTS)
    chain = Problem(
        EmbeddedStructure.chain("Y", inputs), problem.domain, problem.codes, problem.weights, False
    )
    assert not chain.posterior(PRIOR, most_cells=12).lists_rows


def test_weak_pairs_are_not_main_effects():
    """Their columns are no sums of what single states change, so rows have no lists."""
    names = [f"x{i}" for i in range(30)]
    domain = Domain({**dict.fromkeys(names, 2), "y": 2})
    codes = (np.random.default_rng(0).random((30, 400)) < 0.05).astype(np.uint8)
    rows = CodedRows(tuple(names), (2,) * 30, codes)
    cases = Cases(domain, "y", rows, codes[0] ^ codes[1], None)
    structure = EmbeddedStructure.naive("y", names)
    for weak_pairs in (False, True):
        likelihood = likelihood_of(Basis(structure, domain, weak_pairs), cases)
        assert (likelihood.data.usual_states is None) == weak_pairs
