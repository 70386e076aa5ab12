"""§4's procedure: the rank of κ → λ."""

from itertools import pairwise, product

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebnc import EmbeddedStructure, dimension_by_elimination
from ebnc.errors import TooLargeError
from ebnc.parameters.incidence import independent_configurations
from strategies import models, span_matrix


@given(models(max_inputs=4, one_state=True))
def test_elimination_gives_the_rank_of_the_whole_matrix(model):
    """κ of all classes and all tables at once, eliminated by FLINT."""
    expected = span_matrix(model.structure, model.n_states).rank()
    assert dimension_by_elimination(model.structure, model.n_states) == expected


scopes = st.lists(st.lists(st.sampled_from("abc"), unique=True, max_size=3), min_size=1, max_size=4)


@given(scopes, st.lists(st.integers(1, 3), min_size=3, max_size=3))
def test_independent_configurations_are_the_first_basis_of_the_rows(tables, sizes):
    """Each row that FLINT finds independent of the rows before it, and no other."""
    found = independent_configurations(dict(zip("abc", sizes, strict=True)), tables, "a matrix")
    configurations = list(product(*map(range, sizes)))
    cells = {}
    rows = []
    for x in configurations:
        at = dict(zip("abc", x, strict=True))
        rows.append([(t, *(at[v] for v in scope)) for t, scope in enumerate(tables)])
        for cell in rows[-1]:
            cells.setdefault(cell, len(cells))
    dense = [[int(cell in row) for cell in cells] for row in rows]
    ranks = [0, *(flint.fmpz_mat(dense[: n + 1]).rank() for n in range(len(dense)))]
    expected = [x for x, (a, b) in zip(configurations, pairwise(ranks), strict=True) if b > a]
    assert found == expected


def test_a_matrix_that_does_not_fit_is_refused_at_once_with_its_size():
    """2^60 rows are named, not tried."""
    naive = EmbeddedStructure.naive("Y", [f"X{i}" for i in range(60)])
    with pytest.raises(TooLargeError, match=r"κ → λ of §4, 60 inputs, would take .* EiB"):
        dimension_by_elimination(naive, dict.fromkeys(naive.names, 2))


def test_inputs_outside_of_the_blanket_cost_nothing():
    """Sixty inputs, two of them in the blanket."""
    names = [f"X{i}" for i in range(60)]
    structure = EmbeddedStructure.from_edges([("X0", "Y"), ("Y", "X1")], "Y", inputs=names)
    assert dimension_by_elimination(structure, dict.fromkeys(structure.names, 2)) == 3
