"""Coded rows: what they guarantee, what they refuse."""

import numpy as np
import pytest

from ebnc import Domain
from ebnc.data.rows import CodedRows, all_configurations, code_type
from ebnc.errors import DataError, DomainError, EBNCError, TooLargeError

DOMAIN = Domain({"A": 3, "B": ["no", "yes"], "C": 1})


def test_codes_are_kept_and_found_by_name():
    """From lists, arrays of any integer type, or nothing."""
    rows = CodedRows.from_codes(DOMAIN, {"B": [1, 0], "A": np.array([2, 0], dtype=np.int8)})
    assert len(rows) == 2
    assert rows.names == ("B", "A")
    assert rows.n_states == (2, 3)
    assert rows.column("A").tolist() == [2, 0]
    assert len(CodedRows.from_codes(DOMAIN, {"A": []})) == 0
    assert len(CodedRows.from_codes(DOMAIN, {})) == 0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"A": [0, 3]}, "code 3 of 'A' is outside its 3 states"),
        ({"A": [-1]}, "code -1 of 'A' is outside its 3 states"),
        ({"B": [2]}, "code 2 of 'B' is outside its 2 states"),
        ({"C": [1]}, "code 1 of 'C' is outside its 1 states"),
        ({"A": np.array([2**63], dtype=np.uint64)}, "code 9223372036854775808 of 'A'"),
        ({"A": [0.0, 1.0]}, "codes of 'A' must be integers, got float64"),
        ({"A": [True]}, "codes of 'A' must be integers, got bool"),
        ({"A": ["no"]}, "codes of 'A' must be integers"),
        ({"A": [None]}, "codes of 'A' must be integers"),
        ({"A": [[0, 1]]}, r"codes of 'A' must be one-dimensional, got shape \(1, 2\)"),
        ({"A": 1}, r"codes of 'A' must be one-dimensional, got shape \(\)"),
        ({"A": [0], "B": [0, 1]}, "columns differ in length"),
        ({"A": [0], "B": []}, "columns differ in length"),
    ],
    ids=str,
)
def test_bad_codes_get_one_clear_error_that_names_the_variable(columns, message):
    """Outside of the states, not integers, wrong shape or length."""
    with pytest.raises(DataError, match=message) as error:
        CodedRows.from_codes(DOMAIN, columns)
    assert isinstance(error.value, EBNCError)


def test_unknown_variables_are_named():
    """On the way in and on the way out."""
    with pytest.raises(DomainError, match="no states are declared for 'Z'"):
        CodedRows.from_codes(DOMAIN, {"Z": [0]})
    with pytest.raises(DataError, match="no column 'B'"):
        CodedRows.from_codes(DOMAIN, {"A": [0]}).column("B")


@pytest.mark.parametrize(
    ("n_states", "expected"),
    [
        ([], np.uint8),
        ([1], np.uint8),
        ([256, 2], np.uint8),
        ([257], np.uint16),
        ([2**16], np.uint16),
        ([2**16 + 1, 2], np.uint32),
        ([2**32], np.uint32),
    ],
)
def test_codes_have_the_smallest_type_that_holds_them(n_states, expected):
    """r states need the numbers 0 … r − 1."""
    assert code_type(n_states) is expected


def test_more_states_than_codes_can_number_are_refused():
    """2^32 + 1."""
    with pytest.raises(DataError, match="4294967297 states"):
        code_type([2**32 + 1])


def test_all_configurations_are_listed_in_lexicographic_order():
    """Against NumPy's own counting in mixed radix."""
    rows = all_configurations(DOMAIN, ["B", "C", "A"])
    expected = np.array(np.unravel_index(np.arange(6), (2, 1, 3)))
    np.testing.assert_array_equal(rows.codes, expected)
    assert len(all_configurations(DOMAIN, [])) == 1


@pytest.mark.parametrize("n", [50, 60, 1000])
def test_too_many_configurations_are_refused_at_once_with_their_size(n):
    """2^n rows: named before anything is allocated."""
    names = [f"X{i}" for i in range(n)]
    with pytest.raises(TooLargeError, match=rf"{n} inputs would take .*(PiB|EiB|2\^)"):
        all_configurations(Domain(dict.fromkeys(names, 2)), names)
