"""Results as data frames, by each library."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ebnc
from ebnc.data import frames
from ebnc.errors import ParameterError

STATES = {
    "sky": ["dry", "wet"],
    "wind": [ebnc.Interval(-np.inf, 3), ebnc.Interval(3, np.inf), None],
}
STATES["rain"] = [1, 2, 3]
THETA = np.random.default_rng(0).dirichlet([1, 1, 1], size=(2, 3))
TYPES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


@pytest.fixture(params=TYPES)
def columns_of(request, monkeypatch):
    """A function that checks a frame's type and returns its columns as lists."""
    monkeypatch.setattr(frames, "LIBRARIES", (request.param,))

    def columns(frame):
        assert type(frame) is TYPES[request.param]
        if request.param == "pandas":
            return frame.to_dict("list")
        return frame.to_dict(as_series=False) if request.param == "polars" else frame.to_pydict()

    columns.takes_any_label = request.param == "pandas"
    return columns


def test_cells_of_a_table(columns_of):
    table = ebnc.Table("rain", ["sky", "wind"], STATES, THETA)
    columns = columns_of(table.to_frame())
    assert list(columns) == ["sky", "wind", "rain", "probability"]
    assert columns["probability"] == THETA.ravel().tolist()
    assert columns["sky"] == ["dry"] * 9 + ["wet"] * 9
    assert columns["rain"] == [1, 2, 3] * 6
    wind = STATES["wind"] if columns_of.takes_any_label else ["≤ 3", "> 3", None]
    assert columns["wind"][:9:3] == wind


def test_answers_with_and_without_standard_errors(columns_of):
    network = ebnc.Network(
        [
            ebnc.Table("sky", [], STATES, [0.4, 0.6]),
            ebnc.Table("rain", ["sky"], STATES, THETA[:, 0]),
        ]
    )
    exact = network.query(["rain", "sky"])
    columns = columns_of(exact.to_frame())
    assert list(columns) == ["rain", "sky", "probability"]
    cells = zip(columns["rain"], columns["sky"], columns["probability"], strict=True)
    assert {(rain, sky): p for rain, sky, p in cells} == exact.to_dict()
    estimate = network.query("sky", {"rain": 2}, method="weighting", random_state=0)
    assert columns_of(estimate.to_frame()) == {
        "sky": ["dry", "wet"],
        "probability": estimate.probabilities.tolist(),
        "standard_error": estimate.standard_errors.tolist(),
    }


def test_a_variable_may_have_the_name_of_a_column_of_values(columns_of):
    table = ebnc.Table("probability", [], {"probability": 2}, [0.25, 0.75])
    assert columns_of(table.to_frame()) == {"probability": [0, 1], "probability_": [0.25, 0.75]}


def test_contributions_have_a_column_for_each_term(columns_of):
    rng = np.random.default_rng(1)
    data = {"a": rng.integers(0, 2, 60), "b": rng.integers(0, 2, 60), "y": rng.integers(0, 3, 60)}
    structure = ebnc.EmbeddedStructure.chain("y", ["a", "b"])
    parts = ebnc.fit(structure, data, 1.0).contributions({"a": [0, 1], "b": [1, 1]})
    columns = columns_of(parts.to_frame(2))
    assert list(columns) == ["(intercept)", "a", "b", "a · b"]
    assert list(columns.values()) == parts.values[:, :, 2].T.tolist()
    np.testing.assert_allclose(sum(map(np.array, columns.values())), parts.log_odds[:, 2])
    for wrong in (None, 3):
        with pytest.raises(ParameterError, match=rf"of_class .*\[0, 1, 2\], got {wrong}"):
            parts.to_frame(wrong)


def test_of_two_classes_contributions_are_those_of_the_second(columns_of):
    model = ebnc.EBNC(
        ebnc.EmbeddedStructure.naive("y", ["a"]), {"a": 2, "y": ["no", "yes"]}, [0, 1]
    )
    parts = model.contributions({"a": [0, 1]})
    assert columns_of(parts.to_frame()) == columns_of(parts.to_frame("yes"))
    np.testing.assert_allclose(columns_of(parts.to_frame())["a"], [-0.5, 0.5])


def test_parameters_are_as_printed(columns_of):
    structure = ebnc.EmbeddedStructure.chain("rain", ["sky", "wind"])
    states = STATES | {"rain": [1, 2]}
    model = ebnc.EBNC(structure, states, np.arange(6.0))
    assert columns_of(model.phi_table().to_frame()) == {
        "term": ["(intercept)", "sky", "wind", "wind", "sky · wind", "sky · wind"],
        "states": ["", "wet", "> 3", "(missing)", "wet · > 3", "wet · (missing)"],
        "class": [2] * 6,
        "value": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
    }


def test_fitted_parameters_have_standard_errors(columns_of):
    data = {"a": [0, 0, 1, 1, 1], "y": [0, 1, 0, 1, 1]}
    model = ebnc.fit(ebnc.EmbeddedStructure.naive("y", ["a"]), data, 1.0)
    columns = columns_of(model.phi_table().to_frame())
    assert columns["standard_error"] == model.standard_errors().tolist()


def test_samples_keep_labels_of_several_types(columns_of):
    states = {"a": [1, "one", None]}
    network = ebnc.Network([ebnc.Table("a", [], states, [0.3, 0.3, 0.4])])
    column = columns_of(network.sample(50, random_state=0))["a"]
    assert set(column) == ({1, "one", None} if columns_of.takes_any_label else {"1", "one", None})
