"""When an EBNC fills its span: the graph condition, and equivalent structures that meet it."""

import pytest
from hypothesis import given, settings

from ebnc import EmbeddedStructure
from strategies import all_dags, cluster_sets, factor_sets, is_acyclic, structures

WORKED = "[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]"


def condition_of_roos(structure):
    """For every child X_i: A_i ⊆ Pa(Y), or A_i ⊆ C_j for a child X_j ∈ A_i; from the arcs."""
    target, arcs = structure.target, set(structure.edges)
    children = {b for a, b in arcs if a == target}
    others = {x: {a for a, b in arcs if b == x} - {target} for x in structure.names}
    return all(
        others[i] <= others[target]
        or any(others[i] <= others[j] | {j} for j in others[i] & children)
        for i in children
    )


@given(structures(max_inputs=6))
def test_fills_span_is_the_condition_of_roos_et_al(structure):
    """Written a second time, from the arcs."""
    assert structure.fills_span == condition_of_roos(structure)


@given(structures(max_inputs=6))
def test_an_absorber_has_room_for_the_constant_and_comes_earlier(structure):
    """Z_i is a function of A_i; its taker contains A_i and is Y or an ancestor of X_i."""
    factors = {factor.head: set(factor.inputs) for factor in structure.factors}
    for child, head in structure.absorbers.items():
        if head is not None:
            assert factors[child] - {child} <= factors[head]
            assert head == structure.target or head in structure.parents(child)
    assert set(structure.absorbers) == set(structure.children(structure.target))


@settings(max_examples=200)
@given(structures(max_inputs=6, max_parents=3))
def test_an_equivalent_that_fills_its_span_exists_exactly_for_decomposable_clusters(structure):
    """Same clusters, same variables; itself where it fills its span already."""
    equivalent = structure.equivalent_that_fills_span()
    assert (equivalent is not None) == is_acyclic(cluster_sets(structure))
    if structure.fills_span:
        assert equivalent is structure
    if equivalent is not None:
        assert equivalent.fills_span
        assert condition_of_roos(equivalent)
        assert cluster_sets(equivalent) == cluster_sets(structure)
        assert equivalent.cluster_key == structure.cluster_key
        assert set(equivalent.names) == set(structure.names)
        assert equivalent.target == structure.target


def test_every_structure_on_three_inputs_is_decomposable():
    """All 543 DAGs on four variables; the smallest cycle, 12 13 23, is no EBNC."""
    count = 0
    for families in all_dags(["Y", "A", "B", "C"]):
        structure = EmbeddedStructure("Y", families)
        assert structure.equivalent_that_fills_span() is not None
        count += 1
    assert count == 543


@pytest.mark.parametrize(
    "structure",
    [
        EmbeddedStructure.naive("Y", ["A", "B", "C"]),
        EmbeddedStructure.chain("Y", ["A", "B", "C", "D"]),
        EmbeddedStructure.tree("Y", [("A", "B"), ("A", "C"), ("C", "D")]),
        EmbeddedStructure.table("Y", ["A", "B", "C"]),
        EmbeddedStructure.naive("Y", []),
    ],
    ids=str,
)
def test_canonical_forms_fill_their_span(structure):
    """Naive, chain, tree, table and the isolated target."""
    assert structure.fills_span


@pytest.mark.parametrize(
    "text",
    [
        WORKED,
        "[A][B][C][Y|A:B][D|A:C:Y][E|B:C:Y]",
        "[Y][A|Y][B|Y][C|A:B:Y]",  # A and B meet in C only: fills after turning it round
    ],
)
def test_the_worked_model_has_no_equivalent_and_a_collider_has_one(text):
    """§6's model is a cycle of three clusters; a collider of children is one cluster."""
    structure = EmbeddedStructure.from_string(text, target="Y")
    assert not structure.fills_span
    decomposable = len(factor_sets(structure)[0]) == 0
    assert (structure.equivalent_that_fills_span() is not None) == decomposable


def test_a_large_tree_that_does_not_fill_its_span_is_turned_round():
    """X_{i} is not a child of Y but a parent of X_{i+1}: 2 000 pairs, no recursion."""
    families = [("Y", ())]
    for i in range(2000):
        families += [(f"P{i}", ()), (f"C{i}", (f"P{i}", "Y"))]
    structure = EmbeddedStructure("Y", tuple(families))
    assert not structure.fills_span
    equivalent = structure.equivalent_that_fills_span()
    assert equivalent.fills_span
    assert equivalent.cluster_key == structure.cluster_key
