"""§6's procedure: blocks of η → ψ, their ranks and the basis of eq. 19."""

import copy
import pickle
from itertools import permutations

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebnc import EmbeddedStructure, dimension, dimension_by_blocks
from ebnc.errors import StructureError, TooLargeError
from strategies import models, span_matrix

WORKED = EmbeddedStructure.from_string("[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]", target="Y")


@given(models(max_inputs=5, one_state=True, max_configurations=300), st.data())
def test_the_sum_of_ranks_does_not_depend_on_the_order(model, data):
    """Any permutation of the inputs; inputs outside of the blanket may stand anywhere."""
    order = data.draw(st.permutations(model.structure.inputs))
    blocks = dimension_by_blocks(model.structure, model.n_states, order)
    assert blocks == dimension(model.structure, model.n_states)
    assert sum(blocks.ranks) == len(blocks.basis) == blocks
    varying = model.structure.without([x for x in order if model.n_states[x] == 1])
    in_blanket = [x for x in order if x in varying.markov_blanket]
    assert [block.variable for block in blocks.blocks] == [None, *in_blanket]


def test_every_order_of_the_worked_model_gives_fifteen():
    """All 120 orders."""
    binary = dict.fromkeys(WORKED.names, 2)
    assert {int(dimension_by_blocks(WORKED, binary, o)) for o in permutations(WORKED.inputs)} == {
        15
    }


def turned_on(structure, n_states, parameter):
    """The configurations whose λ differ by this ψ: X_i on and off, later inputs at baseline."""
    off = dict.fromkeys(structure.inputs, 0) | dict(parameter.context)
    if parameter.variable is None:
        return off, None
    return {**off, parameter.variable: parameter.state}, off


@settings(max_examples=40)
@given(models(max_inputs=4, max_configurations=150), st.data())
def test_the_basis_of_equation_19_determines_all_log_odds(model, data):
    """ψ of the basis as functionals of κ: d of them, independent (rank by FLINT)."""
    structure, n_states = model.structure, model.n_states
    order = data.draw(st.permutations(structure.inputs))
    basis = dimension_by_blocks(structure, n_states, order).basis
    matrix = span_matrix(structure, n_states)
    if matrix.nrows() == 0:
        return
    radices = [n_states[x] for x in structure.inputs]

    def row(x, k):
        place = 0
        for name, r in zip(structure.inputs, radices, strict=True):
            place = place * r + x[name]
        start = place * (n_states["Y"] - 1) + k - 1
        return np.array([int(matrix[start, j]) for j in range(matrix.ncols())])

    rows = []
    for parameter in basis:
        on, off = turned_on(structure, n_states, parameter)
        psi = row(on, parameter.of_class)
        rows.append(psi if off is None else psi - row(off, parameter.of_class))
    assert len(set(basis)) == len(basis)
    chosen = flint.fmpz_mat([list(map(int, r)) for r in rows])
    assert chosen.rank() == len(basis) == matrix.rank()


def test_a_block_dimension_is_an_int_that_survives_copies():
    """Arithmetic as with any int; the blocks stay when it is copied or pickled."""
    blocks = dimension_by_blocks(WORKED, dict.fromkeys(WORKED.names, 2))
    assert isinstance(blocks, int)
    assert blocks + 1 == 16
    for again in (copy.copy(blocks), copy.deepcopy(blocks), pickle.loads(pickle.dumps(blocks))):
        assert again == 15
        assert again.ranks == (1, 1, 2, 3, 4, 4)
        assert again.basis == blocks.basis


def test_states_and_classes_of_the_basis_are_on():
    """State and class numbers start at 1; contexts name earlier inputs only."""
    n_states = {"X1": 3, "X2": 2, "X3": 2, "X4": 2, "X5": 3, "Y": 3}
    order = ["X5", "X3", "X1", "X4", "X2"]
    blocks = dimension_by_blocks(WORKED, n_states, order)
    for parameter in blocks.basis:
        assert 1 <= parameter.of_class < 3
        if parameter.variable is None:
            assert (parameter.state, parameter.context) == (0, ())
            continue
        assert 1 <= parameter.state < n_states[parameter.variable]
        before = order[: order.index(parameter.variable)]
        assert [name for name, _ in parameter.context] == [
            x for x in before if x in dict(parameter.context)
        ]


@pytest.mark.parametrize(
    "order",
    [
        [],
        ["X1"],
        ["X1", "X2", "X3", "X4", "X4"],
        ["X1", "X2", "X3", "X4", "X5", "Y"],
        ["X1", "X2", "X3", "X4", "Z"],
        ["X1", "X2", "X3", "X4", 5],
        "X1X2X3X4X5",
    ],
    ids=str,
)
def test_a_wrong_order_is_refused(order):
    """Each input once, and nothing else."""
    with pytest.raises(StructureError, match="order must name each input once"):
        dimension_by_blocks(WORKED, dict.fromkeys(WORKED.names, 2), order)


def test_a_context_that_does_not_fit_is_refused_at_once():
    """The hub last: its context is 60 inputs, though every factor is a pair."""
    spokes = [f"X{i}" for i in range(60)]
    hub = EmbeddedStructure.tree("Y", [("H", x) for x in spokes])
    binary = dict.fromkeys(hub.names, 2)
    with pytest.raises(TooLargeError, match=r"η → ψ of 'H' in §6, 60 inputs, would take .* EiB"):
        dimension_by_blocks(hub, binary, [*spokes, "H"])
    assert dimension_by_blocks(hub, binary, ["H", *spokes]) == dimension(hub, binary) == 122
