"""Families of sets: maximal sets, Graham reduction, perfect orderings, against definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebnc.structure.clusters import maximal_sets, peel, perfect_ordering
from strategies import is_acyclic

families = st.lists(st.frozensets(st.sampled_from("abcdef")), min_size=1, max_size=7)


@given(families)
def test_maximal_sets_are_those_inside_no_other(sets):
    """By definition, and each once."""
    found = maximal_sets(sets)
    assert set(found) == {s for s in sets if not any(s < other for other in sets)}
    assert len(found) == len(set(found))


@given(families)
def test_the_core_has_no_private_variable_and_no_covered_set(sets):
    """Nothing is left to take off."""
    steps, core = peel(sets)
    if core != [frozenset()]:
        for cluster in core:
            assert not any(cluster <= other for other in core if other is not cluster)
            for variable in cluster:
                assert sum(variable in other for other in core) > 1
    taken = [v for step in steps for v in step.private]
    assert len(taken) == len(set(taken))
    assert set(taken) | frozenset().union(*core) == frozenset().union(*sets)
    assert not set(taken) & frozenset().union(*core)


@given(families)
def test_a_perfect_ordering_has_the_running_intersection_property(sets):
    """Each separator is what the cluster shares with all before, and lies inside one of them."""
    ordering = perfect_ordering(sets)
    assert (ordering is not None) == is_acyclic(sets)
    if ordering is None:
        return
    clusters = [separator | new for separator, new in ordering]
    assert {c for c in maximal_sets(sets) if c} <= set(clusters)
    assert all(any(cluster <= given for given in sets) for cluster in clusters)
    for place, (separator, new) in enumerate(ordering):
        before = clusters[:place]
        assert new
        assert (separator | new) & frozenset().union(*before) == separator
        assert not separator or any(separator <= earlier for earlier in before)


@pytest.mark.parametrize(
    ("clusters", "core_size"),
    [
        (["ab", "bc", "ca"], 3),
        (["ab", "bc", "ca", "abc"], 0),
        (["ab", "bc", "cd", "da"], 4),
        (["ab", "ac", "bcd", "be", "cf"], 3),
        (["abx", "bcy", "caz"], 3),
        (["abc", "bcd", "cde", "def"], 0),
    ],
)
def test_known_hypergraphs_are_reduced_to_their_core(clusters, core_size):
    """Triangle, filled triangle, square, a triangle with tails, with private variables, a strip."""
    _, core = peel([frozenset(cluster) for cluster in clusters])
    assert len([cluster for cluster in core if cluster]) == core_size


def test_the_input_is_not_changed_and_order_of_sets_does_not_matter():
    """Permuted input, same core."""
    sets = [set("ab"), set("bc"), set("ca"), set("cd"), set("de")]
    copies = [set(s) for s in sets]
    _, core = peel(sets)
    _, reversed_core = peel(reversed(sets))
    assert sets == copies
    assert set(core) == set(reversed_core) == {frozenset(p) for p in ("ab", "bc", "ca")}


@pytest.mark.parametrize("shape", ["chain", "star", "random tree"])
def test_a_tree_of_five_thousand_pairs_comes_apart(shape):
    """One step for each variable; nothing recursive, nothing quadratic."""
    n = 5_000
    generator = np.random.default_rng(5)
    parent = {
        "chain": lambda i: i - 1,
        "star": lambda i: 0,
        "random tree": lambda i: int(generator.integers(i)),
    }[shape]
    pairs = [frozenset((f"v{parent(i)}", f"v{i}")) for i in range(1, n)]
    steps, core = peel(pairs)
    assert core == [frozenset()]
    assert sum(len(step.private) for step in steps) == n
    assert len(perfect_ordering(pairs)) == n - 1
