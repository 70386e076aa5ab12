"""θ: shapes and checks; every bad table is refused by name."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from ebnc import Domain, EmbeddedNetwork, EmbeddedStructure
from ebnc.errors import EBNCError, ParameterError, TooLargeError
from ebnc.parameters.theta import check_theta, random_theta, theta_shape, uniform_theta
from strategies import models, seeds

STRUCTURE = EmbeddedStructure.from_string("[Y][A|Y][B|A:Y]", target="Y")
DOMAIN = Domain({"Y": 2, "A": 3, "B": 2})


def good():
    return {
        "Y": [0.5, 0.5],
        "A": [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]],
        "B": [[[0.5, 0.5], [0.25, 0.75]]] * 3,
    }


def test_a_good_theta_passes_and_is_copied():
    """As float arrays; a later change of the caller's changes nothing."""
    theta = good()
    theta["Y"] = np.array([0.5, 0.5])
    checked = check_theta(STRUCTURE, DOMAIN, theta)
    theta["Y"][0] = 7.0
    assert checked["Y"].tolist() == [0.5, 0.5]
    assert checked["B"].shape == (3, 2, 2)
    assert all(table.dtype == np.float64 for table in checked.values())


def test_fractions_and_single_precision_are_numbers_too():
    """Anything that becomes a float; single precision sums to 1 within 1e-7 only."""
    theta = good() | {"Y": [Fraction(1, 3), Fraction(2, 3)]}
    assert check_theta(STRUCTURE, DOMAIN, theta)["Y"][0] == 1 / 3
    theta = good() | {"Y": np.array([0.25, 0.75], dtype=np.float32)}
    assert check_theta(STRUCTURE, DOMAIN, theta)["Y"][0] == 0.25


@given(models(max_inputs=4, one_state=True, awkward=True), seeds)
def test_random_theta_is_a_theta(model, seed):
    """Right shapes, positive, sums of 1; reproducible."""
    domain = Domain(model.n_states)
    theta = random_theta(model.structure, domain, np.random.default_rng(seed))
    checked = check_theta(model.structure, domain, theta)
    again = random_theta(model.structure, domain, np.random.default_rng(seed))
    for name in model.structure.names:
        axes = (*model.structure.parents(name), name)
        assert theta_shape(model.structure, domain, name) == tuple(
            model.n_states[axis] for axis in axes
        )
        np.testing.assert_array_equal(checked[name], again[name])
        uniform = uniform_theta(model.structure, domain, name)
        np.testing.assert_allclose(uniform.sum(axis=-1), 1)
        assert (uniform == uniform.flat[0]).all()


BAD = [
    ("Y", [0.5, 0.4], "θ of 'Y' sums to 0.9"),
    ("Y", [0.5, 0.5 + 1e-6], "θ of 'Y' sums to 1.000001"),
    ("Y", [1.0, 0.0], r"θ of 'Y' has 0.0 at \(1,\)"),
    ("Y", [1.5, -0.5], r"θ of 'Y' has -0.5 at \(1,\)"),
    ("Y", [np.nan, 1.0], r"θ of 'Y' has nan at \(0,\)"),
    ("Y", [np.inf, 0.5], r"θ of 'Y' has inf at \(0,\)"),
    ("Y", [0.5, -np.inf], r"θ of 'Y' has -inf at \(1,\)"),
    ("Y", [None, 1.0], r"θ of 'Y' has nan at \(0,\)"),
    ("Y", [1.0], r"θ of 'Y' must have shape \(2,\) \(Y\), got \(1,\)"),
    ("Y", [[0.5, 0.5]], r"θ of 'Y' must have shape \(2,\) \(Y\), got \(1, 2\)"),
    ("Y", 0.5, r"θ of 'Y' must have shape \(2,\) \(Y\), got \(\)"),
    ("Y", [], r"θ of 'Y' must have shape \(2,\) \(Y\), got \(0,\)"),
    ("Y", None, "θ of 'Y'"),
    ("Y", "ab", "θ of 'Y' is not an array of numbers"),
    ("Y", ["a", "b"], "θ of 'Y' is not an array of numbers"),
    ("Y", ["0.5", "0.5"], "θ of 'Y' is not an array of numbers"),
    ("Y", [0.5, "b"], "θ of 'Y' is not an array of numbers"),
    ("Y", [0.5 + 0.1j, 0.5], "θ of 'Y' is not an array of numbers"),
    ("Y", np.array([0.5 + 0.1j, 0.5]), "θ of 'Y' is not an array of numbers"),
    ("Y", [[0.5], [0.2, 0.3]], "θ of 'Y' is not an array of numbers"),
    ("Y", {"a": 0.5, "b": 0.5}, "θ of 'Y'"),
    ("Y", np.array(["2020-01-01"] * 2, dtype="datetime64[D]"), "θ of 'Y' is not an array"),
    ("A", np.full((3, 2), 0.5), r"θ of 'A' must have shape \(2, 3\) \(Y, A\), got \(3, 2\)"),
    (
        "A",
        [[0.2, 0.3, 0.5], [0.1, 0.1, 0.9]],
        r"θ of 'A' sums to 1.1\d* over its last axis at \(1,\)",
    ),
    ("B", np.full((2, 3, 2), 0.5), r"θ of 'B' must have shape \(3, 2, 2\) \(A, Y, B\)"),
    ("B", np.where(np.indices((3, 2, 2))[1] > 0, 0.6, 0.5), r"θ of 'B' sums to 1.2 .* at \(0, 1\)"),
]


@pytest.mark.parametrize(("name", "table", "message"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_a_bad_table_gets_one_clear_error_that_names_the_variable(name, table, message):
    """Sums, zeros, negatives, NaN, infinity, shapes, no numbers."""
    with pytest.raises(ParameterError, match=message) as error:
        EmbeddedNetwork(STRUCTURE, DOMAIN, good() | {name: table})
    assert isinstance(error.value, EBNCError)


@pytest.mark.parametrize(
    ("theta", "message"),
    [
        ({k: v for k, v in good().items() if k != "A"}, "no table for 'A'"),
        (good() | {"Z": [1.0]}, "a table for 'Z', which is not in"),
        ({}, "no table for 'Y'"),
        (None, "mapping .* got NoneType"),
        ([[0.5, 0.5]], "mapping .* got list"),
        (np.ones(3), "mapping .* got ndarray"),
    ],
)
def test_missing_and_superfluous_tables_are_named(theta, message):
    """A table for every variable, and for no other."""
    with pytest.raises(ParameterError, match=message):
        EmbeddedNetwork(STRUCTURE, DOMAIN, theta)


@pytest.mark.parametrize(
    ("n", "size"), [(40, "16 TiB"), (60, "16 EiB"), (80, "16777216 EiB"), (3000, r"2\^3004 bytes")]
)
def test_a_table_that_does_not_fit_is_refused_at_once_with_its_size(n, size):
    """8 · 2^{n+1} bytes: named before anything is allocated."""
    structure = EmbeddedStructure.table("Y", [f"X{i}" for i in range(n)])
    domain = Domain(dict.fromkeys(structure.names, 2))
    with pytest.raises(TooLargeError, match=f"'Y' with {n} parents would take {size}"):
        EmbeddedNetwork.random(structure, domain)
    with pytest.raises(TooLargeError, match=f"'Y' with {n} parents would take {size}"):
        EmbeddedNetwork(structure, domain, {name: [0.5, 0.5] for name in structure.names})


def test_the_size_named_is_the_size_of_the_table(monkeypatch):
    """2^33 cells of 8 bytes are 64 GiB; on a machine that could hold them they would not be."""
    monkeypatch.setattr("ebnc.memory._memory_limit", lambda: 2**34)
    structure = EmbeddedStructure.table("Y", [f"X{i}" for i in range(32)])
    with pytest.raises(TooLargeError, match="would take 64 GiB"):
        theta_shape(structure, Domain(dict.fromkeys(structure.names, 2)), "Y")
