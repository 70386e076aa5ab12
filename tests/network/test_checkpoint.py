"""Learning that was killed goes on where it was and ends at the same network."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import ebnc
from ebnc.errors import FileError, SearchError
from network.networks import random_network

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
import pandas as pd
import ebnc
data = pd.read_csv(sys.argv[1], dtype=str)
ebnc.Network.learn(data, checkpoint=sys.argv[2]).save(sys.argv[3])
"""


def assert_same(first, second, rows):
    assert first.arcs == second.arcs
    assert [local.kind for local in first.values()] == [local.kind for local in second.values()]
    np.testing.assert_array_equal(first.log_likelihood(rows), second.log_likelihood(rows))


def test_a_real_kill(tmp_path):
    """The process is killed again and again, each time a little later, until it is done."""
    truth = random_network(11, n_nodes=8)
    data = truth.sample(600, random_state=0)
    expected = ebnc.Network.learn(data)
    data.to_csv(tmp_path / "data.csv", index=False)
    checkpoint, model = tmp_path / "run.jsonl", tmp_path / "model.json"
    command = [sys.executable, "-c", PROGRAM, tmp_path / "data.csv", checkpoint, model]
    kills = 0
    for lines in [2, 4, 7, 10_000]:
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            if checkpoint.exists() and checkpoint.read_bytes().count(b"\n") >= lines:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
                kills += 1
                break
            time.sleep(0.002)
    assert kills >= 2
    assert_same(ebnc.load(model), expected, data)


@pytest.mark.parametrize("seed", range(2))
def test_every_prefix_of_the_record_leads_to_the_same_network(seed, tmp_path):
    """Cut off after every event, and in the middle of a line."""
    data = random_network(seed + 20).sample(400, random_state=0)
    checkpoint = tmp_path / "run.jsonl"
    expected = ebnc.Network.learn(data, checkpoint=checkpoint)
    whole = checkpoint.read_bytes()
    lines = whole.splitlines(keepends=True)
    cuts = [0, 10, len(lines[0])]
    cuts += [len(b"".join(lines[:i])) + extra for i in range(2, len(lines), 2) for extra in (0, 9)]
    for cut in cuts:
        checkpoint.write_bytes(whole[:cut])
        assert_same(ebnc.Network.learn(data, checkpoint=checkpoint), expected, data)
        assert checkpoint.read_bytes() == whole


def test_records_of_other_runs_are_refused_and_kept(tmp_path):
    data = random_network(1).sample(100, random_state=0)
    checkpoint = tmp_path / "run.jsonl"
    ebnc.Network.learn(data, checkpoint=checkpoint)
    before = checkpoint.read_bytes()
    with pytest.raises(SearchError, match="other data or other settings"):
        ebnc.Network.learn(data.iloc[:50], checkpoint=checkpoint)
    with pytest.raises(SearchError, match="other data or other settings"):
        ebnc.Network.learn(data, checkpoint=checkpoint, max_parents=1)
    assert checkpoint.read_bytes() == before
    other = tmp_path / "letter.txt"
    other.write_text("Dear all,\n")
    with pytest.raises(FileError, match="not an ebnc checkpoint"):
        ebnc.Network.learn(data, checkpoint=other)
    assert other.read_text() == "Dear all,\n"
    with pytest.raises(FileError, match="cannot be used"):
        ebnc.Network.learn(data, checkpoint=tmp_path)
    checkpoint.write_bytes(before + b"[1, 2]\n")
    with pytest.raises(FileError, match="damaged in line"):
        ebnc.Network.learn(data, checkpoint=checkpoint)


@pytest.mark.parametrize("local", ["ebnc", ("ebnc", "table")])
def test_ctrl_c_returns_the_network_so_far(local, monkeypatch):
    """After two changes; with tables that is the network of tables, where the search begins."""
    from ebnc.network.learning.sparse import SparseSearch

    data = random_network(11, n_nodes=8).sample(600, random_state=0)
    accept = SparseSearch._accept

    def interrupted(self, options):
        if len(self.trace.steps) == 2:
            raise KeyboardInterrupt
        accept(self, options)

    monkeypatch.setattr(SparseSearch, "_accept", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ebnc.Network.learn(data, local=local)
    learned = ebnc.Network.learn(data, local=local, on_interrupt="best")
    assert learned.trace.interrupted
    assert len(learned.trace.steps) == 2
    assert len(learned.arcs) == 2
    assert "interrupted" in str(learned.trace)


def test_ctrl_c_before_the_first_fit_keeps_a_network_without_arcs(monkeypatch):
    from ebnc.network.learning.sparse import SparseSearch

    data = random_network(11, n_nodes=8).sample(600, random_state=0)
    calls, run = [], SparseSearch.run

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        run(self, *arguments)

    monkeypatch.setattr(SparseSearch, "run", interrupted)
    learned = ebnc.Network.learn(data, on_interrupt="best", regime="sparse")
    assert learned.trace.interrupted
    assert not learned.arcs
    assert np.isfinite(learned.log_likelihood(data)).all()
