"""Networks as joint distributions: against brute force, pyAgrum, and their own samples."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import ebnc
from ebnc.errors import DataError, DomainError, NetworkError, ParameterError, TooLargeError
from network.networks import everything, joint_table, random_network


@pytest.mark.parametrize("seed", range(12))
def test_log_likelihood_is_the_chain_rule_and_sums_to_one(seed):
    network = random_network(seed, n_nodes=5)
    table = joint_table(network)
    log_p = network.log_likelihood(everything(network))
    np.testing.assert_allclose(np.exp(log_p), table.ravel(), rtol=1e-12)
    assert table.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_samples_reproduce_the_joint(seed):
    network = random_network(seed, n_nodes=4)
    n = 40_000
    sample = network.sample(n, random_state=seed)
    table = joint_table(network)
    cells = np.ravel_multi_index(
        [[network.domain.codes(x)[s] for s in sample[x]] for x in network.variables], table.shape
    )
    counts = np.bincount(cells, minlength=table.size)
    error = np.sqrt(n * table.ravel() * (1 - table.ravel()))
    assert (np.abs(counts - n * table.ravel()) <= 5 * error + 3).all()
    entropy = -(table[table > 0] * np.log(table[table > 0])).sum()
    log_p = network.log_likelihood(sample)
    assert -log_p.mean() == pytest.approx(entropy, abs=5 * log_p.std() / np.sqrt(n))


def test_samples_are_the_same_for_the_same_seed_and_any_frame_can_be_scored():
    network = random_network(1)
    first, second = (network.sample(50, random_state=7) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    import polars as pl

    expected = network.log_likelihood(first)
    np.testing.assert_array_equal(network.log_likelihood(pl.from_pandas(first)), expected)
    np.testing.assert_array_equal(network.log_likelihood(first.to_dict("list")), expected)
    assert len(network.sample(0)) == 0


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), *range(2, 6)])
def test_missing_entries_are_summed_out(seed):
    network = random_network(seed, n_nodes=5)
    table = joint_table(network)
    rng = np.random.default_rng(seed)
    sample = network.sample(20, random_state=seed).astype(object)
    expected = []
    for row in range(len(sample)):
        lacking = rng.random(len(network.variables)) < 0.4
        where = []
        for x, hidden in zip(network.variables, lacking, strict=True):
            where.append(slice(None) if hidden else network.domain.codes(x)[sample.loc[row, x]])
            if hidden:
                sample.loc[row, x] = None
        expected.append(np.log(table[tuple(where)].sum()))
    np.testing.assert_allclose(network.log_likelihood(sample), expected, rtol=1e-10)


def test_a_sum_over_many_missing_entries_is_exact():
    """2^40 configurations of a chain; the oracle is the product of its matrices."""
    rng = np.random.default_rng(0)
    names = [f"X{i}" for i in range(41)]
    domain = dict.fromkeys(names, 2)
    first, steps = rng.dirichlet([1, 1]), rng.dirichlet([1, 1], size=(40, 2))
    network = ebnc.Network(
        [
            ebnc.Table("X0", [], domain, first),
            *(
                ebnc.Table(x, [before], domain, theta)
                for before, x, theta in zip(names, names[1:], steps, strict=False)
            ),
        ]
    )
    found = network.log_likelihood({x: [1 if x == "X40" else None] for x in names})
    expected = np.log(np.linalg.multi_dot([first, *steps])[1])
    np.testing.assert_allclose(found, [expected], rtol=1e-12)


def a_wide_network(n_parents, seed=0):
    """One node of many parents, none of which can be summed out without a table of all."""
    rng = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(n_parents)]
    domain = dict.fromkeys([*names, "Y"], 2)
    phi = rng.normal(0, 0.3, n_parents + 1)
    y = ebnc.EBNC(ebnc.EmbeddedStructure.naive("Y", names), domain, phi)
    row = {**{x: [None] for x in names}, "Y": [1]}
    return ebnc.Network([*(ebnc.Table(x, [], domain, [0.5, 0.5]) for x in names), y]), phi, row


def log_mean_of_all_rows(phi):
    """log p(Y = 1) where all parents are coins, by listing."""
    cells = np.array(list(product([0, 1], repeat=len(phi) - 1)))
    return np.log(np.mean(1 / (1 + np.exp(-(phi[0] + cells @ phi[1:])))))


def test_what_is_too_large_to_sum_is_refused_or_estimated_with_its_error():
    network, phi, row = a_wide_network(14)
    np.testing.assert_allclose(network.log_likelihood(row), [log_mean_of_all_rows(phi)], rtol=1e-10)
    network, phi, row = a_wide_network(19)
    truth = log_mean_of_all_rows(phi)
    with pytest.raises(TooLargeError, match="row 0, where 19 entries are missing; give n_samples"):
        network.log_likelihood(row)
    with pytest.warns(UserWarning, match=r"log p of 1 of 1 rows .* errors up to 0\.01"):
        found = network.log_likelihood(row, n_samples=1000)
    np.testing.assert_allclose(found, [truth], atol=0.06)
    with pytest.warns(UserWarning, match="1 of them rest on fewer than 200 effective samples"):
        network.log_likelihood(row, n_samples=100)
    with pytest.raises(ParameterError, match="n_samples"):
        network.log_likelihood(row, n_samples=0)


@pytest.mark.parametrize("seed", range(4))
def test_conditional_log_likelihood_of_any_node(seed):
    network = random_network(seed, n_nodes=4)
    table = joint_table(network)
    rows = everything(network)
    for axis, name in enumerate(network.variables):
        expected = np.log(table / table.sum(axis=axis, keepdims=True)).ravel()
        found = network.conditional_log_likelihood(name, rows)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_tiny_probabilities_do_not_underflow():
    domain = {"A": 2, "B": 2}
    far = ebnc.EBNC(ebnc.EmbeddedStructure.naive("B", ["A"]), domain, [-1000.0, 0.0])
    network = ebnc.Network([ebnc.Table("A", [], domain, [0.5, 0.5]), far])
    found = network.log_likelihood({"A": [0], "B": [1]})
    np.testing.assert_allclose(found, [np.log(0.5) - 1000.0], rtol=1e-12)


def test_zeros_are_minus_infinity_not_an_error():
    network = ebnc.Network([ebnc.Table("A", [], {"A": 2}, [0.0, 1.0])])
    assert network.log_likelihood({"A": [0, 1]}).tolist() == [-np.inf, 0.0]


@pytest.mark.parametrize("seed", range(5))
def test_pyagrum_and_back(seed, gum):
    network = random_network(seed, n_nodes=6)
    there = network.to_pyagrum()
    rows = network.sample(200, random_state=0)
    expected = network.log_likelihood(rows)
    for i in range(5):
        instantiation = there.completeInstantiation()
        for x in network.variables:
            instantiation[x] = rows[x][i]
        assert there.log2JointProbability(instantiation) * np.log(2) == pytest.approx(expected[i])
    back = ebnc.Network.from_pyagrum(there)
    np.testing.assert_allclose(back.log_likelihood(rows), expected, rtol=1e-12)
    assert set(back.arcs) == set(network.arcs)


def test_noisy_or_of_pyagrum_becomes_a_table(gum):
    """p(C = 0 | causes) = leak·Π (1 − w_i); pyAgrum's own array of such a node is not filled."""
    bn = gum.BayesNet("noisy")
    causes = [bn.add("A", 2), bn.add("B", 2)]
    effect = bn.addNoisyORNet(gum.LabelizedVariable("C", "C", 2), 0.1)
    for cause, weight in zip(causes, (0.8, 0.7), strict=True):
        bn.addWeightedArc(cause, effect, weight)
    for cause in causes:
        bn.cpt(cause)[:] = [0.5, 0.5]
    network = ebnc.Network.from_pyagrum(bn)
    rows = {"A": ["0", "0", "1", "1"], "B": ["0", "1", "0", "1"]}
    expected = 1 - 0.9 * np.array([1, 0.3, 0.2, 0.06])
    np.testing.assert_allclose(network["C"].probabilities(rows)[:, 1], expected, rtol=1e-7)


def test_networkx_and_back():
    network = random_network(2)
    graph = network.to_networkx()
    assert set(graph.edges) == set(network.arcs)
    back = ebnc.Network.from_networkx(graph)
    assert set(back.arcs) == set(network.arcs)
    graph.remove_edge(*network.arcs[0])
    with pytest.raises(NetworkError, match="disagree on arc"):
        ebnc.Network.from_networkx(graph)


def test_bad_networks():
    two = {"A": 2, "B": 2}
    a_on_b = ebnc.Table("A", ["B"], two, [[0.5, 0.5], [0.5, 0.5]])
    b_on_a = ebnc.Table("B", ["A"], two, [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(NetworkError, match="cycle"):
        ebnc.Network([a_on_b, b_on_a])
    with pytest.raises(NetworkError, match="'B', a parent of 'A', is not a node"):
        ebnc.Network([a_on_b])
    with pytest.raises(NetworkError, match="two local distributions"):
        ebnc.Network([a_on_b, a_on_b])
    with pytest.raises(NetworkError, match="at least one node"):
        ebnc.Network([])
    with pytest.raises(NetworkError, match="states of 'B' differ"):
        ebnc.Network([a_on_b, ebnc.Table("B", [], {"B": 3}, [0.2, 0.3, 0.5])])
    network = ebnc.Network([ebnc.Table("A", [], two, [0.5, 0.5])])
    with pytest.raises(NetworkError, match="no node 'C'"):
        network.local("C")
    with pytest.raises(DataError, match="2 in column 'A' is not one of its states"):
        network.log_likelihood({"A": [0, 2]})
    with pytest.raises(DataError, match="no column 'A'"):
        network.log_likelihood({"B": [0]})


@pytest.mark.parametrize(
    ("theta", "message"),
    [
        ([0.5, 0.6], "sums to 1.1"),
        ([0.5], "must have shape"),
        ([1.5, -0.5], "-0.5 in the table of 'A'"),
        ([np.nan, 1.0], "not a probability"),
        (["x", "y"], "numbers only"),
    ],
)
def test_bad_tables(theta, message):
    with pytest.raises(ParameterError, match=message):
        ebnc.Table("A", [], {"A": 2}, theta)


def test_bad_names_in_tables():
    with pytest.raises(DomainError, match="'B'"):
        ebnc.Table("A", ["B"], {"A": 2}, [0.5, 0.5])
    with pytest.raises(ParameterError, match="repeat a name"):
        ebnc.Table("A", ["A"], {"A": 2}, [[0.5, 0.5], [0.5, 0.5]])
