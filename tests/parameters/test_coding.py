"""Codings: bases of the functions of one variable."""

import numpy as np
import pytest
from scipy.fft import dct
from scipy.linalg import helmert

from ebnc import Domain
from ebnc.domain import Levels
from ebnc.errors import ParameterError
from ebnc.parameters.coding import (
    INDICATOR,
    ORTHONORMAL,
    coding_named,
    column_labels,
    wave_numbers,
)

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
    assert np.sum(np.linalg.svd(coding.classes(r), compute_uv=False) > 1e-9) == r - 1


def test_codings_are_known_by_name():
    """And no others."""
    assert coding_named("indicator") is INDICATOR
    assert coding_named("orthonormal") is ORTHONORMAL


@pytest.mark.parametrize("name", ["Indicator", "", None, 3, ["indicator"]])
def test_an_unknown_coding_is_refused(name):
    """With the two there are."""
    with pytest.raises(ParameterError, match="choose 'indicator' or 'orthonormal'"):
        coding_named(name)


# -- curves ----------------------------------------------------------------------------------------

CURVES = [Levels(2, 2), Levels(3, 3), Levels(4, 3), Levels(2, 1), Levels(13, 13), Levels(31, 31)]
CURVES += [Levels(32, 31), Levels(101, 100), Levels(1, 1)]


@pytest.mark.parametrize("levels", CURVES, ids=str)
def test_waves_are_scaled_cosines_orthogonal_to_constants_and_to_each_other(levels):
    """SciPy's discrete cosine transform; column j has length √B / j; t ≤ 12."""
    matrix = ORTHONORMAL.matrix(levels)
    n, t = levels.n_ordered, levels.n_waves
    assert t == min(12, n - 1)
    assert matrix.shape == (levels.n_states, levels.n_columns)
    waves = matrix[:n, :t]
    transform = dct(np.eye(n), norm="ortho", axis=0)[1 : t + 1].T  # orthonormal
    j = np.arange(1, t + 1)
    np.testing.assert_allclose(waves, np.sqrt(n) * transform / j, atol=1e-12)
    np.testing.assert_allclose(waves.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(waves.T @ waves, np.diag(n / j**2), atol=1e-10)
    np.testing.assert_array_equal(matrix[n:, :t], 0)


def test_a_missing_state_has_a_column_of_its_own():
    """It sums to zero, differs by 2 as the column of a binary variable, and leaves curves alone."""
    with_missing, without = ORTHONORMAL.matrix(Levels(6, 5)), ORTHONORMAL.matrix(Levels(5, 5))
    np.testing.assert_array_equal(with_missing[:5, :4], without)
    own = with_missing[:, 4]
    np.testing.assert_allclose(own[5] - own[:5], 2.0)
    assert own.sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(np.ptp(ORTHONORMAL.matrix(2)), 2.0)


@pytest.mark.parametrize("coding", [INDICATOR, ORTHONORMAL], ids=lambda c: c.name)
@pytest.mark.parametrize("levels", CURVES, ids=str)
def test_constant_and_waves_are_independent_and_both_codings_span_the_same(coding, levels):
    """Few states in order: any function of the states, as for nominal variables."""
    full = coding.full(levels)
    assert np.linalg.matrix_rank(full) == levels.n_columns + 1
    both = np.concatenate([full, ORTHONORMAL.full(levels)], axis=1)
    assert np.linalg.matrix_rank(both) == levels.n_columns + 1
    if coding is INDICATOR:
        np.testing.assert_array_equal(coding.matrix(levels)[0], 0)


@pytest.mark.parametrize("n", [2, 5, 13, 31, 100])
def test_a_prior_with_one_scale_is_brownian_motion_with_the_mean_zero(n):
    """Its covariance on [0, 1] is π² (1/3 − max(u, v) + (u² + v²)/2); fast waves are left out.

    They are the Karhunen–Loève expansion of W − ∫W: √2 cos(π j u) with the variance 1/(π j)².
    """
    matrix = ORTHONORMAL.matrix(Levels(n, n))
    u = (np.arange(n) + 0.5) / n
    larger = np.maximum(u, u[:, None])
    motion = np.pi**2 * (1 / 3 - larger + (u**2 + u[:, None] ** 2) / 2)
    left_out = np.pi**2 / 3 - sum(2.0 / j**2 for j in range(1, min(12, n - 1) + 1))
    assert np.abs(matrix @ matrix.T - motion).max() <= left_out + 1e-12
    if n > 12:
        assert left_out < np.pi**2 / 3 / 20  # of the mean variance, as ``MOST_WAVES`` says


def test_reversed_states_change_the_sign_of_every_other_wave():
    """So a number with its sign flipped has the same model."""
    matrix = ORTHONORMAL.matrix(Levels(9, 9))
    signs = np.array([(-1.0) ** j for j in range(1, 9)])
    np.testing.assert_allclose(matrix[::-1], matrix * signs, atol=1e-12)


def test_labels_of_columns_are_states_and_waves():
    domain = Domain({"A": ["a", "b", "c"], "B": [1, 2, 3, None]}, ordered=["B"])
    assert column_labels(domain, "A") == ("b", "c")
    assert column_labels(domain, "B") == ("wave 1", "wave 2", None)
    assert wave_numbers(domain.levels("B")) == (1, 2, 1)
    assert wave_numbers(domain.levels("A")) == (1, 1)
