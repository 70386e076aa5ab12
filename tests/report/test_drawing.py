"""Drawings of structures: nothing overlaps, nothing sticks out, every arc that matters is there."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from ebnc import EmbeddedStructure
from ebnc.report.drawing import draw_structure
from strategies import structures


def random_forest(n_inputs, seed):
    """Naive, with an arc into most inputs from an earlier one, sometimes two."""
    rng = np.random.default_rng(seed)
    families = [("Y", ())]
    for i in range(n_inputs):
        n_parents = min(i, int(rng.integers(0, 3)))
        chosen = sorted(rng.choice(i, n_parents, replace=False).tolist()) if n_parents else []
        families.append((f"input {i}", ("Y", *(f"input {p}" for p in chosen))))
    return EmbeddedStructure("Y", tuple(families))


def check(structure, drawing):
    for node in drawing.nodes:
        assert node.x - node.width / 2 >= 0
        assert node.x + node.width / 2 <= drawing.width
        assert node.y - node.height / 2 >= 0
        assert node.y + node.height / 2 <= drawing.height
    for a, b in combinations(drawing.nodes, 2):
        apart_x = abs(a.x - b.x) >= (a.width + b.width) / 2
        apart_y = abs(a.y - b.y) >= (a.height + b.height) / 2
        assert apart_x or apart_y, (a, b)
    at = {node.name: node for node in drawing.nodes}
    for plate in drawing.plates:
        for node in drawing.nodes:
            if node.kind == "child":
                assert plate.x <= node.x - node.width / 2
                assert node.x + node.width / 2 <= plate.x + plate.width
                assert plate.y <= node.y - node.height / 2
                assert node.y + node.height / 2 <= plate.y + plate.height
    for arc in drawing.arcs:
        x0, y0, *_, x3, y3 = arc.curve
        for name, x, y in ((arc.tail, x0, y0), (arc.head, x3, y3)):
            if name:  # it begins and ends at the border of its node
                node = at[name]
                assert abs(x - node.x) <= node.width / 2 + 1e-6
                assert abs(y - node.y) <= node.height / 2 + 1e-6


def arcs_that_matter(structure):
    """Into Y, and into every child of Y."""
    target = structure.target
    heads = [target, *structure.children(target)]
    return {(parent, x) for x in heads for parent in structure.parents(x)}


@given(structures(max_inputs=9, awkward=True))
def test_any_structure_is_drawn_completely(structure):
    drawing = draw_structure(structure)
    check(structure, drawing)
    blanket = set(structure.markov_blanket)
    assert {node.name for node in drawing.nodes} == blanket | {structure.target}
    drawn = {(arc.tail, arc.head) for arc in drawing.arcs}
    if drawing.plates:  # one arrow to the plate stands for those to all children
        assert (structure.target, "") in drawn
        drawn -= {(structure.target, "")}
        drawn |= {(structure.target, x) for x in structure.children(structure.target)}
    assert drawn == arcs_that_matter(structure)


@pytest.mark.parametrize("n_inputs", [8, 25, 60, 120])
def test_many_inputs_stay_on_the_page(n_inputs):
    """Not wider than four screens of a telephone, not much taller than wide."""
    structure = random_forest(n_inputs, seed=n_inputs)
    drawing = draw_structure(structure)
    check(structure, drawing)
    assert drawing.width <= 2200
    assert drawing.height <= 1.6 * max(drawing.width, 500)


def test_of_thousands_the_most_important_are_drawn():
    names = [f"v{i}" for i in range(3000)]
    structure = EmbeddedStructure.chain("Y", names)
    importance = {name: float(i) for i, name in enumerate(names)}
    drawing = draw_structure(structure, importance)
    check(structure, drawing)
    assert drawing.n_hidden == 2880
    assert {node.name for node in drawing.nodes} == {"Y", *names[-120:]}


def test_long_and_blank_names_are_cut_to_size():
    structure = EmbeddedStructure.naive("Y", ["x" * 500, " ", "年齢" * 50])
    drawing = draw_structure(structure, target_label="a label for the target")
    check(structure, drawing)
    assert drawing.width < 700
    assert {node.label for node in drawing.nodes if node.name == " "} == {"␣"}
