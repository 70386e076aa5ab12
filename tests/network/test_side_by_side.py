"""Networks learned side by side: the same to the last bit, whatever the workers."""

import gc
import json
import tempfile

import joblib
import numpy as np
import pytest

import ebnc
from ebnc.network import ahead, dense
from ebnc.network.ahead import that_go_together
from ebnc.network.changes import Change
from ebnc.network.options import Option
from ebnc.search.side_by_side import SideBySide
from network.networks import random_network


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


REGIMES = {"sparse": mixed_rows, "dense": binary_rows}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 2), ("threading", 3)])
def test_backend_and_number_of_workers_change_nothing(regime, backend, n_jobs):
    data = REGIMES[regime]()
    expected = ebnc.Network.learn(data, regime=regime)
    assert expected.trace.steps
    with joblib.parallel_config(backend):
        found = ebnc.Network.learn(data, regime=regime, n_jobs=n_jobs)
    assert content(found) == content(expected)
    np.testing.assert_array_equal(found.log_likelihood(data), expected.log_likelihood(data))


@pytest.mark.parametrize("regime", REGIMES)
def test_rows_are_sent_once_and_leave_nothing_behind(regime, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = []

    class Counting(SideBySide):
        def __init__(self, *arguments):
            made.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr(ahead, "SideBySide", Counting)
    monkeypatch.setattr(dense, "SideBySide", Counting)
    data = REGIMES[regime]()
    order = None if regime == "sparse" else list(data)
    with joblib.parallel_config("threading"):
        ebnc.Network.learn(data, regime=regime, order=order, n_jobs=2)
    assert len(made) == 1
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


def test_changes_that_go_together():
    """The best first; no node twice, none that would close a cycle."""
    parents = {"A": (), "B": (), "C": ("B",), "D": ()}

    def add(tail, head):
        return (Option(Change("add", head, tail), 1.0),)

    turn = (Option(Change("remove", "C", "B"), 0.0), Option(Change("add", "B", "C"), 1.0))
    ranked = [add("A", "B"), add("B", "A"), add("D", "B"), turn, add("C", "A"), add("C", "D")]
    found = [[str(o.change) for o in options] for options in that_go_together(parents, ranked)]
    assert found == [["add A → B"], ["add C → D"]]
    found = [[str(o.change) for o in options] for options in that_go_together(parents, ranked[3:])]
    assert found == [["remove B → C", "add C → B"], ["add C → A"], ["add C → D"]]
