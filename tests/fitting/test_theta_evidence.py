"""Eq. 8 summed over local maxima in θ, against exact integrals over θ."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import ebnc
from ebnc.domain import Domain
from ebnc.errors import ParameterError
from ebnc.fitting.theta_likelihood import ThetaLikelihood
from ebnc.fitting.theta_posterior import ThetaPosterior
from problems import domain_of, random_data, read_cases, structure_named


def posterior_of(structure, domain, data, alpha):
    cases = read_cases(data, domain, structure.inputs, "Y").counted()
    counts = np.zeros((len(cases), domain.n_states("Y")))
    counts[np.arange(len(cases)), cases.classes] = cases.weights
    return ThetaPosterior(ThetaLikelihood(structure, domain, cases.rows, counts), alpha)


def dirichlet_evidence(counts, alpha):
    """∫ Π θ^N Dirichlet(θ; α): the closed form, one row for each distribution."""
    k = counts.shape[1]
    total = counts.sum(axis=1)
    each = gammaln(k * alpha) - gammaln(k * alpha + total)
    return float(each.sum() + (gammaln(alpha + counts) - gammaln(alpha)).sum())


def laplace_by_hand(counts, alpha):
    """Laplace of Dirichlet posteriors in log ratios: |A| = (N + K α)^(K − 1) Π θ of each."""
    k = counts.shape[1]
    posterior = counts + alpha
    total = posterior.sum(axis=1)
    theta = posterior / total[:, None]
    each = gammaln(k * alpha) - k * gammaln(alpha) + (posterior * np.log(theta)).sum(axis=1)
    each += 0.5 * (k - 1) * np.log(2 * np.pi / total) - 0.5 * np.log(theta).sum(axis=1)
    return float(each.sum())


def quadrature(structure, data, n_points=24):
    """log ∫ p(D | θ) dθ for binary variables, θ uniform: Gauss–Legendre in every θ."""
    points, weights = np.polynomial.legendre.leggauss(n_points)
    points, weights = (points + 1) / 2, weights / 2
    cells = [
        (x, a) for x in ("A", "B", "Y") if x in structure.names for a in _configs(structure, x)
    ]
    # Only Y and its children matter.
    cells = [(x, a) for x, a in cells if x == "Y" or "Y" in structure.parents(x)]
    grids = np.meshgrid(*[points] * len(cells), indexing="ij")
    log_weight = sum(np.meshgrid(*[np.log(weights)] * len(cells), indexing="ij"))
    of_cell = dict(zip(cells, grids, strict=True))

    def theta(name, row):
        given = tuple(row[p] for p in structure.parents(name))
        one = of_cell[name, given]
        return one if row[name] else 1 - one

    total = log_weight.copy()
    names = list(structure.names)
    rows, counts = np.unique(np.column_stack([data[x] for x in names]), axis=0, return_counts=True)
    for values, n in zip(rows, counts, strict=True):
        joint = []
        for y in (0, 1):
            row = dict(zip(names, map(int, values), strict=True)) | {"Y": y}
            factors = [x for x in names if x == "Y" or "Y" in structure.parents(x)]
            joint.append(np.prod([theta(x, row) for x in factors], axis=0))
        own = int(values[names.index("Y")])
        total += n * np.log(joint[own] / (joint[0] + joint[1]))
    return float(logsumexp(total))


def _configs(structure, name):
    return list(product((0, 1), repeat=len(structure.parents(name))))


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_table_has_the_evidence_of_dirichlets(alpha, n_classes):
    """The trivial EBNC: one maximum, and an error that goes to 0 as 1/N in each distribution."""
    structure = ebnc.EmbeddedStructure.from_string("[A][Y|A]", target="Y")
    domain = domain_of(structure, n_classes)
    errors = []
    for n in (300, 3_000):
        data, _ = random_data(structure, domain, n, seed=2, scale=0.3)
        found = ebnc.fit_theta(structure, data, alpha=alpha, n_starts=4)
        counts = np.zeros((3, n_classes))
        np.add.at(counts, (data["A"], data["Y"]), 1)
        assert len(found.maxima) == 1
        errors.append(abs(found.summed_log_evidence - dirichlet_evidence(counts, alpha)))
        mode = (counts + alpha) / (counts + alpha).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found.network.theta["Y"], mode, atol=1e-6)
        assert found.summed_log_evidence == pytest.approx(laplace_by_hand(counts, alpha), abs=1e-6)
    assert errors[0] < 0.3
    assert errors[1] < 0.2 * errors[0]


def test_one_distribution_is_laplace_of_a_beta():
    """No inputs, two classes: log p(D, u) + ½ log 2π − ½ log A, written out."""
    structure = ebnc.EmbeddedStructure.naive("Y", [])
    found = ebnc.fit_theta(structure, {"Y": [0] * 7 + [1] * 3}, alpha=2, n_starts=3)
    p, total = 5 / 14, 14
    log_joint = 9 * np.log(1 - p) + 5 * np.log(p) + gammaln(4) - 2 * gammaln(2)
    expected = log_joint + 0.5 * np.log(2 * np.pi) - 0.5 * np.log(total * p * (1 - p))
    assert found.summed_log_evidence == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("string", "tolerance"), [("[Y][A|Y]", 0.3), ("[A][Y][B|A:Y]", 0.5)])
@pytest.mark.parametrize("seed", range(3))
def test_sums_over_maxima_are_near_the_integral(string, tolerance, seed):
    """θ is redundant, so the posterior keeps its prior's width along some directions, where Laplace
    is off by a few tenths of a nat at any N."""
    structure = ebnc.EmbeddedStructure.from_string(string, target="Y")
    rng = np.random.default_rng(seed)
    data = {x: rng.integers(2, size=60) for x in structure.inputs}
    data["Y"] = (rng.random(60) < 0.2 + 0.5 * data[structure.inputs[-1]]).astype(int)
    found = ebnc.fit_theta(structure, data, alpha=1, n_starts=20)
    exact = quadrature(structure, data, 14)
    assert found.summed_log_evidence == pytest.approx(exact, abs=tolerance)


def test_maxima_that_mirror_each_other_all_count():
    """A → B ← Y and data in which B may be turned round for either state of A: four maxima of the
    posterior, equally high, without three of which the evidence would be log 4 too low."""
    structure = ebnc.EmbeddedStructure.from_string("[A][Y][B|A:Y]", target="Y")
    counts = {(0, 0): (25, 25), (0, 1): (25, 25), (1, 0): (5, 45), (1, 1): (5, 45)}
    rows = [(a, b, y) for (a, b), both in counts.items() for y in (0, 1) for _ in range(both[y])]
    data = dict(zip("ABY", np.array(rows).T, strict=True))
    found = ebnc.fit_theta(structure, data, alpha=1, n_starts=30)
    contributions = [maximum.log_evidence for maximum in found.maxima]
    assert len(contributions) == 4
    assert np.ptp(contributions) < 1e-6
    assert sum(maximum.n_starts for maximum in found.maxima) + found.n_failed == 30
    exact = quadrature(structure, data, 14)
    assert found.summed_log_evidence == pytest.approx(exact, abs=0.25)
    assert contributions[0] < exact - 1.2


@pytest.mark.parametrize("name", ["naive", "worked"])
def test_gradient_and_hessian_equal_finite_differences(name):
    structure = structure_named(name)
    domain = domain_of(structure, 3)
    data, _ = random_data(structure, domain, 200, seed=1)
    posterior = posterior_of(structure, domain, data, alpha=0.7)
    u = np.random.default_rng(0).normal(size=len(posterior.free))
    _, gradient = posterior.value_and_gradient(u)
    hessian = posterior.neg_hessian(u)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-10)
    for i in range(0, len(u), 5):
        unit = np.zeros(len(u))
        unit[i] = 1e-5
        ahead, behind = (posterior.value_and_gradient(u + s * unit) for s in (1, -1))
        assert gradient[i] == pytest.approx((ahead[0] - behind[0]) / 2e-5, abs=1e-4)
        np.testing.assert_allclose(hessian[i], (behind[1] - ahead[1]) / 2e-5, atol=1e-4)


def test_evidence_does_not_depend_on_which_state_is_the_baseline():
    structure = ebnc.EmbeddedStructure.from_string("[Y][A|Y]", target="Y")
    domain = Domain({"A": 3, "Y": 3})
    data, _ = random_data(structure, domain, 150, seed=3)
    turned = {x: (2 - values) for x, values in data.items()}
    one = ebnc.fit_theta(structure, data, alpha=1, n_starts=10)
    other = ebnc.fit_theta(structure, turned, alpha=1, n_starts=10)
    assert one.summed_log_evidence == pytest.approx(other.summed_log_evidence, abs=1e-5)


def test_evidence_and_bic_need_their_own_maxima():
    structure = ebnc.EmbeddedStructure.naive("Y", ["A"])
    data = {"A": [0, 1, 0, 1, 1], "Y": [0, 1, 1, 0, 1]}
    with pytest.raises(ParameterError, match="fit with alpha"):
        _ = ebnc.fit_theta(structure, data, n_starts=2).summed_log_evidence
    with pytest.raises(ParameterError, match="fit without alpha"):
        ebnc.fit_theta(structure, data, alpha=1, n_starts=2).summed_bic()
    for alpha in (0, -1, np.inf, "1"):
        with pytest.raises(ParameterError, match="alpha must be a positive number"):
            ebnc.fit_theta(structure, data, alpha=alpha)
