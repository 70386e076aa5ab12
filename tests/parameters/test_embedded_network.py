"""Inference in (m′, θ): against brute-force Bayes, pyAgrum, and at the edges of floating point."""

import copy
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import posterior
from ebnc import Domain, EmbeddedNetwork, EmbeddedStructure
from ebnc.data.rows import CodedRows
from ebnc.errors import DataError, DomainError, EBNCError
from strategies import models, seeds


def all_rows(model):
    """Every configuration of the inputs, as columns of codes."""
    inputs = model.structure.inputs
    rows = np.array(list(product(*(range(model.n_states[x]) for x in inputs)))).reshape(
        -1, len(inputs)
    )
    return {name: rows[:, i] for i, name in enumerate(inputs)}


@settings(max_examples=80)
@given(models(min_inputs=1, max_inputs=4, one_state=True, awkward=True), seeds)
def test_inference_is_bayes_rule_on_the_joint(model, seed):
    """p(y|x) and λ of every configuration, summed by brute force."""
    network = EmbeddedNetwork.random(model.structure, model.n_states, random_state=seed)
    expected = posterior(model.structure, model.n_states, network.theta)
    rows = all_rows(model)
    found = network.probabilities(rows)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert (np.abs(found.sum(axis=1) - 1) <= 1e-12).all()
    log_odds = np.log(expected[:, 1:] / expected[:, :1])
    np.testing.assert_allclose(network.log_odds(rows), log_odds, rtol=0, atol=1e-9)


@settings(max_examples=25)
@given(model=models(min_inputs=1, max_inputs=4, max_states=3), seed=seeds)
def test_inference_agrees_with_pyagrum(gum, model, seed):
    """Other people's software: the same network, posteriors by lazy propagation."""
    structure, r = model.structure, model.n_states
    network = EmbeddedNetwork.random(structure, r, random_state=seed)
    bayes_net = gum.BayesNet()
    for name in structure.names:
        bayes_net.add(gum.RangeVariable(name, name, 0, r[name] - 1))
    for tail, head in structure.edges:
        bayes_net.addArc(tail, head)
    for name in structure.names:
        for states in product(*(range(r[a]) for a in (*structure.parents(name), name))):
            at = dict(zip((*structure.parents(name), name), states, strict=True))
            bayes_net.cpt(name)[at] = float(network.theta[name][states])
    rows = all_rows(model)
    generator = np.random.default_rng(seed)
    found = network.probabilities(rows)
    for row in generator.choice(len(found), size=min(5, len(found)), replace=False):
        evidence = {x: int(codes[row]) for x, codes in rows.items()}
        expected = gum.getPosterior(bayes_net, target="Y", evs=evidence).toarray()
        np.testing.assert_allclose(found[row], expected, atol=1e-9)


@given(models(min_inputs=1, max_inputs=5, max_configurations=200), seeds)
def test_an_input_outside_of_the_blanket_never_changes_anything(model, seed):
    """By brute force; and inputs inside change something at a random θ."""
    structure = model.structure
    network = EmbeddedNetwork.random(structure, model.n_states, random_state=seed)
    shape = tuple(model.n_states[x] for x in structure.inputs)
    p = posterior(structure, model.n_states, network.theta).reshape(*shape, -1)
    for axis, name in enumerate(structure.inputs):
        change = np.abs(np.diff(p, axis=axis)).max()
        assert (change > 1e-12) == (name in structure.markov_blanket)


@given(models(min_inputs=1, max_inputs=4), seeds, st.data())
def test_labels_are_looked_up_and_other_columns_ignored(model, seed, data):
    """Strings instead of numbers, columns shuffled, one superfluous."""
    network = EmbeddedNetwork.random(model.structure, model.n_states, random_state=seed)
    labels = {x: [f"{x}={s}" for s in range(r)] for x, r in model.n_states.items()}
    named = EmbeddedNetwork(model.structure, labels, network.theta)
    rows = all_rows(model)
    order = data.draw(st.permutations([*model.structure.inputs, "superfluous"]))
    columns = {x: ["?"] * len(rows[model.structure.inputs[0]]) for x in order}
    columns |= {x: [labels[x][c] for c in codes] for x, codes in rows.items()}
    shuffled = {x: columns[x] for x in order}
    np.testing.assert_array_equal(named.probabilities(shuffled), network.probabilities(rows))


@given(models(min_inputs=1, max_inputs=3), seeds)
def test_rows_are_independent_of_each_other(model, seed):
    """A batch, its reverse and single rows give the same numbers."""
    network = EmbeddedNetwork.random(model.structure, model.n_states, random_state=seed)
    rows = all_rows(model)
    whole = network.probabilities(rows)
    reverse = network.probabilities({x: codes[::-1] for x, codes in rows.items()})
    np.testing.assert_array_equal(reverse[::-1], whole)
    last = network.probabilities({x: codes[-1:] for x, codes in rows.items()})
    np.testing.assert_array_equal(last, whole[-1:])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_log_odds_of_ten_thousand_do_not_overflow(n_classes):
    """Forty inputs with θ = 1e-300: |λ| beyond 2·1e4, no warning, no NaN, rows sum to 1."""
    inputs = [f"X{i}" for i in range(40)]
    structure = EmbeddedStructure.naive("Y", inputs)
    small = 1e-300
    table = [[small, 1.0], [1.0, small], [0.5, 0.5]][:n_classes]
    theta = {"Y": np.full(n_classes, 1 / n_classes), **dict.fromkeys(inputs, table)}
    network = EmbeddedNetwork(structure, dict.fromkeys(inputs, 2) | {"Y": n_classes}, theta)
    data = {x: [0, 1, i % 2] for i, x in enumerate(inputs)}
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        log_odds, p = network.log_odds(data), network.probabilities(data)
    scale = 40 * np.log(1e300)
    np.testing.assert_allclose(log_odds[:, 0], [scale, -scale, 0], rtol=1e-12, atol=1e-9)
    assert scale > 2e4
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p[:2, :2], [[0, 1], [1, 0]], atol=1e-300)
    assert (np.abs(p.sum(axis=1) - 1) <= 1e-12).all()


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_an_isolated_target_has_its_prior_in_every_row(n_rows):
    """No inputs are asked for; the data say how many rows."""
    structure = EmbeddedStructure.from_string("[Y][A]", target="Y")
    theta = {"Y": [0.2, 0.3, 0.5], "A": [0.5, 0.5]}
    network = EmbeddedNetwork(structure, {"A": 2, "Y": 3}, theta)
    expected = np.tile([0.2, 0.3, 0.5], (n_rows, 1)).reshape(n_rows, 3)
    np.testing.assert_allclose(network.probabilities({"A": [0] * n_rows}), expected, atol=1e-15)
    np.testing.assert_allclose(network.probabilities(np.zeros((n_rows, 1))), expected, atol=1e-15)
    assert network.log_odds({"A": [1] * n_rows}).shape == (n_rows, 2)


def test_a_single_class_has_probability_one():
    """K = 1: no log odds, p = 1."""
    structure = EmbeddedStructure.naive("Y", ["A"])
    network = EmbeddedNetwork.random(structure, {"A": 3, "Y": 1})
    assert network.log_odds({"A": [0, 1, 2]}).shape == (3, 0)
    np.testing.assert_array_equal(network.probabilities({"A": [0, 1, 2]}), np.ones((3, 1)))


def test_no_rows_give_no_rows():
    """Zero rows in, zero rows out, with the right number of columns."""
    network = EmbeddedNetwork.random(EmbeddedStructure.naive("Y", ["A"]), {"A": 2, "Y": 4})
    assert network.log_odds({"A": []}).shape == (0, 3)
    assert network.probabilities(np.empty((0, 1), dtype=int)).shape == (0, 4)


@pytest.mark.parametrize("n_states", [255, 256, 257, 65_536, 65_537])
def test_variables_with_many_states_are_coded_without_wrapping(n_states):
    """Both sides of what one byte and two bytes hold."""
    structure = EmbeddedStructure.from_string("[A][Y|A:B][B]", target="Y")
    network = EmbeddedNetwork.random(structure, {"A": n_states, "B": 2, "Y": 2}, random_state=1)
    a = np.array([0, 1, n_states - 2, n_states - 1, 254])
    b = np.array([1, 0, 1, 0, 1])
    expected = np.asarray(network.theta["Y"])[a, b]
    np.testing.assert_allclose(network.probabilities({"A": a, "B": b}), expected, atol=1e-14)


def test_theta_is_kept_apart_from_the_callers_arrays():
    """Changing the array afterwards changes nothing."""
    theta = {"Y": np.array([0.5, 0.5]), "A": np.array([[0.2, 0.8], [0.6, 0.4]])}
    network = EmbeddedNetwork(EmbeddedStructure.naive("Y", ["A"]), {"A": 2, "Y": 2}, theta)
    before = network.probabilities({"A": [0, 1]})
    theta["A"][:] = 0.5
    np.testing.assert_array_equal(network.probabilities({"A": [0, 1]}), before)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda n: pickle.loads(pickle.dumps(n))])
def test_a_network_survives_copying_and_pickling(again):
    """After it has been used."""
    network = EmbeddedNetwork.random(EmbeddedStructure.naive("Y", ["A"]), {"A": 3, "Y": 2})
    before = network.probabilities({"A": [0, 1, 2]})
    np.testing.assert_array_equal(again(network).probabilities({"A": [0, 1, 2]}), before)


def test_a_random_network_is_the_same_for_the_same_seed():
    """And another for another."""
    structure, n_states = EmbeddedStructure.naive("Y", ["A"]), {"A": 3, "Y": 2}
    first, second, other = (
        EmbeddedNetwork.random(structure, n_states, random_state=s).theta["A"] for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)
    assert "[Y][A|Y]" in repr(EmbeddedNetwork.random(structure, n_states))


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        ({"A": 2}, "no states are declared for 'Y'"),
        ({"Y": 2}, "no states are declared for 'A'"),
        ({"A": 0, "Y": 2}, "'A' has 0 states"),
        (None, "got NoneType"),
        ([2, 2], "got list"),
    ],
)
@pytest.mark.parametrize("make", [EmbeddedNetwork.random, lambda s, d: EmbeddedNetwork(s, d, {})])
def test_a_bad_domain_gets_one_clear_error(make, domain, message):
    """Naming the variable."""
    with pytest.raises(DomainError, match=message):
        make(EmbeddedStructure.naive("Y", ["A"]), domain)


def test_coded_rows_of_another_domain_are_refused():
    """Codes are only as good as the domain they were made with."""
    network = EmbeddedNetwork.random(EmbeddedStructure.naive("Y", ["A"]), {"A": 2, "Y": 2})
    rows = CodedRows.from_codes(Domain({"A": 3}), {"A": [0, 1, 2]})
    with pytest.raises(DataError, match="'A' was coded with 3 states, but has 2"):
        network.probabilities(rows)
    with pytest.raises(EBNCError, match="no column 'A'"):
        network.probabilities(CodedRows.from_codes(Domain({"B": 2}), {"B": [0, 1]}))
