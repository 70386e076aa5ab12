"""Intervals as evidence: against integrals over numbers, samples, pyAgrum, and by hand."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from ebnc.domain import Interval
from ebnc.errors import DataError, QueryError
from ebnc.network.inference import elimination
from ebnc.network.network import Network
from network.test_numbers import wave

INTERVALS = [
    Interval(-0.3, 0.41),
    Interval(0.1, 0.1001),  # inside one bin
    Interval(1.0, np.inf),
    Interval(-np.inf, -0.7),
    Interval(-5.0, 5.0),  # both ends in tails
    Interval(2.5, 4.0),  # inside of a tail
]


@pytest.fixture(scope="module")
def network():
    return Network.fit("[a][b|a][c|b]", wave(300, 0), numbers="smooth")


def integrated(network, asked, name, interval, others):
    """∫ p(asked, others, name = x) dx over an interval, from evidence on single numbers."""

    def at(x):
        answer = network.query(asked, {**others, name: x}, method="exact")
        return answer.probabilities * np.exp(answer.log_evidence)

    cuts = network.densities[name].cuts
    inside = cuts[(cuts > interval.low) & (cuts < interval.high)]
    total = 0.0
    ends = [interval.low, *inside, interval.high]
    for low, high in pairwise(ends):
        if low >= cuts[0] and high <= cuts[-1]:  # the density is flat
            total = total + (high - low) * at((low + high) / 2)
        else:  # exponential: all parts are proportional to the density at one place
            one = cuts[0] if high <= cuts[0] else np.nextafter(cuts[-1], np.inf)
            density = network.densities[name]
            scale = density.log_density_in_bin(np.array([one]))[0]

            def shape(x, density=density, scale=scale):
                return np.exp(density.log_density_in_bin(np.array([x]))[0] - scale)

            total = total + quad(shape, low, high)[0] * at(one)
    return total


@pytest.mark.parametrize("interval", INTERVALS)
def test_an_interval_is_the_integral_over_its_numbers(network, interval):
    for asked, name, others in (("c", "a", {}), ("c", "b", {"a": 0.2}), ("a", "b", {"c": "up"})):
        expected = integrated(network, asked, name, interval, others)
        answer = network.query(asked, {**others, name: interval}, method="exact")
        np.testing.assert_allclose(answer.log_evidence, np.log(expected.sum()), atol=1e-7)
        np.testing.assert_allclose(answer.probabilities, expected / expected.sum(), atol=1e-8)


def test_samples_inside_the_intervals_have_these_shares(network):
    drawn = network.sample(60_000, random_state=0)
    where = {"a": Interval(-0.35, 0.9), "b": Interval(0.2, 2.0)}
    inside = np.all([(drawn[x] > low) & (drawn[x] <= high) for x, (low, high) in where.items()], 0)
    answer = network.query("c", where)
    assert inside.sum() > 5_000
    assert np.exp(answer.log_evidence) == pytest.approx(inside.mean(), abs=0.01)
    assert answer["up"] == pytest.approx((drawn["c"][inside] == "up").mean(), abs=0.02)


def test_a_state_and_the_whole_line_are_intervals_too(network):
    state = network.domain["a"][5]
    near = Interval(state.low, np.nextafter(state.high, np.inf))
    by_state, by_near = (network.query("b", {"a": each}) for each in (state, near))
    np.testing.assert_allclose(by_near.probabilities, by_state.probabilities, atol=1e-9)
    assert by_near.log_evidence == pytest.approx(by_state.log_evidence)
    whole = network.query("b", {"a": Interval(-np.inf, np.inf)})
    assert whole.log_evidence == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(whole.probabilities, network.query("b").probabilities, atol=1e-12)


@pytest.mark.parametrize("method", ["weighting", "gibbs"])
@pytest.mark.slow
def test_sampled_answers_agree_with_exact_ones(network, method):
    where = {"b": Interval(0.13, 1.21), "c": "down"}
    exact = network.query("a", where, method="exact")
    estimate = network.query("a", where, method=method, n_samples=40_000)
    error = np.abs(estimate.probabilities - exact.probabilities)
    assert (error <= 5 * estimate.standard_errors).all()
    if method == "weighting":
        assert estimate.log_evidence == pytest.approx(exact.log_evidence, abs=0.05)


def test_pyagrum_takes_the_same_weights(network, monkeypatch):
    pytest.importorskip("pyagrum")
    where = {"a": Interval(-0.3, 0.41), "b": Interval(0.05, 3.0)}
    exact = network.query("c", where, method="exact")
    monkeypatch.setattr(elimination, "MOST_CELLS", 0)
    fresh = pickle.loads(pickle.dumps(network))  # remembers no order of elimination
    other = fresh.query("c", where, method="exact")
    assert other.method == "exact (pyAgrum)"
    np.testing.assert_allclose(other.probabilities, exact.probabilities, atol=1e-9)
    assert other.log_evidence == pytest.approx(exact.log_evidence)


def test_missing_entries_are_in_no_interval_and_atoms_are_as_a_whole():
    data = wave(400, 4)
    data["a"] = np.where(np.arange(400) % 4 == 0, 0.0, data["a"])
    data["a"][1::5] = np.nan
    network = Network.fit("[a][b|a][c|b]", data, numbers="smooth", local="table")
    everything = network.query("c", {"a": Interval(-np.inf, np.inf)})
    assert np.exp(everything.log_evidence) == pytest.approx(1 - network.query("a")[None])
    around = network.query("c", {"a": Interval(-1e-9, 1e-9)})
    assert np.exp(around.log_evidence) == pytest.approx(network.query("a")[0.0])
    with pytest.raises(QueryError, match="probability 0"):
        network.query("c", {"a": Interval(0.0, 1e-9)})


def test_intervals_without_a_density_are_unions_of_states():
    network = Network.fit("[a][c|a]", {x: wave(200, 0)[x] for x in "ac"})
    assert not network.densities
    states = network.domain["a"]
    both = network.query("c", {"a": Interval(states[1].low, states[2].high)})
    alone = [network.query("c", {"a": state}) for state in states[1:3]]
    weights = np.exp([each.log_evidence for each in alone])
    expected = sum(w * each.probabilities for w, each in zip(weights, alone, strict=True))
    np.testing.assert_allclose(both.probabilities, expected / weights.sum())
    with pytest.raises(QueryError, match="begin and end at their bounds"):
        network.query("c", {"a": Interval(0.123, 0.4)})


@pytest.mark.parametrize("interval", [Interval(1.0, 1.0), Interval(2.0, 1.0), Interval(np.nan, 1)])
def test_empty_intervals_are_refused(network, interval):
    with pytest.raises(QueryError, match="low < high"):
        network.query("c", {"a": interval})


def test_intervals_are_no_states_of_labels_and_no_rows(network):
    with pytest.raises(DataError, match="not one of its states"):
        network.query("a", {"c": Interval(0.0, 1.0)})
    column = np.empty(1, dtype=object)
    column[0] = Interval(0.0, 0.37)
    with pytest.raises(DataError, match="a"):
        network.log_likelihood({"a": column, "b": [0.1], "c": ["up"]})


def test_an_interval_that_cannot_be_is_impossible():
    """Numbers below zero do not exist here, because the zero is an atom at the end."""
    rng = np.random.default_rng(0)
    data = {"a": np.maximum(rng.normal(size=300), 0.0), "c": rng.choice(["x", "y"], 300)}
    network = Network.fit("[a][c|a]", data, numbers="smooth")
    for method in ("exact", "weighting", "gibbs"):
        with pytest.raises(QueryError, match="probability"):
            network.query("c", {"a": Interval(-2.0, -1.0)}, method=method)
