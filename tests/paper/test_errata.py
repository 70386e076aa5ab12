"""One test per erratum of docs/theory/errata.md: the paper as printed fails, as corrected holds."""

import numpy as np
import pytest

from brute_force import configurations, posterior
from ebnc import (
    EBNC,
    EmbeddedNetwork,
    EmbeddedStructure,
    closest_embedded_network,
    dimension,
    dimension_by_blocks,
    generic_dimension,
)
from ebnc.errors import NoEmbeddedNetworkError
from ebnc.parameters.eta import eta_to_psi, theta_to_eta


def binary(structure):
    return dict.fromkeys(structure.names, 2)


def test_e1_phi_of_equation_6_is_a_difference_of_logs():
    structure = EmbeddedStructure.naive("Y", ["X"])
    theta = {"Y": [0.5, 0.5], "X": [[0.8, 0.2], [0.3, 0.7]]}
    network = EmbeddedNetwork(structure, binary(structure), theta)
    turned_on = float(np.diff(network.log_odds({"X": [0, 1]})[:, 0])[0])
    printed = 0.7 / 0.2 - 0.3 / 0.8
    corrected = np.log(0.7 / 0.2) - np.log(0.3 / 0.8)
    assert turned_on == pytest.approx(corrected)
    assert turned_on != pytest.approx(printed)


def test_e3_the_sum_of_equation_18_starts_at_zero(worked):
    ranks = dimension_by_blocks(worked, binary(worked)).ranks
    assert sum(ranks) == 15
    assert sum(ranks[1:]) == 14


def test_e5_the_model_with_15_parameters_is_the_worked_one(worked):
    """The text says Figure 2d where it speaks of the model of Figure 2a, eq. 10."""
    assert dimension(worked, binary(worked)) == 15


@pytest.mark.parametrize(("n_classes", "span", "generic"), [(4, 12, 11), (5, 16, 14), (6, 20, 17)])
def test_e6_the_image_need_not_be_open_in_its_span(n_classes, span, generic):
    """X1 → X2 ← Y with binary inputs: θ(x_2|x_1, y) has fewer degrees of freedom than κ."""
    structure = EmbeddedStructure.from_string("[X1][Y][X2|X1:Y]", target="Y")
    n_states = {"X1": 2, "X2": 2, "Y": n_classes}
    assert dimension(structure, n_states) == span
    assert generic_dimension(structure, n_states) == generic


@pytest.mark.parametrize(("n_classes", "rank"), [(2, 4), (3, 8), (4, 11), (5, 14), (6, 17)])
def test_e6_the_jacobian_by_finite_differences_has_the_generic_rank(n_classes, rank):
    """The same ranks without any of our algebra: differences of brute-force log odds."""
    structure = EmbeddedStructure.from_string("[X1][Y][X2|X1:Y]", target="Y")
    n_states = {"X1": 2, "X2": 2, "Y": n_classes}
    sizes = {"Y": (n_classes,), "X2": (2, n_classes, 2)}
    start = np.random.default_rng(0).normal(size=n_classes + 4 * n_classes)

    def log_odds(logits):
        theta = {"X1": np.array([0.5, 0.5])}
        parts = {"Y": logits[:n_classes], "X2": logits[n_classes:]}
        for name, part in parts.items():
            weights = np.exp(part.reshape(sizes[name]))
            theta[name] = weights / weights.sum(axis=-1, keepdims=True)
        p = posterior(structure, n_states, theta)
        return np.log(p[:, 1:] / p[:, :1]).ravel()

    step = 1e-5
    jacobian = [
        (log_odds(start + step * unit) - log_odds(start - step * unit)) / (2 * step)
        for unit in np.eye(len(start))
    ]
    assert np.linalg.matrix_rank(np.array(jacobian), tol=1e-6) == rank


def test_e6_the_image_is_a_proper_part_of_the_span(worked):
    """Binary Y, so the dimensions agree; yet this φ of the worked model has no θ."""
    assert not worked.fills_span
    phi = np.zeros(15)
    ebnc = EBNC(worked, binary(worked), phi)
    # X4 and X5 must each raise y² in every context, which no probabilities can do.
    for names in (("X1", "X3"), ("X2", "X3")):
        phi[ebnc.basis.term(names).start] = 3.0
    ebnc = EBNC(worked, binary(worked), phi)
    with pytest.raises(NoEmbeddedNetworkError, match="not decomposable"):
        ebnc.to_embedded_network()
    closest = closest_embedded_network(ebnc, n_starts=3)
    rows = configurations(worked, binary(worked))
    p, q = ebnc.probabilities(rows), closest.network.probabilities(rows)
    divergence = np.mean(np.sum(p * np.log(p / q), axis=1))
    assert closest.divergence == pytest.approx(divergence, abs=1e-9)
    assert closest.divergence >= 0


def test_e7_the_markov_chain_display():
    """The second term is for X_1, not for a running X_i, and the first brace defines ψ_0."""
    structure = EmbeddedStructure.chain("Y", ["X1", "X2", "X3"])
    network = EmbeddedNetwork.random(structure, binary(structure), random_state=4)
    psi = eta_to_psi(theta_to_eta(structure, network.theta))
    baseline, x1_on, x3_on = network.log_odds({"X1": [0, 1, 0], "X2": [0, 0, 0], "X3": [0, 0, 1]})
    assert psi.baseline == pytest.approx(baseline)
    assert x1_on - baseline == pytest.approx(psi.changes["X1"][0])
    assert x3_on - baseline == pytest.approx(psi.changes["X3"][0, 0])


def test_e9_the_markov_chain_display_lacks_the_terms_of_the_next_input():
    """Turning on X_i also changes θ(x_{i+1}^1|x_i, y): ψ_i = η_i(x_i|·) + η_i(x_{i+1}^1|x_i, y)."""
    structure = EmbeddedStructure.chain("Y", ["X1", "X2", "X3"])
    network = EmbeddedNetwork.random(structure, binary(structure), random_state=4)
    eta = theta_to_eta(structure, network.theta)
    baseline, x1_on = network.log_odds({"X1": [0, 1], "X2": [0, 0], "X3": [0, 0]})
    own, of_next = eta.changes["X1"]["X1"][0], eta.changes["X1"]["X2"][0]
    assert x1_on - baseline != pytest.approx(own)  # as printed
    assert x1_on - baseline == pytest.approx(own + of_next)


def test_e8_the_ebnc_is_obtained_from_the_embedded_network(worked, worked_network):
    """(m′, θ_m′), not (m, θ_m): m has Y as the child of all inputs, and would need 32 numbers."""
    outer = EmbeddedStructure.table("Y", worked.inputs)
    assert dimension(outer, binary(outer)) == 32
    assert EBNC.from_embedded_network(worked_network).dimension == 15
