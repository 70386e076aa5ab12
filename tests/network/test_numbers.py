"""Numeric nodes: densities by numerical integration and by hand, samples, evidence and queries."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy.integrate import cumulative_trapezoid, quad
from scipy.stats import ks_2samp, kstest, linregress, norm

from ebnc.data.rows import CodedRows
from ebnc.domain import Domain, Interval
from ebnc.errors import FormatError, NetworkError, ParameterError, QueryError
from ebnc.field import Field
from ebnc.formats.native import load, schema
from ebnc.formats.network_json import network_from_json, network_to_json
from ebnc.network.network import Network


def wave(n, seed):
    """a ~ N(0, 1), b | a ~ N(sin 2a, 0.4²), c | b by a logistic curve; a is sometimes missing."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = np.sin(2 * a) + 0.4 * rng.normal(size=n)
    c = np.where(rng.random(n) < 1 / (1 + np.exp(-3 * b)), "up", "down")
    return {"a": a, "b": b, "c": c}


def true_log_density(data):
    sign = np.where(data["c"] == "up", 3.0, -3.0)
    return (
        norm.logpdf(data["a"])
        + norm.logpdf(data["b"], np.sin(2 * data["a"]), 0.4)
        - np.log1p(np.exp(-sign * data["b"]))
    )


@pytest.fixture(scope="module")
def network():
    return Network.fit("[a][b|a][c|b]", wave(800, 0), numbers="smooth")


def test_numbers_are_numeric_nodes_with_densities_only_if_they_are_smooth(network):
    assert {x: network.domain.kind(x) for x in network} == {
        "a": "numeric",
        "b": "numeric",
        "c": "nominal",
    }
    assert set(network.densities) == {"a", "b"}
    cut = Network.fit("[a][b|a][c|b]", wave(100, 0))
    assert not cut.densities
    one = Network.fit("[a][b|a][c|b]", wave(100, 0), kinds={"a": "numeric"})
    assert set(one.densities) == {"a"}


def test_log_likelihood_is_bin_probability_over_bin_width_by_hand(network):
    """Two numeric nodes: all pairs of inner bins, at two places inside of each."""
    first, second = network.densities["a"], network.densities["b"]
    n, m = first.n_bins, second.n_bins
    rows = CodedRows(("a", "b"), (n, m), np.indices((n, m)).reshape(2, -1).astype(np.uint8))
    p_a = network["a"].probabilities(rows)[np.arange(n * m), rows.codes[0]]
    p_b = network["b"].probabilities(rows)[np.arange(n * m), rows.codes[1]]
    assert (p_a * p_b).sum() == pytest.approx(1.0)
    inner = np.all((rows.codes > 0) & (rows.codes < [[n - 1], [m - 1]]), axis=0)
    i, j = (rows.codes[:, inner] - 1).astype(int)
    area = np.diff(first.cuts)[i] * np.diff(second.cuts)[j]
    by_hand = (p_a * p_b)[inner] / area
    for share in (0.01, 0.7):
        a = first.cuts[i] + share * np.diff(first.cuts)[i]
        b = second.cuts[j] + share * np.diff(second.cuts)[j]
        log_p = network.log_likelihood({"a": a, "b": b, "c": [None] * len(a)})
        np.testing.assert_allclose(np.exp(log_p), by_hand, rtol=1e-9)


def test_density_of_one_node_integrates_to_one(network):
    """Numerical integration over b, with a given and c summed out, is p(a)."""
    cuts = network.densities["b"].cuts

    def at(b):
        return float(np.exp(network.log_likelihood({"a": [0.4], "b": [b], "c": [None]}))[0])

    parts = zip([-np.inf, *cuts], [*cuts, np.inf], strict=True)
    whole = sum(quad(at, low, high, limit=10, epsabs=1e-9)[0] for low, high in parts)
    alone = network.log_likelihood({"a": [0.4], "b": [None], "c": [None]})
    assert whole == pytest.approx(float(np.exp(alone[0])), rel=1e-6)


def test_the_density_is_near_the_truth_and_better_than_lines_and_quantiles(network):
    train, test = wave(800, 0), wave(2000, 1)
    ours = network.log_likelihood(test).mean()
    line = linregress(train["a"], train["b"])
    spread = np.std(train["b"] - line.slope * train["a"] - line.intercept)
    linear = (
        norm.logpdf(test["a"], train["a"].mean(), train["a"].std())
        + norm.logpdf(test["b"], line.slope * test["a"] + line.intercept, spread)
        + np.log(1 / 2)
    ).mean()
    truth = true_log_density(test).mean()
    assert ours > linear + 0.3
    assert truth - 0.25 < ours < truth + 0.05
    tables = Network.fit("[a][b|a][c|b]", train, numbers="smooth", local="table")
    assert ours > tables.log_likelihood(test).mean() + 0.3


def test_log_likelihood_follows_the_unit_of_the_data(network):
    train, test = wave(800, 0), wave(200, 1)
    scaled = {**train, "a": train["a"] * 1000.0 - 7.0}
    other = Network.fit("[a][b|a][c|b]", scaled, numbers="smooth")
    moved = other.log_likelihood({**test, "a": test["a"] * 1000.0 - 7.0})
    np.testing.assert_allclose(moved, network.log_likelihood(test) - np.log(1000.0), atol=1e-8)


def test_values_beyond_the_data_have_a_density(network):
    log_p = network.log_likelihood({"a": [9.0, 90.0], "b": [0.0, 0.0], "c": ["up", "up"]})
    assert np.isfinite(log_p).all()
    assert log_p[1] < log_p[0]


def test_intervals_have_probabilities_and_coded_rows_too(network):
    test = wave(50, 2)
    rows = network._encode(test)
    intervals = {
        x: [network.domain[x][i] for i in column]
        for x, column in zip(rows.names, rows.codes, strict=True)
    }
    coded = network.log_likelihood(rows_of_states(network, rows))
    np.testing.assert_allclose(network.log_likelihood(pd.DataFrame(intervals)), coded)
    inside = sum(d.log_density_in_bin(test[x]) for x, d in network.densities.items())
    np.testing.assert_allclose(network.log_likelihood(test), coded + inside)


def rows_of_states(network, rows):
    return CodedRows(rows.names, tuple(map(network.domain.n_states, rows.names)), rows.codes)


def test_score_and_conditional_likelihood_agree_with_log_likelihood(network):
    test = wave(60, 3)
    total = network.log_likelihood(test).sum()
    assert network.score(test, "log_likelihood").total == pytest.approx(total)
    alone = network.log_likelihood({**test, "b": [None] * 60})
    np.testing.assert_allclose(
        network.conditional_log_likelihood("b", test), network.log_likelihood(test) - alone
    )


def test_samples_are_numbers_that_follow_the_data(network):
    train = wave(800, 0)
    drawn = network.sample(4000, random_state=1)
    assert drawn.dtypes[["a", "b"]].tolist() == [np.dtype(float)] * 2
    for name in ("a", "b"):
        assert ks_2samp(drawn[name], train[name]).pvalue > 0.01
    near = drawn[np.abs(drawn["a"] - 0.7) < 0.1]["b"]
    assert near.mean() == pytest.approx(np.sin(1.4), abs=0.15)
    grid = np.linspace(-8.0, 8.0, 20_001)
    nothing = [None] * len(grid)
    density = np.exp(network.log_likelihood({"a": nothing, "b": grid, "c": nothing}))
    below = cumulative_trapezoid(density, grid, initial=0.0)
    assert kstest(drawn["b"], lambda x: np.interp(x, grid, below)).pvalue > 0.01
    assert np.isfinite(network.log_likelihood(drawn)).all()
    pd.testing.assert_frame_equal(drawn, network.sample(4000, random_state=1))


def test_missing_numbers_are_a_state_without_density():
    data = wave(400, 4)
    data["a"][::5] = np.nan
    network = Network.fit("[a][b|a][c|b]", data, numbers="smooth")
    drawn = network.sample(3000, random_state=0)
    assert drawn["a"].isna().mean() == pytest.approx(0.2, abs=0.03)
    gap = network.log_likelihood({"a": [None], "b": [None], "c": [None]})
    share = network.query("a")[None]
    assert share == pytest.approx(0.2, abs=0.02)
    assert np.exp(gap[0]) == pytest.approx(share)
    assert network.query("a").mean() == pytest.approx(np.nanmean(data["a"]), abs=0.1)


def test_evidence_is_a_number_or_its_interval(network):
    state = next(s for s in network.domain["a"] if s.low < 0.5 <= s.high)
    by_number, by_state = (network.query("b", {"a": given}) for given in (0.5, state))
    np.testing.assert_array_equal(by_number.probabilities, by_state.probabilities)
    alone = network.log_likelihood({"a": [0.5], "b": [None], "c": [None]})[0]
    assert by_number.log_evidence == pytest.approx(alone)
    assert by_state.log_evidence == pytest.approx(np.log(network.query("a")[state]))


def test_results_list_intervals_and_have_mean_and_quantiles(network):
    answer = network.query("b", {"a": 0.5})
    assert all(isinstance(state, Interval) for state in answer.states[0])
    assert answer[0.9] == answer[next(s for s in answer.states[0] if s.low < 0.9 <= s.high)]
    assert answer.mean() == pytest.approx(np.sin(1.0), abs=0.1)
    expected = norm(np.sin(1.0), 0.4).ppf([0.1, 0.5, 0.9])
    np.testing.assert_allclose(answer.quantiles([0.1, 0.5, 0.9]), expected, atol=0.2)
    assert answer.quantiles(iter([0.5])) == answer.quantiles(0.5)
    for wrong in ("half", None, [0.0], [[0.5]], [None]):
        with pytest.raises(ParameterError, match="levels "):
            answer.quantiles(wrong)
    both = network.query(["c", "b"], {"a": 0.5})
    assert both.mean("b") == pytest.approx(answer.mean())
    for wrong in (both.mean, lambda: both.mean("c")):
        with pytest.raises(QueryError, match="name a numeric variable"):
            wrong()


def test_sampled_answers_agree_with_exact_ones(network):
    exact = network.query("a", {"b": 1.0, "c": "up"})
    estimate = network.query("a", {"b": 1.0, "c": "up"}, method="weighting", n_samples=40_000)
    error = np.abs(estimate.probabilities - exact.probabilities)
    assert (error <= 5 * estimate.standard_errors).all()
    assert estimate.log_evidence == pytest.approx(exact.log_evidence, abs=0.05)


@pytest.mark.slow
def test_learning_finds_the_curve_with_embedded_nodes():
    data = wave(500, 5)
    data["noise"] = np.random.default_rng(6).exponential(size=500)
    network = Network.learn(data, numbers="smooth", n_jobs=1)
    skeleton = {frozenset(arc) for arc in network.arcs}
    assert skeleton == {frozenset("ab"), frozenset("bc")}
    assert {local.kind for local in network.values()} == {"ebnc"}
    assert set(network.densities) == {"a", "b", "noise"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_independent_numbers_get_no_arcs(seed):
    rng = np.random.default_rng(seed)
    data = {"a": rng.normal(size=150), "b": rng.exponential(size=150)}
    data["c"] = np.maximum(rng.normal(size=150), 0.0)  # half of the values are zero
    data["d"] = rng.choice(["x", "y", "z"], size=150)
    network = Network.learn(data, numbers="smooth", n_jobs=1)
    assert not network.arcs


def test_a_root_that_is_a_curve_has_about_the_evidence_of_a_table_on_even_data():
    """The intervals hold equal shares, which both kinds fit well: neither prior may decide."""
    data = wave(800, 9)
    scores = [
        Network.learn({"a": data["a"]}, numbers="smooth", local=kind).learned_score
        for kind in ("ebnc", "table")
    ]
    even = -800 * np.log(31)
    assert even - 30 < min(scores) < max(scores) < even + 1


@pytest.mark.slow
def test_files_frames_and_weights_give_the_same_network(tmp_path):
    import polars as pl

    frame = pd.DataFrame(wave(200, 10))
    frame.loc[:4, "b"] = np.nan
    frame["w"] = np.arange(200) % 3
    frame.to_csv(tmp_path / "rows.csv", index=False)
    repeated = frame.loc[frame.index.repeat(frame["w"])].drop(columns="w")
    graph, test = "[a][b|a][c|b]", frame.drop(columns="w")
    expected = Network.fit(graph, repeated, numbers="smooth").log_likelihood(test)
    assert np.isfinite(expected).all()
    for data in (frame, pl.from_pandas(frame), tmp_path / "rows.csv"):
        network = Network.fit(graph, data, numbers="smooth", weights="w")
        np.testing.assert_allclose(network.log_likelihood(test), expected, rtol=1e-6)
        drawn = network.sample(20, random_state=0)
        drawn.to_csv(tmp_path / "drawn.csv", index=False)
        np.testing.assert_allclose(
            network.log_likelihood(tmp_path / "drawn.csv"), network.log_likelihood(drawn)
        )


def test_noisy_max_is_refused_for_numbers_and_a_table_takes_its_place():
    data = wave(150, 7)
    network = Network.learn(data, numbers="smooth", local="noisy-max", n_jobs=1)
    for name in ("a", "b"):
        assert network[name].kind == "table"


def test_files_keep_densities(network, tmp_path):
    network.save(tmp_path / "net.json")
    plain = json.loads((tmp_path / "net.json").read_text())
    jsonschema.validate(plain, schema())
    back = load(tmp_path / "net.json")
    assert back == network
    test = wave(30, 8)
    np.testing.assert_array_equal(back.log_likelihood(test), network.log_likelihood(test))
    assert "densities" not in network_to_json(Network.fit("[a][b|a][c|b]", wave(60, 0)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda all_: all_.append(all_[0]), "two densities"),
        (lambda all_: all_[0].update(variable=2), "0 cuts"),
        (lambda all_: all_[0]["means"].pop(), "one mean more"),
        (lambda all_: all_[0]["means"].reverse(), "outside"),
        (lambda all_: all_[0].update(variable=9), "no variable has number 9"),
        (lambda all_: all_[0].pop("means"), "means"),
    ],
)
def test_damaged_densities_are_refused(network, change, message):
    plain = json.loads(json.dumps(network_to_json(network)))
    change(plain["densities"])
    with pytest.raises(FormatError, match=message):
        network_from_json(Field(plain))


def test_graphs_keep_densities(network):
    assert Network.from_networkx(network.to_networkx()) == network
    assert Network(network.values()) != network


def test_densities_of_other_bins_are_refused(network):
    density = network.densities["a"]
    with pytest.raises(NetworkError, match="cuts"):
        Network(network.values(), {"b": density})
    with pytest.raises(NetworkError, match="nominal"):
        Network(network.values(), {"c": density})


def test_declared_intervals_have_no_density():
    domain = Domain({"a": [Interval(-np.inf, 0.0), Interval(0.0, np.inf)]}, ["a"])
    network = Network.fit("[a][b|a][c|b]", wave(200, 0), categories=domain)
    assert network.domain.kind("a") == "numeric"
    assert not network.densities


def test_wrong_numbers_are_refused():
    with pytest.raises(ParameterError, match="numbers"):
        Network.fit("[a]", wave(20, 0), numbers="fine")
