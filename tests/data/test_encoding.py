"""Labels to codes: every kind of table, every kind of trouble; p(y|x) shows what was read."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebnc import Domain, EmbeddedNetwork, EmbeddedStructure
from ebnc.data.coder import encode
from ebnc.data.rows import CodedRows
from ebnc.errors import DataError, EBNCError

WORDS = Domain({"A": ["x", "y", "z"]})
COUNTED = Domain({"A": 3})
FLAGS = Domain({"A": [False, True]})


def library(data):
    return type(data).__module__.split(".")[0]


def codes_of(data, domain):
    return encode(data, domain, ["A"]).column("A").tolist()


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"A": pd.Series(["z", "x", "z"], dtype=object)}),
        pd.DataFrame({"A": pd.Series(["z", "x", "z"], dtype="string")}),
        pd.DataFrame({"A": pd.Series(["z", "x", "z"], dtype="str")}),
        pd.DataFrame({"A": pd.Categorical(["z", "x", "z"])}),
        pd.DataFrame({"A": pd.Categorical(["z", "x", "z"], categories=["z", "y", "x", "unused"])}),
        pd.DataFrame({"A": pd.Series(["z", "x", "z"], dtype=pd.ArrowDtype(pa.string()))}),
        pd.DataFrame({"A": ["z", "x", "z"], "B": [1, 2, 3]}, index=[7, 7, 9]),
        pl.DataFrame({"A": ["z", "x", "z"]}),
        pl.DataFrame({"A": ["z", "x", "z"]}, schema={"A": pl.Categorical}),
        pl.DataFrame({"A": ["z", "x", "z"]}, schema={"A": pl.Enum(["z", "y", "x"])}),
        pl.DataFrame({"A": ["z", "x", "z"]}, schema={"A": pl.Enum(["unused", "z", "y", "x"])}),
        pa.table({"A": ["z", "x", "z"]}),
        pa.table({"A": pa.array(["z", "x", "z"], pa.large_string())}),
        pa.table({"A": pa.array(["z", "x", "z"]).dictionary_encode()}),
        pa.table({"A": pa.chunked_array([["z"], ["x", "z"]])}),
        {"A": ["z", "x", "z"]},
        {"A": ("z", "x", "z")},
        {"A": np.array(["z", "x", "z"])},
        {"A": np.array(["z", "x", "z"], dtype=object)},
        {"A": pd.Series(["z", "x", "z"], index=[3, 1, 1])},
        {"A": pl.Series(["z", "x", "z"])},
        {"A": ["z", "x", "z"], "other": [1]},
        np.array([["z"], ["x"], ["z"]]),
        np.array([["z"], ["x"], ["z"]], dtype=object),
    ],
    ids=library,
)
def test_labels_are_looked_up_in_every_kind_of_table(data):
    """pandas, polars, pyarrow, mappings, arrays; declared categories do not change the codes."""
    assert codes_of(data, WORDS) == [2, 0, 2]


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"A": [2, 0]}),
        pd.DataFrame({"A": np.array([2, 0], dtype=np.int8)}),
        pd.DataFrame({"A": pd.array([2, 0], dtype="Int64")}),
        pd.DataFrame({"A": pd.array([2, 0], dtype="UInt8")}),
        pd.DataFrame({"A": pd.Categorical([2, 0])}),
        pd.DataFrame({"A": [2.0, 0.0]}),
        pl.DataFrame({"A": [2, 0]}),
        pl.DataFrame({"A": [2, 0]}, schema={"A": pl.UInt8}),
        pa.table({"A": [2, 0]}),
        {"A": [2, 0]},
        {"A": range(2, -1, -2)},
        {"A": np.array([2, 0], dtype=np.uint64)},
        {"A": np.array([2, 0], dtype=object)},
        np.array([[2], [0]]),
        np.array([[2.0], [0.0]]),
    ],
    ids=library,
)
def test_whole_numbers_of_any_type_are_labels(data):
    """Where states are counted, labels are codes."""
    assert codes_of(data, COUNTED) == [2, 0]
    assert codes_of(data, Domain({"A": [2, 5, 0]})) == [0, 2]


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"A": [True, False]}),
        pd.DataFrame({"A": pd.array([True, False], dtype="boolean")}),
        pl.DataFrame({"A": [True, False]}),
        pa.table({"A": [True, False]}),
        {"A": [True, False]},
        np.array([[True], [False]]),
    ],
    ids=library,
)
def test_booleans_are_labels(data):
    """False is state 0 here because it was declared first."""
    assert codes_of(data, FLAGS) == [1, 0]
    assert codes_of(data, Domain({"A": [True, False]})) == [0, 1]


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"A": pd.Series(["x", None], dtype=object)}),
        pd.DataFrame({"A": pd.Series(["x", pd.NA], dtype=object)}),
        pd.DataFrame({"A": pd.Series(["x", np.nan], dtype=object)}),
        pd.DataFrame({"A": pd.Series(["x", None], dtype="string")}),
        pd.DataFrame({"A": pd.Series(["x", None], dtype="str")}),
        pd.DataFrame({"A": pd.Categorical(["x", None])}),
        pl.DataFrame({"A": ["x", None]}),
        pl.DataFrame({"A": ["x", None]}, schema={"A": pl.Categorical}),
        pl.DataFrame({"A": ["x", None]}, schema={"A": pl.Enum(["x", "y"])}),
        pa.table({"A": ["x", None]}),
        {"A": ["x", None]},
        {"A": ["x", float("nan")]},
        np.array([["x"], [None]], dtype=object),
        pd.DataFrame({"A": [None, None]}),
        pl.DataFrame({"A": [None, None]}),
        pa.table({"A": pa.nulls(2)}),
    ],
    ids=library,
)
def test_missing_labels_are_refused_as_missing(data):
    """None, NaN and NA of all libraries; never taken for a state, nor for a label 'nan'."""
    with pytest.raises(DataError, match="column 'A' has missing values"):
        codes_of(data, WORDS)


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"A": [0.0, np.nan]}),
        pd.DataFrame({"A": pd.array([0, None], dtype="Int64")}),
        pd.DataFrame({"A": pd.array([True, None], dtype="boolean")}),
        pl.DataFrame({"A": [0, None]}),
        pl.DataFrame({"A": [0.0, float("nan")]}),
        pa.table({"A": [0, None]}),
        {"A": [0, None]},
        {"A": [0.0, np.nan]},
        np.array([[0.0], [np.nan]]),
        np.array([[0], [pd.NaT]], dtype=object),
    ],
    ids=library,
)
def test_missing_numbers_are_refused_as_missing(data):
    """Also where libraries turn them into NaN."""
    with pytest.raises(DataError, match="column 'A' has missing values"):
        codes_of(data, COUNTED)


@pytest.mark.parametrize(
    ("domain", "data", "message"),
    [
        (WORDS, {"A": ["x", "w"]}, "'w' in column 'A' is not one of its states x, y, z"),
        (WORDS, {"A": ["X"]}, "'X' in column 'A'"),
        (WORDS, {"A": [""]}, "'A' has missing values"),
        (WORDS, {"A": ["nan"]}, "'A' has missing values"),
        (WORDS, pl.DataFrame({"A": ["w"]}), "'w' in column 'A'"),
        (WORDS, pd.DataFrame({"A": pd.Categorical(["w"])}), "'w' in column 'A'"),
        (WORDS, {"A": [0, 1]}, "0 in column 'A'"),
        (COUNTED, {"A": [0, 3]}, "3 in column 'A' is not one of its states 0, 1, 2"),
        (COUNTED, {"A": [-1]}, "-1 in column 'A'"),
        (
            COUNTED,
            {"A": np.array([2**63], dtype=np.uint64)},
            "'9223372036854775808' in column 'A'",
        ),
        (COUNTED, {"A": [2**70]}, "'1180591620717411303424' in column 'A'"),
        (COUNTED, {"A": [0.5]}, "0.5 in column 'A'"),
        (COUNTED, {"A": [np.inf]}, "'A' holds an infinite number"),
        (COUNTED, {"A": ["3"]}, "3 in column 'A'"),
        (COUNTED, {"A": ["00"]}, "'A' must hold numbers, got '00'"),
        (COUNTED, {"A": ["0x1"]}, "'A' must hold numbers, got '0x1'"),
        (COUNTED, pl.DataFrame({"A": [3]}), "3 in column 'A'"),
        (COUNTED, pa.table({"A": [3]}), "3 in column 'A'"),
        (COUNTED, pd.DataFrame({"A": [3]}), "3 in column 'A'"),
        (WORDS, {"B": ["x"]}, "no column 'A'; they have 'B'"),
        (WORDS, pd.DataFrame({"a": ["x"]}), "no column 'A'; they have 'a'"),
        (WORDS, pd.DataFrame(), "no column 'A'"),
        (WORDS, pd.DataFrame([["x"]]), "names must be strings, got 0"),
        (WORDS, pl.DataFrame(), "no column 'A'"),
        (WORDS, pa.table({}), "no column 'A'"),
        (WORDS, {}, "no column 'A'"),
        (WORDS, np.array(["x", "y"]), r"got shape \(2,\)"),
        (WORDS, np.array([["x", "y"]]), r"got shape \(1, 2\)"),
        (WORDS, np.zeros((1, 1, 1)), r"got shape \(1, 1, 1\)"),
        (WORDS, np.array(3), r"got shape \(\)"),
        (WORDS, {"A": "xyz"}, "'A' must be one-dimensional"),
        (WORDS, {"A": 1}, "'A' must be one-dimensional"),
        (WORDS, {"A": None}, "'A' must be one-dimensional"),
        (WORDS, {"A": [["x"], ["y"]]}, "'A' must be one-dimensional"),
        (WORDS, {"A": [["x"], ["y", "z"]]}, "'A' must be one-dimensional"),
        (WORDS, {"A": {"x": 1}}, "'A' must be one-dimensional"),
        (WORDS, None, "got NoneType"),
        (WORDS, 3, "got int"),
        (WORDS, "data.csv", "file or folder 'data.csv' does not exist"),
        (WORDS, ["x"], "got list"),
        (WORDS, [["x"]], "got list"),
        (WORDS, pd.Series(["x"], name="A"), "got Series"),
        (WORDS, pl.LazyFrame({"A": ["x"]}), r"collect\(\) first"),
        (WORDS, pd.DataFrame([["x", "y"]], columns=["A", "A"]), "A"),
        (WORDS, pd.DataFrame([["x", "y", "z"]], columns=["A", "B", "B"]), "B"),
        (WORDS, pa.table([pa.array(["x"]), pa.array(["y"])], names=["A", "A"]), "A"),
        (WORDS, pd.DataFrame({"A": [["x"], ["y"]]}), "'A'"),
        (WORDS, pl.DataFrame({"A": [["x"], ["y"]]}), "'A'"),
        (COUNTED, pl.DataFrame({"A": [{"f": 1}]}), "'A'"),
        (COUNTED, pl.DataFrame({"A": [[1, 2]]}, schema={"A": pl.Array(pl.Int64, 2)}), "'A'"),
        (COUNTED, pa.table({"A": [[1], [2]]}), "'A'"),
        (WORDS, {"A": np.array(["2020-01-01"], dtype="datetime64[D]")}, "'A'"),
        (COUNTED, {"A": np.array(["2020-01-01"], dtype="datetime64[ns]")}, "'A'"),
        (COUNTED, {"A": [1j]}, "'A'"),
        (COUNTED, {"A": [object()]}, "'A'"),
    ],
)
def test_trouble_gets_one_clear_error_that_names_the_column(domain, data, message):
    """Unseen labels, wrong columns, shapes and types; nothing but a ``DataError`` comes out."""
    with pytest.raises(DataError, match=message) as error:
        codes_of(data, domain)
    assert isinstance(error.value, EBNCError)


@pytest.mark.parametrize("value", [3, 5, 100, "largest"])
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"])
def test_numbers_beyond_the_states_are_refused_in_every_integer_type(dtype, value):
    """An unchecked code would be read outside of the tables: −1 must not wrap to 255."""
    value = np.iinfo(dtype).max if value == "largest" else value
    column = np.array([0, value, 1], dtype=dtype)
    for data in (
        {"A": column},
        column[:, None],
        pd.DataFrame({"A": column}),
        pl.DataFrame({"A": column}),
    ):
        with pytest.raises(DataError, match=rf"{value}'? in column 'A' is not one of its states"):
            codes_of(data, COUNTED)


def test_columns_of_different_lengths_are_refused():
    """With their lengths."""
    with pytest.raises(DataError, match=r"differ in length: .*'A': 2.*'B': 1"):
        encode({"A": [0, 1], "B": [0]}, Domain({"A": 2, "B": 2}), ["A", "B"])


def test_a_column_of_several_types_is_refused_and_never_mixed_up():
    """1 and "1" are different labels; NumPy would make them one."""
    domain = Domain({"A": [1, "1"]})
    for data in ({"A": [1, "1"]}, pd.DataFrame({"A": pd.Series([1, "1"], dtype=object)})):
        with pytest.raises(DataError, match="column 'A' mixes types"):
            codes_of(data, domain)
    assert codes_of({"A": [1]}, domain) == [0]
    assert codes_of({"A": ["1"]}, domain) == [1]


def test_equal_numbers_are_equal_labels():
    """1, 1.0, True and Decimal(1) are one label, as in Python."""
    for label in (1, 1.0, np.float32(1), Decimal(1)):
        assert codes_of({"A": np.array([label], dtype=object)}, COUNTED) == [1]


def test_missing_is_a_state_where_it_was_declared():
    """None among the states takes None, NaN and NA."""
    domain = Domain({"A": ["x", None]})
    for data in (
        {"A": ["x", None]},
        pd.DataFrame({"A": ["x", np.nan]}),
        pd.DataFrame({"A": pd.Series(["x", None], dtype="string")}),
        pl.DataFrame({"A": ["x", None]}),
        pa.table({"A": ["x", None]}),
    ):
        assert codes_of(data, domain) == [0, 1]


@pytest.mark.parametrize(
    "data",
    [
        {"A": []},
        pd.DataFrame({"A": pd.Series([], dtype=object)}),
        pd.DataFrame({"A": pd.Series([], dtype=int)}),
        pl.DataFrame({"A": []}, schema={"A": pl.String}),
        pa.table({"A": pa.array([], pa.string())}),
        np.empty((0, 1)),
        np.empty((0, 1), dtype=int),
    ],
    ids=library,
)
@pytest.mark.parametrize("domain", [WORDS, COUNTED], ids=["labels", "counts"])
def test_zero_rows_are_zero_rows(data, domain):
    """Of whatever type."""
    assert codes_of(data, domain) == []


@pytest.mark.parametrize(
    ("data", "n_rows"),
    [
        (pd.DataFrame({"B": [1, 2]}), 2),
        (pd.DataFrame(index=range(3)), 3),
        (pl.DataFrame({"B": [1]}), 1),
        (pa.table({"B": [1, 2]}), 2),
        ({"B": [1, 2]}, 2),
        ({}, 0),
        (np.empty((4, 0)), 4),
    ],
    ids=library,
)
def test_no_column_asked_for_still_has_rows(data, n_rows):
    """Structures without inputs: the number of rows is all there is to read."""
    assert len(encode(data, WORDS, [])) == n_rows
    structure = EmbeddedStructure.naive("Y", [])
    assert EmbeddedNetwork.random(structure, {"Y": 2}).probabilities(data).shape == (n_rows, 2)


@pytest.mark.parametrize("data", [{"B": 3}, {"B": None}, None, 3, "data.csv", [1, 2]], ids=str)
def test_trouble_where_no_column_is_asked_for_is_a_data_error_too(data):
    """A scalar has no rows."""
    with pytest.raises(DataError):
        encode(data, WORDS, [])


def test_coded_rows_pass_through_and_are_checked_against_the_domain():
    """The same object; another number of states is refused."""
    rows = CodedRows.from_codes(COUNTED, {"A": [0, 2]})
    assert encode(rows, COUNTED, ["A"]) is rows
    with pytest.raises(DataError, match="'A' was coded with 3 states, but has 2"):
        encode(rows, FLAGS, ["A"])
    with pytest.raises(DataError, match="no column 'B'"):
        encode(rows, Domain({"B": 2}), ["B"])


@given(
    st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=6, unique=True).flatmap(
        lambda labels: st.tuples(
            st.just(labels), st.lists(st.sampled_from(range(len(labels))), max_size=10)
        )
    )
)
def test_any_text_is_a_label_in_every_library(case):
    """Including NUL characters at the end, which NumPy's own strings would lose."""
    labels, codes = case
    domain = Domain({"A": labels})
    column = [labels[c] for c in codes]
    assert codes_of({"A": column}, domain) == codes
    assert codes_of(pl.DataFrame({"A": column}, schema={"A": pl.String}), domain) == codes
    assert codes_of(pd.DataFrame({"A": pd.Series(column, dtype=object)}), domain) == codes
