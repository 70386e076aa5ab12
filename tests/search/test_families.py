"""TAN, forest and kDB against networkx, pyAgrum and counting."""

import networkx as nx
import numpy as np
import pytest

import ebnc
from ebnc.search.families import (
    conditional_mutual_information,
    forest,
    kdb,
    tan,
)
from problems import random_data, read_cases, structure_named


@pytest.fixture
def cases():
    structure = structure_named("chain")
    domain = ebnc.Domain({"A": 3, "B": 2, "C": 4, "D": 2, "Y": 3})
    generator = np.random.default_rng(0)
    data, _ = random_data(structure, domain, 800, seed=1)
    data["D"] = np.where(generator.random(800) < 0.8, data["A"] % 2, data["D"])
    return read_cases(data, domain, list("ABCD"), "Y")


def test_conditional_mutual_information_is_a_difference_of_entropies(cases):
    """H(A, Y) + H(B, Y) − H(A, B, Y) − H(Y), counted with Python's own means."""
    from collections import Counter
    from math import log

    def entropy(*columns):
        counts = Counter(zip(*columns, strict=True))
        n = sum(counts.values())
        return -sum(c / n * log(c / n) for c in counts.values())

    found = conditional_mutual_information(cases)
    columns, y = cases.rows.codes.tolist(), cases.classes.tolist()
    for i in range(4):
        for j in range(i):
            a, b = columns[i], columns[j]
            expected = entropy(a, y) + entropy(b, y) - entropy(a, b, y) - entropy(y)
            assert found[i, j] == pytest.approx(expected, abs=1e-12)


def test_tan_is_the_maximum_spanning_tree(cases):
    weight = conditional_mutual_information(cases)
    graph = nx.Graph()
    for i in range(4):
        for j in range(i):
            graph.add_edge("ABCD"[i], "ABCD"[j], weight=weight[i, j])
    expected = {frozenset(e) for e in nx.maximum_spanning_tree(graph).edges}
    structure = tan(cases)
    assert {frozenset(e) for e in structure.edges if "Y" not in e} == expected
    assert structure.fills_span


def test_forest_drops_edges_that_are_not_worth_their_parameters(cases):
    arcs = {frozenset(e) for e in forest(cases).edges if "Y" not in e}
    weight = conditional_mutual_information(cases)
    sizes = dict(zip("ABCD", cases.rows.n_states, strict=True))
    worth = {
        frozenset((a, b)): 800 * weight["ABCD".index(a), "ABCD".index(b)]
        - 0.5 * np.log(800) * 3 * (sizes[a] - 1) * (sizes[b] - 1)
        for a in "ABCD"
        for b in "ABCD"
        if a < b
    }
    graph = nx.Graph()
    for pair, gain in worth.items():
        if gain > 0:
            graph.add_edge(*sorted(pair), weight=gain)
    expected = {frozenset(e) for e in nx.maximum_spanning_edges(graph, data=False)}
    assert arcs == expected
    assert any(gain <= 0 for gain in worth.values())


@pytest.mark.parametrize("k", [0, 1, 2])
def test_kdb_gives_every_input_up_to_k_parents(cases, k):
    structure = kdb(cases, k)
    counts = sorted(len(structure.parents(x)) - 1 for x in "ABCD")
    assert counts == sorted(min(k, place) for place in range(4))
