"""The closed form: against enumeration of Δ, exact ranks by FLINT, numerical rank, large sizes."""

import signal
import time
from contextlib import contextmanager
from itertools import product
from math import prod

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import posterior
from ebnc import (
    Domain,
    EmbeddedStructure,
    dimension,
    dimension_by_blocks,
    dimension_by_elimination,
    generic_dimension,
)
from ebnc.errors import DomainError, EBNCError, TooLargeError
from ebnc.parameters.dimension import FEW_CLUSTERS, count_terms
from ebnc.parameters.phi import Basis
from ebnc.parameters.theta import random_theta
from strategies import (
    cluster_sets,
    complex_of,
    jacobian_rank,
    mixed_models,
    models,
    seeds,
    span_matrix,
)


def enumerated(clusters, n_states):
    """Σ_{S ∈ Δ} Π_{i ∈ S} (r_i − 1), one S after the other."""
    return sum(prod(n_states[i] - 1 for i in subset) for subset in complex_of(clusters))


@contextmanager
def at_most(seconds):
    """Raise ``TimeoutError`` instead of waiting for something exponential."""

    def ring(*_):
        raise TimeoutError(f"took longer than {seconds} s")

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


# -- small: every other way to count ----------------------------------------------------------


@settings(max_examples=250)
@given(models(max_inputs=5, max_configurations=300))
def test_the_four_dimensions_agree_as_the_mathematics_says(model):
    """Closed form = elimination = blocks ≥ generic, and equal to it for a binary target."""
    structure, n_states = model.structure, model.n_states
    d = dimension(structure, n_states)
    assert dimension_by_elimination(structure, n_states) == d
    assert dimension_by_blocks(structure, n_states) == d
    generic = generic_dimension(structure, n_states)
    assert generic <= d
    if model.n_classes == 2:
        assert generic == d


@settings(max_examples=80)
@given(models(max_inputs=4, max_configurations=200, one_state=True))
def test_dimension_is_the_exact_rank_of_all_log_probabilities(model):
    """Rank over the integers (FLINT) of λ in all cells log θ, those that cancel included."""
    expected = span_matrix(model.structure, model.n_states).rank()
    assert dimension(model.structure, model.n_states) == expected
    assert dimension_by_elimination(model.structure, model.n_states) == expected
    assert dimension_by_blocks(model.structure, model.n_states) == expected


@settings(max_examples=80)
@given(models(max_inputs=4, max_configurations=150, one_state=True))
def test_generic_dimension_is_the_exact_rank_of_the_jacobian(model):
    """Rank of ∂λ/∂θ (FLINT, another prime, all tables of m′), with one-state variables too."""
    expected = jacobian_rank(model.structure, model.n_states)
    assert generic_dimension(model.structure, model.n_states) == expected


@settings(max_examples=20)
@given(models(max_inputs=3, max_states=3), seeds)
def test_dimension_is_the_number_of_independent_log_odds_vectors(model, seed):
    """λ of many random θ by brute-force Bayes: singular values say how many are independent."""
    structure, n_states = model.structure, model.n_states
    d = dimension(structure, n_states)
    generator = np.random.default_rng(seed)
    vectors = []
    for _ in range(2 * d + 2):
        theta = random_theta(structure, Domain(n_states), generator)
        p = posterior(structure, n_states, theta)
        vectors.append(np.log(p[:, 1:] / p[:, :1]).ravel())
    values = np.linalg.svd(np.array(vectors), compute_uv=False)
    assert np.sum(values > 1e-9 * values[0]) == d


@settings(max_examples=200)
@given(
    st.lists(st.frozensets(st.sampled_from("abcdefg"), max_size=4), min_size=1, max_size=12),
    st.lists(st.integers(1, 5), min_size=7, max_size=7),
)
def test_count_terms_enumerates_delta_of_any_hypergraph(clusters, sizes):
    """Cyclic ones and ones that no DAG has, sets inside others, repeated sets."""
    n_states = dict(zip("abcdefg", sizes, strict=True))
    assert count_terms(clusters, n_states) == enumerated(clusters, n_states)


@pytest.mark.parametrize("n_clusters", [FEW_CLUSTERS - 1, FEW_CLUSTERS, FEW_CLUSTERS + 1, 80])
@pytest.mark.parametrize("seed", range(4))
def test_few_and_many_clusters_are_counted_alike(n_clusters, seed):
    """Random hypergraphs on both sides of the change of method."""
    generator = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(20)]
    clusters = [
        frozenset(generator.choice(names, size=int(generator.integers(1, 5)), replace=False))
        for _ in range(n_clusters)
    ]
    n_states = {name: int(generator.integers(1, 5)) for name in names}
    assert count_terms(clusters, n_states) == enumerated(clusters, n_states)


@pytest.mark.parametrize(
    ("graph", "value"),
    [
        (nx.cycle_graph(500), 1 + 500 + 500),
        (nx.petersen_graph(), 1 + 10 + 15),
        (nx.grid_2d_graph(8, 8), 1 + 64 + 112),
        (nx.complete_graph(20), 1 + 20 + 190),
        (nx.complete_bipartite_graph(9, 9), 1 + 18 + 81),
        (nx.random_regular_graph(3, 60, seed=1), 1 + 60 + 90),
    ],
    ids=["cycle", "Petersen", "grid", "complete", "bipartite", "cubic"],
)
def test_pairs_as_clusters_count_vertices_and_edges(graph, value):
    """Binary: 1 + |V| + |E|, whatever cycles the graph has."""
    clusters = [frozenset(map(str, edge)) for edge in graph.edges]
    with at_most(20):
        assert count_terms(clusters, {str(v): 2 for v in graph.nodes}) == value


def test_a_cyclic_core_of_large_tables_is_not_enumerated():
    """Three tables of 40 binary inputs in a cycle: 2^40 subsets each, by inclusion–exclusion."""
    part = {a: [f"{a}{i}" for i in range(20)] for a in "abc"}
    clusters = [part["a"] + part["b"], part["b"] + part["c"], part["c"] + part["a"]]
    n_states = {name: 2 for names in part.values() for name in names}
    with at_most(20):
        assert count_terms(clusters, n_states) == 3 * 2**40 - 3 * 2**20 + 1


# -- ordered and numeric variables: t + 1 in the place of r --------------------------------------


@settings(max_examples=300)
@given(mixed_models(max_inputs=4))
def test_three_ways_to_count_agree_on_variables_of_all_kinds(model):
    """t_Y Σ_{S ∈ Δ} Π t_i, one S after the other."""
    sets = complex_of(cluster_sets(model.structure))
    expected = model.t["Y"] * sum(prod(model.t[i] for i in subset) for subset in sets)
    for function in (dimension, dimension_by_elimination, dimension_by_blocks):
        assert function(model.structure, model.domain) == expected


def columns_written_out(levels):
    """1, the waves over the states in order, and I(missing)."""
    n, r = levels.n_ordered, levels.n_states
    if not n:
        return np.eye(r)
    columns = [np.ones(r)]
    for j in range(1, min(12, n - 1) + 1):
        wave = [np.cos(np.pi * j * (b + 0.5) / n) for b in range(n)]
        columns.append(np.array(wave + [0.0] * (r - n)))
    if r > n:
        columns.append(np.eye(r)[n])
    return np.array(columns).T


@settings(max_examples=60, deadline=None)
@given(mixed_models(max_inputs=3, most_states=4, wide=False, most=200))
def test_dimension_is_the_rank_of_all_products_of_columns(model):
    """The functions Π f_i(x_i) k(y) of eq. 4, f_i one of the columns, at all x: numerical rank."""
    structure, domain = model.structure, model.domain
    of_input = {x: columns_written_out(domain.levels(x)) for x in structure.inputs}
    blocks = []
    for cluster in cluster_sets(structure):
        block = np.ones((1, 1))
        for x in structure.inputs:
            ones = np.ones((len(of_input[x]), 1))
            block = np.kron(block, of_input[x] if x in cluster else ones)
        blocks.append(block)
    of_class = columns_written_out(domain.levels("Y"))
    of_class = (of_class - of_class[0])[1:]  # differences with the baseline class
    span = np.kron(np.concatenate(blocks, axis=1), of_class)
    assert dimension(structure, domain) == np.linalg.matrix_rank(span, tol=1e-9 * len(span))


@settings(max_examples=200)
@given(mixed_models(max_inputs=4))
def test_what_is_fitted_has_at_most_the_dimension(model):
    """Waves j_i of a product of two or more satisfy Π j_i ≤ 6; other columns have j = 1."""
    numbers = {}
    for x, t in model.t.items():
        levels = model.domain.levels(x)
        n_waves = min(12, levels.n_ordered - 1) if levels.n_ordered else 0
        numbers[x] = [*range(1, n_waves + 1), *[1] * (t - n_waves)]
    expected = 0
    for subset in complex_of(cluster_sets(model.structure)):
        products = [prod(js) for js in product(*(numbers[x] for x in subset))]
        expected += sum(len(subset) < 2 or each <= 6 for each in products)
    found = Basis(model.structure, model.domain).dimension
    assert found == model.t["Y"] * expected
    assert found <= dimension(model.structure, model.domain)


# -- special cases ----------------------------------------------------------------------------


@pytest.mark.parametrize("function", [dimension, dimension_by_elimination, dimension_by_blocks])
@pytest.mark.parametrize(
    ("structure", "r", "n_classes", "d"),
    [
        (EmbeddedStructure.naive("Y", ["A", "B", "C"]), 2, 2, 4),
        (EmbeddedStructure.naive("Y", ["A", "B", "C"]), 3, 4, 3 * 7),
        (EmbeddedStructure.chain("Y", ["A", "B", "C", "D"]), 2, 2, 8),
        (EmbeddedStructure.chain("Y", ["A", "B", "C"]), 3, 2, 1 + 3 * 2 + 2 * 4),
        (EmbeddedStructure.table("Y", ["A", "B"]), 3, 3, 2 * 9),
        (EmbeddedStructure.naive("Y", []), 2, 5, 4),
        (EmbeddedStructure.naive("Y", ["A", "B"]), 1, 3, 2),
        (EmbeddedStructure.chain("Y", ["A", "B"]), 4, 1, 0),
        (EmbeddedStructure.naive("Y", []), 2, 1, 0),
        (EmbeddedStructure.from_string("[Y][A][B|A]", "Y"), 3, 3, 2),
    ],
    ids=str,
)
def test_known_dimensions(function, structure, r, n_classes, d):
    """By hand: naive, chain, table, isolated target, one-state inputs, a single class."""
    n_states = {**dict.fromkeys(structure.inputs, r), "Y": n_classes}
    assert function(structure, n_states) == d
    assert generic_dimension(structure, n_states) == min(d, jacobian_rank(structure, n_states))


@given(models(max_inputs=4), st.data())
def test_a_one_state_variable_contributes_nothing(model, data):
    """It drops out of the clusters, and a child of Y with one state has no cluster at all."""
    structure, n_states = model.structure, dict(model.n_states)
    for name in structure.inputs:
        if data.draw(st.booleans()):
            n_states[name] = 1
    target = structure.target
    own = [structure.parents(target)]
    own += [
        [x, *structure.parents(x)]
        for x in structure.inputs
        if target in structure.parents(x) and n_states[x] > 1
    ]
    kept = [{x for x in c if x != target and n_states[x] > 1} for c in own]
    expected = (model.n_classes - 1) * enumerated(kept, n_states)
    for function in (dimension, dimension_by_elimination, dimension_by_blocks):
        assert function(structure, n_states) == expected
    generic = generic_dimension(structure, n_states)
    assert generic == expected if model.n_classes == 2 else generic <= expected


@given(models(max_inputs=5, awkward=True))
def test_states_may_be_counts_labels_or_a_domain(model):
    """Three ways to say the same; further variables may be declared too."""
    structure, n_states = model.structure, model.n_states
    labels = {name: [f"{name}{i}" for i in range(r)] for name, r in n_states.items()}
    d = dimension(structure, n_states)
    assert d == dimension(structure, labels) == dimension(structure, Domain(labels))
    assert d == dimension(structure, {**n_states, "further, not in the model": 7})
    assert type(d) is int


def test_numpy_integers_are_counts():
    """As they come out of ``nunique``; the answer is a Python int all the same."""
    naive = EmbeddedStructure.naive("Y", ["A"])
    d = dimension(naive, {"A": np.int64(3), "Y": np.uint8(2)})
    assert d == 3
    assert type(d) is int


# -- large ------------------------------------------------------------------------------------


def test_a_chain_of_five_thousand_inputs_is_counted():
    """2n for binary inputs, and (K − 1)(1 + n(r − 1) + (n − 1)(r − 1)²) in general."""
    chain = EmbeddedStructure.chain("Y", [f"X{i}" for i in range(5000)])
    with at_most(10):
        assert dimension(chain, dict.fromkeys(chain.names, 2)) == 10_000
        expected = 2 * (1 + 5000 * 2 + 4999 * 4)
        assert dimension(chain, dict.fromkeys(chain.names, 3)) == expected


def test_a_random_tree_of_five_thousand_inputs_is_counted():
    """1 + Σ_i (r_i − 1) + Σ_edges (r_i − 1)(r_j − 1), all states different."""
    generator = np.random.default_rng(3)
    arcs = [(f"X{int(generator.integers(i))}", f"X{i}") for i in range(1, 5000)]
    tree = EmbeddedStructure.tree("Y", arcs)
    n_states = {name: int(generator.integers(1, 6)) for name in tree.inputs} | {"Y": 3}
    expected = 1 + sum(n_states[x] - 1 for x in tree.inputs)
    expected += sum((n_states[a] - 1) * (n_states[b] - 1) for a, b in arcs)
    with at_most(10):
        assert dimension(tree, n_states) == 2 * expected


@pytest.mark.parametrize("n", [60, 500, 5000])
def test_a_full_table_is_one_product(n):
    """2^n and 3^n, exact Python integers."""
    table = EmbeddedStructure.table("Y", [f"X{i}" for i in range(n)])
    with at_most(10):
        assert dimension(table, dict.fromkeys(table.names, 2)) == 2**n
        assert dimension(table, {**dict.fromkeys(table.inputs, 3), "Y": 5}) == 4 * 3**n


@pytest.mark.parametrize("k", [2, 3])
def test_two_thousand_inputs_with_few_parents_each_are_counted(k):
    """k-dependence Bayes, far from decomposable: Δ is small (k + 1 at most) and quickly listed."""
    generator = np.random.default_rng(k)
    families = [("Y", ())]
    for i in range(2000):
        parents = generator.choice(i, size=min(i, k), replace=False) if i else []
        families.append((f"X{i}", (*(f"X{j}" for j in parents), "Y")))
    structure = EmbeddedStructure("Y", tuple(families))
    n_states = {name: int(generator.integers(2, 5)) for name in structure.names} | {"Y": 2}
    expected = enumerated(cluster_sets_of_many(structure), n_states)
    with at_most(5):
        assert dimension(structure, n_states) == expected


def cluster_sets_of_many(structure):
    """Factors' sets by the families; sets inside others do no harm to Δ."""
    return [{name, *parents} - {"Y"} for name, parents in structure.families]


def test_what_would_take_too_long_is_refused(monkeypatch):
    generator = np.random.default_rng(0)
    names = [f"X{i}" for i in range(50)]
    clusters = [generator.choice(names, 26, replace=False).tolist() for _ in range(100)]
    monkeypatch.setattr("ebnc.parameters.dimension.MOST_WORK", 20_000)
    with at_most(20), pytest.raises(TooLargeError, match="100 clusters with up to 26 inputs"):
        count_terms(clusters, dict.fromkeys(names, 2))


def test_time_grows_about_linearly_along_a_chain():
    """Ten times the inputs in far less than a hundred times the time."""

    def seconds(n):
        chain = EmbeddedStructure.chain("Y", [f"X{i}" for i in range(n)])
        n_states = dict.fromkeys(chain.names, 2)
        assert chain.clusters
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            dimension(chain, n_states)
            best = min(best, time.perf_counter() - start)
        return best

    assert seconds(10_000) < 40 * seconds(1_000)


# -- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function", [dimension, generic_dimension, dimension_by_elimination, dimension_by_blocks]
)
@pytest.mark.parametrize(
    ("n_states", "message"),
    [
        ({"X": 2}, "no states are declared for 'Y'"),
        ({"Y": 2}, "no states are declared for 'X'"),
        ({"X": 0, "Y": 2}, "'X' has 0 states"),
        ({"X": -1, "Y": 2}, "'X' has -1 states"),
        ({"X": 2, "Y": 0}, "'Y' has 0 states"),
        ({"X": [], "Y": 2}, "'X' has no states"),
        ({"X": ["a", "a"], "Y": 2}, "'X' are equal"),
        ({"X": 2.0, "Y": 2}, "states of 'X' must be a whole number"),
        ({"X": True, "Y": 2}, "states of 'X' must be a whole number"),
        ({"X": "3", "Y": 2}, "states of 'X' must be a whole number"),
        ({"X": b"ab", "Y": 2}, "states of 'X' must be a whole number"),
        ({"X": None, "Y": 2}, "states of 'X' must be a whole number"),
        ({"X": {"a"}, "Y": 2}, "states of 'X' are given as a set"),
        ({"X": [["a"], ["b"]], "Y": 2}, "of 'X' is not hashable"),
        ([2, 2], "got list"),
        (None, "got NoneType"),
        (2, "got int"),
    ],
    ids=str,
)
def test_bad_states_get_one_clear_error(function, n_states, message):
    """The same error from all four, naming the variable."""
    with pytest.raises(DomainError, match=message) as error:
        function(EmbeddedStructure.naive("Y", ["X"]), n_states)
    assert isinstance(error.value, EBNCError)
