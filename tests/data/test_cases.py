"""Cases: classes, weights, and equal rows counted as one."""

import numpy as np
import pytest

from ebnc.data.cases import Cases, check_weights, distinct_rows
from ebnc.data.read import learn_cases
from ebnc.domain import Domain
from ebnc.errors import DataError
from problems import read_cases


def random_cases(n_rows, sizes, weights=None, seed=0):
    generator = np.random.default_rng(seed)
    domain = Domain({f"X{i}": r for i, r in enumerate(sizes)} | {"Y": 3})
    data = {f"X{i}": generator.integers(0, r, n_rows) for i, r in enumerate(sizes)}
    data["Y"] = generator.integers(0, 3, n_rows)
    return read_cases(data, domain, list(data)[:-1], "Y", weights)


def as_counter(cases: Cases):
    found = {}
    weights = np.ones(len(cases)) if cases.weights is None else cases.weights
    for key, weight in zip(
        zip(*cases.rows.codes, cases.classes, strict=True), weights, strict=True
    ):
        found[key] = found.get(key, 0) + weight
    return found


@pytest.mark.parametrize("sizes", [[1], [5], [3, 4, 2], [300, 300], [2] * 40])
def test_distinct_rows_are_those_of_numpy_looked_up_or_sorted(sizes):
    generator = np.random.default_rng(1)
    columns = [generator.integers(0, r, 500, dtype=np.uint16) for r in sizes]
    first, inverse = distinct_rows(columns, sizes)
    table = np.array(columns)
    expected, first_there, back = np.unique(table, axis=1, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(table[:, first], expected)
    np.testing.assert_array_equal(first, first_there)
    np.testing.assert_array_equal(inverse, back)


@pytest.mark.parametrize("sizes", [[2, 3], [2] * 10, [200] * 9])
def test_counted_cases_are_the_distinct_ones_with_their_weights(sizes):
    """Nine columns of 200 states overflow 64-bit keys, which must not confuse rows."""
    cases = random_cases(1000, sizes)
    counted = cases.counted()
    assert as_counter(counted) == as_counter(cases)
    assert len(counted) == len(as_counter(cases))
    assert counted.total_weight == cases.total_weight == 1000


def test_large_data_are_counted_only_where_that_pays():
    few = random_cases(50_000, [2, 3])
    assert len(few.counted()) == 18
    many = random_cases(50_000, [50] * 6)
    assert many.counted() is many


def test_weights_add_up_and_rows_of_weight_zero_are_left_out():
    weights = np.random.default_rng(3).integers(0, 3, 500).astype(float)
    cases = random_cases(500, [2, 2], weights)
    assert len(cases) == (weights > 0).sum()
    assert cases.total_weight == weights.sum() == cases.counted().total_weight


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, np.nan], "row 1 is not a finite"),
        ([-1.0, 1.0], "-1.0 of row 0"),
        ([0.0, 0.0], "all weights are zero"),
        ([1.0], r"shape \(2,\)"),
        (["a", "b"], "must be numbers"),
        ([np.inf, 1.0], "inf of row 0"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(DataError, match=message):
        check_weights(weights, 2)


def test_no_rows_are_refused():
    with pytest.raises(DataError, match="no rows"):
        learn_cases({"X": [], "Y": []}, ["X"], "Y")
