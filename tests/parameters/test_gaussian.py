"""Linear Gaussian children: against densities by SciPy, and scikit-learn's discriminants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import GaussianNB

from ebnc import Domain, EmbeddedGaussianNetwork, EmbeddedStructure, dimension
from ebnc.domain import Interval
from ebnc.errors import ParameterError
from strategies import seeds, structures

NAMES = [f"X{i}" for i in range(13)]


def numbers_of(loader, n_classes):
    """Columns by name, rows and classes of a set, with at most ``n_classes`` classes."""
    rows, classes = loader(return_X_y=True)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0) + 1.0
    rows, classes = rows[classes < n_classes], classes[classes < n_classes]
    return dict(zip(NAMES, rows.T, strict=False)), rows, classes


def every_predecessor(n_inputs):
    """[Y][X0|Y][X1|X0:Y][X2|X0:X1:Y] …"""
    names = NAMES[:n_inputs]
    families = [("Y", ()), *((x, (*names[:i], "Y")) for i, x in enumerate(names))]
    return EmbeddedStructure("Y", tuple(families))


def regressions(means, covariances):
    """β and σ² of each input given those before it, for normals N(mean_k, covariance_k)."""
    coefficients, variances = {}, {}
    for i, x in enumerate(NAMES[: means.shape[1]]):
        rows, left = [], []
        for mean, covariance in zip(means, covariances, strict=True):
            slope = np.linalg.solve(covariance[:i, :i], covariance[:i, i]) if i else np.empty(0)
            rows.append([mean[i] - slope @ mean[:i], *slope])
            left.append(covariance[i, i] - slope @ covariance[:i, i])
        coefficients[x], variances[x] = np.array(rows), np.array(left)
    return coefficients, variances


SETS = pytest.mark.parametrize(
    ("loader", "n_classes"), [(load_iris, 2), (load_iris, 3), (load_wine, 2), (load_wine, 3)]
)


def against_the_first(scores):
    """Log odds from scores per class, or from the one score of two classes."""
    return scores[:, None] if scores.ndim == 1 else scores[:, 1:] - scores[:, :1]


@SETS
def test_naive_bayes_of_scikit_learn_is_a_naive_structure(loader, n_classes):
    data, rows, classes = numbers_of(loader, n_classes)
    peer = GaussianNB().fit(rows, classes)
    structure = EmbeddedStructure.naive("Y", data)
    network = EmbeddedGaussianNetwork(
        structure,
        peer.class_prior_,
        {x: peer.theta_[:, [i]] for i, x in enumerate(data)},
        {x: peer.var_[:, i] for i, x in enumerate(data)},
    )
    expected = against_the_first(peer.predict_joint_log_proba(rows))
    np.testing.assert_allclose(network.log_odds(data), expected, rtol=0, atol=1e-8)
    assert len(network.phi) == 1 + 2 * len(data)  # the constant, x and x²
    numeric = Domain({**dict.fromkeys(data, THREE), "Y": n_classes}, data)
    assert len(network.phi) * (n_classes - 1) == dimension(structure, numeric)


THREE = [Interval(-np.inf, 0.0), Interval(0.0, 1.0), Interval(1.0, np.inf)]  # t = 2


@SETS
def test_quadratic_discriminants_are_full_chains_with_unequal_variances(loader, n_classes):
    data, rows, classes = numbers_of(loader, n_classes)
    peer = QuadraticDiscriminantAnalysis(store_covariance=True).fit(rows, classes)
    parameters = regressions(peer.means_, peer.covariance_)
    network = EmbeddedGaussianNetwork(every_predecessor(len(data)), peer.priors_, *parameters)
    expected = against_the_first(peer.decision_function(rows))
    np.testing.assert_allclose(network.log_odds(data), expected, rtol=0, atol=1e-8)
    n = len(data)
    assert len(network.phi) == 1 + 2 * n + n * (n - 1) // 2
    if n_classes == 2:  # xᵀ(Σ₀⁻¹ − Σ₁⁻¹)x / 2
        inverses = np.linalg.inv(np.array(peer.covariance_))
        half = (inverses[0] - inverses[1]) / 2
        np.testing.assert_allclose(network.phi["X1", "X1"], half[1, 1], atol=1e-8)
        np.testing.assert_allclose(network.phi["X0", "X2"], 2 * half[0, 2], atol=1e-8)


@SETS
def test_linear_discriminants_are_full_chains_whose_intercepts_differ(loader, n_classes):
    data, rows, classes = numbers_of(loader, n_classes)
    peer = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(rows, classes)
    coefficients, variances = regressions(peer.means_, [peer.covariance_] * n_classes)
    equal = {x: own[0] for x, own in variances.items()}
    network = EmbeddedGaussianNetwork(
        every_predecessor(len(data)), peer.priors_, coefficients, equal
    )
    expected = against_the_first(peer.decision_function(rows))
    np.testing.assert_allclose(network.log_odds(data), expected, rtol=0, atol=1e-8)
    for monomial, values in network.phi.items():
        if len(monomial) == 2:
            np.testing.assert_allclose(values, 0, atol=1e-8)
    slopes = peer.coef_ if n_classes == 2 else peer.coef_[1:] - peer.coef_[0]
    linear = np.array([network.phi[x,] for x in data])
    np.testing.assert_allclose(linear, slopes.T, rtol=0, atol=1e-8)


@given(structures(min_inputs=1, max_inputs=4), st.integers(1, 4), seeds)
def test_log_odds_and_monomials_are_those_of_the_joint_density(structure, n_classes, seed):
    """All factors of the joint, also of inputs that are no children of Y, by SciPy's densities."""
    generator = np.random.default_rng(seed)
    families = [(x, structure.parents(x)) for x in structure.inputs]
    structure = EmbeddedStructure("Y", (("Y", ()), *families))
    shares = generator.dirichlet(np.ones(n_classes))
    data = {x: generator.normal(size=7) for x in structure.inputs}
    coefficients, variances = {}, {}
    expected = np.log(shares) + np.zeros((7, 1))
    for x in structure.inputs:
        parents = [a for a in structure.parents(x) if a != "Y"]
        of_class = "Y" in structure.parents(x)
        beta = generator.normal(size=(n_classes, 1 + len(parents)))
        variance = generator.uniform(0.5, 2.0, n_classes)
        if of_class:
            coefficients[x], variances[x] = beta, variance
        for k in range(n_classes):
            own = k if of_class else 0
            mean = beta[own, 0] + sum(beta[own, 1 + j] * data[a] for j, a in enumerate(parents))
            expected[:, k] += norm.logpdf(data[x], mean, np.sqrt(variance[own]))
    expected = expected[:, 1:] - expected[:, :1]
    network = EmbeddedGaussianNetwork(structure, shares, coefficients, variances)
    if not network.children:
        assert list(network.phi) == [()]
        return
    np.testing.assert_allclose(network.log_odds(data), expected, rtol=0, atol=1e-9)
    total = np.zeros((7, n_classes - 1))
    for monomial, values in network.phi.items():
        total += np.prod([data[x] for x in monomial] + [np.ones(7)], axis=0)[:, None] * values
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-9)


def test_linear_gaussians_use_a_part_of_their_span():
    """With T = (x, x²) the span of a chain also has products of squares."""
    chain = EmbeddedStructure.chain("Y", ["A", "B"])
    numeric = Domain({"A": THREE, "B": THREE, "Y": 2}, ["A", "B"])
    network = EmbeddedGaussianNetwork(
        chain, [0.5, 0.5], {"A": [[0], [1]], "B": [[0, 1], [0, -1]]}, {"A": 1, "B": [1, 2]}
    )
    assert list(network.phi) == [(), ("A",), ("B",), ("A", "A"), ("A", "B"), ("B", "B")]
    assert dimension(chain, numeric) == 9  # also x_A² x_B, x_A x_B² and x_A² x_B²


NAIVE = EmbeddedStructure.naive("Y", ["A"])


@pytest.mark.parametrize(
    ("shares", "coefficients", "variances", "message"),
    [
        ([0.5, 0.6], {"A": [[0], [1]]}, {"A": 1}, "class_probabilities"),
        ([1.0, 0.0], {"A": [[0], [1]]}, {"A": 1}, "class_probabilities"),
        ([0.5, 0.5], {}, {"A": 1}, "child 'A' of the target needs"),
        ([0.5, 0.5], {"A": [[0], [1]]}, {}, "child 'A' of the target needs"),
        ([0.5, 0.5], {"A": [0, 1]}, {"A": 1}, r"must have shape \(2, 1\)"),
        ([0.5, 0.5], {"A": [[0], [1]]}, {"A": 0}, "variances of 'A'"),
        ([0.5, 0.5], {"A": [[0], [1]]}, {"A": [1, 1, 1]}, "variances of 'A'"),
        ([0.5, 0.5], {"A": [["x"], [1]]}, {"A": 1}, "not an array of numbers"),
    ],
)
def test_bad_parameters_are_refused(shares, coefficients, variances, message):
    with pytest.raises(ParameterError, match=message):
        EmbeddedGaussianNetwork(NAIVE, shares, coefficients, variances)


def test_a_target_with_parents_is_refused():
    structure = EmbeddedStructure.from_string("[A][Y|A]", target="Y")
    with pytest.raises(ParameterError, match="must have none"):
        EmbeddedGaussianNetwork(structure, [0.5, 0.5], {}, {})
