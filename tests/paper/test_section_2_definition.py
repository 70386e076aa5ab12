"""§1–2: factorisation, the definition of an EBNC, Figure 1, and the counts given there."""

from math import prod

import numpy as np
import pytest

from brute_force import configurations, joint, posterior
from ebnc import EBNC, EmbeddedNetwork, EmbeddedStructure, dimension


def inputs(n):
    return [f"X{i + 1}" for i in range(n)]


def n_theta(structure, n_states):
    """Free entries of θ with the traditional encoding of local distributions."""
    return sum(
        prod(n_states[p] for p in structure.parents(name)) * (n_states[name] - 1)
        for name in structure.names
    )


def test_equation_1_the_joint_is_the_product_of_local_distributions(worked, worked_network):
    """Axes of θ are parents in the structure's order, then the variable: the product sums to 1."""
    table = joint(worked, dict.fromkeys(worked.names, 2), worked_network.theta)
    assert len(table) == 2**6
    assert sum(table.values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_figure_1a_the_traditional_local_distribution_has_2_to_the_n_parameters(n):
    structure = EmbeddedStructure.table("Y", inputs(n))
    n_states = dict.fromkeys(structure.names, 2)
    assert dimension(structure, n_states) == 2**n


@pytest.mark.parametrize("n", [1, 3, 6])
def test_figure_1b_naive_bayes_has_2n_plus_1_parameters_in_theta(n):
    structure = EmbeddedStructure.naive("Y", inputs(n))
    assert n_theta(structure, dict.fromkeys(structure.names, 2)) == 2 * n + 1


def test_definition_p_of_y_given_x_is_that_of_the_embedded_network(worked, worked_network):
    """The EBNC in φ and (m′, θ) give one and the same p(y|x): the definition, with errata E8."""
    n_states = dict.fromkeys(worked.names, 2)
    expected = posterior(worked, n_states, worked_network.theta)
    ebnc = EBNC.from_embedded_network(worked_network)
    rows = configurations(worked, n_states)
    np.testing.assert_allclose(ebnc.probabilities(rows), expected, rtol=0, atol=1e-12)


def test_the_trivial_ebnc_is_any_conditional_table():
    """Every table p(y|x) is an EBNC: Y the child of all inputs."""
    structure = EmbeddedStructure.table("Y", ["X1", "X2"])
    n_states = {"X1": 3, "X2": 2, "Y": 4}
    table = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 2))
    theta = {"X1": np.full(3, 1 / 3), "X2": np.full(2, 1 / 2), "Y": table}
    network = EmbeddedNetwork(structure, n_states, theta)
    rows = configurations(structure, n_states)
    for model in (network, EBNC.from_embedded_network(network)):
        np.testing.assert_allclose(model.probabilities(rows), table.reshape(6, 4), atol=1e-12)
    assert structure.fills_span


def test_inputs_that_are_dependent_in_the_embedded_network_do_not_matter_for_p_of_y():
    """§2's caution: what m′ says of p(x) is thrown away; only the ratio of eq. 4 is used."""
    string = "[X1][X2|X1][Y][X3|X2:Y]"
    structure = EmbeddedStructure.from_string(string, target="Y")
    n_states = dict.fromkeys(structure.names, 2)
    network = EmbeddedNetwork.random(structure, n_states, random_state=3)
    changed = dict(network.theta) | {"X2": [[0.9, 0.1], [0.01, 0.99]]}
    other = EmbeddedNetwork(structure, n_states, changed)
    rows = configurations(structure, n_states)
    np.testing.assert_array_equal(network.log_odds(rows), other.log_odds(rows))
