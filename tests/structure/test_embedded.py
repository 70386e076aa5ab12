"""``EmbeddedStructure``: ways in and out, identity, order, blanket, clusters, clear errors."""

import copy
import pickle
from itertools import pairwise

import flint
import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebnc import EmbeddedStructure
from ebnc.errors import EBNCError, StructureError
from strategies import all_dags, cluster_sets, factor_sets, span_matrix, structures

WORKED = "[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]"


@given(structures(max_inputs=5, awkward=True))
def test_all_ways_in_lead_to_the_same_structure(structure):
    """From arcs, from networkx, and back through networkx."""
    target = structure.target
    by_edges = EmbeddedStructure.from_edges(structure.edges, target, inputs=structure.inputs)
    by_graph = EmbeddedStructure.from_networkx(structure.to_networkx(), target)
    assert by_edges == by_graph == structure
    assert set(structure.to_networkx().edges) == set(structure.edges)
    assert set(structure.to_networkx().nodes) == set(structure.names)


@pytest.mark.parametrize(
    ("structure", "text"),
    [
        (EmbeddedStructure.naive("Y", ["A", "B"]), "[Y][A|Y][B|Y]"),
        (EmbeddedStructure.naive("Y", []), "[Y]"),
        (EmbeddedStructure.chain("Y", ["A", "B", "C"]), "[Y][A|Y][B|A:Y][C|B:Y]"),
        (EmbeddedStructure.chain("Y", ["A"]), "[Y][A|Y]"),
        (EmbeddedStructure.chain("Y", []), "[Y]"),
        (EmbeddedStructure.tree("Y", [("A", "B"), ("A", "C")]), "[Y][A|Y][B|A:Y][C|A:Y]"),
        (EmbeddedStructure.tree("Y", [], inputs=["A", "B"]), "[Y][A|Y][B|Y]"),
        (EmbeddedStructure.tree("Y", [("B", "A")], inputs=["A", "B"]), "[Y][A|B:Y][B|Y]"),
        (EmbeddedStructure.table("Y", ["A", "B"]), "[A][B][Y|A:B]"),
        (EmbeddedStructure.table("Y", []), "[Y]"),
        (EmbeddedStructure.from_edges([], target="Y"), "[Y]"),
        (EmbeddedStructure.from_edges([("A", "Y"), ("Y", "B")], target="Y"), "[A][Y|A][B|Y]"),
        (EmbeddedStructure.from_edges([], target="Y", inputs=["A"]), "[A][Y]"),
        (EmbeddedStructure.from_networkx(nx.DiGraph([("A", "Y")]), target="Y"), "[A][Y|A]"),
        (EmbeddedStructure.from_networkx(nx.MultiDiGraph([("A", "Y")] * 2), "Y"), "[A][Y|A]"),
    ],
    ids=str,
)
def test_a_canonical_form_prints_as_its_model_string(structure, text):
    """Canonical forms against strings written by hand."""
    assert str(structure) == text
    assert structure == EmbeddedStructure.from_string(text, target="Y")


def test_generators_and_iterators_are_fine_as_names_and_arcs():
    """Names need not be lists."""
    assert EmbeddedStructure.chain("Y", iter("AB")) == EmbeddedStructure.chain("Y", ["A", "B"])
    arcs = (arc for arc in [("A", "Y"), ("Y", "B")])
    assert str(EmbeddedStructure.from_edges(arcs, target="Y")) == "[A][Y|A][B|Y]"


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_copies_and_pickles_are_equal(again):
    """Also with everything computed already."""
    structure = EmbeddedStructure.from_string(WORKED, target="Y")
    assert structure.clusters
    assert structure.absorbers
    assert again(structure) == structure
    assert hash(again(structure)) == hash(structure)


@given(structures(max_inputs=5), st.randoms(use_true_random=False))
def test_order_of_variables_and_parents_is_not_part_of_the_identity(structure, random):
    """Shuffled families: equal, equal hash, equal cluster key."""
    families = [(name, tuple(random.sample(p, len(p)))) for name, p in structure.families]
    random.shuffle(families)
    shuffled = EmbeddedStructure(structure.target, tuple(families))
    assert shuffled == structure
    assert hash(shuffled) == hash(structure)
    assert shuffled.cluster_key == structure.cluster_key
    assert len({shuffled, structure}) == 1


@given(structures(max_inputs=4, min_inputs=1), st.data())
def test_one_arc_or_another_target_makes_a_different_structure(structure, data):
    """Equality is equality of DAG and target."""
    if structure.edges:
        without = data.draw(st.sampled_from(structure.edges))
        arcs = [arc for arc in structure.edges if arc != without]
        assert structure != EmbeddedStructure.from_edges(arcs, "Y", inputs=structure.inputs)
    assert structure != EmbeddedStructure(structure.inputs[0], structure.families)
    assert structure != str(structure)


def test_a_structure_cannot_be_changed():
    """Frozen: it is a key of caches."""
    structure = EmbeddedStructure.naive("Y", ["A"])
    with pytest.raises(AttributeError):
        structure.target = "A"


def test_equal_cluster_keys_mean_equal_spans_and_different_ones_different_spans():
    """All 543 DAGs on Y and three inputs; spans compared by reduced row echelon form (FLINT)."""
    n_states = {"A": 2, "B": 3, "C": 2, "Y": 2}
    span_of = {}
    for families in all_dags(["Y", "A", "B", "C"]):
        structure = EmbeddedStructure("Y", families)
        echelon, rank = flint.fmpq_mat(span_matrix(structure, n_states).transpose()).rref()
        span = tuple(tuple(map(str, row)) for row in echelon.tolist()[:rank])
        assert span_of.setdefault(structure.cluster_key, span) == span
    assert len(set(span_of.values())) == len(span_of)


@given(structures(max_inputs=6))
def test_parents_children_and_edges_tell_the_same_dag(structure):
    """Children come in topological order."""
    graph = nx.DiGraph(structure.edges)
    graph.add_nodes_from(structure.names)
    for name in structure.names:
        assert set(structure.parents(name)) == set(graph.predecessors(name))
        children = structure.children(name)
        assert len(children) == len(set(children))
        assert set(children) == set(graph.successors(name))
        for earlier, later in pairwise(children):
            assert earlier not in nx.descendants(graph, later)
    assert structure.inputs == tuple(n for n in structure.names if n != structure.target)


@given(structures(max_inputs=6))
def test_total_order_is_consistent_with_the_dag_and_has_the_target_late(structure):
    """§3: all arcs point forward; what stands behind Y are exactly its descendants."""
    order = structure.total_order
    place = {name: i for i, name in enumerate(order)}
    assert sorted(order) == sorted(structure.names)
    assert all(place[tail] < place[head] for tail, head in structure.edges)
    behind = set(order[place[structure.target] + 1 :])
    assert behind == nx.descendants(structure.to_networkx(), structure.target)


@given(structures(max_inputs=6))
def test_clusters_are_the_maximal_sets_of_the_definition(structure):
    """From the arcs, in the structure's order, each once."""
    assert {frozenset(cluster) for cluster in structure.clusters} == cluster_sets(structure)
    assert structure.cluster_key == cluster_sets(structure)
    place = {name: i for i, name in enumerate(structure.inputs)}
    keys = [[place[x] for x in cluster] for cluster in structure.clusters]
    assert keys == sorted(keys)
    assert all(key == sorted(key) for key in keys)
    assert len(set(structure.clusters)) == len(structure.clusters)


@given(structures(max_inputs=6))
def test_factors_are_the_terms_that_mention_the_target(structure):
    """Y's own first, then its children in topological order with their own name last."""
    assert structure.factors[0].head == structure.target
    assert [f.head for f in structure.factors[1:]] == list(structure.children(structure.target))
    assert sorted(map(sorted, factor_sets(structure))) == sorted(
        sorted(factor.inputs) for factor in structure.factors
    )
    assert all(factor.inputs[-1] == factor.head for factor in structure.factors[1:])


@settings(max_examples=150)
@given(structures(max_inputs=6))
def test_the_markov_blanket_is_what_no_other_input_separates(structure):
    """An input is outside exactly when all others d-separate it from Y (networkx)."""
    graph = structure.to_networkx()
    for name in structure.inputs:
        others = set(structure.inputs) - {name}
        separated = nx.is_d_separator(graph, {name}, {structure.target}, others)
        assert (name not in structure.markov_blanket) == separated
    in_order = [n for n in structure.inputs if n in structure.markov_blanket]
    assert list(structure.markov_blanket) == in_order


def test_the_isolated_target_has_the_empty_cluster():
    """Nothing is selected; one cluster, ∅."""
    structure = EmbeddedStructure.from_string("[Y][A][B|A]", target="Y")
    assert structure.clusters == ((),)
    assert structure.markov_blanket == ()
    assert structure.fills_span


def parsed(text, target="Y"):
    return lambda: EmbeddedStructure.from_string(text, target=target)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (parsed("[A|B][B|A][Y]"), "cycle"),
        (parsed("[Y|Y]"), "cycle: Y → Y"),
        (parsed("[A][A][Y]"), "variable 'A' is given twice"),
        (parsed("[A][Y|A:A]"), "parent 'A' of 'Y' is given twice"),
        (parsed("[Y|A]"), "parent 'A' of 'Y' is not in the graph"),
        (parsed("[A][B]"), "target 'Y' is not a variable"),
        (parsed("[A][Y]", target=None), "target None is not a variable"),
        (parsed("[A][Y]", target=["Y"]), r"target \['Y'\] is not a variable"),
        (lambda: EmbeddedStructure.from_edges([("A", "B")], "Y"), "target 'Y'"),
        (lambda: EmbeddedStructure.from_edges([("A", "Y")] * 2, "Y"), "'A' → 'Y' is given twice"),
        (
            lambda: EmbeddedStructure.from_edges([("A", "Y")], "Y", inputs=["B"]),
            "'A' is neither the target nor an input",
        ),
        (lambda: EmbeddedStructure.from_edges([], "Y", inputs=["A", "A"]), "'A' is given twice"),
        (lambda: EmbeddedStructure.from_edges([], "Y", inputs=["Y"]), "'Y' is given twice"),
        (lambda: EmbeddedStructure.from_edges([("A", "Y", 1)], "Y"), "pair"),
        (lambda: EmbeddedStructure.from_edges([3], "Y"), "pair"),
        (lambda: EmbeddedStructure.from_edges(["AY"], "Y"), "pair .* got 'AY'"),
        (lambda: EmbeddedStructure.from_edges(None, "Y"), "list of pairs"),
        (lambda: EmbeddedStructure.from_edges([(1, "Y")], "Y"), "non-empty strings, got 1"),
        (lambda: EmbeddedStructure.from_edges([("", "Y")], "Y"), "non-empty strings, got ''"),
        (lambda: EmbeddedStructure.from_edges([(["A"], "Y")], "Y"), "non-empty strings"),
        (lambda: EmbeddedStructure.from_networkx(nx.Graph([("A", "Y")]), "Y"), "undirected"),
        (lambda: EmbeddedStructure.from_networkx(nx.DiGraph([(1, 2)]), 1), "strings, got 1"),
        (lambda: EmbeddedStructure.from_networkx(None, "Y"), "DiGraph, got None"),
        (lambda: EmbeddedStructure.naive("Y", "AB"), "the string 'AB'"),
        (lambda: EmbeddedStructure.naive("Y", 3), "list of names, got 3"),
        (lambda: EmbeddedStructure.naive("Y", [3]), "non-empty strings, got 3"),
        (lambda: EmbeddedStructure.naive("Y", ["A", "Y"]), "'Y' is given twice"),
        (lambda: EmbeddedStructure.naive(None, ["A"]), "non-empty strings, got None"),
        (lambda: EmbeddedStructure.chain("Y", ["A", "B", "A"]), "'A' is given twice"),
        (lambda: EmbeddedStructure.table("Y", ["A", "A"]), "'A' is given twice"),
        (lambda: EmbeddedStructure.tree("Y", [("A", "C"), ("B", "C")]), "'C' has two parents"),
        (lambda: EmbeddedStructure.tree("Y", [("A", "B"), ("B", "A")]), "cycle"),
        (lambda: EmbeddedStructure.tree("Y", [("Y", "A")]), "'Y'"),
        (lambda: EmbeddedStructure.tree("Y", [("A", "Y")]), "'Y'"),
        (lambda: EmbeddedStructure.tree("Y", [], inputs=["A", "A"]), "'A' is given twice"),
        (lambda: EmbeddedStructure.naive("Y", ["A"]).parents("B"), "no variable 'B'"),
        (lambda: EmbeddedStructure.naive("Y", ["A"]).children("B"), "no variable 'B'"),
    ],
)
def test_a_bad_structure_gets_one_clear_error_that_names_the_variable(make, message):
    """Cycle, unknown or duplicate name, missing target, an input not in the DAG, wrong types."""
    with pytest.raises(StructureError, match=message) as error:
        make()
    assert isinstance(error.value, EBNCError)
    assert isinstance(error.value, ValueError)
    assert "\n" not in str(error.value)


def test_a_cycle_is_shown_in_the_direction_of_its_arcs():
    """Every step of the cycle in the message is an arc that was given."""
    arcs = [("A", "B"), ("B", "C"), ("C", "Y"), ("Y", "A"), ("Z", "A")]
    with pytest.raises(StructureError, match="cycle") as error:
        EmbeddedStructure.from_edges(arcs, target="Y")
    shown = str(error.value).split("cycle: ")[1].split(";")[0].split(" → ")
    assert shown[0] == shown[-1]
    assert set(pairwise(shown)) == set(arcs[:4])


def test_messages_stay_short_in_large_structures():
    """At most eight names are listed."""
    structure = EmbeddedStructure.naive("Y", [f"X{i}" for i in range(5000)])
    with pytest.raises(StructureError, match="no variable 'Z'") as error:
        structure.parents("Z")
    assert len(str(error.value)) < 200
