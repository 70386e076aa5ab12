"""The closest θ: reaches what can be reached, says how far the rest is."""

import numpy as np
import pytest

from brute_force import configurations, posterior
from ebnc import (
    EBNC,
    EmbeddedNetwork,
    EmbeddedStructure,
    closest_embedded_network,
    dimension,
)
from ebnc.errors import TooLargeError

WORKED = EmbeddedStructure.from_string("[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]", target="Y")
COLLIDER = EmbeddedStructure.from_string("[X1][Y][X2|X1:Y]", target="Y")
BINARY = dict.fromkeys(WORKED.names, 2)


def mean_divergence(p, q):
    """Mean over rows of Σ_k p log p/q, in nats."""
    return float(np.mean(np.sum(p * (np.log(p) - np.log(q)), axis=1)))


def random_ebnc(structure, n_states, seed, scale=1.5):
    phi = np.random.default_rng(seed).normal(scale=scale, size=dimension(structure, n_states))
    return EBNC(structure, n_states, phi)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("structure", "n_states"),
    [
        (WORKED, BINARY),
        (COLLIDER, {"X1": 2, "X2": 2, "Y": 4}),
        (COLLIDER, {"X1": 3, "X2": 2, "Y": 2}),
    ],
    ids=["worked", "four classes", "three states"],
)
def test_what_comes_from_a_theta_is_found_again(structure, n_states, seed):
    """θ → φ → closest θ: divergence next to nothing, on this very structure."""
    network = EmbeddedNetwork.random(structure, n_states, random_state=seed)
    found = closest_embedded_network(EBNC.from_embedded_network(network), n_starts=3)
    assert found.network.structure == structure
    assert found.divergence < 1e-7
    rows = configurations(structure, n_states)
    np.testing.assert_allclose(
        found.network.probabilities(rows), network.probabilities(rows), atol=2e-3
    )


@pytest.mark.parametrize("seed", range(2))
def test_a_structure_that_fills_its_span_has_divergence_zero(seed):
    """Chain: every φ is reached."""
    structure = EmbeddedStructure.chain("Y", ["A", "B", "C"])
    ebnc = random_ebnc(structure, {"A": 2, "B": 3, "C": 2, "Y": 3}, seed)
    assert closest_embedded_network(ebnc, n_starts=2).divergence < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("structure", "n_states"),
    [(WORKED, BINARY), (COLLIDER, {"X1": 2, "X2": 2, "Y": 4})],
    ids=["worked", "four classes"],
)
def test_the_divergence_is_that_of_the_network_and_no_other_theta_is_closer(structure, n_states):
    """Against brute-force Bayes, sixty random θ and small changes of the θ found."""
    ebnc = random_ebnc(structure, n_states, 5)
    found = closest_embedded_network(ebnc, n_starts=4)
    wanted = ebnc.probabilities(configurations(structure, n_states))
    reached = posterior(structure, n_states, found.network.theta)
    assert found.divergence == pytest.approx(mean_divergence(wanted, reached), rel=1e-5, abs=1e-9)
    generator = np.random.default_rng(1)
    for seed in range(60):
        other = EmbeddedNetwork.random(structure, n_states, random_state=seed).theta
        assert mean_divergence(wanted, posterior(structure, n_states, other)) >= found.divergence
        near = {}
        for name, table in found.network.theta.items():
            moved = np.asarray(table) * np.exp(generator.normal(scale=0.05, size=table.shape))
            near[name] = moved / moved.sum(axis=-1, keepdims=True)
        closeness = mean_divergence(wanted, posterior(structure, n_states, near))
        assert closeness >= found.divergence - 1e-9


def test_a_phi_out_of_reach_stays_at_a_distance():
    """X1 → X2 ← Y: κ(·|a) of one sign in every context is no θ on this structure."""
    ebnc = EBNC(COLLIDER, {"X1": 2, "X2": 2, "Y": 2}, [0.0, 3.0, 0.0, -0.0])
    found = closest_embedded_network(ebnc, n_starts=4)
    assert found.divergence > 1e-3
    exact = ebnc.to_embedded_network()  # on an equivalent structure it is
    rows = {"X1": [0, 0, 1, 1], "X2": [0, 1, 0, 1]}
    np.testing.assert_allclose(exact.log_odds(rows), ebnc.log_odds(rows), atol=1e-10)


@pytest.mark.slow
def test_the_search_is_reproducible():
    """Same seed, same θ, bit for bit."""
    ebnc = random_ebnc(WORKED, BINARY, 7)
    first = closest_embedded_network(ebnc, n_starts=2, random_state=3)
    second = closest_embedded_network(ebnc, n_starts=2, random_state=3)
    assert first.divergence == second.divergence
    for name in WORKED.names:
        np.testing.assert_array_equal(first.network.theta[name], second.network.theta[name])


@pytest.mark.slow
def test_more_starts_are_never_worse():
    """The first starts are the same ones."""
    ebnc = random_ebnc(WORKED, BINARY, 11, scale=3.0)
    one = closest_embedded_network(ebnc, n_starts=1).divergence
    assert closest_embedded_network(ebnc, n_starts=4).divergence <= one + 1e-15


def test_inputs_outside_of_the_blanket_are_carried_along_and_constants_are_not():
    """A table for every variable, whether it matters or not; one with one state is none."""
    structure = EmbeddedStructure.from_string("[X1][Y][X2|X1:Y][X3|X2][X4|Y]", target="Y")
    n_states = {"X1": 2, "X2": 2, "X3": 3, "X4": 1, "Y": 2}
    found = closest_embedded_network(random_ebnc(structure, n_states, 0), n_starts=2)
    assert set(found.network.theta) == {"X1", "X2", "X3", "Y"}


def test_too_many_configurations_are_refused_at_once():
    """All configurations of the blanket would be listed: 2^60."""
    structure = EmbeddedStructure.naive("Y", [f"X{i}" for i in range(60)])
    ebnc = EBNC(structure, dict.fromkeys(structure.names, 2), np.zeros(61))
    with pytest.raises(TooLargeError, match="60 inputs would take"):
        closest_embedded_network(ebnc)
