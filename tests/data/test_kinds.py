"""Nominal, ordered and numeric columns: ``numbers``, ``kinds``, and categories with an order."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ebnc.data.coder import encode
from ebnc.data.read import learn_cases, learn_states
from ebnc.data.table import Coding
from ebnc.domain import Interval
from ebnc.errors import DataError, ParameterError

N = 300
GENERATOR = np.random.default_rng(0)
Y = np.array(["no", "yes"])[GENERATOR.integers(0, 2, N)]
COLUMNS = {
    "few": GENERATOR.integers(2, 6, N),
    "halves": GENERATOR.integers(0, 4, N) / 2,
    "many": GENERATOR.normal(size=N) + (Y == "yes"),
    "word": np.array(["b", "a", "c"])[GENERATOR.integers(0, 3, N)],
    "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(N) % 7, "D"),
}


def kinds_of(numbers="smooth", kinds=None, data=COLUMNS):
    domain = learn_states({**data, "y": Y}, list(data), "y", Coding.of(numbers, kinds))
    return domain, {name: domain.kind(name) for name in data}


def test_smooth_numbers_are_numeric_and_few_whole_numbers_are_ordered():
    domain, kinds = kinds_of()
    assert kinds == {
        "few": "ordered",
        "halves": "numeric",
        "many": "numeric",
        "word": "nominal",
        "day": "numeric",
    }
    assert domain["few"] == (2, 3, 4, 5)
    assert domain.n_states("many") == 31


@pytest.mark.parametrize(("numbers", "n_states"), [("mdlp", 2), ("quantile", 5)])
def test_intervals_by_mdlp_and_at_quantiles_have_no_order(numbers, n_states):
    domain, kinds = kinds_of(numbers)
    assert set(kinds.values()) == {"nominal"}
    assert domain["few"] == (2, 3, 4, 5)
    assert domain.n_states("many") == n_states


def test_quantiles_are_those_of_pandas():
    domain, _ = kinds_of("quantile")
    found = encode(COLUMNS, domain, ["many"]).codes[0]
    np.testing.assert_array_equal(found, pd.qcut(COLUMNS["many"], 5, labels=False))


@pytest.mark.parametrize("numbers", ["smooth", "mdlp", "quantile"])
def test_declared_kinds_hold_whatever_becomes_of_other_numbers(numbers):
    declared = {"few": "nominal", "halves": "ordered", "word": "ordered", "day": "ordered"}
    domain, kinds = kinds_of(numbers, declared)
    assert {name: kinds[name] for name in declared} == declared
    assert domain["few"] == (2, 3, 4, 5)
    assert domain["halves"] == (0, 0.5, 1, 1.5)
    assert domain["word"] == ("a", "b", "c")
    assert domain.n_states("day") == 7
    whole, kinds = kinds_of(numbers, {"few": "numeric"})
    assert kinds["few"] == "numeric"
    assert all(isinstance(state, Interval) for state in whole["few"])
    places = encode(COLUMNS, whole, ["few"]).codes[0]
    np.testing.assert_array_equal(places, COLUMNS["few"] - 2)  # each number is a bin of its own


def test_numbers_in_order_are_sorted_as_numbers_from_files_too(tmp_path):
    """Not as text, where 10 is before 9."""
    numbers = np.array([9.0, 10.0, 0.5, 100.0])[np.arange(N) % 4]
    pd.DataFrame({"x": numbers, "y": Y}).to_csv(tmp_path / "data.csv", index=False)
    for data in (tmp_path / "data.csv", {"x": numbers, "y": Y}):
        domain = learn_states(data, ["x"], "y", Coding.of("smooth", {"x": "ordered"}))
        assert domain["x"] == (0.5, 9, 10, 100)
        assert domain.kind("x") == "ordered"


def test_a_missing_entry_is_outside_of_the_order():
    data = {"x": [1.0, 2.0, np.nan, 3.0] * 75, "z": [*COLUMNS["many"][:-1], np.nan]}
    domain, kinds = kinds_of(data=data)
    assert kinds == {"x": "ordered", "z": "numeric"}
    assert domain["x"] == (1, 2, 3, None)
    assert domain.levels("x") == (4, 3)
    assert domain["z"][-1] is None


@pytest.mark.parametrize("entry", [4, -1, 1.5, 1e300])
@pytest.mark.parametrize("kind", ["ordered", "nominal"])
def test_other_numbers_than_the_states_are_unknown(entry, kind):
    """Between the states and outside, whether they are in order or not; and so is a gap."""
    x = np.array([0, 1, 3])[np.arange(N) % 3]
    domain = learn_states({"x": x, "y": Y}, ["x"], "y", Coding.of("smooth", {"x": kind}))
    assert domain.kind("x") == kind
    with pytest.raises(DataError, match="in column 'x' is not one of its states 0, 1, 3"):
        encode({"x": [0.0, entry]}, domain, ["x"])
    rows = encode({"x": [0.0, entry, np.nan, 3.0]}, domain, ["x"], unseen="extra")
    assert rows.codes[0].tolist() == [0, 3, 3, 2]


GRADES = ["never", "low", "middle", "high"]


def graded_sources(folder):
    """Descending grades, of which the lowest does not occur, by every type with an order."""
    codes = np.sort(GENERATOR.integers(1, 4, N))[::-1].copy()
    labels = np.array(GRADES, dtype=object)[codes].tolist()
    frame = pd.DataFrame({"g": pd.Categorical(labels, GRADES, ordered=True), "y": Y})
    enum = pl.DataFrame({"g": pl.Series(labels, dtype=pl.Enum(GRADES)), "y": Y.tolist()})
    index = pa.array(codes.astype(np.int8))
    of = pa.DictionaryArray.from_arrays(index, pa.array(GRADES), ordered=True)
    arrow = pa.table({"g": of, "y": Y.tolist()})
    frame.to_parquet(folder / "pandas.parquet", row_group_size=70)
    enum.write_parquet(folder / "polars.parquet", row_group_size=70)
    pq.write_table(arrow, folder / "arrow.parquet", row_group_size=70)
    paths = sorted(folder.glob("*.parquet"))
    return codes, [frame, enum, arrow, {"g": frame["g"], "y": Y}, *paths]


def test_ordered_categories_are_ordered_from_every_source(tmp_path):
    codes, sources = graded_sources(tmp_path)
    assert len(sources) == 7
    for data in sources:
        cases = learn_cases(data, ["g"], "y")
        assert cases.domain["g"] == tuple(GRADES)
        assert cases.domain.ordered == {"g"}
        rows = encode(data, cases.domain, ["g"])
        np.testing.assert_array_equal(rows.column("g"), codes)


def test_categories_without_an_order_are_nominal_unless_declared(tmp_path):
    codes, _ = graded_sources(tmp_path)
    data = {"g": pd.Series(pd.Categorical.from_codes(codes, GRADES))}
    domain, kinds = kinds_of(data=data)
    assert kinds == {"g": "nominal"}
    domain, kinds = kinds_of(kinds={"g": "ordered"}, data=data)
    assert kinds == {"g": "ordered"}
    assert domain["g"] == tuple(GRADES)


def test_an_order_is_nominal_if_it_is_declared_so(tmp_path):
    _, (frame, *_) = graded_sources(tmp_path)
    domain, kinds = kinds_of(kinds={"g": "nominal"}, data={"g": frame["g"]})
    assert kinds == {"g": "nominal"}
    assert domain["g"] == tuple(GRADES)


def test_parts_that_disagree_about_the_order_have_none():
    """Whichever comes first."""
    from ebnc.data.columns import Labels
    from ebnc.data.summaries import LabelSummary

    parts = [Labels(np.arange(2), ("a", "b"), declared=True, ordered=o) for o in (True, False)]
    for first, second in (parts, parts[::-1]):
        total = LabelSummary()
        total.add(LabelSummary.of(first))
        assert total.ordered == first.ordered
        total.add(LabelSummary.of(second))
        assert not total.ordered
        assert total.declared == ("a", "b")


@pytest.mark.parametrize(
    ("numbers", "kinds", "words"),
    [
        ("rough", None, "numbers must be one of smooth, mdlp, quantile, got 'rough'"),
        ("smooth", {"few": "wide"}, "the kind of column 'few' must be one of nominal, ordered"),
        ("smooth", ["few"], "kinds must be a mapping"),
        ("smooth", {"y": "numeric"}, "the target 'y' has classes"),
    ],
)
def test_wrong_parameters_are_refused(numbers, kinds, words):
    with pytest.raises(ParameterError, match=words):
        kinds_of(numbers, kinds)


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ({"fewer": "ordered"}, "fewer"),
        ({"word": "numeric"}, "column 'word' holds labels, so its kind cannot be 'numeric'"),
    ],
)
def test_kinds_that_do_not_fit_the_data_are_refused(kinds, words):
    with pytest.raises(DataError, match=words):
        kinds_of(kinds=kinds)


def test_more_numbers_than_states_are_refused_for_an_order():
    data = {"x": np.arange(2000.0), "y": ["a", "b"] * 1000}
    with pytest.raises(DataError, match=r"2000 different numbers, too many .* make its kind 'num"):
        learn_states(data, ["x"], "y", Coding.of("smooth", {"x": "ordered"}))
