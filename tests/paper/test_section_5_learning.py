"""§5: Theorem 2 and eq. 8–9, maxima in θ, feature selection by evidence; errata E2 and E4."""

import math

import numpy as np
import pytest
from scipy.integrate import nquad

import ebnc
from ebnc.fitting.newton import maximise
from ebnc.fitting.optimum import find_optimum
from ebnc.score.laplace import laplace_log_evidence
from problems import domain_of, log_joint, posterior_of, random_data, structure_named


@pytest.fixture
def two_parameters():
    """Naive Bayes with one binary input: d = 2, so the evidence can be integrated."""
    structure = ebnc.EmbeddedStructure.naive("Y", ["A"])
    data = {"A": [0] * 60 + [1] * 60, "Y": [0] * 40 + [1] * 20 + [0] * 15 + [1] * 45}
    domain = ebnc.Domain({"A": 2, "Y": 2})
    return posterior_of(structure, domain, data, 1.0)[0]


def integrated(posterior, top):
    area, _ = nquad(
        lambda a, b: math.exp(log_joint(posterior, np.array([[a], [b]])) - top),
        [[-2, 2], [-2, 2]],
        opts={"epsabs": 1e-10},
    )
    return top + math.log(area)


@pytest.mark.slow
def test_equation_8_is_the_logarithm_of_the_integral(two_parameters):
    fit = find_optimum(two_parameters)
    top = log_joint(two_parameters, fit.solution.phi)
    assert laplace_log_evidence(fit) == pytest.approx(integrated(two_parameters, top), abs=0.02)


@pytest.mark.slow
def test_e4_the_term_is_half_of_d_log_2_pi(two_parameters):
    """As printed in the proof, without the ½, it would be off by (d/2) log 2π = 1.84."""
    fit = find_optimum(two_parameters)
    top = log_joint(two_parameters, fit.solution.phi)
    printed = top + 2 * math.log(2 * math.pi) - 0.5 * fit.factor.log_determinant
    assert abs(printed - integrated(two_parameters, top)) > 1.8


def test_e2_the_likelihood_is_a_sum_of_logs(two_parameters):
    phi = maximise(two_parameters).phi
    log_z = two_parameters.log_likelihood(phi)
    assert log_z < 0  # a sum of probabilities, as printed, would be positive
    structure = ebnc.EmbeddedStructure.naive("Y", ["A"])
    fitted = ebnc.EBNC(
        structure, {"A": 2, "Y": 2}, two_parameters.design.to_basis(phi), "orthonormal"
    )
    p = fitted.probabilities({"A": [0, 1]})
    by_hand = (
        40 * np.log(p[0, 0]) + 20 * np.log(p[0, 1]) + 15 * np.log(p[1, 0]) + 45 * np.log(p[1, 1])
    )
    assert log_z == pytest.approx(by_hand)


def test_equation_9_is_what_grows_with_n():
    """Laplace minus BIC tends to a constant as the same data are seen again and again."""
    structure = structure_named("naive")
    data, _ = random_data(structure, domain_of(structure, 2), 1_000, seed=1, scale=0.2)
    differences = []
    for times in (1e2, 1e4, 1e6):
        weights = np.full(1_000, times)
        laplace = ebnc.fit(structure, data, prior_scale=1.0, weights=weights).log_evidence
        differences.append(laplace - ebnc.fit(structure, data, math.inf, weights=weights).bic)
    first, second = np.abs(np.diff(differences))
    assert second < 0.1 * first + 1e-6


def test_theorem_2_scores_of_nodes_add_up():
    """Parameters of different nodes are distinct: likelihoods and dimensions add up."""
    generator = np.random.default_rng(0)
    a = generator.integers(0, 2, 400)
    b = np.where(generator.random(400) < 0.8, a, 1 - a)
    data = {"A": a, "B": b}
    node_a = ebnc.fit(ebnc.EmbeddedStructure.from_edges([], target="A"), data, prior_scale=1.0)
    node_b = ebnc.fit(ebnc.EmbeddedStructure.table("B", ["A"]), data, prior_scale=1.0)
    joint = {"A and B": [f"{i}{j}" for i, j in zip(a, b, strict=True)]}
    likelihood = node_a.log_likelihood + node_b.log_likelihood
    saturated = ebnc.fit(
        ebnc.EmbeddedStructure.from_edges([], target="A and B"), joint, prior_scale=math.inf
    )
    assert node_a.dimension + node_b.dimension == saturated.dimension == 3
    assert likelihood == pytest.approx(saturated.log_likelihood, abs=0.1)


def test_marginal_likelihood_selects_the_features_that_matter():
    """ "This procedure provides a method for deciding what subset of the input variables …"."""
    generator = np.random.default_rng(3)
    a, b, noise = generator.integers(0, 2, (3, 500))
    y = (generator.random(500) < 0.1 + 0.4 * a + 0.4 * b).astype(int)
    data = {"A": a, "B": b, "N": noise, "Y": y}
    subsets = [[], ["A"], ["B"], ["N"], ["A", "B"], ["A", "N"], ["B", "N"], ["A", "B", "N"]]
    for score in ("log_evidence", "bic"):
        scores = {
            tuple(inputs): getattr(
                ebnc.fit(ebnc.EmbeddedStructure.naive("Y", inputs), data, prior_scale=1.0), score
            )
            for inputs in subsets
        }
        assert max(scores, key=scores.get) == ("A", "B")


def test_in_phi_there_is_one_maximum_in_theta_there_may_be_several():
    """The likelihood is concave in φ; in θ we sum over the maxima found, as the paper advises."""
    structure = ebnc.EmbeddedStructure.from_string("[A][Y][B|A:Y]", target="Y")
    counts = {(0, 0): (30, 10), (0, 1): (40, 20), (1, 0): (5, 45), (1, 1): (15, 35)}
    rows = [(a, b, y) for (a, b), both in counts.items() for y in (0, 1) for _ in range(both[y])]
    data = dict(zip("ABY", np.array(rows).T, strict=True))
    found = ebnc.fit_theta(structure, data, n_starts=10)
    assert len(found.maxima) >= 2
    best = found.log_likelihood - 0.5 * 4 * math.log(200)
    assert found.summed_bic(4, 200) > best
    domain = ebnc.Domain({"A": 2, "B": 2, "Y": 2})
    posterior, _ = posterior_of(structure, domain, data, math.inf)
    generator = np.random.default_rng(0)
    shape = (posterior.design.n_columns, 1)
    ends = [maximise(posterior, generator.normal(size=shape)).phi for _ in range(10)]
    np.testing.assert_allclose(ends, np.broadcast_to(ends[0], (10, *shape)), atol=1e-5)
