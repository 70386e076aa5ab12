"""§4: eq. 5–7, Theorem 1 and the dimension by elimination."""

import numpy as np
import pytest

from brute_force import configurations
from ebnc import (
    EBNC,
    EmbeddedNetwork,
    EmbeddedStructure,
    dimension,
    dimension_by_elimination,
    generic_dimension,
)
from ebnc.parameters.kappa import kappa_to_tables, theta_to_kappa


@pytest.fixture
def naive():
    structure = EmbeddedStructure.naive("Y", ["X1", "X2", "X3"])
    return EmbeddedNetwork.random(structure, dict.fromkeys(structure.names, 2), random_state=5)


def test_equation_5_naive_log_odds_are_a_sum_over_inputs(naive):
    y, theta = naive.theta["Y"], naive.theta
    rows = configurations(naive.structure, dict.fromkeys(naive.structure.names, 2))
    expected = np.log(y[1] / y[0]) + sum(
        np.log(theta[x][1, rows[x]] / theta[x][0, rows[x]]) for x in ("X1", "X2", "X3")
    )
    np.testing.assert_allclose(naive.log_odds(rows)[:, 0], expected, atol=1e-12)


def test_equation_6_naive_ebnc_has_n_plus_1_parameters_with_these_values(naive):
    """φ_0 and φ_i as printed, but differences of *logs* of ratios (errata E1)."""
    y, theta = naive.theta["Y"], naive.theta
    phi = EBNC.from_embedded_network(naive).phi
    ratio = {x: np.log(theta[x][1] / theta[x][0]) for x in ("X1", "X2", "X3")}
    phi_0 = np.log(y[1] / y[0]) + sum(r[0] for r in ratio.values())
    expected = [phi_0, *(r[1] - r[0] for r in ratio.values())]
    assert len(phi) == 3 + 1
    np.testing.assert_allclose(phi, expected, atol=1e-12)


def test_equation_7_theta_to_kappa_to_lambda(worked, worked_network):
    """κ are log ratios of θ, and λ is linear in κ."""
    kappa = theta_to_kappa(worked, worked_network.theta)
    x4 = worked_network.theta["X4"]  # axes X1, X3, Y, X4
    np.testing.assert_allclose(kappa["X4"][..., 0], np.log(x4[:, :, 1, :] / x4[:, :, 0, :]))
    y = worked_network.theta["Y"]
    np.testing.assert_allclose(kappa["Y"][..., 0], np.log(y[..., 1] / y[..., 0]))
    rows = configurations(worked, dict.fromkeys(worked.names, 2))
    by_hand = (
        kappa["Y"][rows["X1"], rows["X2"]]
        + kappa["X4"][rows["X1"], rows["X3"], rows["X4"]]
        + kappa["X5"][rows["X2"], rows["X3"], rows["X5"]]
    )
    np.testing.assert_allclose(worked_network.log_odds(rows), by_hand, atol=1e-12)
    assert kappa_to_tables(worked, kappa).scopes == (
        ("X1", "X2"),
        ("X1", "X3", "X4"),
        ("X2", "X3", "X5"),
    )


def test_theorem_1_the_image_lies_in_a_linear_space_of_the_dimension_found(worked):
    """200 random θ span exactly d = 15 dimensions of λ, and no more."""
    n_states = dict.fromkeys(worked.names, 2)
    rows = configurations(worked, n_states)
    sample = [
        EmbeddedNetwork.random(worked, n_states, random_state=seed).log_odds(rows)[:, 0]
        for seed in range(200)
    ]
    assert np.linalg.matrix_rank(np.array(sample)) == 15 == dimension(worked, n_states)


def test_theorem_1_the_image_is_open_in_its_span_for_binary_y(worked):
    n_states = dict.fromkeys(worked.names, 2)
    assert generic_dimension(worked, n_states) == dimension(worked, n_states)


def test_dimension_by_elimination_gives_15_for_the_worked_model(worked):
    """§6: "which we also obtain using the method described in Section 4"."""
    assert dimension_by_elimination(worked, dict.fromkeys(worked.names, 2)) == 15


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_naive_dimension_is_n_plus_1(n):
    structure = EmbeddedStructure.naive("Y", [f"X{i}" for i in range(n)])
    n_states = dict.fromkeys(structure.names, 2)
    assert dimension(structure, n_states) == n + 1
    assert dimension_by_elimination(structure, n_states) == n + 1
