"""Laplace and BIC against importance sampling, exact integrals and each other."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import solve_triangular
from scipy.special import gammaln

import ebnc
from ebnc.errors import ParameterError, SingularHessianError
from ebnc.fitting.optimum import find_optimum
from ebnc.score.bic import bic
from ebnc.score.laplace import laplace_log_evidence
from problems import STRUCTURES, domain_of, log_joint, posterior_of, random_data, structure_named


def importance_log_evidence(posterior, phi, factor, n_draws=20_000, freedom=8.0):
    """log p(D | m) by importance sampling from a multivariate t around φ̃ with scale A⁻¹."""
    d = posterior.design.dimension
    generator = np.random.default_rng(0)
    normal = generator.standard_normal((d, n_draws))
    chi = generator.chisquare(freedom, n_draws) / freedom
    lower = np.tril(factor.lower)
    draws = phi.reshape(-1, 1) + solve_triangular(lower.T, normal) / np.sqrt(chi)
    log_proposal = (
        gammaln(0.5 * (freedom + d))
        - gammaln(0.5 * freedom)
        - 0.5 * d * math.log(math.pi * freedom)
        + 0.5 * factor.log_determinant
        - 0.5 * (freedom + d) * np.log1p((normal**2).sum(axis=0) / chi / freedom)
    )
    shape = phi.shape
    log_target = [log_joint(posterior, np.ascontiguousarray(x).reshape(shape)) for x in draws.T]
    log_weights = np.array(log_target) - log_proposal
    top = log_weights.max()
    weights = np.exp(log_weights - top)
    error = weights.std() / weights.mean() / math.sqrt(n_draws)
    return top + math.log(weights.mean()), error


SMALL = ["[Y][A|Y][B|Y][C|Y]", "[Y][A|Y][B|A:Y][C|B:Y]", "[A][B][Y|A:B]", "[A][Y|A][B|A:Y]"]


@pytest.mark.parametrize("string", SMALL)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sigma", [0.25, 0.5, 1.0])
def test_laplace_is_close_to_importance_sampling(string, n_classes, sigma):
    """Within 1 % or 0.05 nats of the truth on 24 small random problems."""
    structure = ebnc.EmbeddedStructure.from_string(string, target="Y")
    domain = ebnc.Domain(dict.fromkeys(structure.inputs, 2) | {"Y": n_classes})
    data, _ = random_data(structure, domain, 250, seed=len(string) + n_classes, scale=0.5)
    posterior, _ = posterior_of(structure, domain, data, sigma)
    fit = find_optimum(posterior)
    found = laplace_log_evidence(fit)
    truth, error = importance_log_evidence(posterior, fit.solution.phi, fit.factor, n_draws=4_000)
    assert error < 0.1
    assert abs(found - truth) <= max(0.05, 0.01 * abs(truth))


def test_laplace_of_one_parameter_equals_the_integral():
    """An isolated Y: one parameter, integrated numerically."""
    structure = structure_named("isolated")
    data = {"A": np.zeros(40, dtype=int), "Y": np.array([0] * 28 + [1] * 12)}
    domain = domain_of(structure, 2)
    posterior, _ = posterior_of(structure, domain, data)
    fit = find_optimum(posterior)
    top = log_joint(posterior, fit.solution.phi)
    area, _ = quad(
        lambda x: math.exp(log_joint(posterior, np.array([[x]])) - top), -3, 3, points=[0.0]
    )
    assert laplace_log_evidence(fit) == pytest.approx(top + math.log(area), abs=0.02)


def test_laplace_orders_tables_as_the_exact_dirichlet_evidence_does():
    """Table or no table? With informative and with useless inputs, both scores say the same."""
    generator = np.random.default_rng(0)
    for seed in range(10):
        generator = np.random.default_rng(seed)
        a, b = generator.integers(0, 2, (2, 300))
        strength = generator.choice([0.0, 0.5])
        y = (generator.random(300) < 0.5 + strength * (a ^ b) * 0.8 - strength * 0.4).astype(int)
        data = {"A": a, "B": b, "Y": y}
        exact = [dirichlet(data, inputs) for inputs in ((), ("A", "B"))]
        laplace = [
            ebnc.fit(structure, data, prior_scale=1.0).log_evidence
            for structure in (
                ebnc.EmbeddedStructure.from_string("[Y][A][B]", target="Y"),
                ebnc.EmbeddedStructure.table("Y", ["A", "B"]),
            )
        ]
        assert np.argmax(exact) == np.argmax(laplace)


def dirichlet(data, inputs):
    """log p(D) of a table with Dirichlet(1, 1) rows: a product of Beta integrals."""
    keys = zip(*(data[x] for x in inputs), strict=True) if inputs else [()] * len(data["Y"])
    counts = {}
    for key, y in zip(keys, data["Y"], strict=True):
        counts.setdefault(key, [0, 0])[y] += 1
    return sum(
        gammaln(n0 + 1) + gammaln(n1 + 1) - gammaln(n0 + n1 + 2) for n0, n1 in counts.values()
    )


@pytest.mark.parametrize("name", [n for n in STRUCTURES if n != "isolated"])
def test_bic_and_laplace_agree_as_data_grow(name):
    """Their difference stays bounded: its slope in log N goes to 0 while each falls by d/2."""
    structure = structure_named(name)
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 3_000, seed=2, scale=0.2)
    differences, penalties = [], []
    sizes = [1e1, 1e2, 1e3, 1e4]
    for times in sizes:
        weights = np.full(3_000, times)
        fitted = ebnc.fit(structure, data, prior_scale=1.0, weights=weights)
        flat = ebnc.fit(structure, data, prior_scale=np.inf, weights=weights)
        differences.append(fitted.log_evidence - flat.bic)
        penalties.append(flat.log_likelihood - flat.bic)
    slopes = np.abs(np.diff(differences)) / np.diff(np.log(sizes))
    assert slopes[-1] < 1e-3 * fitted.dimension
    assert np.diff(penalties)[-1] / np.log(10) == pytest.approx(fitted.dimension / 2)


def test_bic_is_a_log_number_and_higher_is_better():
    assert bic(-100.0, 6, math.e**2) == pytest.approx(-106.0)


def test_the_papers_curvature_is_that_of_the_likelihood():
    structure = structure_named("naive")
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 2_000, seed=1, scale=0.4)
    fitted = ebnc.fit(structure, data, prior_scale=0.5, categories=domain)
    posterior, _ = posterior_of(structure, domain, data, 0.5)
    phi = posterior.design.from_basis(fitted.phi)
    own = posterior.neg_hessian(phi) - np.diag(np.repeat(posterior.precision, 1))
    expected = (
        log_joint(posterior, phi)
        + 0.5 * len(own) * math.log(2 * math.pi)
        - 0.5 * np.linalg.slogdet(own)[1]
    )
    assert fitted.laplace("likelihood") == pytest.approx(expected, abs=1e-7)
    assert fitted.laplace("likelihood") != pytest.approx(fitted.log_evidence, abs=1e-3)


def test_the_papers_curvature_may_be_singular():
    """A state that never occurs has no curvature in the likelihood; the posterior's has."""
    data = {"A": [0, 1] * 20, "Y": [0, 1, 1, 0] * 10}
    naive = ebnc.EmbeddedStructure.naive("Y", ["A"])
    fitted = ebnc.fit(naive, data, prior_scale=1.0, categories={"A": [0, 1, 2]})
    assert math.isfinite(fitted.log_evidence)
    with pytest.raises(SingularHessianError, match="do not determine 1 of 3 parameters"):
        fitted.laplace("likelihood")


def test_there_is_no_evidence_under_a_flat_prior():
    data = {"A": [0, 1] * 20, "Y": [0, 1, 1, 0] * 10}
    fitted = ebnc.fit(ebnc.EmbeddedStructure.naive("Y", ["A"]), data, prior_scale=math.inf)
    with pytest.raises(ParameterError, match="flat prior"):
        _ = fitted.log_evidence
    assert math.isfinite(fitted.bic)
