"""Codings: bases of the functions of one variable."""

import numpy as np
import pytest
from scipy.linalg import helmert

from ebnc.errors import ParameterError
from ebnc.parameters.coding import INDICATOR, ORTHONORMAL, coding_named

SIZES = [1, 2, 3, 4, 7, 20]


@pytest.mark.parametrize("coding", [INDICATOR, ORTHONORMAL], ids=lambda c: c.name)
@pytest.mark.parametrize("r", SIZES)
def test_constant_and_columns_are_a_basis(coding, r):
    """[1 | E] is square and far from singular."""
    matrix = coding.matrix(r)
    assert matrix.shape == (r, r - 1)
    full = np.column_stack([np.ones(r), matrix])
    np.testing.assert_array_equal(coding.full(r), full)
    assert np.linalg.cond(full) < 10 * r


@pytest.mark.parametrize("r", SIZES)
def test_orthonormal_columns_are_helmert_contrasts_of_length_root_r(r):
    """EᵀE = r·I, 1ᵀE = 0, and SciPy's Helmert matrix up to sign and scale."""
    matrix = ORTHONORMAL.matrix(r)
    np.testing.assert_allclose(matrix.T @ matrix, r * np.eye(r - 1), atol=1e-10)
    np.testing.assert_allclose(matrix.sum(axis=0), 0, atol=1e-12)
    if r > 1:
        np.testing.assert_allclose(np.abs(matrix.T), np.sqrt(r) * np.abs(helmert(r)), atol=1e-12)


@pytest.mark.parametrize("r", SIZES)
def test_indicator_columns_are_indicators_of_all_states_but_the_baseline(r):
    """The paper's I(x^s), s ≥ 1."""
    np.testing.assert_array_equal(INDICATOR.matrix(r), np.eye(r)[:, 1:])
    np.testing.assert_array_equal(INDICATOR.classes(r), np.eye(r - 1))


@pytest.mark.parametrize("coding", [INDICATOR, ORTHONORMAL], ids=lambda c: c.name)
@pytest.mark.parametrize("r", SIZES)
def test_classes_lead_to_differences_with_the_baseline_class(coding, r):
    """f_k − f_0, an invertible map of the class coefficients."""
    coefficients = np.random.default_rng(r).normal(size=r - 1)
    values = coding.matrix(r) @ coefficients
    np.testing.assert_allclose(coding.classes(r) @ coefficients, values[1:] - values[0], atol=1e-12)
    assert np.linalg.matrix_rank(coding.classes(r)) == r - 1


def test_codings_are_known_by_name():
    """And no others."""
    assert coding_named("indicator") is INDICATOR
    assert coding_named("orthonormal") is ORTHONORMAL


@pytest.mark.parametrize("name", ["Indicator", "", None, 3, ["indicator"]])
def test_an_unknown_coding_is_refused(name):
    """With the two there are."""
    with pytest.raises(ParameterError, match="choose 'indicator' or 'orthonormal'"):
        coding_named(name)
