"""Networks with an arc more or less: only the child is fitted again."""

import numpy as np
import pandas as pd
import pytest

import ebnc
from ebnc.errors import DataError, NetworkError, ParameterError


def sample(n=400, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(2, size=n), rng.integers(3, size=n)
    c = (rng.random(n) < 0.15 + 0.4 * a + 0.2 * (b == 1)).astype(int)
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": np.where(rng.random(n) < 0.7, c, 1 - c)})


@pytest.mark.parametrize("local", ["ebnc", "table"])
def test_edited_networks_are_those_with_these_arcs(local):
    data, weights = sample(), np.arange(400) % 3 + 1
    arcs = [("A", "C"), ("C", "D")]
    network = ebnc.Network.fit(arcs, data, local=local, weights=weights)
    more = network.with_arc("B", "C", data, weights=weights)
    expected = ebnc.Network.fit(
        [*arcs[:1], ("B", "C"), *arcs[1:]], data, local=local, weights=weights
    )
    assert set(more.arcs) == set(expected.arcs)
    assert all(more[x] is network[x] for x in "ABD")
    assert more["C"].kind == local
    rows = sample(50, 1)
    np.testing.assert_allclose(more.log_likelihood(rows), expected.log_likelihood(rows), rtol=1e-9)
    back = more.without_arc("B", "C", data, weights=weights)
    assert set(back.arcs) == set(arcs)
    np.testing.assert_allclose(back.log_likelihood(rows), network.log_likelihood(rows), rtol=1e-9)
    assert network.arcs == ebnc.Network.fit(arcs, data, local=local).arcs  # it has not changed


def test_interactions_of_an_ebnc_stay():
    data = sample()
    pair = ebnc.EmbeddedStructure.from_string("[C][A|C][B|A:C]", target="C")
    network = ebnc.Network.fit({"C": pair, "D": [], "A": [], "B": []}, data)
    more = network.with_arc("D", "C", data)
    assert ("A", "B") in {tuple(sorted(x)) for x in more["C"].structure.clusters}
    assert set(more.parents("C")) == set("ABD")
    fewer = network.without_arc("A", "C", data)
    assert fewer.parents("C") == ("B",)


def test_kinds_can_be_chosen():
    data = sample()
    network = ebnc.Network.fit([("A", "C")], data)
    assert network.with_arc("B", "C", data, local="table")["C"].kind == "table"
    assert network.with_arc("B", "C", data, local="auto").parents("C") == ("A", "B")
    with pytest.raises(ParameterError, match="local must be one of"):
        network.with_arc("B", "C", data, local="tree")
    tree = ebnc.Network.learn(data, local="tree", required=[("A", "C")])
    head = next(x for x in tree if tree[x].kind == "tree" and tree.parents(x))
    changed = tree.without_arc(tree.parents(head)[0], head, data)
    assert changed.parents(head) == tree.parents(head)[1:]


def test_densities_stay():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=200), "y": rng.normal(size=200)})
    network = ebnc.Network.fit([], data, numbers="smooth")
    more = network.with_arc("x", "y", data)
    assert more.densities == network.densities
    expected = ebnc.Network.fit([("x", "y")], data, numbers="smooth")
    np.testing.assert_allclose(
        more.log_likelihood(data), expected.log_likelihood(data), rtol=1e-9, atol=1e-9
    )


def test_impossible_changes():
    data = sample()
    network = ebnc.Network.fit([("A", "C"), ("C", "D")], data, local="table")
    with pytest.raises(NetworkError, match="cycle: "):
        network.with_arc("D", "A", data)
    with pytest.raises(NetworkError, match="cycle"):
        network.with_arc("A", "A", data)
    with pytest.raises(NetworkError, match="has the arc 'A' → 'C' already"):
        network.with_arc("A", "C", data)
    with pytest.raises(NetworkError, match="no arc 'B' → 'C'"):
        network.without_arc("B", "C", data)
    for pair in ("QA", "AQ"):
        with pytest.raises(NetworkError, match="no node 'Q'"):
            network.with_arc(*pair, data)
    with pytest.raises(DataError, match="no rows"):
        network.with_arc("B", "C", data.iloc[:0])
    with pytest.raises(DataError, match="not one of its states"):
        network.with_arc("B", "C", data.assign(B=7))
