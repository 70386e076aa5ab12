"""Queries: exact ones against brute force, approximate ones within four standard errors."""

import numpy as np
import pytest

import ebnc
from ebnc.errors import DataError, NetworkError, ParameterError, QueryError, TooLargeError
from ebnc.network import query as module
from network.networks import joint_table, random_network


def expected_answer(network, variables, evidence):
    table = joint_table(network)
    names = network.variables
    for name, state in evidence.items():
        table = np.take(table, [network.domain.codes(name)[state]], axis=names.index(name))
    others = tuple(i for i, x in enumerate(names) if x not in variables)
    kept = [x for x in names if x in variables]
    table = table.sum(axis=others) / table.sum()
    return np.transpose(table, [kept.index(x) for x in variables])


def questions(seed):
    """A network and a random question to it."""
    rng = np.random.default_rng(seed)
    network = random_network(seed, n_nodes=6)
    names = list(rng.permutation(network.variables))
    evidence = {x: str(rng.choice(network.domain[x])) for x in names[:2]}
    return network, [str(x) for x in names[2:4]], {str(x): s for x, s in evidence.items()}


@pytest.mark.parametrize("seed", range(10))
def test_exact_by_listing(seed):
    network, variables, evidence = questions(seed)
    found = network.query(variables, evidence, method="exact")
    assert found.method == "exact (listing)"
    expected = expected_answer(network, variables, evidence)
    np.testing.assert_allclose(found.probabilities, expected, rtol=1e-10)
    states = tuple(network.domain[x][0] for x in variables)
    assert found[states] == pytest.approx(expected[0, 0])
    assert found.to_dict()[states] == found[states]


@pytest.mark.parametrize("seed", range(5))
def test_exact_through_pyagrum(seed, gum, monkeypatch):
    monkeypatch.setattr(module, "MOST_LISTED", 0)
    network, variables, evidence = questions(seed)
    for asked in (variables, variables[:1]):
        for given in (evidence, {}):
            found = network.query(asked, given)
            assert found.method == "exact (pyAgrum)"
            expected = expected_answer(network, asked, given)
            np.testing.assert_allclose(found.probabilities, expected, rtol=1e-9)
            by_listing = np.log(_probability(network, given))
            assert found.log_evidence == pytest.approx(by_listing, abs=1e-9)


def _probability(network, evidence):
    table = joint_table(network)
    where = [
        network.domain.codes(x)[evidence[x]] if x in evidence else slice(None)
        for x in network.variables
    ]
    return table[tuple(where)].sum()


@pytest.mark.parametrize("method", ["weighting", "gibbs"])
@pytest.mark.parametrize("seed", range(4))
def test_sampling_within_four_standard_errors(method, seed):
    network, variables, evidence = questions(seed)
    found = network.query(variables[0], evidence, method=method, n_samples=20_000)
    expected = expected_answer(network, variables[:1], evidence)
    assert found.method == method
    assert (np.abs(found.probabilities - expected) <= 4 * found.standard_errors).all()
    assert found.standard_errors.max() < 0.05
    again = network.query(variables[0], evidence, method=method, n_samples=20_000)
    np.testing.assert_array_equal(again.probabilities, found.probabilities)


def test_weighting_estimates_the_probability_of_the_evidence():
    network, variables, evidence = questions(2)
    found = network.query(variables, evidence, method="weighting", n_samples=50_000)
    assert found.log_evidence == pytest.approx(np.log(_probability(network, evidence)), abs=0.05)


def test_a_node_with_hundreds_of_parents():
    """No table could hold it; with its parents known the answer is one look-up."""
    rng = np.random.default_rng(0)
    names = [f"X{i}" for i in range(300)]
    domain = dict.fromkeys([*names, "Y"], 2)
    y = ebnc.EBNC(ebnc.EmbeddedStructure.naive("Y", names), domain, rng.normal(0, 0.2, 301))
    network = ebnc.Network([*(ebnc.Table(x, [], domain, [0.5, 0.5]) for x in names), y])
    evidence = {x: int(rng.integers(2)) for x in names}
    found = network.query("Y", evidence)
    row = {x: [s] for x, s in evidence.items()}
    np.testing.assert_allclose(found.probabilities, y.probabilities(row)[0], rtol=1e-12)
    few = dict(list(evidence.items())[:250])
    sampled = network.query("Y", few)
    assert sampled.method == "weighting"
    with pytest.raises(TooLargeError, match="'Y' alone has 300 parents"):
        network.query("Y", few, method="exact")
    with pytest.raises(TooLargeError):
        network.write_bif("never-written.bif")


def test_rare_evidence_goes_to_gibbs(monkeypatch):
    monkeypatch.setattr(module, "MOST_LISTED", 0)
    monkeypatch.setattr(module, "_exact", _too_large)
    names = [f"X{i}" for i in range(30)]
    domain = dict.fromkeys(["Y", *names], 2)
    y = ebnc.Table("Y", [], domain, [0.999, 0.001])
    children = [ebnc.Table(x, ["Y"], domain, [[0.9, 0.1], [0.2, 0.8]]) for x in names]
    network = ebnc.Network([y, *children])
    evidence = {x: int(i < 15) for i, x in enumerate(names)}
    found = network.query("Y", evidence, n_samples=4000)
    n_ones = sum(evidence.values())
    odds = 0.001 * 0.8**n_ones * 0.2 ** (30 - n_ones) / (0.999 * 0.1**n_ones * 0.9 ** (30 - n_ones))
    assert found.method == "gibbs"
    assert abs(found[1] - odds / (1 + odds)) <= 4 * found.standard_errors[1]


def _too_large(question):
    raise TooLargeError("for the test")


@pytest.mark.parametrize("method", ["exact", "weighting", "gibbs", "auto"])
def test_impossible_evidence(method):
    domain = {"A": 2, "B": 2}
    network = ebnc.Network(
        [
            ebnc.Table("A", [], domain, [1.0, 0.0]),
            ebnc.Table("B", ["A"], domain, [[0.5, 0.5], [0.5, 0.5]]),
        ]
    )
    with pytest.raises(QueryError, match="probability"):
        network.query("B", {"A": 1}, method=method)


def test_impossible_evidence_in_pyagrum(gum, monkeypatch):
    monkeypatch.setattr(module, "MOST_LISTED", 0)
    test_impossible_evidence("exact")


def test_bad_questions():
    network = random_network(0)
    a, b = network.variables[:2]
    with pytest.raises(NetworkError, match="no node 'Q'"):
        network.query("Q")
    with pytest.raises(NetworkError, match="no node 'Q'"):
        network.query(a, {"Q": "s0"})
    with pytest.raises(DataError, match="'s9' in column"):
        network.query(a, {b: "s9"})
    with pytest.raises(QueryError, match="none of the evidence"):
        network.query(a, {a: "s0"})
    with pytest.raises(QueryError, match="at least one"):
        network.query([])
    with pytest.raises(ParameterError, match="method must be one of"):
        network.query(a, method="guess")
    with pytest.raises(ParameterError, match="n_samples"):
        network.query(a, n_samples=0)
    with pytest.raises(QueryError, match="not a state"):
        network.query(a)["s9"]
