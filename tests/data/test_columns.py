"""Columns of pandas, polars, pyarrow, NumPy and lists come out as the same codes and labels."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ebnc.data.batches import FrameSource
from ebnc.data.columns import Numbers, factorise
from ebnc.data.entries import read_column
from ebnc.data.plan import Plan
from ebnc.errors import DataError


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
    found = factorise(read_column("x", column))
    assert found.codes.tolist() == [1, 0, 1]
    assert found.labels[0] == 1
    assert len(found.labels) == 2


def test_categories_keep_their_declared_order_and_states_not_observed():
    declared = ["low", "mid", "high"]
    for column in (
        pd.DataFrame({"x": pd.Categorical(["high", "low", None], categories=declared)}),
        {"x": pd.Series(pd.Categorical(["high", "low", None], categories=declared))},
        pl.DataFrame({"x": ["high", "low", None]}, schema={"x": pl.Enum(declared)}),
        {"x": pl.Series(["high", "low", None], dtype=pl.Enum(declared))},
    ):
        (batch,) = FrameSource(column).batches(Plan(("x",)))
        found = batch.columns["x"]
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
    raw = read_column("x", column)
    assert isinstance(raw, Numbers)
    assert np.isnan(raw.values).tolist() == [False, True, True]
    found = factorise(raw)
    assert found.codes.tolist() == [0, -1, -1]
    assert found.labels == (1.5,)


def test_all_missing_columns_have_no_labels():
    for column in (
        [None, None],
        pl.Series([None, None]),
        pd.Series([None, None]),
        [np.nan, np.nan],
    ):
        found = factorise(read_column("x", column))
        assert found.labels == ()
        assert found.codes.tolist() == [-1, -1]


@pytest.mark.parametrize("values", [["a", 1], [True, 2], [("a",), "a"], [b"a", "a"]])
def test_mixed_types_in_one_column_are_refused(values):
    array = np.empty(2, dtype=object)
    array[:] = values
    with pytest.raises(DataError, match="'x' mixes types"):
        read_column("x", array)


def test_numbers_refuse_text_and_infinity():
    with pytest.raises(DataError, match="'x' must hold numbers, got 'b'"):
        read_column("x", np.array(["1", "b"]), "number")
    for column in (np.array([1.0, np.inf]), ["1", "-inf"], ["1e400"], [float("inf"), None]):
        with pytest.raises(DataError, match="infinite"):
            read_column("x", column)


TEXTS = [
    (["1", "2.50", "-3", "+4", " 5 ", ".5", "6.", "1e3", "NA"], "number"),
    (["01", "2"], "label"),
    (["-01", "2"], "label"),
    (["0x1", "0x2"], "label"),
    (["0b1"], "label"),
    (["1_000"], "label"),
    (["1,5"], "label"),
    (["٣"], "label"),
    (["NAN", "1"], "label"),
    (["+nan", "1"], "label"),
    (["TRUE", "FALSE"], "label"),
    (["0", "0.5", "0e3", "-0"], "number"),
    (["2020-01-01", "2020-12-31 10:30", ""], "date"),
    (["2020-01-01T10:00:00Z"], "date"),
    (["2020-01-01", "1"], "label"),
    (["2020-02-30"], "label"),
    (["", "NA", "nan"], None),
]


@pytest.mark.parametrize(("texts", "kind"), TEXTS, ids=lambda x: str(x)[:30])
@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array])
@pytest.mark.parametrize("times", [1, 300])
def test_text_is_numbers_dates_or_labels(texts, kind, make, times):
    """The same in every library, whether entries repeat or not."""
    column = read_column("x", make(texts * times))
    assert column.kind == kind
    if kind == "label":
        assert [column.labels[code] for code in column.codes[: len(texts)]] == texts
    if kind == "number":
        expected = [np.nan if text == "NA" else float(text) for text in texts]
        np.testing.assert_array_equal(column.values[: len(texts)], expected)


def test_dates_are_days():
    moments = ["2020-01-01", "1969-12-31 18:00", None]
    expected = [18262.0, -0.25, np.nan]
    for column in (
        moments,
        np.array(moments, dtype="datetime64[ns]"),
        pd.Series(pd.to_datetime(pd.Series(moments), format="ISO8601")),
        pl.Series(pd.to_datetime(pd.Series(moments), format="ISO8601")),
        pa.array(moments).cast(pa.timestamp("ms")),
    ):
        found = read_column("x", column)
        assert found.kind == "date"
        np.testing.assert_array_equal(found.values, expected)
    found = read_column("x", pa.array([3_600_000_000], pa.duration("us")))
    np.testing.assert_allclose(found.values, [1 / 24])


def test_decimal_commas_by_option():
    from ebnc.data.table import Options

    comma = Options(decimal=",")
    np.testing.assert_array_equal(read_column("x", ["1,5", "2"], None, comma).values, [1.5, 2.0])
    assert read_column("x", ["1.234,5"], None, comma).kind == "label"
