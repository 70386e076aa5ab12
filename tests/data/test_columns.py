"""Columns of pandas, polars, pyarrow, NumPy and lists come out as the same codes and labels."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ebnc.data.columns import factorise, is_numeric, n_rows, numbers, read_columns
from ebnc.errors import DataError

VALUES = ["b", "a", None, "b", "c"]


def frames(values):
    return {
        "pandas": pd.DataFrame({"x": values}),
        "pandas object": pd.DataFrame({"x": pd.Series(values, dtype=object)}),
        "polars": pl.DataFrame({"x": values}),
        "pyarrow": pa.table({"x": values}),
        "list": {"x": values},
        "series": {"x": pd.Series(values)},
        "object array": np.array([[v] for v in values], dtype=object),
    }


@pytest.mark.parametrize("kind", list(frames(VALUES)))
def test_every_kind_of_table_gives_the_same_codes_and_labels(kind):
    column = read_columns(frames(VALUES)[kind], ["x"])["x"]
    found = factorise("x", column)
    assert found.labels == ("a", "b", "c")
    assert found.codes.tolist() == [1, 0, -1, 1, 2]
    assert found.has_missing
    assert not found.declared
    assert not is_numeric(column)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([3, 1, 3]),
        pd.Series([3, 1, 3], dtype="Int64"),
        pl.Series([3, 1, 3]),
        pa.chunked_array([[3, 1, 3]]),
        np.array([3, 1, 3], dtype=np.uint8),
        np.array([3.0, 1.0, 3.0]),
        np.array([3_000_000_000, 1, 3_000_000_000]),
        [3, 1, 3],
    ],
)
def test_numbers_are_labels_in_ascending_order(column):
    found = factorise("x", read_columns({"x": column}, ["x"])["x"])
    assert found.codes.tolist() == [1, 0, 1]
    assert found.labels[0] == 1
    assert len(found.labels) == 2


@pytest.mark.parametrize(
    "column", [pd.Series([True, False]), pl.Series([True, False]), np.array([True, False])]
)
def test_booleans_are_labels_not_numbers(column):
    raw = read_columns({"x": column}, ["x"])["x"]
    assert not is_numeric(raw)
    assert factorise("x", raw).labels == (False, True)


def test_categories_keep_their_declared_order_and_states_not_observed():
    declared = ["low", "mid", "high"]
    for column in (
        pd.Series(pd.Categorical(["high", "low", None], categories=declared)),
        pl.Series(["high", "low", None], dtype=pl.Enum(declared)),
    ):
        found = factorise("x", read_columns({"x": column}, ["x"])["x"])
        assert found.labels == ("low", "mid", "high")
        assert found.codes.tolist() == [2, 0, -1]
        assert found.declared


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1.5, None, np.nan]),
        pl.Series([1.5, None, float("nan")]),
        pa.chunked_array([[1.5, None, float("nan")]]),
        np.array([1.5, np.nan, np.nan]),
        [1.5, None, float("nan")],
        pd.Series([1.5, pd.NA, pd.NA], dtype="Float64"),
    ],
)
def test_missing_numbers_are_missing_however_they_are_written(column):
    raw = read_columns({"x": column}, ["x"])["x"]
    assert is_numeric(raw)
    assert np.isnan(numbers("x", raw)).tolist() == [False, True, True]
    found = factorise("x", raw)
    assert found.codes.tolist() == [0, -1, -1]
    assert found.labels == (1.5,)


def test_all_missing_columns_have_no_labels():
    for column in (
        [None, None],
        pl.Series([None, None]),
        pd.Series([None, None]),
        [np.nan, np.nan],
    ):
        found = factorise("x", read_columns({"x": column}, ["x"])["x"])
        assert found.labels == ()
        assert found.codes.tolist() == [-1, -1]


@pytest.mark.parametrize("values", [["a", 1], [True, 2], [("a",), "a"], [b"a", "a"]])
def test_mixed_types_in_one_column_are_refused(values):
    array = np.empty(2, dtype=object)
    array[:] = values
    with pytest.raises(DataError, match="'x' mixes types"):
        factorise("x", array)


def test_values_without_an_order_are_refused():
    with pytest.raises(DataError, match="have no order"):
        factorise("x", np.array([1 + 2j, 3j], dtype=object))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"x": [1, 2], "y": [1]}, "differ in length"),
        ({"x": [1]}, "no column 'y'"),
        (pd.DataFrame({"x": [1]}), "no column 'y'"),
        (np.zeros((3, 3)), r"got shape \(3, 3\)"),
        (np.zeros(3), r"got shape \(3,\)"),
        ("file.csv", "must be a DataFrame"),
        (None, "must be a DataFrame"),
        ({"x": [[1], [2]], "y": [1, 2]}, "'x' must be one-dimensional"),
        ({"x": 3, "y": [1]}, "'x' must be one-dimensional"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "cannot be read"),
    ],
)
def test_tables_that_cannot_be_read(data, message):
    with pytest.raises(DataError, match=message):
        read_columns(data, ["x", "y"])


def test_numbers_refuse_text_and_infinity():
    with pytest.raises(DataError, match="'x' must hold numbers"):
        numbers("x", np.array(["a", "b"]))
    with pytest.raises(DataError, match="infinite"):
        numbers("x", np.array([1.0, np.inf]))


def test_rows_are_counted_where_no_column_is_asked_for():
    assert (
        n_rows({"x": [1, 2, 3]})
        == n_rows(np.zeros((3, 0)))
        == n_rows(pd.DataFrame(index=[1, 2, 3]))
        == 3
    )
