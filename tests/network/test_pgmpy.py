"""Conversion to and from pgmpy, and its answers."""

import numpy as np
import pytest

import ebnc
from ebnc.errors import NetworkError, TooLargeError
from network.networks import random_network

pytestmark = pytest.mark.usefixtures("without_warnings")


@pytest.mark.parametrize("seed", range(3))
def test_there_and_back(seed):
    network = random_network(seed, n_nodes=6)
    model = network.to_pgmpy()
    assert model.check_model()
    again = ebnc.Network.from_pgmpy(model)
    assert set(again.arcs) == set(network.arcs)
    rows = network.sample(50, random_state=0)
    np.testing.assert_allclose(again.log_likelihood(rows), network.log_likelihood(rows), rtol=1e-9)


def test_its_answers_are_ours():
    from pgmpy.inference import VariableElimination

    network = random_network(1, n_nodes=7)
    x, y, *others = network.variables
    evidence = {y: network.domain[y][0]}
    engine = VariableElimination(network.to_pgmpy())
    for name in (x, *others):
        expected = engine.query([name], evidence=evidence, show_progress=False)
        found = network.marginals(evidence)[name]
        for state, p in found.to_dict().items():
            at = expected.state_names[name].index(state)
            assert p == pytest.approx(expected.values[at], abs=1e-9)
    best = engine.map_query([x, *others], evidence=evidence, show_progress=False)
    assert dict(network.most_probable(evidence).states) == best


def test_labels_that_are_not_text():
    domain = {
        "A": [None, 1.5],
        "B": [True, False],
        "C": [ebnc.Interval(-np.inf, 0), ebnc.Interval(0, np.inf)],
    }
    tables = [
        ebnc.Table("A", [], domain, [0.25, 0.75]),
        ebnc.Table("B", ["A"], domain, [[0.5, 0.5], [0.1, 0.9]]),
        ebnc.Table("C", ["B", "A"], domain, np.full((2, 2, 2), 0.5)),
    ]
    model = ebnc.Network(tables).to_pgmpy()
    assert model.get_cpds("A").state_names["A"] == ["(missing)", 1.5]
    assert model.get_cpds("B").state_names["B"] == [True, False]
    assert model.get_cpds("C").state_names["C"] == ["≤ 0", "> 0"]
    again = ebnc.Network.from_pgmpy(model)
    assert again.query("B", {"A": 1.5})[True] == pytest.approx(0.1)


def test_what_cannot_be_converted():
    from pgmpy.models import DiscreteBayesianNetwork

    with pytest.raises(NetworkError, match="'A' has no CPD"):
        ebnc.Network.from_pgmpy(DiscreteBayesianNetwork([("A", "B")]))
    with pytest.raises(NetworkError, match="expected a pgmpy"):
        ebnc.Network.from_pgmpy(3)
    names = [f"X{i}" for i in range(40)]
    domain = dict.fromkeys([*names, "Y"], 2)
    y = ebnc.EBNC(ebnc.EmbeddedStructure.naive("Y", names), domain, np.zeros(41))
    wide = ebnc.Network([*(ebnc.Table(x, [], domain, [0.5, 0.5]) for x in names), y])
    with pytest.raises(TooLargeError, match="'Y' alone has 40 parents"):
        wide.to_pgmpy()
