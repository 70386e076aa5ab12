"""Leaving cases out without refitting, against refitting; the factor that it chooses."""

import numpy as np
import pytest

import ebnc
from ebnc.domain import Domain
from ebnc.fitting.optimum import find_optimum
from ebnc.score.leave_one_out import leave_one_out_log_loss
from ebnc.score.predictive_scale import best_factor, rescaled
from problems import domain_of, posterior_of, random_data, structure_named


def by_refitting(structure, domain, data, prior_scale):
    """−Σ log p(y_i|x_i, all other rows), from as many fits as there are rows."""
    total = 0.0
    n = len(data["Y"])
    for i in range(n):
        rest = {x: np.delete(column, i) for x, column in data.items()}
        posterior, _ = posterior_of(structure, domain, rest, prior_scale)
        phi = posterior.design.to_basis(find_optimum(posterior).solution.phi)
        model = ebnc.EBNC(structure, domain, phi, "orthonormal")
        own = {x: data[x][i : i + 1] for x in structure.inputs}
        total -= float(np.log(model.probabilities(own)[0, data["Y"][i]]))
    return total


@pytest.mark.parametrize(
    ("name", "n_classes", "ordered", "tolerance"),
    [
        ("naive", 2, "", 0.02),
        ("chain", 3, "", 0.2),  # the chain has 32 parameters for 60 rows
        ("naive", 15, "Y", 0.1),
    ],
)
def test_the_approximation_is_near_to_refitting(name, n_classes, ordered, tolerance):
    structure = structure_named(name)
    domain = Domain(domain_of(structure, n_classes), ordered)
    data, _ = random_data(structure, domain, 60, seed=3, scale=0.6)
    posterior, _ = posterior_of(structure, domain, data, 0.5)
    optimum = find_optimum(posterior)
    exact = by_refitting(structure, domain, data, 0.5)
    fitted = -posterior.log_likelihood(optimum.solution.phi)
    found = leave_one_out_log_loss(posterior, optimum)
    assert found == pytest.approx(exact, rel=tolerance)
    assert abs(found - exact) < 0.3 * abs(fitted - exact)  # it is not the training loss


def test_weights_count_cases():
    """Every row twice, or once with weight 2."""
    structure = structure_named("naive")
    domain = domain_of(structure, 3)
    data, _ = random_data(structure, domain, 80, seed=1)
    twice = {x: np.concatenate([column, column]) for x, column in data.items()}
    one, _ = posterior_of(structure, domain, twice)
    two, _ = posterior_of(structure, domain, data, weights=np.full(80, 2.0))
    losses = [leave_one_out_log_loss(each, find_optimum(each)) for each in (one, two)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)


def test_the_factor_is_where_a_fine_grid_has_its_least_loss():
    structure = structure_named("naive")
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 60, seed=2, scale=0.3)
    posterior, _ = posterior_of(structure, domain, data, 2.0)
    optimum = find_optimum(posterior)
    grid = np.exp(np.arange(-3.0, 1.0, 0.05))
    fits = [rescaled(posterior, optimum, factor) for factor in grid]
    losses = [
        leave_one_out_log_loss(posterior, fit)
        + 0.5 * np.sum(np.log(2.0 * np.array(fit.prior.scales)) ** 2)
        for fit in fits
    ]
    found = best_factor(posterior, optimum)
    assert found == pytest.approx(grid[np.argmin(losses)], rel=0.1)
    assert found < 0.7  # σ = 2 was too wide for this truth
    assert rescaled(posterior, optimum, found).prior.scales == pytest.approx((2.0 * found,))


def test_a_model_without_inputs_has_nothing_to_scale():
    structure = structure_named("isolated")
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 30)
    posterior, _ = posterior_of(structure, domain, data)
    assert best_factor(posterior, find_optimum(posterior)) == 1.0


def test_fit_takes_the_scale_that_predicts():
    structure = structure_named("naive")
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 40, seed=5)
    by_evidence = ebnc.fit(structure, data)
    predictive = ebnc.fit(structure, data, prior_scale="loo")
    assert predictive.prior.scales != by_evidence.prior.scales
    assert predictive.log_evidence == by_evidence.log_evidence  # what a search compares
    assert predictive.laplace() < by_evidence.laplace()
