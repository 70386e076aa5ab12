"""Inputs with one state do not exist for an EBNC."""

import numpy as np
import pytest

import ebnc
from ebnc import EmbeddedStructure

CONSTANT_CHILD = EmbeddedStructure.from_string("[A][B][Y][C|A:B:Y]", target="Y")


def test_a_child_with_one_state_adds_nothing_to_the_span():
    """θ(c|a, b, y) = 1 whatever y is, so neither C nor its other parents tell anything of Y."""
    n_states = {"A": 2, "B": 3, "C": 1, "Y": 2}
    counts = (
        ebnc.dimension,
        ebnc.generic_dimension,
        ebnc.dimension_by_elimination,
        ebnc.dimension_by_blocks,
    )
    assert [count(CONSTANT_CHILD, n_states) for count in counts] == [1, 1, 1, 1]


def test_a_constant_is_in_no_structure_and_data_need_not_hold_it():
    """The fitted model is the one that was never told of the column."""
    generator = np.random.default_rng(0)
    x, y = generator.integers(0, 3, 60), generator.integers(0, 2, 60)
    data = {"x": x, "same": np.zeros(60, dtype=int), "y": y}
    fitted = ebnc.fit(EmbeddedStructure.naive("y", ["x", "same"]), data)
    plain = ebnc.fit(EmbeddedStructure.naive("y", ["x"]), {"x": x, "y": y})
    assert fitted.structure == plain.structure
    assert list(fitted.domain) == ["y", "x"]
    assert fitted.log_evidence == pytest.approx(plain.log_evidence, abs=1e-9)
    only_x = {"x": x}
    np.testing.assert_allclose(fitted.probabilities(only_x), plain.probabilities(only_x))


def test_more_constants_than_an_array_has_axes():
    """NumPy's arrays have at most 64 axes."""
    names = [f"x{i}" for i in range(80)]
    data = {name: ["a"] * 20 for name in names} | {"y": ["no", "yes"] * 10}
    fitted = ebnc.fit(EmbeddedStructure.naive("y", names), data)
    assert fitted.parents == ()
    np.testing.assert_allclose(fitted.probabilities({"x0": ["a"]}), 0.5)
    assert ebnc.EBNC(EmbeddedStructure.naive("y", names), {**dict.fromkeys(names, 1), "y": 2}, [0])


def test_an_embedded_network_may_have_a_constant():
    """θ → φ: the constant's table is 1 and drops out."""
    theta = {
        "A": [0.25, 0.75],
        "B": [0.5, 0.5],
        "Y": [0.2, 0.8],
        "C": np.ones((2, 2, 2, 1)),
    }
    domain = {"A": 2, "B": 2, "C": 1, "Y": 2}
    model = ebnc.EBNC.from_embedded_network(ebnc.EmbeddedNetwork(CONSTANT_CHILD, domain, theta))
    assert str(model.structure) == "[A][B][Y]"
    np.testing.assert_allclose(model.probabilities({"A": [0], "B": [0]}), [[0.2, 0.8]])
