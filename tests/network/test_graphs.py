"""The graph of a network: neighbours, moral graph, equivalence, comparison with another graph."""

from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest

import ebnc
from ebnc.errors import NetworkError, ParameterError
from ebnc.network.model.comparison import compare_graphs
from ebnc.network.model.equivalence import compelled_arcs
from network.networks import random_network


def parents_of(arcs, names):
    return {x: [tail for tail, head in arcs if head == x] for x in names}


def random_parents(n, seed, share=0.4):
    rng = np.random.default_rng(seed)
    names = [f"V{i}" for i in rng.permutation(n)]
    arcs = [pair for pair in combinations(names, 2) if rng.random() < share]
    return parents_of(arcs, rng.permutation(names).tolist())


def all_dags(names):
    """Every DAG over the names, as a set of arcs."""
    pairs = list(combinations(names, 2))
    for directions in product([None, False, True], repeat=len(pairs)):
        arcs = frozenset(
            pair[::-1] if turned else pair
            for pair, turned in zip(pairs, directions, strict=True)
            if turned is not None
        )
        graph = nx.DiGraph(list(arcs))
        if nx.is_directed_acyclic_graph(graph):
            yield arcs


def independence_class(arcs):
    """Neighbours and colliders whose parents are not neighbours: equal iff equivalent."""
    skeleton = frozenset(map(frozenset, arcs))
    colliders = frozenset(
        (frozenset([a, b]), c)
        for (a, c), (b, d) in combinations(arcs, 2)
        if c == d and frozenset([a, b]) not in skeleton
    )
    return skeleton, colliders


def test_compelled_arcs_of_all_graphs_of_four_nodes():
    """All 543 DAGs: an arc is compelled if all DAGs of its class have it."""
    dags = list(all_dags("ABCD"))
    assert len(dags) == 543
    classes = {}
    for arcs in dags:
        classes.setdefault(independence_class(arcs), []).append(arcs)
    assert len(classes) == 185
    for members in classes.values():
        common = frozenset.intersection(*members)
        for arcs in members:
            assert compelled_arcs(parents_of(arcs, "ABCD")) == common


@pytest.mark.parametrize("seed", range(5))
def test_compelled_arcs_and_moral_graphs_are_pgmpys(seed, without_warnings):
    from pgmpy.base import DAG

    parents = random_parents(12, seed)
    dag = DAG([(tail, head) for head, tails in parents.items() for tail in tails])
    dag.add_nodes_from(parents)
    assert compelled_arcs(parents) == set(dag.to_pdag().directed_edges)
    kinds = ("table", "ebnc", "tree")
    network = random_network(seed, n_nodes=9, kinds=kinds)
    theirs = DAG(network.arcs)
    theirs.add_nodes_from(network.variables)
    edges = set(map(frozenset, theirs.moralize().edges()))
    assert set(map(frozenset, network.moral().edges())) == edges
    assert set(network.moral()) == set(network)
    for x in network:
        assert set(network.markov_blanket(x)) == set(theirs.get_markov_blanket(x))
        assert set(network.children(x)) == set(theirs.get_children(x))


def test_neighbours_of_a_node_that_is_not_there():
    network = random_network(0)
    for ask in (network.children, network.markov_blanket):
        with pytest.raises(NetworkError, match="no node 'Q'"):
            ask("Q")


@pytest.mark.parametrize("seed", range(10))
def test_distances_from_their_definition(seed):
    """Pair by pair, with the connections of equivalence classes as pgmpy draws them."""
    from pgmpy.base import DAG

    names = [f"V{i}" for i in range(8)]
    graphs = [random_parents(8, seed), random_parents(8, seed + 100)]
    found = compare_graphs(*graphs)
    arcs = [{(t, h) for h, tails in graph.items() for t in tails} for graph in graphs]
    connections = []
    for each in arcs:
        dag = DAG(each)
        dag.add_nodes_from(names)
        pdag = dag.to_pdag()
        connections.append((set(pdag.directed_edges), set(map(frozenset, pdag.undirected_edges))))
    distance = class_distance = 0
    for x, y in combinations(names, 2):
        distance += len({((x, y) in each, (y, x) in each) for each in arcs}) > 1
        kinds = {
            ((x, y) in directed, (y, x) in directed, frozenset([x, y]) in undirected)
            for directed, undirected in connections
        }
        class_distance += len(kinds) > 1
    assert found.distance == distance
    assert found.class_distance == class_distance
    assert set(found.shared) == arcs[0] & arcs[1]
    assert {*found.shared, *found.missing, *found.reversed} == arcs[0]
    assert {*found.shared, *found.extra, *(arc[::-1] for arc in found.reversed)} == arcs[1]


def test_comparison_in_words_and_with_scores():
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=200)
    data = {"A": a, "B": (a + (rng.random(200) < 0.2)) % 2, "C": rng.integers(2, size=200)}
    first = ebnc.Network.from_string("[A][B|A][C]", data, local="table")
    second = ebnc.Network.from_string("[A|B][B][C|B]", data, local="table")
    found = first.compare(second, data)
    assert (found.distance, found.class_distance) == (2, 1)
    assert found.scores == pytest.approx((first.bic, second.bic), abs=1e-9)
    assert str(found).splitlines()[:3] == [
        "distance 2 (of equivalence classes: 1), 0 arcs shared",
        "extra: B → C",
        "reversed: A → B",
    ]
    assert first.compare(first).distance == 0
    other = ebnc.Network.fit([], {**data, "A": np.where(a == 0, "no", "yes")}, local="table")
    with pytest.raises(NetworkError, match="states of 'A' differ"):
        first.compare(other, data)
    with pytest.raises(NetworkError, match=r"only one of the networks has the variables \['C'\]"):
        first.compare(ebnc.Network.fit([], {"A": a, "B": a}, local="table"))


def test_model_strings_there_and_back():
    network = random_network(3, n_nodes=6)
    data = network.sample(300, random_state=0)
    again = ebnc.Network.from_string(network.model_string, data, local="table")
    assert set(again.arcs) == set(network.arcs)
    assert again.model_string == ebnc.Network.fit(network, data, local="table").model_string


def chain(n=300, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(2, size=n)
    b = np.where(rng.random(n) < 0.9, a, 1 - a)
    return {"A": a, "B": b, "C": rng.integers(2, size=n)}


def test_strong_arcs_are_always_there():
    found = ebnc.Network.arc_strength(chain(), n=12, local="table", regime="sparse")
    assert found.connected("A", "B") == 1.0
    assert found.connected("A", "C") < 0.5
    frame = found.to_frame()
    assert list(frame.columns) == ["parent", "child", "share", "connected"]
    assert frame["share"].is_monotonic_decreasing
    assert found["C", "never seen"] == 0.0


def test_resampling_by_weights_is_resampling_of_rows():
    """The same networks from rows that are really repeated."""
    data, weights = chain(60), np.arange(60) % 4
    how = {"local": "table", "regime": "sparse"}
    found = ebnc.Network.arc_strength(data, n=6, weights=weights, random_state=3, **how)
    generator, counts = np.random.default_rng(3), {}
    for _ in range(6):
        drawn = generator.multinomial(weights.sum(), weights / weights.sum())
        rows = {x: np.repeat(column, drawn) for x, column in data.items()}
        for arc in ebnc.Network.learn(rows, **how).arcs:
            counts[arc] = counts.get(arc, 0) + 1
    assert found.shares == {arc: count / 6 for arc, count in counts.items()}


def test_bad_requests_for_arc_strengths():
    with pytest.raises(ParameterError, match="n must be at least 1"):
        ebnc.Network.arc_strength(chain(20), n=0)
    with pytest.raises(ParameterError, match="weights must be an array"):
        ebnc.Network.arc_strength(chain(20), weights="C")
