"""ebnc.fit as a user calls it: invariances, reports, missing and unseen values, bad input."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ebnc
from ebnc.errors import DataError, DomainError, EBNCError, ParameterError, TooLargeError
from problems import STRUCTURES, domain_of, random_data, structure_named

STRINGS = {x: [f"{x.lower()}{i}" for i in range(4)] for x in "ABCDE"} | {"Y": ["no", "yes", "who"]}


def labelled(data):
    """The same rows with words for numbers."""
    return {x: np.array(STRINGS[x])[column] for x, column in data.items()}


@pytest.fixture(params=["naive", "chain", "worked", "table"])
def problem(request):
    structure = structure_named(request.param)
    data, _ = random_data(structure, domain_of(structure, 3), 500, seed=11, scale=0.4)
    return structure, labelled(data)


def same_predictions(one, other, data, order=None):
    p, q = one.probabilities(data), other.probabilities(data)
    np.testing.assert_allclose(p, q if order is None else q[:, order], rtol=0, atol=1e-8)


# -- nothing depends on names, order, baseline or how weights are written ------------------------


def test_renaming_states_changes_nothing(problem):
    """A permutation of the states, another one the baseline: same function, same evidence."""
    structure, data = problem
    fitted = ebnc.fit(structure, data, prior_scale=0.5)
    states = {x: list(reversed(fitted.domain[x])) for x in structure.inputs}
    other = ebnc.fit(structure, data, prior_scale=0.5, categories=states)
    assert other.log_evidence == pytest.approx(fitted.log_evidence, abs=1e-8)
    assert other.bic == pytest.approx(fitted.bic, abs=1e-8)
    same_predictions(fitted, other, data)


def test_changing_the_baseline_class_changes_nothing(problem):
    structure, data = problem
    fitted = ebnc.fit(structure, data, prior_scale=0.5)
    assert fitted.domain["Y"] == ("no", "who", "yes")
    other = ebnc.fit(structure, data, prior_scale=0.5, categories={"Y": ["yes", "no", "who"]})
    assert other.log_evidence == pytest.approx(fitted.log_evidence, abs=1e-8)
    same_predictions(fitted, other, data, order=[1, 2, 0])


def test_permuting_inputs_changes_nothing(problem):
    structure, data = problem
    families = tuple((x, tuple(reversed(p))) for x, p in reversed(structure.families))
    permuted = ebnc.EmbeddedStructure("Y", families)
    assert permuted == structure
    fitted = ebnc.fit(structure, data, prior_scale=0.5)
    other = ebnc.fit(permuted, data, prior_scale=0.5)
    assert other.log_evidence == pytest.approx(fitted.log_evidence, abs=1e-8)
    same_predictions(fitted, other, data)


def test_splitting_weights_changes_nothing(problem):
    structure, data = problem
    fitted = ebnc.fit(structure, data, prior_scale=0.5)
    parts = np.tile([0.25, 0.75], 500)
    twice = {x: np.repeat(column, 2) for x, column in data.items()}
    other = ebnc.fit(structure, twice, prior_scale=0.5, weights=parts)
    assert other.n_cases == pytest.approx(fitted.n_cases)
    assert other.log_evidence == pytest.approx(fitted.log_evidence, abs=1e-8)
    np.testing.assert_allclose(other.phi, fitted.phi, atol=1e-8)


def test_equivalent_structures_have_the_same_fit(problem):
    structure, data = problem
    other = structure.equivalent_that_fills_span()
    if other is None:
        assert not structure.fills_span
        return
    one, two = (ebnc.fit(s, data, prior_scale=0.5) for s in (structure, other))
    assert one.log_evidence == pytest.approx(two.log_evidence, abs=1e-8)
    same_predictions(one, two, data)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_every_kind_of_table_gives_the_same_fit(problem, kind):
    structure, data = problem
    fitted = ebnc.fit(structure, data, prior_scale=0.5)
    other = ebnc.fit(structure, kind(data), prior_scale=0.5)
    np.testing.assert_array_equal(fitted.phi, other.phi)
    np.testing.assert_array_equal(fitted.probabilities(kind(data)), other.probabilities(data))


@pytest.mark.slow
def test_the_number_of_threads_changes_nothing():
    """Bit by bit, in new processes with one and with two threads."""
    code = """
import numpy as np, ebnc
generator = np.random.default_rng(0)
data = {x: generator.integers(0, 4, 60_000) for x in "ABCDEFG"}
data["Y"] = (generator.random(60_000) < 0.2 + 0.15 * data["A"]).astype(int)
s = ebnc.EmbeddedStructure.chain("Y", list("ABCDEFG"))
fitted = ebnc.fit(s, data)
print(fitted.phi.tobytes().hex(), fitted.log_evidence.hex())
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"OMP_NUM_THREADS": n, "PATH": "/usr/bin:/bin", "PYTHONHASHSEED": n},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for n in ("1", "2")
    }
    assert len(found) == 1
    assert len(found.pop()) > 100


# -- what a fit reports ---------------------------------------------------------------------------


def test_the_report_of_a_fit(problem):
    structure, data = problem
    fitted = ebnc.fit(structure, data)
    assert isinstance(fitted, ebnc.EBNC)
    assert fitted.solution.converged
    assert fitted.solution.decrement < 1e-10
    assert fitted.n_cases == 500
    assert math.isfinite(fitted.bic)
    assert math.isfinite(fitted.log_evidence)
    assert len(fitted.prior.scales) == max(len(c) for c in structure.clusters)
    p = fitted.probabilities(data)
    chosen = p[np.arange(500), [fitted.domain["Y"].index(y) for y in data["Y"]]]
    assert fitted.log_likelihood == pytest.approx(np.log(chosen).sum())
    # eq. 9 is at maximum likelihood, whatever the prior of the fit
    price = fitted.dimension / 2 * math.log(500)
    assert fitted.bic == pytest.approx(fitted.largest_log_likelihood - price)
    assert fitted.largest_log_likelihood > fitted.log_likelihood


def test_phi_table_shows_values_and_standard_errors(problem):
    structure, data = problem
    fitted = ebnc.fit(structure, data, prior_scale=1.0)
    table = fitted.phi_table()
    assert len(table) == fitted.dimension
    assert all(row.standard_error > 0 for row in table)
    frame = pd.DataFrame(table)
    assert list(frame.columns) == ["term", "states", "of_class", "value", "standard_error"]
    assert "std. error" in str(table)


def test_standard_errors_are_those_of_logistic_regression():
    """Maximum likelihood, binary Y: the square roots of the diagonal of (XᵀWX)⁻¹."""
    structure = structure_named("chain")
    data, _ = random_data(structure, domain_of(structure, 2), 4_000, seed=2, scale=0.2)
    fitted = ebnc.fit(structure, data, prior_scale=math.inf)
    from ebnc.data.coder import encode
    from ebnc.parameters.design_matrix import indicator_design

    x = indicator_design(fitted.basis, encode(data, fitted.domain, structure.inputs)).toarray()
    p = fitted.probabilities(data)[:, 1]
    information = x.T @ (x * (p * (1 - p))[:, None])
    expected = np.sqrt(np.diagonal(np.linalg.inv(information)))
    np.testing.assert_allclose(fitted.standard_errors(), expected, rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_intervals_of_probabilities_are_those_of_draws_from_the_posterior(n_classes):
    """Delta method against 20 000 draws of φ ~ N(φ̃, A⁻¹), on the log-odds scale."""
    structure = structure_named("naive")
    data, _ = random_data(structure, domain_of(structure, n_classes), 3_000, seed=5, scale=0.3)
    fitted = ebnc.fit(structure, data, prior_scale=1.0)
    rows = {x: column[:5] for x, column in data.items()}
    found = fitted.probability_intervals(rows, level=0.9)
    np.testing.assert_allclose(found.probability, fitted.probabilities(rows), atol=1e-12)
    root = fitted.fit.factor.inverse_root()
    generator = np.random.default_rng(0)
    design = fitted.fit.design
    shape = (design.n_columns, design.n_others)
    draws = []
    for _ in range(2_000):
        phi = fitted.solution.phi + (root @ generator.normal(size=len(root))).reshape(shape)
        model = ebnc.EBNC(structure, fitted.domain, design.to_basis(phi), "orthonormal")
        draws.append(model.probabilities(rows))
    low, high = np.quantile(draws, [0.05, 0.95], axis=0)
    width = high - low
    np.testing.assert_array_less(np.abs(found.low - low), 0.15 * width)
    np.testing.assert_array_less(np.abs(found.high - high), 0.15 * width)
    with pytest.raises(ParameterError, match="level"):
        fitted.probability_intervals(rows, level=1.5)


def test_a_warm_start_ends_at_the_same_fit(problem):
    structure, data = problem
    cold = ebnc.fit(structure, data, prior_scale=0.5)
    warm = ebnc.fit(structure, data, prior_scale=0.5, start=cold)
    assert warm.solution.steps < cold.solution.steps
    np.testing.assert_allclose(warm.phi, cold.phi, atol=1e-9)


def test_fits_survive_pickling(problem):
    structure, data = problem
    fitted = ebnc.fit(structure, data, prior_scale=0.5)
    back = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(back.probabilities(data), fitted.probabilities(data))
    assert back.log_evidence == fitted.log_evidence
    assert str(back.phi_table()) == str(fitted.phi_table())


def test_fitted_models_lead_back_to_probabilities():
    """φ → θ of a fitted TAN: an ordinary Bayesian network with the same p(y|x)."""
    structure = ebnc.EmbeddedStructure.tree("Y", [("A", "B"), ("A", "C"), ("C", "D")])
    data, _ = random_data(structure, domain_of(structure, 3), 800, seed=1, scale=0.4)
    fitted = ebnc.fit(structure, data)
    network = fitted.to_embedded_network()
    np.testing.assert_allclose(network.probabilities(data), fitted.probabilities(data), atol=1e-10)


@pytest.mark.slow
def test_too_many_parameters_for_a_hessian_are_fitted_without_one():
    """85 inputs of 100 states have 8 416 parameters.

    At the maximum, the effect of a state is proportional to the residuals of its rows, as under
    every normal prior with one scale.
    """
    rng = np.random.default_rng(0)
    codes = np.array([rng.permutation(np.arange(300) % 100) for _ in range(85)])
    labels = np.array([f"s{code:02}" for code in range(100)])
    inputs = {f"X{i}": labels[column] for i, column in enumerate(codes)}
    y = (codes[0] < 50).astype(int)
    structure, data = ebnc.EmbeddedStructure.naive("Y", list(inputs)), {**inputs, "Y": y}
    fitted = ebnc.fit(structure, data, prior_scale=0.5)
    assert fitted.dimension == 8416
    residuals = y - fitted.probabilities(data)[:, 1]
    ratios = []
    for i in (0, 7):
        rows = {x: np.repeat(labels[:1], 100) for x in inputs} | {f"X{i}": labels}
        effects = fitted.log_odds(rows)[:, 0]
        sums = np.bincount(codes[i], residuals)
        slope, level = np.polyfit(sums, effects, 1)
        np.testing.assert_allclose(effects, slope * sums + level, atol=1e-5)
        ratios.append(slope)
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-4)
    assert ratios[0] > 0
    assert fitted.bic is None
    assert fitted.standard_errors() is None
    assert fitted.phi_table()[0].standard_error is None
    with pytest.raises(ParameterError, match="is not computed"):
        _ = fitted.log_evidence
    with pytest.raises(ParameterError, match="give prior_scale as a number"):
        ebnc.fit(structure, data)


# -- missing, unseen, constant --------------------------------------------------------------------


def weather():
    return pd.DataFrame(
        {
            "sky": ["dry", "wet", None, "dry", "wet", None] * 20,
            "wind": [0.5, 7.0, 3.0, np.nan, 9.0, 1.0] * 20,
            "constant": ["x"] * 120,
            "empty": [None] * 120,
            "play": ["no", "yes", "yes", "no", "yes", "no"] * 20,
        }
    )


ALL = ebnc.EmbeddedStructure.naive("play", ["sky", "wind", "constant", "empty"])


def test_missing_is_a_state_and_constant_columns_contribute_nothing():
    fitted = ebnc.fit(ALL, weather())
    assert fitted.domain["sky"] == ("dry", "wet", None)
    assert set(fitted.domain) == {"sky", "wind", fitted.target}
    assert {row.term for row in fitted.phi_table()} == {(), ("sky",), ("wind",)}
    assert "(missing)" in str(fitted.phi_table())
    assert np.isfinite(fitted.probabilities(weather())).all()


def test_missing_can_be_refused():
    with pytest.raises(DataError, match="'sky' has missing values"):
        ebnc.fit(ALL, weather(), missing="refuse")
    with pytest.raises(ParameterError, match="missing must be"):
        ebnc.fit(ALL, weather(), missing="drop")


def test_unseen_states_are_an_error_or_the_average_over_the_training_rows():
    data = weather()
    fitted = ebnc.fit(ALL, data)
    new = data.head(2).assign(sky=["foggy", "wet"])
    with pytest.raises(DataError, match="'foggy' in column 'sky'"):
        fitted.probabilities(new)
    found = fitted.probabilities(new, unseen="average")
    over_rows = fitted.probabilities(data.assign(**new.drop(columns="sky").iloc[0]))
    np.testing.assert_allclose(found[0], over_rows.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found[1], fitted.probabilities(data.iloc[[1]])[0], atol=1e-12)
    with pytest.raises(ParameterError, match="unseen must be"):
        fitted.probabilities(new, unseen="ignore")


def test_numbers_are_cut_into_bins_that_are_kept_and_printed():
    fitted = ebnc.fit(ALL, weather())
    bins = ["≤ 0.75", "(0.75, 2]", "(2, 5]", "(5, 8]", "> 8", "None"]
    assert [str(state) for state in fitted.domain["wind"]] == bins
    assert "wave 4" in str(fitted.phi_table())
    new = pd.DataFrame({"sky": ["dry"], "wind": [1e6], "constant": ["x"], "empty": [None]})
    assert fitted.probabilities(new).shape == (1, 2)


# -- bad input ------------------------------------------------------------------------------------


GOOD = {"A": ["p", "q"] * 10, "Y": ["n", "y", "y", "n"] * 5}
NAIVE = ebnc.EmbeddedStructure.naive("Y", ["A"])


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"A": [], "Y": []}, {}, "no rows"),
        ({"A": [], "Y": []}, {"categories": {"A": 2, "Y": 2}}, "no rows"),
        (GOOD | {"Y": ["n"] * 20}, {}, "only one class, 'n'"),
        (GOOD | {"Y": [None, "y"] * 10}, {}, "'Y' has missing values"),
        (GOOD | {"A": ["p", 1] * 10}, {}, "'A' mixes types"),
        ({"A": GOOD["A"]}, {}, "no column 'Y'"),
        (GOOD | {"A": ["p"]}, {}, "differ in length"),
        (
            GOOD | {"A": [f"id{i}" for i in range(20)] * 100, "Y": ["n", "y"] * 1000},
            {"weights": [1]},
            "shape",
        ),
        (GOOD, {"weights": [1.0] * 19 + [math.nan]}, "row 19 is not a finite"),
        (GOOD, {"weights": [-1.0] * 20}, "-1.0 of row 0"),
        (GOOD, {"weights": [0.0] * 20}, "all weights are zero"),
        (GOOD, {"prior_scale": "big"}, "prior_scale must be"),
        (GOOD, {"prior_scale": -1}, "must be positive"),
        (GOOD, {"prior_scale": math.nan}, "must be positive"),
        (GOOD, {"categories": {"A": ["p"]}}, "'q' in column 'A'"),
        (GOOD, {"categories": {"A": []}}, "'A' has no states"),
        (GOOD, {"categories": {"Y": ["n"]}}, "only one state"),
        (42, {}, "must be a DataFrame"),
    ],
)
def test_bad_input_gets_one_clear_error(data, options, message):
    with pytest.raises(EBNCError, match=message):
        ebnc.fit(NAIVE, data, **options)


@pytest.mark.slow
def test_a_hundred_thousand_states_are_refused_unless_declared():
    many = [f"id{i}" for i in range(100_000)]
    data = {"A": many, "Y": ["n", "y"] * 50_000}
    with pytest.raises(
        DataError, match="doubtful columns: 'A' has more than 1000 different labels"
    ):
        ebnc.fit(NAIVE, data)
    with pytest.raises(TooLargeError, match="100000 states"):
        ebnc.fit(NAIVE, data, prior_scale=0.1, categories={"A": many})
    thousand = {x: column[:1500] for x, column in data.items()}
    fitted = ebnc.fit(NAIVE, thousand, prior_scale=0.1, categories={"A": many[:1500]})
    assert fitted.dimension == 1500
    assert fitted.solution.converged
    p = fitted.probabilities({"A": many[:2]})
    assert p[0, 0] > 0.5 > p[1, 0]


def test_one_class_observed_of_two_declared_is_learned():
    fitted = ebnc.fit(NAIVE, GOOD | {"Y": ["n"] * 20}, categories={"Y": ["n", "y"]})
    p = fitted.probabilities({"A": ["p"]})
    assert 0.8 < p[0, 0] < 1


@pytest.mark.parametrize("name", list(STRUCTURES))
def test_declared_states_that_never_occur_get_finite_parameters(name):
    structure = structure_named(name)
    data, _ = random_data(structure, domain_of(structure, 2), 200, seed=1)
    fitted = ebnc.fit(structure, data, categories=dict.fromkeys(structure.inputs, 6))
    assert np.isfinite(fitted.phi).all()
    assert all(math.isfinite(row.standard_error) for row in fitted.phi_table())


def test_domains_of_other_shapes_are_refused():
    with pytest.raises(DomainError, match="must be a Domain or a mapping"):
        ebnc.EBNC(NAIVE, [2, 2], [0.0, 0.0])


@pytest.mark.parametrize("prior_scale", ["evidence", 1.0])
def test_a_path_is_fitted_as_its_frame(tmp_path, problem, prior_scale):
    structure, data = problem
    frame = pd.DataFrame(data)
    expected = ebnc.fit(structure, frame, prior_scale)
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_parquet(tmp_path / "data.parquet")
    for name in ("data.csv", "data.parquet"):
        found = ebnc.fit(structure, tmp_path / name, prior_scale)
        np.testing.assert_allclose(
            found.phi_in("indicator"), expected.phi_in("indicator"), atol=1e-8
        )
        assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-8)
