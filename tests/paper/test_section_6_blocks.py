"""§6: the decomposition that turns inputs on one by one (eq. 10–16), blocks, basis (eq. 17–23)."""

from itertools import permutations, product

import numpy as np
import pytest

from brute_force import configurations
from ebnc import EBNC, Domain, EmbeddedNetwork, EmbeddedStructure, dimension, dimension_by_blocks
from ebnc.data.rows import all_configurations
from ebnc.parameters.eta import eta_to_psi, psi_to_log_odds, theta_to_eta
from ebnc.parameters.kappa import theta_to_kappa


@pytest.fixture
def rows(worked):
    return configurations(worked, dict.fromkeys(worked.names, 2))


@pytest.fixture
def at(worked_network, rows):
    """λ at a configuration written as in the paper, without its class: at(2, 1, 1, 2, 1)."""
    table = worked_network.log_odds(rows)[:, 0].reshape((2,) * 5)
    return lambda *states: table[tuple(state - 1 for state in states)]


def logs(theta, name):
    """Log ratio of class 2 to class 1; axes: the inputs of the factor."""
    table = np.log(theta[name])
    if name == "Y":
        return table[..., 1] - table[..., 0]
    return table[:, :, 1] - table[:, :, 0]


def test_equation_10_the_worked_model_is_a_sum_of_three_log_ratios(worked_network, rows):
    theta = worked_network.theta
    expected = (
        logs(theta, "Y")[rows["X1"], rows["X2"]]
        + logs(theta, "X4")[rows["X1"], rows["X3"], rows["X4"]]
        + logs(theta, "X5")[rows["X2"], rows["X3"], rows["X5"]]
    )
    np.testing.assert_allclose(worked_network.log_odds(rows)[:, 0], expected, atol=1e-12)


def test_equation_11_turning_on_x1_changes_two_factors(worked_network, at):
    y, x4 = logs(worked_network.theta, "Y"), logs(worked_network.theta, "X4")
    expected = (y[1, 0] - y[0, 0]) + (x4[1, 0, 0] - x4[0, 0, 0])
    assert at(2, 1, 1, 1, 1) - at(1, 1, 1, 1, 1) == pytest.approx(expected, abs=1e-12)


def test_the_example_below_equation_11(worked_network, at):
    """x = (2, 1, 1, 2, 1): the baseline plus what X1 and then X4 change."""
    y, x4 = logs(worked_network.theta, "Y"), logs(worked_network.theta, "X4")
    first = (y[1, 0] - y[0, 0]) + (x4[1, 0, 0] - x4[0, 0, 0])
    second = x4[1, 0, 1] - x4[1, 0, 0]
    assert at(2, 1, 1, 2, 1) == pytest.approx(at(1, 1, 1, 1, 1) + first + second, abs=1e-12)


def test_equation_12_the_terms_of_the_worked_model(worked, worked_network):
    """Which η make up which ψ, term by term as printed."""
    eta = theta_to_eta(worked, worked_network.theta)
    psi = eta_to_psi(eta)
    contexts = {turn.variable: turn.context for turn in psi.turns}
    assert contexts == {
        "X1": (),
        "X2": ("X1",),
        "X3": ("X1", "X2"),
        "X4": ("X1", "X3"),
        "X5": ("X2", "X3"),
    }
    heads = {turn.variable: [f.head for f, _ in turn.factors] for turn in psi.turns}
    assert heads == {
        "X1": ["Y", "X4"],
        "X2": ["Y", "X5"],
        "X3": ["X4", "X5"],
        "X4": ["X4"],
        "X5": ["X5"],
    }
    changes = eta.changes
    for x1, x2 in product(range(2), repeat=2):
        assert psi.changes["X3"][x1, x2, 0, 0] == pytest.approx(
            changes["X3"]["X4"][x1, 0, 0] + changes["X3"]["X5"][x2, 0, 0]
        )
    for x1 in range(2):
        assert psi.changes["X2"][x1, 0, 0] == pytest.approx(
            changes["X2"]["Y"][x1, 0, 0] + changes["X2"]["X5"][0, 0]
        )


def test_equation_12_gives_lambda(worked, worked_network, rows):
    domain = Domain(dict.fromkeys(worked.names, 2))
    psi = eta_to_psi(theta_to_eta(worked, worked_network.theta))
    found = psi_to_log_odds(psi, all_configurations(domain, worked.inputs))
    np.testing.assert_allclose(found, worked_network.log_odds(rows), atol=1e-12)


def test_equation_13_eta_0_is_the_log_odds_at_the_baseline(worked, worked_network, at):
    eta = theta_to_eta(worked, worked_network.theta)
    assert eta.baseline[0] == pytest.approx(at(1, 1, 1, 1, 1), abs=1e-12)


def test_equation_14_eta_of_y(worked, worked_network):
    y = logs(worked_network.theta, "Y")
    eta = theta_to_eta(worked, worked_network.theta)
    np.testing.assert_allclose(eta.changes["X2"]["Y"][:, 0, 0], y[:, 1] - y[:, 0], atol=1e-12)


def test_equation_15_eta_of_the_input_itself(worked, worked_network):
    x4 = logs(worked_network.theta, "X4")
    eta = theta_to_eta(worked, worked_network.theta)
    np.testing.assert_allclose(
        eta.changes["X4"]["X4"][..., 0, 0], x4[:, :, 1] - x4[:, :, 0], atol=1e-12
    )


def test_equation_16_eta_of_a_child_in_either_of_its_states(worked, worked_network):
    """k = 1 while the child comes later in the order; k = 1, 2 where it comes earlier."""
    x4 = logs(worked_network.theta, "X4")
    late = theta_to_eta(worked, worked_network.theta).changes["X1"]["X4"]
    np.testing.assert_allclose(late[0, 0], x4[1, 0, 0] - x4[0, 0, 0], atol=1e-12)
    order = ["X4", "X1", "X2", "X3", "X5"]
    early = theta_to_eta(worked, worked_network.theta, order).changes["X1"]["X4"]
    np.testing.assert_allclose(early[:, 0, 0], x4[1, 0, :] - x4[0, 0, :], atol=1e-12)


def test_equation_17_d_is_the_rank_of_eta_to_lambda(worked, rows):
    """The matrix of η → λ, built here from the definition of eq. 12, has rank 15."""
    columns, matrix = {}, []
    for x1, x2, x3, x4, x5 in product(range(2), repeat=5):
        row = {("0",): 1}
        if x1:
            row |= {("1y",): 1, ("14",): 1}
        if x2:
            row |= {("2y", x1): 1, ("25",): 1}
        if x3:
            row |= {("34", x1): 1, ("35", x2): 1}
        if x4:
            row |= {("44", x1, x3): 1}
        if x5:
            row |= {("55", x2, x3): 1}
        for name in row:
            columns.setdefault(name, len(columns))
        matrix.append(row)
    dense = np.zeros((32, len(columns)))
    for i, row in enumerate(matrix):
        for name in row:
            dense[i, columns[name]] = 1
    assert np.linalg.matrix_rank(dense) == 15


def test_equation_18_block_by_block(worked):
    """15 = 1 + 1 + 2 + 3 + 4 + 4; the sum starts at i = 0 (errata E3)."""
    found = dimension_by_blocks(worked, dict.fromkeys(worked.names, 2))
    assert found.ranks == (1, 1, 2, 3, 4, 4)
    assert found == 15
    assert [block.variable for block in found.blocks] == [None, "X1", "X2", "X3", "X4", "X5"]


def test_equation_19_the_basis_determines_lambda(worked):
    """ψ at the chosen contexts determines λ: the map from θ to it keeps all 15 dimensions."""
    n_states = dict.fromkeys(worked.names, 2)
    basis = dimension_by_blocks(worked, n_states).basis
    assert len(set(basis)) == 15
    domain = Domain(n_states)
    chosen, everything = [], []
    for seed in range(60):
        network = EmbeddedNetwork.random(worked, n_states, random_state=seed)
        psi = eta_to_psi(theta_to_eta(worked, network.theta))
        values = []
        for p in basis:
            if p.variable is None:
                values.append(psi.baseline[p.of_class - 1])
            else:
                place = (*(state for _, state in p.context), p.state - 1, p.of_class - 1)
                values.append(psi.changes[p.variable][place])
        chosen.append(values)
        everything.append(psi_to_log_odds(psi, all_configurations(domain, worked.inputs))[:, 0])
    chosen, everything = np.array(chosen), np.array(everything)
    assert np.linalg.matrix_rank(chosen) == 15
    linear, *_ = np.linalg.lstsq(chosen, everything, rcond=None)
    np.testing.assert_allclose(chosen @ linear, everything, atol=1e-9)


def test_equations_20_to_23_omega_is_kappa_and_eta_is_linear_in_it(worked, worked_network):
    """ω(y|·) and ω(x_i|·) are the log ratios κ; each η is a difference of two of them."""
    kappa = theta_to_kappa(worked, worked_network.theta)
    eta = theta_to_eta(worked, worked_network.theta)
    baseline = kappa["Y"][0, 0] + kappa["X4"][0, 0, 0] + kappa["X5"][0, 0, 0]  # eq. 20
    np.testing.assert_allclose(eta.baseline, baseline)
    np.testing.assert_allclose(  # eq. 21
        eta.changes["X1"]["Y"][0], kappa["Y"][1, 0] - kappa["Y"][0, 0]
    )
    np.testing.assert_allclose(  # eq. 22
        eta.changes["X5"]["X5"][:, :, 0], kappa["X5"][:, :, 1] - kappa["X5"][:, :, 0]
    )
    np.testing.assert_allclose(  # eq. 23
        eta.changes["X3"]["X5"][:, 0], kappa["X5"][:, 1, 0] - kappa["X5"][:, 0, 0]
    )


def test_any_variable_order_gives_the_same_dimension_and_the_same_log_odds(worked, worked_network):
    """ "We can use any variable order to build the decomposition": all 120 of them."""
    n_states = dict.fromkeys(worked.names, 2)
    every = all_configurations(Domain(n_states), worked.inputs)
    expected = worked_network.log_odds(every)
    for order in permutations(worked.inputs):
        assert dimension_by_blocks(worked, n_states, order) == 15
        psi = eta_to_psi(theta_to_eta(worked, worked_network.theta, order))
        np.testing.assert_allclose(psi_to_log_odds(psi, every), expected, atol=1e-12)


def test_non_binary_variables_only_take_additional_book_keeping():
    structure = EmbeddedStructure.from_string(
        "[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]", target="Y"
    )
    n_states = {"X1": 3, "X2": 2, "X3": 4, "X4": 2, "X5": 3, "Y": 3}
    network = EmbeddedNetwork.random(structure, n_states, random_state=2)
    every = all_configurations(Domain(n_states), structure.inputs)
    for order in (None, ["X5", "X3", "X1", "X4", "X2"]):
        psi = eta_to_psi(theta_to_eta(structure, network.theta, order))
        np.testing.assert_allclose(psi_to_log_odds(psi, every), network.log_odds(every), atol=1e-12)
        assert dimension_by_blocks(structure, n_states, order) == dimension(structure, n_states)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_markov_chain_has_2n_parameters(n):
    """d = 1 + 1 + 2(n − 1) = 2n, block by block and in closed form."""
    structure = EmbeddedStructure.chain("Y", [f"X{i}" for i in range(n)])
    n_states = dict.fromkeys(structure.names, 2)
    assert dimension_by_blocks(structure, n_states).ranks == (1, 1, *[2] * (n - 1))
    assert dimension(structure, n_states) == 2 * n


def test_phi_to_lambda_is_an_alternative_inference_method(worked_network, rows):
    ebnc = EBNC.from_embedded_network(worked_network)
    np.testing.assert_allclose(ebnc.log_odds(rows), worked_network.log_odds(rows), atol=1e-12)


def test_an_ebnc_is_a_softmax_polynomial_regression(worked_network, rows):
    """λ written out as the polynomial in indicators whose 15 monomials are the terms of φ."""
    ebnc = EBNC.from_embedded_network(worked_network)
    monomials = [row.term for row in ebnc.phi_table()]
    assert monomials == [
        *[(), ("X1",), ("X2",), ("X3",), ("X4",), ("X5",)],
        *[("X1", "X2"), ("X1", "X3"), ("X1", "X4"), ("X2", "X3"), ("X2", "X5")],
        *[("X3", "X4"), ("X3", "X5"), ("X1", "X3", "X4"), ("X2", "X3", "X5")],
    ]
    polynomial = sum(
        row.value * np.prod([rows[x] for x in row.term] or [np.ones(32)], axis=0)
        for row in ebnc.phi_table()
    )
    np.testing.assert_allclose(worked_network.log_odds(rows)[:, 0], polynomial, atol=1e-12)
    softmax = np.exp(polynomial) / (1 + np.exp(polynomial))
    np.testing.assert_allclose(worked_network.probabilities(rows)[:, 1], softmax, atol=1e-14)
