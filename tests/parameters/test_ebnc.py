"""The EBNC: φ with names on it."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import softmax

from brute_force import configurations, posterior
from ebnc import EBNC, EmbeddedNetwork, EmbeddedStructure, dimension, fit, load
from ebnc.errors import DataError, DomainError, ParameterError, TooLargeError
from strategies import models, seeds

CODINGS = pytest.mark.parametrize("coding", ["indicator", "orthonormal"])


@CODINGS
@given(model=models(min_inputs=1, max_inputs=4, one_state=True, awkward=True), seed=seeds)
def test_the_ebnc_of_a_network_has_its_posterior(coding, model, seed):
    """The definition of §2: brute-force Bayes on the joint of (m′, θ)."""
    network = EmbeddedNetwork.random(model.structure, model.n_states, random_state=seed)
    ebnc = EBNC.from_embedded_network(network, coding)
    rows = configurations(model.structure, model.n_states)
    expected = posterior(model.structure, model.n_states, network.theta)
    np.testing.assert_allclose(ebnc.probabilities(rows), expected, rtol=0, atol=1e-10)
    assert ebnc.dimension == len(ebnc.phi) == dimension(model.structure, model.n_states)


@given(models(min_inputs=1, max_inputs=4, one_state=True), seeds)
def test_both_codings_are_the_same_function(model, seed):
    """indicator → orthonormal → indicator; equal log odds on the way."""
    size = dimension(model.structure, model.n_states)
    phi = np.random.default_rng(seed).normal(size=size)
    ebnc = EBNC(model.structure, model.n_states, phi)
    other = EBNC(model.structure, model.n_states, ebnc.phi_in("orthonormal"), "orthonormal")
    rows = configurations(model.structure, model.n_states)
    np.testing.assert_allclose(other.log_odds(rows), ebnc.log_odds(rows), rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.phi_in("indicator"), phi, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(ebnc.phi_in("indicator"), phi)


@given(models(min_inputs=1, max_inputs=4, max_states=3), seeds)
def test_the_phi_table_is_a_polynomial_in_indicators(model, seed):
    """Summing the rows whose states all hold gives λ; labels, not numbers, stand in it."""
    labels = {x: [f"{x}:{s}" for s in range(r)] for x, r in model.n_states.items()}
    size = dimension(model.structure, model.n_states)
    phi = np.random.default_rng(seed).normal(size=size)
    ebnc = EBNC(model.structure, labels, phi, "orthonormal")
    columns = {
        x: [labels[x][c] for c in codes]
        for x, codes in configurations(model.structure, model.n_states).items()
    }
    expected = ebnc.log_odds(columns)
    table = ebnc.phi_table()
    assert len(table) == size
    classes = labels["Y"][1:]
    for row in range(len(expected)):
        at = {x: column[row] for x, column in columns.items()}
        total = dict.fromkeys(classes, 0.0)
        for entry in table:
            if all(at[x] == s for x, s in zip(entry.term, entry.states, strict=True)):
                total[entry.of_class] += entry.value
        np.testing.assert_allclose([total[c] for c in classes], expected[row], atol=1e-9)


def test_the_phi_table_prints_in_columns():
    """Header, one line a parameter, all of one width."""
    structure = EmbeddedStructure.chain("Y", ["wind", "sea state"])
    ebnc = EBNC(
        structure,
        {"wind": ["calm", "storm"], "sea state": ["low", "high"], "Y": ["stay", "sail"]},
        [0.5, -1.0, 0.25, 1234.5],
    )
    lines = str(ebnc.phi_table()).splitlines()
    assert len(lines) == 5
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split() == ["term", "states", "class", "value"]
    assert "wind · sea state" in lines[-1]
    assert "storm · high" in lines[-1]
    assert lines[-1].endswith("+1234.5000")


@CODINGS
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_log_odds_of_ten_thousand_do_not_overflow(coding, n_classes):
    """φ = ±1e4: softmax without warning, rows sum to 1 within 1e-12."""
    structure = EmbeddedStructure.chain("Y", ["A", "B"])
    n_states = {"A": 3, "B": 2, "Y": n_classes}
    generator = np.random.default_rng(n_classes)
    phi = generator.choice([-1e4, 1e4], size=dimension(structure, n_states))
    ebnc = EBNC(structure, n_states, phi, coding)
    rows = configurations(structure, n_states)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        log_odds, p = ebnc.log_odds(rows), ebnc.probabilities(rows)
    assert np.abs(log_odds).max() >= 1e4
    padded = np.column_stack([np.zeros(len(log_odds)), log_odds])
    np.testing.assert_allclose(p, softmax(padded, axis=1), rtol=1e-9, atol=1e-300)
    assert (np.abs(p.sum(axis=1) - 1) <= 1e-12).all()


@settings(max_examples=30)
@given(models(min_inputs=1, max_inputs=3), seeds)
def test_dropping_a_term_is_the_same_as_a_zero_in_it(model, seed):
    """Nested: the naive part of φ alone is the naive EBNC over the same inputs."""
    structure, r = model.structure, model.n_states
    ebnc = EBNC(structure, r, np.zeros(dimension(structure, r)))
    naive = EmbeddedStructure.naive("Y", structure.markov_blanket)
    generator = np.random.default_rng(seed)
    phi, small = np.zeros(ebnc.dimension), []
    for term in ebnc.basis.terms:
        if len(term.inputs) <= 1:
            block = generator.normal(size=term.stop - term.start)
            phi[term.start : term.stop] = block
            small.append(block)
    large = EBNC(structure, r, phi)
    rows = configurations(structure, r)
    expected = EBNC(naive, r, np.concatenate(small)).log_odds(rows)
    np.testing.assert_allclose(large.log_odds(rows), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_an_ebnc_survives_copying_and_pickling(again):
    """After it has been used."""
    ebnc = EBNC(EmbeddedStructure.naive("Y", ["A"]), {"A": ["x", "y"], "Y": 2}, [0.5, -1.0])
    before = ebnc.probabilities({"A": ["x", "y"]})
    np.testing.assert_array_equal(again(ebnc).probabilities({"A": ["x", "y"]}), before)
    assert repr(again(ebnc)) == repr(ebnc)
    assert "dimension=2" in repr(ebnc)


def test_an_ebnc_does_not_change():
    ebnc = EBNC(EmbeddedStructure.naive("Y", ["X"]), {"X": 2, "Y": 2}, [0.5, 1.0])
    for name in ("phi", "structure", "domain", "background"):
        with pytest.raises(AttributeError, match=f"{name} of an EBNC cannot be changed"):
            setattr(ebnc, name, None)
    with pytest.raises(ValueError, match="read-only"):
        ebnc.phi[0] = 2.0


def test_ebncs_are_equal_by_value():
    naive, n_states = EmbeddedStructure.naive("Y", ["A", "B"]), {"A": 2, "B": 3, "Y": 2}
    ebnc = EBNC(naive, n_states, [0.0, 1.0, 2.0, 3.0])
    assert ebnc == EBNC(naive, n_states, [0.0, 1.0, 2.0, 3.0])
    assert hash(ebnc) == hash(EBNC(naive, n_states, [-0.0, 1.0, 2.0, 3.0]))
    assert ebnc != EBNC(naive, n_states, [0.0, 1.0, 2.0, 4.0])
    assert ebnc != EBNC(naive, n_states, [0.0, 1.0, 2.0, 3.0], "orthonormal")
    assert ebnc != EBNC(naive, {**n_states, "A": ["no", "yes"]}, [0.0, 1.0, 2.0, 3.0])
    assert ebnc != EBNC(EmbeddedStructure.naive("Y", ["B", "A"]), n_states, [0.0, 1.0, 2.0, 3.0])
    assert ebnc != "[Y][A|Y][B|Y]"


def test_a_fitted_ebnc_is_equal_to_the_one_in_its_file(tmp_path):
    data = {"X": ["a", "b", "b", "a"] * 5, "Y": ["n", "n", "y", "y"] * 5}
    fitted = fit(EmbeddedStructure.naive("Y", ["X"]), data)
    fitted.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json") == fitted


def test_an_isolated_target_and_a_single_class_are_fine():
    """One parameter, and none."""
    structure = EmbeddedStructure.from_string("[Y][A]", target="Y")
    ebnc = EBNC(structure, {"A": 2, "Y": 2}, [np.log(3)])
    np.testing.assert_allclose(ebnc.probabilities({"A": [0, 1]}), [[0.25, 0.75]] * 2, atol=1e-15)
    single = EBNC(EmbeddedStructure.naive("Y", ["A"]), {"A": 2, "Y": 1}, [])
    np.testing.assert_array_equal(single.probabilities({"A": [0, 1]}), [[1.0], [1.0]])
    assert len(single.phi_table()) == 0
    assert str(single.phi_table()).split() == ["term", "states", "class", "value"]


NAIVE = EmbeddedStructure.naive("Y", ["A"])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: EBNC(NAIVE, {"A": 2, "Y": 2}, [0.0]), ParameterError, r"shape \(2,\)"),
        (lambda: EBNC(NAIVE, {"A": 2, "Y": 2}, [0.0, np.nan]), ParameterError, "finite"),
        (lambda: EBNC(NAIVE, {"A": 2, "Y": 2}, "ab"), ParameterError, "φ"),
        (lambda: EBNC(NAIVE, {"A": 2, "Y": 2}, [0, 0], "helmert"), ParameterError, "no coding"),
        (lambda: EBNC(NAIVE, {"A": 2}, [0, 0]), DomainError, "for 'Y'"),
        (lambda: EBNC(NAIVE, {"Y": 2}, [0, 0]), DomainError, "for 'A'"),
        (lambda: EBNC(NAIVE, None, [0, 0]), DomainError, "NoneType"),
        (lambda: EBNC(NAIVE, {"A": 2, "Y": 2}, [0, 0]).phi_in("x"), ParameterError, "no coding"),
        (
            lambda: EBNC(NAIVE, {"A": 2, "Y": 2}, [0, 0]).log_odds({"B": [1]}),
            DataError,
            "no column 'A'",
        ),
        (
            lambda: EBNC(NAIVE, {"A": 2, "Y": 2}, [0, 0]).log_odds({"A": [2]}),
            DataError,
            "2 in column 'A'",
        ),
        (
            lambda: EBNC(
                EmbeddedStructure.table("Y", [f"X{i}" for i in range(60)]),
                dict.fromkeys(["Y", *(f"X{i}" for i in range(60))], 2),
                [0.0],
            ),
            TooLargeError,
            "would take",
        ),
    ],
)
def test_bad_arguments_get_one_clear_error(make, error, message):
    """Wrong φ, coding, domain, data; a full table too large to hold."""
    with pytest.raises(error, match=message):
        make()
