"""Looking up tables by codes, through the one caller the kernels have; rows over many tiles."""

import numpy as np
import pytest
from scipy.special import softmax

from ebnc import Domain
from ebnc.data.rows import CodedRows
from ebnc.parameters.tables import TableSum


def problem(n_rows, n_outputs, n_states=5, seed=0):
    generator = np.random.default_rng(seed)
    scopes = (("a", "b"), ("c",), ("b", "c", "d"), (), ("d", "a"))
    r = {"a": n_states, "b": 2, "c": 3, "d": 4}
    tables = tuple(generator.normal(size=(*(r[x] for x in s), n_outputs)) for s in scopes)
    columns = {x: generator.integers(r[x], size=n_rows) for x in r}
    expected = sum(
        table[tuple(columns[x] for x in scope)] for scope, table in zip(scopes, tables, strict=True)
    )
    rows = CodedRows.from_codes(Domain(r), columns)
    return TableSum(scopes, tables, n_outputs), rows, np.broadcast_to(expected, (n_rows, n_outputs))


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
@pytest.mark.parametrize("n_rows", [1, 511, 512, 513, 1023, 1024, 1025, 4097, 150_001])
def test_look_ups_equal_fancy_indexing_across_tiles_and_blocks(n_rows, n_outputs):
    """Row counts on both sides of every size of tile and block."""
    tables, rows, expected = problem(n_rows, n_outputs)
    np.testing.assert_allclose(tables.log_odds(rows), expected, rtol=0, atol=1e-12)
    padded = np.column_stack([np.zeros(n_rows), expected])
    np.testing.assert_allclose(tables.probabilities(rows), softmax(padded, axis=1), atol=1e-12)


@pytest.mark.parametrize("n_states", [256, 257, 65_537])
def test_codes_of_one_two_and_four_bytes_are_read_alike(n_states):
    """No wrapping of cell numbers in small integers."""
    tables, rows, expected = problem(3000, 2, n_states)
    assert rows.codes.dtype.itemsize == {256: 1, 257: 2, 65_537: 4}[n_states]
    np.testing.assert_allclose(tables.log_odds(rows), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_number_of_threads_does_not_change_a_bit(n_outputs, monkeypatch):
    """One thread, two, five: equal arrays."""
    tables, rows, _ = problem(300_000, n_outputs)
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append((tables.log_odds(rows), tables.probabilities(rows)))
    for log_odds, p in found[1:]:
        np.testing.assert_array_equal(log_odds, found[0][0])
        np.testing.assert_array_equal(p, found[0][1])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_softmax_is_accurate_over_the_whole_range(n_outputs):
    """Relative error of small probabilities, where they are normal numbers; 0 far below."""
    values = np.concatenate([np.linspace(-745, 745, 2001), [-1e4, 1e4, -1e-300, 0.0, -0.0]])
    log_odds = np.column_stack([values] + [np.zeros_like(values)] * (n_outputs - 1))
    rows = CodedRows.from_codes(Domain({"l": len(values)}), {"l": np.arange(len(values))})
    found = TableSum((("l",),), (log_odds,), n_outputs).probabilities(rows)
    expected = softmax(np.column_stack([np.zeros(len(values)), log_odds]), axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-305)
    assert (np.abs(found.sum(axis=1) - 1) <= 1e-12).all()
