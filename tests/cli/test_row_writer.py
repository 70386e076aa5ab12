"""Predictions that another process writes: the same bytes, and the same errors."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from cli.command import COMMAND, refused, succeeded
from cli.conftest import weather
from ebnc.cli import prediction_text, row_writer
from ebnc.data import csv_rows

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="done on Linux only")


@pytest.fixture
def forks(monkeypatch):
    """Files of any size, read in small blocks; the processes that were started."""
    found = []
    fork = os.fork

    def remembered():
        found.append(fork())
        return found[-1]

    monkeypatch.setattr(os, "fork", remembered)
    monkeypatch.setattr(row_writer, "MUCH", 0)
    monkeypatch.setattr(row_writer, "_can_fork", lambda: True)
    monkeypatch.setattr(csv_rows, "BLOCK", 1000)
    return found


def is_gone(process):
    """Whether it ended and was waited for."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_small_files_are_written_here(shared, forks, monkeypatch):
    monkeypatch.setattr(row_writer, "MUCH", 2**22)
    succeeded("predict", shared.model, shared.csv)
    assert forks == []


@pytest.mark.parametrize("flags", [[], ["--json"]])
@pytest.mark.parametrize(("most", "late"), [(2**16, -1), (0, -1), (0, 2**18)])
def test_the_bytes_are_the_same(shared, tmp_path, forks, monkeypatch, flags, most, late):
    """Lines that are kept, that are not, and of rows that were predicted for the other process."""
    monkeypatch.setattr(prediction_text, "MOST_CONFIGURATIONS", most)
    monkeypatch.setattr(row_writer, "LATE", late)
    given = ["predict", shared.model, shared.csv, *flags]
    with monkeypatch.context() as here:
        here.setattr(row_writer, "_can_fork", lambda: False)
        expected = succeeded(*given).out
    assert (expected.count(b"\n"), forks) == (300 + (not flags), [])
    assert succeeded(*given).out == expected
    succeeded(*given, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == expected
    assert succeeded("predict", shared.model, shared.parquet, *flags).out == expected
    piped = succeeded("predict", shared.model, "-", *flags, stdin=shared.csv.read_bytes())
    assert piped.out == expected
    assert len(forks) == 4
    assert all(map(is_gone, forks))


def test_an_error_in_the_last_row_leaves_nothing(shared, tmp_path, forks):
    bad = tmp_path / "bad.csv"
    bad.write_bytes(shared.csv.read_bytes() + b"too,few\n")
    words = "line 302: 2 entries instead of"
    refused("predict", shared.model, bad, "-o", tmp_path / "out.csv", words=words)
    refused("predict", shared.model, bad, words=words)
    assert list(tmp_path.iterdir()) == [bad]
    assert len(forks) == 2
    assert all(map(is_gone, forks))


def test_no_rows(shared, tmp_path, forks):
    header = shared.csv.read_bytes().split(b"\n")[0] + b"\n"
    refused("predict", shared.model, "-", stdin=header, words="the data have no rows")
    assert len(forks) == 1
    assert is_gone(forks[0])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
def test_a_full_disk_is_one_clear_error(shared, tmp_path, forks):
    """Whether it is found at once or at the end, in the other process."""
    for n in (1, 100):
        many = tmp_path / "many.csv"
        pd.concat([shared.frame] * n).to_csv(many, index=False)
        words = "cannot write /dev/full: No space left on device"
        refused("predict", shared.model, many, "-o", "/dev/full", "--json", words=words)
    assert len(forks) == 2
    assert all(map(is_gone, forks))


def test_a_bug_there_is_raised_here(shared, tmp_path, forks, monkeypatch):
    def fail(*arguments):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(prediction_text.PredictionText, "pieces", fail)
    monkeypatch.setenv("EBNC_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError, match="a bug"):
        succeeded("predict", shared.model, shared.csv, "-o", tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
    assert is_gone(forks[0])


def test_a_process_that_is_killed_is_an_error(shared, tmp_path, forks, monkeypatch):
    def killed(*arguments):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(prediction_text.PredictionText, "pieces", killed)
    out = tmp_path / "out.csv"
    words = "out.csv: the process that writes was ended from outside"
    refused("predict", shared.model, shared.csv, "-o", out, words=words)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_rows_are_read(shared, tmp_path, forks, monkeypatch):
    def interrupt(self, task, done):
        if done > 0.5:
            raise KeyboardInterrupt

    monkeypatch.setattr("ebnc.cli.progress.Shown.share", interrupt)
    out = tmp_path / "out.csv"
    refused("predict", shared.model, shared.csv, "-o", out, words="interrupted; nothing was")
    assert list(tmp_path.iterdir()) == []
    assert is_gone(forks[0])


def test_a_real_ctrl_c_leaves_all_or_nothing(shared, tmp_path):
    """It comes to both processes, while rows are read."""
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    pd.concat([weather(20_000)] * 30).to_csv(data, index=False)
    for seconds in (0.5, 1.0):
        process = subprocess.Popen(
            [COMMAND, "predict", shared.model, data, "-o", out],
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=200)
        with pytest.raises(ProcessLookupError):  # no process is left
            os.killpg(process.pid, 0)
        if process.returncode == 0:
            assert out.read_bytes().count(b"\n") == 600_001
            out.unlink()
        else:
            assert b"Traceback" not in error
            assert list(tmp_path.iterdir()) == [data]
