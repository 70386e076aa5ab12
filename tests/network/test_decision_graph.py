"""Decision graphs against exhaustive search over partitions, and against trees."""

import math
from itertools import product

import numpy as np
import pytest

import ebnc
from ebnc.data.cases import Cases
from ebnc.data.read import learn_joint_cases
from ebnc.data.rows import all_configurations
from ebnc.domain import Domain
from ebnc.errors import ParameterError
from ebnc.network.local.tree import grow_graph, grow_tree
from ebnc.network.local.tree_growth import ALPHAS
from ebnc.score.dirichlet import dirichlet_log_evidence


def cases_of(data, domain, target="Z"):
    cases, _ = learn_joint_cases(data, domain, "state", None)
    return Cases(cases.domain, target, cases.rows, cases.rows.column(target), cases.weights)


def partitions(items):
    """All ways to put ``items`` into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for found in partitions(rest):
        yield [[first], *found]
        for i, group in enumerate(found):
            yield [*found[:i], [first, *group], *found[i + 1 :]]


def parts_of(graph, domain, parents):
    """The groups of configurations that a graph does not distinguish."""
    leaves = graph.leaves(all_configurations(Domain(domain), parents))
    return {frozenset(np.flatnonzero(leaves == leaf).tolist()) for leaf in np.unique(leaves)}


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_partitions_is_found(seed):
    """Five states of one parent, or two parents with 2 × 3: 52 or 203 partitions, all scored."""
    rng = np.random.default_rng(seed)
    domain = {"A": 5, "Z": 3} if seed % 2 else {"A": 2, "B": 3, "Z": 3}
    parents = [x for x in domain if x != "Z"]
    cells = list(product(*(range(domain[x]) for x in parents)))
    groups = rng.permutation(np.arange(len(cells)) % 3)
    theta = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])[groups]
    chosen = rng.integers(0, len(cells), 3000)
    drawn = (rng.random(3000)[:, None] > theta[chosen].cumsum(axis=1)[:, :-1]).sum(axis=1)
    data = {x: [cells[c][v] for c in chosen] for v, x in enumerate(parents)} | {"Z": drawn}
    counts = np.zeros((len(cells), 3))
    np.add.at(counts, (chosen, drawn), 1.0)
    best = max(
        partitions(list(range(len(cells)))),
        key=lambda found: dirichlet_log_evidence(np.array([counts[g].sum(0) for g in found]), 0.5),
    )
    grown = grow_graph(cases_of(data, domain), parents)
    assert parts_of(grown.local, domain, parents) == {frozenset(group) for group in best}
    assert grown.local.dimension == 2 * len(best)
    p = grown.local.probabilities(all_configurations(Domain(domain), parents))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(p, theta, atol=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_merging_a_tree_by_hand_gives_the_graph_the_same_evidence(seed):
    """Scores add up: evidence of the graph's own leaves, and a price for each step."""
    rng = np.random.default_rng(seed)
    data = {x: rng.integers(0, 3, 3000) for x in "AB"}
    low = (data["A"] == 0) | (data["B"] == 2)
    data["Z"] = (rng.random(3000) < np.where(low, 0.15, 0.8)).astype(int)
    domain = {"A": 3, "B": 3, "Z": 2}
    cases = cases_of(data, domain)
    graph, tree = grow_graph(cases, ["A", "B"]), grow_tree(cases, ["A", "B"])
    assert graph.local.n_leaves == 2 < tree.local.n_leaves
    leaves = graph.local.leaves(cases.rows)
    counts = np.array(
        [
            np.bincount(cases.classes[leaves == leaf], cases.weights[leaves == leaf])
            for leaf in np.unique(leaves)
        ]
    )
    assert graph.log_evidence == pytest.approx(
        max(dirichlet_log_evidence(counts, a) for a in ALPHAS)
    )
    # The root, two or three splits among six questions, merges of pairs among up to four leaves.
    n_splits = sum(x is not None for x in graph.local.variables)
    splits = -math.log(2) - n_splits * math.log(4 * 6)
    assert splits - 2 * math.log(2 * 6) <= graph.log_prior < splits
    assert graph.log_evidence > tree.log_evidence


def test_search_prefers_graphs_where_leaves_repeat():
    rng = np.random.default_rng(1)
    data = {x: rng.integers(0, 3, 3000) for x in ("A", "B", "C")}
    same = (data["A"] == 0) | ((data["B"] == 1) & (data["C"] == 2))
    data["Z"] = (rng.random(3000) < np.where(same, 0.85, 0.1)).astype(int)
    learned = ebnc.Network.learn(
        data, local=("ebnc", "table", "tree", "graph"), tiers=[["A", "B", "C"], ["Z"]]
    )
    assert learned.local("Z").kind == "graph"
    assert set(learned.parents("Z")) == {"A", "B", "C"}
    assert learned.local("Z").n_leaves == 2
    fresh = {x: rng.integers(0, 3, 50) for x in ("A", "B", "C")}
    expected = np.where((fresh["A"] == 0) | ((fresh["B"] == 1) & (fresh["C"] == 2)), 0.85, 0.1)
    np.testing.assert_allclose(learned.local("Z").probabilities(fresh)[:, 1], expected, atol=0.05)


@pytest.mark.parametrize(
    ("equal", "other", "message"),
    [
        ([1, 2, 0, 0], [2, 3, 0, 0], None),
        ([1, 2, 0, 0], [2, 1, 0, 0], "must lead to later nodes"),
        ([1, 2, 0, 0], [2, 4, 0, 0], "must lead to later nodes"),
        ([1, 2, 0, 0], [1, 2, 0, 0], "leads to node 3"),
    ],
)
def test_what_is_no_graph(equal, other, message):
    arguments = ["Z", {"A": 2, "B": 2, "Z": 2}, ["A", "B", None, None], [1, 1, 0, 0], equal, other]
    theta = [[0.5, 0.5]] * 4
    if message is None:
        assert ebnc.DecisionGraph(*arguments, theta).n_leaves == 2
        with pytest.raises(ParameterError, match="not one tree"):
            ebnc.Tree(*arguments, theta)
    else:
        with pytest.raises(ParameterError, match=message):
            ebnc.DecisionGraph(*arguments, theta)
