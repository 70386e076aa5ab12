"""Networks learned side by side: the same to the last bit, whatever the workers."""

import gc
import json
import tempfile

import joblib
import numpy as np
import pytest

import ebnc
from ebnc.network import outlook
from network.networks import random_network
from search.jobs import count_sent, count_teams


def mixed_rows():
    return random_network(11, n_nodes=5).sample(300, random_state=2)


def binary_rows():
    rng = np.random.default_rng(3)
    hidden = rng.random((200, 3)) < 0.4
    ones = (rng.random((200, 9)) < 0.1) | hidden[:, rng.integers(0, 3, 9)]
    return {f"V{i}": ones[:, i].astype(int) for i in range(9)}


def content(network):
    return json.dumps(
        {
            "arcs": network.arcs,
            "scores": dict(network.scores),
            "steps": [(step.change, step.score) for step in network.trace.steps],
            "fits": network.trace.n_fits,
            "kinds": {x: network.local(x).kind for x in network},
        }
    )


@pytest.fixture
def everything_is_sent(monkeypatch):
    """Also jobs that are too short to be worth it; counts those that others got."""
    monkeypatch.setattr(outlook, "SHORT", 1.0)
    monkeypatch.setattr(outlook, "LONG", 1.0)
    monkeypatch.setattr(outlook, "SMALL", 0)
    return count_sent(monkeypatch)


REGIMES = {"sparse": mixed_rows, "dense": binary_rows}
SENT = {
    "sparse": {"start_nodes", "look_at_sides", "look_ahead"},
    "dense": {"_scales_of", "_learn_all"},
}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 2), ("threading", 3)])
def test_backend_and_number_of_workers_change_nothing(regime, backend, n_jobs, everything_is_sent):
    data = REGIMES[regime]()
    expected = ebnc.Network.learn(data, regime=regime)
    assert expected.trace.steps
    assert everything_is_sent == []
    with joblib.parallel_config(backend):
        found = ebnc.Network.learn(data, regime=regime, n_jobs=n_jobs)
    assert set(everything_is_sent) == SENT[regime]
    assert content(found) == content(expected)
    np.testing.assert_array_equal(found.log_likelihood(data), expected.log_likelihood(data))


@pytest.mark.parametrize("regime", REGIMES)
def test_rows_are_sent_once_and_leave_nothing_behind(
    regime, tmp_path, monkeypatch, everything_is_sent
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = count_teams(monkeypatch)
    data = REGIMES[regime]()
    order = None if regime == "sparse" else list(data)
    with joblib.parallel_config("threading"):
        ebnc.Network.learn(data, regime=regime, order=order, n_jobs=2)
    assert len(made) == 1
    assert everything_is_sent
    made.clear()
    gc.collect()
    assert [path for path in tmp_path.iterdir() if path.name.startswith("ebnc-")] == []


def test_a_dense_run_is_recorded_by_workers_and_taken_up(tmp_path):
    data = binary_rows()
    options = {"order": list(data), "checkpoint": tmp_path / "run"}
    expected = ebnc.Network.learn(data, order=list(data))
    first = ebnc.Network.learn(data, n_jobs=2, **options)
    lines = (tmp_path / "run").read_text().splitlines()
    assert len(lines) >= len(data)
    (tmp_path / "run").write_text("\n".join(lines[:6]) + "\n")
    again = ebnc.Network.learn(data, n_jobs=2, **options)
    assert content(first) == content(expected)
    assert content(again) == content(expected)
