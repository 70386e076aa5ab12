"""§3: posterior log odds (eq. 2), softmax (eq. 3), the order with Y late, and eq. 4."""

import numpy as np
import pytest

from brute_force import configurations, posterior
from ebnc import EmbeddedNetwork, EmbeddedStructure

STRUCTURES = [
    "[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]",
    "[Y][X1|Y][X2|X1:Y][X3|X2:Y]",
    "[X1][Y|X1][X2|X1:Y][X3|X2]",
    "[X3|X1:Y][X1][Y][X2|X3:X1]",
    "[X1][X2|X1][Y|X2][X3|Y][X4|X3:Y]",
    "[Y][X1]",
]


@pytest.fixture(params=STRUCTURES)
def case(request):
    structure = EmbeddedStructure.from_string(request.param, target="Y")
    n_states = {name: 2 + i % 3 for i, name in enumerate(structure.names)} | {"Y": 3}
    network = EmbeddedNetwork.random(structure, n_states, random_state=7)
    return (
        network,
        configurations(structure, n_states),
        posterior(structure, n_states, network.theta),
    )


def test_equation_2_log_odds_are_against_the_first_class(case):
    network, rows, expected = case
    log_odds = np.log(expected[:, 1:] / expected[:, :1])
    np.testing.assert_allclose(network.log_odds(rows), log_odds, rtol=0, atol=1e-11)


def test_equation_3_softmax_leads_back_to_probabilities(case):
    network, rows, expected = case
    by_hand = np.exp(network.log_odds(rows))
    by_hand = by_hand / (1 + by_hand.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(network.probabilities(rows)[:, 1:], by_hand, atol=1e-14)
    np.testing.assert_allclose(network.probabilities(rows), expected, rtol=0, atol=1e-12)


def test_equation_4_is_a_sum_over_y_and_its_children_only(case):
    """Terms of descendants of Y that are not its children cancel as well."""
    network, rows, expected = case
    structure = network.structure
    assert {f.head for f in structure.factors} == {"Y", *structure.children("Y")}
    total = 0.0
    for factor in structure.factors:
        log_theta = np.log(network.theta[factor.head])
        axes = (*structure.parents(factor.head), factor.head)
        terms = [
            log_theta[tuple(k if a == "Y" else rows[a] for a in axes)] + np.zeros(len(expected))
            for k in range(3)
        ]
        total = total + np.stack([terms[k] - terms[0] for k in (1, 2)], axis=1)
    np.testing.assert_allclose(network.log_odds(rows), total, rtol=0, atol=1e-12)


def test_total_order_has_y_as_late_as_possible(case):
    """Consistent with m′, and Y an ancestor of everything behind it."""
    structure = case[0].structure
    order = structure.total_order
    place = {name: i for i, name in enumerate(order)}
    assert sorted(order) == sorted(structure.names)
    assert all(place[tail] < place[head] for tail, head in structure.edges)
    reached = {"Y"}
    for name in order[place["Y"] + 1 :]:
        assert reached & set(structure.parents(name))
        reached.add(name)


def test_lambda_is_not_a_set_of_free_parameters():
    """End of §3: naive Bayes with two binary inputs has 4 log odds that obey one equation."""
    structure = EmbeddedStructure.naive("Y", ["X1", "X2"])
    n_states = dict.fromkeys(structure.names, 2)
    network = EmbeddedNetwork.random(structure, n_states, random_state=0)
    (l00, l01, l10, l11) = network.log_odds(configurations(structure, n_states))[:, 0]
    assert l11 - l10 - l01 + l00 == pytest.approx(0, abs=1e-12)
