"""All marginals at once, and most probable states: brute force, pyAgrum, single queries."""

import numpy as np
import pytest

import ebnc
from ebnc.errors import NetworkError, ParameterError, QueryError, TooLargeError
from ebnc.network.inference import elimination, two_passes
from network.networks import joint_table, random_network


def given_evidence(network, rng, n):
    names = rng.permutation(network.variables)[:n].tolist()
    return {x: str(rng.choice(network.domain[x])) for x in names}


def conditional_table(network, evidence):
    """p(all | evidence) and p(evidence); the axes of observed variables have length 1."""
    table = joint_table(network)
    for x, state in evidence.items():
        axis = network.variables.index(x)
        table = np.take(table, [network.domain.codes(x)[state]], axis=axis)
    return table / table.sum(), table.sum()


@pytest.mark.parametrize("seed", range(5))
def test_marginals_are_those_of_brute_force(seed):
    network, rng = random_network(seed, n_nodes=5), np.random.default_rng(seed)
    for n_known in (0, 1, 3):
        evidence = given_evidence(network, rng, n_known)
        table, p_evidence = conditional_table(network, evidence)
        found = network.marginals(evidence)
        assert list(found) == [x for x in network.variables if x not in evidence]
        for x, answer in found.items():
            others = tuple(i for i, y in enumerate(network.variables) if y != x)
            np.testing.assert_allclose(answer.probabilities, table.sum(axis=others), rtol=1e-10)
            assert answer.log_evidence == pytest.approx(np.log(p_evidence), abs=1e-10)
            assert answer.method == "exact"


@pytest.mark.parametrize("seed", range(3))
def test_marginals_are_those_of_pyagrum(seed, gum):
    """On 30 nodes, where no joint table exists."""
    network = random_network(seed, n_nodes=30, max_parents=3)
    evidence = given_evidence(network, np.random.default_rng(seed), 5)
    engine = gum.LazyPropagation(network.to_pyagrum())
    engine.setEvidence({x: network.domain[x].index(s) for x, s in evidence.items()})
    found = network.marginals(evidence)
    assert len(found) == 25
    for x, answer in found.items():
        assert answer.method == "exact"
        np.testing.assert_allclose(
            answer.probabilities, engine.posterior(x).toarray(), rtol=0, atol=1e-9
        )
    expected = float(np.log(engine.evidenceProbability()))
    assert found[next(iter(found))].log_evidence == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_most_probable_states_are_those_of_brute_force(seed):
    network, rng = random_network(seed, n_nodes=5), np.random.default_rng(seed)
    for n_known in (0, 2):
        evidence = given_evidence(network, rng, n_known)
        table, _ = conditional_table(network, evidence)
        best = np.unravel_index(table.argmax(), table.shape)
        found = network.most_probable(evidence)
        expected = {
            x: network.domain[x][code]
            for x, code in zip(network.variables, best, strict=True)
            if x not in evidence
        }
        assert dict(found.states) == expected
        assert found.log_probability == pytest.approx(np.log(table.max()), abs=1e-10)
        assert found[next(iter(expected))] == next(iter(expected.values()))


def test_ties_have_one_answer():
    two = {"A": ["x", "y"], "B": ["x", "y"]}
    equal = [[0.5, 0.5], [0.5, 0.5]]
    network = ebnc.Network(
        [ebnc.Table("A", [], two, [0.5, 0.5]), ebnc.Table("B", ["A"], two, equal)]
    )
    assert dict(network.most_probable().states) == {"A": "x", "B": "x"}
    assert dict(network.most_probable({"B": "y"}).states) == {"A": "x"}
    assert dict(network.most_probable({"A": "x", "B": "y"}).states) == {}


def test_zeros():
    """Impossible states are never most probable, and have marginal 0; 0/0 does not occur."""
    two = {"A": 2, "B": 2, "C": 2}
    tables = [
        ebnc.Table("A", [], two, [0.0, 1.0]),
        ebnc.Table("B", ["A"], two, [[0.5, 0.5], [1.0, 0.0]]),
        ebnc.Table("C", ["A", "B"], two, [[[0.5, 0.5], [0.0, 1.0]], [[0.3, 0.7], [0.2, 0.8]]]),
    ]
    network = ebnc.Network(tables)
    found = network.marginals()
    assert found["A"].to_dict() == {0: 0.0, 1: 1.0}
    assert found["B"].to_dict() == {0: 1.0, 1: 0.0}
    assert found["C"][1] == pytest.approx(0.7)
    assert dict(network.most_probable().states) == {"A": 1, "B": 0, "C": 1}
    for ask in (network.marginals, network.most_probable):
        with pytest.raises(QueryError, match="probability 0"):
            ask({"B": 1})


def wide(n_parents):
    """An EBNC with many parents, one of which is a child of a chain; a child of it."""
    rng = np.random.default_rng(0)
    names = [f"X{i}" for i in range(n_parents)]
    domain = dict.fromkeys([*names, "Y", "Z"], 2)
    phi = rng.normal(0, 0.3, n_parents + 1)
    y = ebnc.EBNC(ebnc.EmbeddedStructure.naive("Y", names), domain, phi)
    roots = [ebnc.Table(x, [], domain, [0.4, 0.6]) for x in names]
    return ebnc.Network([*roots, y, ebnc.Table("Z", ["Y"], domain, [[0.9, 0.1], [0.3, 0.7]])])


def test_thirty_parents_are_no_table_of_a_billion_cells():
    """What needs no large table is exact; the rest shares samples and has 95 % intervals."""
    network = wide(30)
    found = network.marginals(random_state=1)
    assert found["X3"].method == "exact"
    assert found["X3"][1] == pytest.approx(0.6)
    assert found["Y"].method == found["Z"].method == "weighting"
    low, high = found["Y"].intervals()
    assert (low > 0).all()
    np.testing.assert_allclose((high - low) / 2, 1.959964 * found["Y"].standard_errors, rtol=1e-6)
    assert found["Z"][1] == pytest.approx(0.1 + 0.6 * found["Y"][1], abs=0.02)
    frame = found.to_frame()
    assert list(frame.columns) == ["variable", "state", "probability", "low", "high"]
    assert len(frame) == 64
    with pytest.raises(TooLargeError, match="give the states of more variables"):
        network.most_probable()
    known = {f"X{i}": i % 2 for i in range(18)}
    exact = network.marginals(known)
    assert {each.method for each in exact.values()} == {"exact"}
    rest = np.array([[i >> k & 1 for k in range(12)] for i in range(2**12)])
    phi = network["Y"].phi
    log_odds = phi[0] + sum(phi[1 + i] for i in range(18) if i % 2) + rest @ phi[19:]
    weights = np.prod(np.where(rest, 0.6, 0.4), axis=1)
    assert exact["Y"][1] == pytest.approx(weights @ (1 / (1 + np.exp(-log_odds))), rel=1e-9)
    assert set(network.most_probable(known).states) == {*(f"X{i}" for i in range(18, 30)), "Y", "Z"}


def test_the_ways_of_answering_agree(monkeypatch):
    network = random_network(3, n_nodes=6)
    x, *others = network.variables
    evidence = {x: network.domain[x][0]}
    exact = network.marginals(evidence)
    monkeypatch.setattr(two_passes, "MOST_CELLS_TOGETHER", 1)
    for method in ("auto", "exact"):
        found = network.marginals(evidence, method=method)
        for y in others:
            np.testing.assert_allclose(found[y].probabilities, exact[y].probabilities, rtol=1e-10)
    for method in ("weighting", "gibbs"):
        found = network.marginals(evidence, method=method, n_samples=5000)
        for y in others:
            error = np.abs(found[y].probabilities - exact[y].probabilities)
            assert (error <= 4 * found[y].standard_errors).all()
            assert found[y].method == method
    monkeypatch.setattr(elimination, "MOST_CELLS", 1)
    sampled = ebnc.Network(network.values()).marginals(evidence)
    assert {each.method for each in sampled.values()} <= {"weighting", "gibbs"}


def test_intervals_of_numbers_as_evidence():
    """Equal to single queries, with the density in log p(evidence)."""
    rng = np.random.default_rng(0)
    dose = rng.exponential(size=300)
    data = {"dose": dose, "kind": np.where(rng.random(300) < dose / 3, "b", "a")}
    network = ebnc.Network.fit([("dose", "kind")], data, numbers="smooth")
    for value in (1.5, ebnc.Interval(0.7, 1.8)):
        found, alone = network.marginals({"dose": value}), network.query("kind", {"dose": value})
        np.testing.assert_allclose(found["kind"].probabilities, alone.probabilities, rtol=1e-10)
        assert found["kind"].log_evidence == pytest.approx(alone.log_evidence, abs=1e-10)
    marginal = network.marginals({"kind": "b"})["dose"]
    assert marginal.mean() == pytest.approx(network.query("dose", {"kind": "b"}).mean())
    inside = network.most_probable({"dose": ebnc.Interval(0.7, 1.8)})
    assert inside["dose"].high > 0.7
    assert inside["dose"].low < 1.8


def test_bad_questions():
    network = random_network(0)
    x = network.variables[0]
    for ask in (network.marginals, network.most_probable):
        with pytest.raises(NetworkError, match="no node 'Q'"):
            ask({"Q": 1})
    with pytest.raises(ParameterError, match="method must be"):
        network.marginals(method="guess")
    with pytest.raises(QueryError, match="its state is evidence"):
        network.marginals({x: network.domain[x][0]})[x]
    with pytest.raises(ParameterError, match="level"):
        network.marginals()[x].intervals(95)
