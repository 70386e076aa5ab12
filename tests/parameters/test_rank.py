"""Exact ranks against FLINT."""

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebnc.parameters.rank import PRIME, RowSpace, rank_modulo_prime


def flint_rank_modulo_prime(matrix):
    n, m = matrix.shape
    return flint.nmod_mat(n, m, [int(v) % PRIME for v in matrix.ravel()], PRIME).rank()


def test_the_prime_is_prime_and_its_residues_multiply_in_64_bits():
    """2³¹ − 1 (FLINT's primality proof)."""
    assert flint.fmpz(PRIME).is_prime()
    assert (PRIME - 1) ** 2 + PRIME < 2**63


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (7, 3), (12, 12), (40, 25), (25, 40)])
@pytest.mark.parametrize("rank", [0, 1, 2, 10])
@pytest.mark.parametrize("size", [2, 1000, 2**31])
def test_rank_of_products_of_thin_matrices(shape, rank, size):
    """Random matrices of low rank, with small and with large residues."""
    generator = np.random.default_rng([*shape, rank, size % 97])
    left = generator.integers(-size, size, (shape[0], rank)).astype(object)
    right = generator.integers(-size, size, (rank, shape[1])).astype(object)
    matrix = np.array(left @ right % PRIME, dtype=np.int64).reshape(shape)
    assert rank_modulo_prime(matrix) == flint_rank_modulo_prime(matrix)


@given(
    st.integers(1, 6).flatmap(
        lambda m: st.lists(
            st.lists(
                st.sampled_from([0, 0, 0, 1, -1, 2, PRIME, PRIME - 1]), min_size=m, max_size=m
            ),
            min_size=1,
            max_size=7,
        )
    )
)
def test_sparse_matrices_with_zero_rows_and_multiples_of_the_prime(rows):
    """PRIME itself is 0, PRIME − 1 is −1."""
    matrix = np.array(rows, dtype=np.int64)
    before = matrix.copy()
    assert rank_modulo_prime(matrix) == flint_rank_modulo_prime(matrix)
    np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0)])
def test_empty_matrices_have_rank_zero(shape):
    """As the Jacobian of an isolated target."""
    assert rank_modulo_prime(np.zeros(shape, dtype=np.int64)) == 0


def test_extreme_entries_do_not_overflow():
    """The ends of int64."""
    matrix = np.array([[2**63 - 1, -(2**63)], [-(2**63), 2**63 - 1]], dtype=np.int64)
    assert rank_modulo_prime(matrix) == flint_rank_modulo_prime(matrix)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=1, max_size=8))
def test_row_space_tells_for_each_row_whether_it_was_new(rows):
    """Greedy rank over the rationals (FLINT); zeros may be written out."""
    space = RowSpace()
    for count in range(1, len(rows) + 1):
        before = flint.fmpz_mat(rows[: count - 1]).rank() if count > 1 else 0
        after = flint.fmpz_mat(rows[:count]).rank()
        assert space.insert(dict(enumerate(rows[count - 1]))) == (after > before)
        assert space.rank == after


def test_row_space_is_exact_where_floating_point_is_not():
    """Two rows that differ in the last digit of a large number."""
    space = RowSpace()
    assert space.insert({0: 10**30, 1: 1})
    assert space.insert({0: 10**30 + 1, 1: 1})
    assert not space.insert({0: 1})


def test_row_space_leaves_the_given_row_alone():
    """Rows are copied."""
    space, row = RowSpace(), {0: 1, 1: 1}
    space.insert({0: 1})
    space.insert(row)
    assert row == {0: 1, 1: 1}
