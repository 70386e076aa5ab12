"""Learning the domain: labels, whole numbers, intervals, missing, declared states."""

import numpy as np
import pandas as pd
import pytest

from ebnc.data.coder import encode
from ebnc.data.read import learn_cases, learn_states
from ebnc.data.table import Coding
from ebnc.domain import Interval
from ebnc.errors import DataError, DomainError


@pytest.fixture
def frame():
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 200)
    return pd.DataFrame(
        {
            "word": np.array(["b", "a"])[generator.integers(0, 2, 200)],
            "few": generator.integers(3, 6, 200),
            "many": np.where(y == 1, 5.0, -5.0) + generator.normal(size=200),
            "flag": generator.random(200) < 0.5,
            "gap": np.where(generator.random(200) < 0.1, np.nan, generator.integers(0, 2, 200)),
            "y": np.array(["no", "yes"])[y],
        }
    )


def test_each_kind_of_column_gets_its_states(frame):
    domain = learn_states(frame, ["word", "few", "many", "flag", "gap"], "y")
    assert domain["word"] == ("a", "b")
    assert domain["few"] == (3, 4, 5)
    assert all(isinstance(state, Interval) for state in domain["many"])
    assert domain.n_states("many") == 31
    assert domain.ordered == {"few", "many", "gap"}
    assert domain["flag"] == (False, True)
    assert domain["gap"] == (0, 1, None)
    assert domain["y"] == ("no", "yes")


def test_mdlp_cuts_numbers_by_the_target_and_has_no_order(frame):
    coding = Coding("mdlp")
    domain = learn_states(frame, ["word", "few", "many", "flag", "gap"], "y", coding)
    assert domain.n_states("many") == 2
    assert domain["few"] == (3, 4, 5)
    assert domain["gap"] == (0, 1, None)
    assert not domain.ordered


def test_learned_states_take_the_data_they_were_learned_from(frame):
    domain = learn_states(frame, ["word", "few", "many", "flag", "gap"], "y")
    rows = encode(frame, domain, list(domain))
    assert rows.codes.dtype == np.uint8
    cuts = [state.high for state in domain["many"][:-1]]
    np.testing.assert_array_equal(rows.column("many"), np.searchsorted(cuts, frame["many"]))
    np.testing.assert_array_equal(rows.column("gap") == 2, frame["gap"].isna())


@pytest.mark.parametrize("numbers", ["mdlp", "quantile"])
def test_without_a_target_numbers_are_cut_by_quantiles(frame, numbers):
    assert learn_states(frame, ["many"], coding=Coding(numbers)).n_states("many") == 5


def test_fine_bins_do_not_depend_on_the_target(frame):
    names = ["few", "many", "gap"]
    without = learn_states(frame, names)
    assert without == learn_states(frame, names, "y").only(names)
    shares = np.bincount(encode(frame, without, ["many"]).column("many")) / len(frame)
    np.testing.assert_allclose(shares, 1 / 31, atol=1 / len(frame))


def test_declared_states_win(frame):
    domain = learn_cases(
        frame, ["word"], "y", categories={"word": ["z", "b", "a"], "y": ["yes", "no"]}
    ).domain
    assert domain["word"] == ("z", "b", "a")
    assert domain["y"] == ("yes", "no")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (["a"] * 20, "only one class, 'a'"),
        ([None] * 20, "missing values"),
        (["a", None] * 10, "missing values"),
    ],
)
def test_targets_that_cannot_be_learned(target, message):
    with pytest.raises(DataError, match=message):
        learn_states({"x": ["p", "q"] * 10, "y": target}, ["x"], "y")


def test_one_class_is_enough_where_more_are_declared():
    data = {"x": ["p", "q"], "y": ["a", "a"]}
    domain = learn_cases(data, ["x"], "y", categories={"y": ["a", "b"]}).domain
    assert domain["y"] == ("a", "b")


def test_identifiers_and_continuous_targets_are_refused():
    many = [f"id{i}" for i in range(100_000)]
    with pytest.raises(DataError, match="'x' has more than 1000 different labels"):
        learn_states({"x": many, "y": ["a", "b"] * 50_000}, ["x"], "y")
    with pytest.raises(DataError, match="'y' is the target and has more than 1000 different"):
        learn_states({"x": ["p"] * 5000, "y": np.random.default_rng(0).random(5000)}, ["x"], "y")


def test_constant_and_all_missing_columns_have_one_state():
    data = {"x": ["p"] * 4, "z": [None] * 4, "n": [np.nan] * 4, "y": ["a", "b"] * 2}
    domain = learn_states(data, ["x", "z", "n"], "y")
    assert domain["x"] == ("p",)
    assert domain["z"] == domain["n"] == (None,)
    assert encode(data, domain, ["x", "z", "n"]).codes.tolist() == [[0] * 4] * 3


def test_unseen_labels_and_numbers_outside_are_errors_or_extra_codes(frame):
    domain = learn_states(frame, ["word", "many", "gap"], "y")
    new = {"word": ["a", "c", None], "many": [1e9, -1e9, np.nan], "gap": [None, 0, 7]}
    with pytest.raises(DataError, match="'c' in column 'word'"):
        encode({"word": ["a", "c"]}, domain, ["word"])
    with pytest.raises(DataError, match="'word' has missing values"):
        encode({"word": ["a", None]}, domain, ["word"])
    with pytest.raises(DataError, match="'many' has missing values"):
        encode(new, domain, ["many"])
    rows = encode(new, domain, ["word", "many", "gap"], unseen="extra")
    assert rows.codes.tolist() == [[0, 2, 2], [30, 0, 31], [2, 0, 3]]


def test_intervals_must_cover_all_numbers():
    with pytest.raises(DomainError, match="without gaps"):
        learn_cases(
            {"x": [1.0], "y": ["a"]},
            ["x"],
            "y",
            categories={"x": [Interval(0, 1), Interval(1, np.inf)], "y": 2},
        )
