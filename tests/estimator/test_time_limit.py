"""A time limit ends searches with the best model so far; nothing else changes."""

import numpy as np
import pytest

import ebnc
from ebnc import EBNCClassifier
from ebnc.errors import ParameterError
from ebnc.threads import OutOfTimeError, in_parallel, is_time_up, limit_time

GENERATOR = np.random.default_rng(0)
X = GENERATOR.integers(0, 3, (400, 8)).astype(str)
Y = np.where((X[:, 0] == X[:, 1]) ^ (GENERATOR.random(400) < 0.1), "yes", "no")


def clock(monkeypatch, step):
    """A clock on which every look takes ``step`` seconds."""
    times = iter(step * i for i in range(10**9))
    monkeypatch.setattr("time.monotonic", lambda: next(times))


def test_work_ends_when_the_time_is_up():
    with limit_time(None):
        assert not is_time_up()
    with limit_time(1e-9):
        assert is_time_up()
        with pytest.raises(OutOfTimeError):
            in_parallel(abs, [1, -2])
        with limit_time(60), pytest.raises(OutOfTimeError):  # an outer limit holds inside
            in_parallel(abs, [1, -2])
    assert in_parallel(abs, [1, -2]) == [1, 2]


def test_jobs_on_other_threads_know_the_limit():
    with limit_time(1e-9), pytest.raises(OutOfTimeError):
        in_parallel(lambda _: in_parallel(abs, [1]), [1, 2, 3, 4])


def test_a_generous_limit_changes_nothing():
    free, limited = EBNCClassifier().fit(X, Y), EBNCClassifier(time_limit=600).fit(X, Y)
    assert not limited.trace_.interrupted
    assert (limited.predict_proba(X) == free.predict_proba(X)).all()
    assert limited.feature_worths_ == free.feature_worths_


@pytest.mark.parametrize("n_looks", [1, 10, 30, 100, 200, 300, 500, 700, 10_000])
def test_wherever_the_limit_falls_there_is_a_model(n_looks, monkeypatch):
    clock(monkeypatch, 1.0)
    model = EBNCClassifier(time_limit=n_looks, n_jobs=1).fit(X, Y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert -np.log(p[np.arange(400), (Y == "yes").astype(int)]).mean() < 0.7
    assert model.trace_.interrupted or n_looks > 300
    assert len(model.trace_.steps) >= 1


def test_the_first_model_has_all_inputs(monkeypatch):
    clock(monkeypatch, 1.0)
    model = EBNCClassifier(time_limit=1).fit(X, Y)
    assert len(model.selected_features_) == 8
    assert model.feature_worths_ == ()


@pytest.mark.parametrize("n_looks", [1, 100, 1000])
def test_networks_end_in_time_with_a_network(n_looks, monkeypatch):
    data = {f"x{i}": X[:, i].tolist() for i in range(4)} | {"y": Y.tolist()}
    clock(monkeypatch, 1.0)
    network = ebnc.Network.learn(data, time_limit=n_looks, n_jobs=1)
    assert network.trace.interrupted or n_looks == 1000
    assert np.isfinite(network.log_likelihood(data)).all()


def test_dense_networks_end_in_time_with_tables(monkeypatch):
    data = {f"x{i}": (X[:, i] == "0").tolist() for i in range(6)}
    clock(monkeypatch, 1.0)
    network = ebnc.Network.learn(data, regime="dense", time_limit=1, n_jobs=1)
    assert network.trace.interrupted
    assert np.isfinite(network.log_likelihood(data)).all()


@pytest.mark.parametrize("n_looks", [100, 150, 200])
def test_dense_networks_keep_the_nodes_that_were_learned(n_looks, monkeypatch):
    data = {f"x{i}": (X[:, i] == "0").tolist() for i in range(6)} | {"y": (Y == "yes").tolist()}
    order = [*(f"x{i}" for i in range(6)), "y"]
    full = ebnc.Network.learn(data, order=order, local="naive")
    clock(monkeypatch, 1.0)
    network = ebnc.Network.learn(data, order=order, local="naive", time_limit=n_looks, n_jobs=1)
    assert network.trace.interrupted
    learned = [x for x in order if network.parents(x)]
    assert learned
    assert learned == order[1 : 1 + len(learned)]
    assert len(learned) < 6
    for x in learned:
        np.testing.assert_array_equal(network[x].phi, full[x].phi)


def test_a_dense_network_cut_at_its_share_of_the_time_is_no_interrupt(monkeypatch):
    data = {f"x{i}": (X[:, i] == "0").tolist() for i in range(6)}
    monkeypatch.setattr("ebnc.network.learning.learn_network.DENSE_SHARE", 1e-9)
    network = ebnc.Network.learn(data, time_limit=600)
    assert network.trace.interrupted
    assert np.isfinite(network.log_likelihood(data)).all()


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), "10"])
def test_wrong_limits_are_refused(limit):
    with pytest.raises(ParameterError, match="time_limit must be None or a positive number"):
        EBNCClassifier(time_limit=limit).fit(X, Y)
    with pytest.raises(ParameterError, match="time_limit must be None or a positive number"):
        ebnc.Network.learn({"a": [0, 1], "b": [1, 0]}, time_limit=limit)
