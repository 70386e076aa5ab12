"""The way back, φ → θ: exact wherever an equivalent structure fills its span."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

from brute_force import configurations, posterior
from ebnc import EBNC, EmbeddedNetwork, EmbeddedStructure, dimension
from ebnc.errors import EBNCError, NoEmbeddedNetworkError, ParameterError, TooLargeError
from strategies import all_dags, cluster_sets, is_acyclic, models, seeds

WORKED = "[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]"


def random_ebnc(structure, n_states, seed, scale=2.0):
    phi = np.random.default_rng(seed).normal(scale=scale, size=dimension(structure, n_states))
    return EBNC(structure, n_states, phi)


@settings(max_examples=100)
@given(models(min_inputs=1, max_inputs=5, one_state=True, max_configurations=300), seeds)
def test_phi_to_theta_to_log_odds_is_exact_for_decomposable_clusters(model, seed):
    """Any φ whatever; λ of the θ found by brute-force Bayes on its own joint."""
    structure, r = model.structure, model.n_states
    assume(is_acyclic(cluster_sets(structure)))
    ebnc = random_ebnc(structure, r, seed)
    network = ebnc.to_embedded_network()
    structure = structure.without([x for x in structure.inputs if r[x] == 1])
    assume(structure.inputs)
    assert network.structure.cluster_key == structure.cluster_key
    if structure.fills_span:
        assert network.structure == structure
    rows = configurations(network.structure, r)
    p = posterior(network.structure, r, network.theta)
    expected = ebnc.log_odds(rows)
    np.testing.assert_allclose(np.log(p[:, 1:] / p[:, :1]), expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(network.log_odds(rows), expected, rtol=0, atol=1e-10)


def test_every_structure_on_three_inputs_leads_back():
    """All 543 DAGs on four variables, three classes, unequal states, one random φ each."""
    r = {"A": 2, "B": 3, "C": 2, "Y": 3}
    for seed, families in enumerate(all_dags(["Y", "A", "B", "C"])):
        structure = EmbeddedStructure("Y", families)
        ebnc = random_ebnc(structure, r, seed)
        rows = configurations(structure, r)
        found = ebnc.to_embedded_network().log_odds(rows)
        np.testing.assert_allclose(found, ebnc.log_odds(rows), rtol=0, atol=1e-10)


@settings(max_examples=40)
@given(models(min_inputs=1, max_inputs=4), seeds)
def test_theta_of_a_network_leads_back_to_its_log_odds(model, seed):
    """θ → φ → θ′: another θ perhaps, the same p(y|x)."""
    structure, r = model.structure, model.n_states
    assume(is_acyclic(cluster_sets(structure)))
    network = EmbeddedNetwork.random(structure, r, random_state=seed)
    again = EBNC.from_embedded_network(network, "orthonormal").to_embedded_network()
    rows = configurations(structure, r)
    np.testing.assert_allclose(
        again.probabilities(rows), network.probabilities(rows), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 100.0])
def test_large_phi_is_exact_too(scale):
    """Normalising constants are summed in log space."""
    structure = EmbeddedStructure.tree("Y", [("A", "B"), ("A", "C"), ("C", "D")])
    r = {"A": 3, "B": 2, "C": 3, "D": 2, "Y": 3}
    ebnc = random_ebnc(structure, r, 3, scale)
    rows = configurations(structure, r)
    found = ebnc.to_embedded_network().log_odds(rows)
    np.testing.assert_allclose(found, ebnc.log_odds(rows), rtol=1e-12, atol=1e-10)


def test_a_chain_of_five_hundred_inputs_leads_back():
    """Constants are handed on five hundred times."""
    names = [f"X{i}" for i in range(500)]
    structure = EmbeddedStructure.chain("Y", names)
    r = dict.fromkeys(structure.names, 2)
    ebnc = random_ebnc(structure, r, 1)
    generator = np.random.default_rng(0)
    rows = {x: generator.integers(2, size=20) for x in names}
    found = ebnc.to_embedded_network().log_odds(rows)
    np.testing.assert_allclose(found, ebnc.log_odds(rows), rtol=0, atol=1e-9)


@settings(max_examples=100)
@given(models(min_inputs=4, max_inputs=5, max_states=2, n_classes=2, max_parents=3), seeds)
def test_clusters_that_are_not_decomposable_are_refused(model, seed):
    """Refused exactly there; the message says what to ask for instead."""
    ebnc = random_ebnc(model.structure, model.n_states, seed)
    if is_acyclic(cluster_sets(model.structure)):
        ebnc.to_embedded_network()
    else:
        with pytest.raises(NoEmbeddedNetworkError, match="closest_embedded_network"):
            ebnc.to_embedded_network()


def test_the_worked_model_is_refused_by_name():
    """§6's model, even for a φ that came from some θ."""
    structure = EmbeddedStructure.from_string(WORKED, target="Y")
    network = EmbeddedNetwork.random(structure, dict.fromkeys(structure.names, 2))
    with pytest.raises(NoEmbeddedNetworkError, match="not decomposable") as error:
        EBNC.from_embedded_network(network).to_embedded_network()
    assert isinstance(error.value, EBNCError)


def test_a_theta_below_the_smallest_number_is_refused_by_name():
    """φ = 1e4 would need θ = exp(−1e4) = 0, which has no log odds."""
    ebnc = EBNC(EmbeddedStructure.naive("Y", ["A"]), {"A": 2, "Y": 2}, [0.0, 1e4])
    with pytest.raises(ParameterError, match="θ of 'A' underflows"):
        ebnc.to_embedded_network()


def test_an_equivalent_whose_tables_do_not_fit_is_refused():
    """Thirty pairs in one table of Y cannot be held, whichever way it is turned."""
    structure = EmbeddedStructure.table("Y", [f"X{i}" for i in range(40)])
    with pytest.raises(TooLargeError, match="would take"):
        EBNC(structure, dict.fromkeys(structure.names, 2), []).to_embedded_network()
