"""Sums of tables and the softmax that ends every inference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from ebnc import Domain
from ebnc.data.rows import CodedRows
from ebnc.errors import TooLargeError
from ebnc.parameters.tables import TableSum, refuse_large_table
from strategies import seeds


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("abcde"), unique=True, max_size=3), min_size=1, max_size=5),
    st.lists(st.integers(1, 5), min_size=5, max_size=5),
    st.integers(0, 4),
    st.integers(0, 20),
    seeds,
)
def test_log_odds_are_the_sum_of_looked_up_cells(scopes, sizes, n_outputs, n_rows, seed):
    """NumPy fancy indexing, for scopes in any order, also ∅; rows may be none, outputs none."""
    generator = np.random.default_rng(seed)
    r = dict(zip("abcde", sizes, strict=True))
    columns = {x: generator.integers(r[x], size=n_rows) for x in "edcba"}
    tables = tuple(generator.normal(size=(*(r[x] for x in s), n_outputs)) for s in scopes)
    table_sum = TableSum(tuple(map(tuple, scopes)), tables, n_outputs)
    expected = np.zeros((n_rows, n_outputs))
    for scope, table in zip(scopes, tables, strict=True):
        expected = expected + table[tuple(columns[x] for x in scope)]
    found = table_sum.log_odds(CodedRows.from_codes(Domain(r), columns))
    assert found.shape == (n_rows, n_outputs)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_tables_that_are_views_in_another_memory_order_are_read_right():
    """Transposed and reversed arrays."""
    generator = np.random.default_rng(0)
    table = np.transpose(generator.normal(size=(2, 4, 3)))[::-1]
    domain = Domain({"a": 3, "b": 4})
    rows = CodedRows.from_codes(domain, {"a": [0, 1, 2, 2], "b": [3, 0, 1, 2]})
    found = TableSum((("a", "b"),), (table,), 2).log_odds(rows)
    np.testing.assert_array_equal(found, table[[0, 1, 2, 2], [3, 0, 1, 2]])


def given_log_odds(log_odds):
    """Tables that give row l the log odds ``log_odds[l]``."""
    n_rows, n_outputs = log_odds.shape
    rows = CodedRows.from_codes(Domain({"row": max(1, n_rows)}), {"row": np.arange(n_rows)})
    return TableSum((("row",),), (log_odds,), n_outputs), rows


@given(
    st.integers(0, 6).flatmap(
        lambda k: st.lists(
            st.lists(st.floats(-1e4, 1e4), min_size=k, max_size=k), min_size=1, max_size=6
        ).map(lambda rows: np.array(rows, dtype=float).reshape(len(rows), k))
    )
)
def test_probabilities_are_the_softmax_and_sum_to_one(log_odds):
    """SciPy's softmax of (0, λ), |λ| up to 1e4; sums within 1e-12, all numbers in [0, 1]."""
    tables, rows = given_log_odds(log_odds)
    found = tables.probabilities(rows)
    padded = np.column_stack([np.zeros(len(log_odds)), log_odds])
    np.testing.assert_allclose(found, softmax(padded, axis=1), rtol=1e-12, atol=1e-300)
    assert (np.abs(found.sum(axis=1) - 1) <= 1e-12).all()
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    np.testing.assert_array_equal(tables.log_odds(rows), log_odds)


@pytest.mark.parametrize("size", [1e2, 1e4, 1e8, 1e300])
def test_extreme_log_odds_neither_overflow_nor_divide_by_zero(size):
    """0 and 1 where they must be, for two classes and for three."""
    two = np.array([[size], [-size], [0.0]])
    tables, rows = given_log_odds(two)
    found = tables.probabilities(rows)
    assert found[1, 0] == 1.0
    assert found[0, 1] == 1.0
    np.testing.assert_array_equal(found[2], [0.5, 0.5])
    tables, rows = given_log_odds(np.array([[size, -size], [-size, -size], [size, size]]))
    np.testing.assert_allclose(
        tables.probabilities(rows), [[0, 1, 0], [1, 0, 0], [0, 0.5, 0.5]], atol=1e-40
    )


def test_many_classes_sum_to_one():
    """A thousand classes, differences up to 1e4."""
    log_odds = np.random.default_rng(1).uniform(-1e4, 1e4, size=(50, 999))
    tables, rows = given_log_odds(log_odds)
    assert np.abs(tables.probabilities(rows).sum(axis=1) - 1).max() <= 1e-12


@pytest.mark.parametrize("n_scopes", [1, 3, 4, 5, 9, 200])
def test_many_small_and_a_few_large_tables(n_scopes):
    """However tables are grouped for looking up, the sum is the sum; several tiles of rows."""
    generator = np.random.default_rng(n_scopes)
    names = [f"v{i}" for i in range(30)]
    r = {name: int(generator.integers(1, 7)) for name in names} | {"v0": 300}
    scopes = [
        tuple(generator.choice(names, size=int(generator.integers(0, 4)), replace=False))
        for _ in range(n_scopes)
    ]
    tables = tuple(generator.normal(size=(*(r[x] for x in scope), 2)) for scope in scopes)
    columns = {x: generator.integers(r[x], size=2500) for x in names}
    rows = CodedRows.from_codes(Domain(r), columns)
    expected = np.zeros((2500, 2))
    for scope, table in zip(scopes, tables, strict=True):
        expected = expected + table[tuple(columns[x] for x in scope)]
    found = TableSum(tuple(scopes), tables, 2)
    np.testing.assert_allclose(found.log_odds(rows), expected, rtol=0, atol=1e-10)
    padded = np.column_stack([np.zeros(2500), expected])
    np.testing.assert_allclose(found.probabilities(rows), softmax(padded, axis=1), atol=1e-12)


@pytest.mark.parametrize("shape", [(2,) * 40, (2**20, 2**20), (3,) * 100, (2**32,)])
def test_large_tables_are_refused_by_name(shape):
    """Beyond memory, or beyond 32-bit cell numbers."""
    with pytest.raises(TooLargeError, match="the table of nothing would take"):
        refuse_large_table(shape, "the table of nothing")


def test_small_tables_are_not_refused():
    """Also ones without cells."""
    refuse_large_table((10, 10), "a small table")
    refuse_large_table((), "a number")
    refuse_large_table((5, 0), "nothing")
