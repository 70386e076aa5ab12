"""Odd input: small and large weights, separation, strange columns and options."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ebnc
from ebnc.errors import DataError, DomainError, EBNCError, NoMaximumError, ParameterError
from problems import domain_of, random_data, structure_named

NAIVE = ebnc.EmbeddedStructure.naive("Y", ["A"])
GOOD = {"A": ["p", "q", "r"] * 20, "Y": ["n", "y", "y", "n"] * 15}


@pytest.mark.parametrize("scale", [1e-300, 1e-14, 1e-6, 1e20, 1e90])
def test_maximum_likelihood_does_not_depend_on_the_scale_of_weights(scale):
    structure = structure_named("naive")
    data, _ = random_data(structure, domain_of(structure, 2), 2_000, seed=1, scale=0.4)
    one = ebnc.fit(structure, data, math.inf)
    other = ebnc.fit(structure, data, math.inf, weights=np.full(2_000, scale))
    assert other.solution.converged
    np.testing.assert_allclose(other.phi, one.phi, atol=1e-8)
    np.testing.assert_allclose(
        other.standard_errors() * math.sqrt(scale), one.standard_errors(), rtol=1e-6
    )


@pytest.mark.parametrize("scale", [1e-300, 1e-10, 1.0])
def test_separation_is_found_whatever_the_scale_of_weights(scale):
    data = {"A": ["p"] * 500 + ["q"] * 500, "Y": [0] * 500 + [1] * 500}
    with pytest.raises(NoMaximumError, match="separated by A"):
        ebnc.fit(NAIVE, data, math.inf, weights=np.full(1_000, scale))


@pytest.mark.parametrize("prior_scale", [5.405, 30.0, 1e3, "evidence"])
def test_separated_classes_of_many_rows_converge_in_few_steps(prior_scale):
    """The value is then a small difference of large sums; its rounding must not stop the search."""
    generator = np.random.default_rng(1)
    inputs = [f"c{i}" for i in range(12)]
    data = {x: generator.integers(0, 6, 20_000) for x in inputs}
    data["Y"] = (data["c0"] + data["c1"] > 5).astype(int)
    fitted = ebnc.fit(ebnc.EmbeddedStructure.naive("Y", inputs), data, prior_scale)
    assert fitted.solution.converged
    assert fitted.solution.n_values < 100


def test_theta_is_fitted_where_some_of_it_goes_to_zero():
    structure = structure_named("worked")
    data, _ = random_data(structure, domain_of(structure, 2), 2_000, seed=3)
    found = ebnc.fit_theta(structure, data, n_starts=1)
    p = found.network.probabilities(data)
    chosen = p[np.arange(2_000), np.asarray(data["Y"])]
    assert np.log(chosen).sum() == pytest.approx(found.log_likelihood, abs=1e-6)


@pytest.mark.parametrize(
    ("column", "states"),
    [
        (np.array([2**63, 2**63 + 1] * 30, dtype=np.uint64), (str(2**63), str(2**63 + 1))),
        (np.array([2**60, 2**60 + 1] * 30), (str(2**60), str(2**60 + 1))),
        ([10**30, 10**30 + 1] * 30, (str(10**30), str(10**30 + 1))),
        (np.array([np.float32(1), 0, None] * 20, dtype=object), (0, 1, None)),
        (np.array([np.str_("a"), "b", np.float32("nan")] * 20, dtype=object), ("a", "b", None)),
        ([Decimal(1), Decimal("NaN"), Decimal(2)] * 20, (1, 2, None)),
        (np.ma.masked_array([0, 1, 2] * 20, [True, False, False] * 20), (1, 2, None)),
        (pd.Series(pd.arrays.SparseArray([0, 1, 2] * 20)), (0, 1, 2)),
    ],
)
def test_labels_are_what_the_column_holds(column, states):
    data = GOOD | {"A": column}
    fitted = ebnc.fit(NAIVE, data, 1.0)
    assert fitted.domain["A"] == states
    assert np.isfinite(fitted.probabilities(data)).all()


NUMBERS = GOOD | {"A": np.linspace(0, 1, 60)}


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (42, {"weights": [1.0]}, "must be a DataFrame"),
        (pl.DataFrame(GOOD).lazy(), {"weights": [1.0] * 60}, "collect"),
        (pl.DataFrame(GOOD | {"A": pl.Series([{1}] * 60, dtype=pl.Object)}), {}, "cannot be"),
        (NUMBERS | {"Y": ["n", None] * 30}, {"categories": {"Y": ["n", "y"]}}, "missing values"),
        (GOOD, {"weights": np.ones(60) + 0j}, "must be numbers"),
        (GOOD, {"weights": np.full(60, 1e308)}, "too large"),
        (GOOD, {"prior_scale": 1e-160}, "must lie between"),
        (GOOD, {"prior_scale": 1e200}, "must lie between"),
        (GOOD, {"prior_scale": 10**400}, "must be a positive number"),
        (GOOD, {"prior_scale": b"ab"}, "must be a positive number"),
        (GOOD, {"start": "cold"}, "start must be an EBNC"),
        (GOOD, {"start": ebnc.EBNC(NAIVE, {"A": 2, "Y": 2}, [0.0, 0.0])}, "start must be"),
    ],
)
def test_more_bad_input_gets_one_clear_error(data, options, message):
    with pytest.raises(EBNCError, match=message):
        ebnc.fit(NAIVE, data, **{"prior_scale": 1.0} | options)


def test_weights_are_counted_against_the_columns_in_use():
    fitted = ebnc.fit(NAIVE, {"other": [1]} | GOOD, 1.0, weights=np.ones(60))
    assert fitted.n_cases == 60


def test_many_classes_can_be_told_apart_by_a_number():
    from ebnc.data.discretise import mdlp_cuts

    assert len(mdlp_cuts(np.arange(1400.0), np.arange(1400) % 700, 700)) >= 0


def test_misspelt_options_are_refused():
    with pytest.raises(ParameterError, match="curvature must be"):
        ebnc.fit(NAIVE, GOOD, 1.0).laplace("prior")
    with pytest.raises(ParameterError, match="n_starts"):
        ebnc.fit_theta(NAIVE, GOOD, n_starts=0)
    with pytest.raises(DomainError, match="NaN is not a state"):
        ebnc.Domain({"A": [pd.NA, "a"]})
    with pytest.raises(DataError, match="mixes types"):
        ebnc.fit(NAIVE, GOOD | {"A": ["p", 1, "q"] * 20})
