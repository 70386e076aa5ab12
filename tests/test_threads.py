"""Blocks of rows on threads: every row once, results in order, errors come through."""

import os
import threading
import time
from itertools import pairwise

import pytest
from threadpoolctl import threadpool_info

from ebnc import threads
from ebnc.errors import ParameterError
from ebnc.threads import in_parallel, limit_threads, n_threads, one_blas_thread, row_blocks


@pytest.mark.parametrize("n_rows", [0, 1, 2, 4095, 4096, 4097, 100_000, 1_000_003])
def test_blocks_cut_the_rows_without_gap_or_overlap(n_rows):
    """Consecutive, about equally long."""
    blocks = row_blocks(n_rows)
    assert blocks[0][0] == 0
    assert blocks[-1][1] == n_rows
    assert all(a[1] == b[0] for a, b in pairwise(blocks))
    lengths = [stop - start for start, stop in blocks]
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_results_come_in_the_order_of_the_arguments(threads, monkeypatch):
    """Whatever the number of threads."""
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    assert n_threads() == int(threads)
    assert in_parallel(lambda i: i * i, list(range(200))) == [i * i for i in range(200)]
    assert in_parallel(lambda i: i, []) == []


@pytest.mark.parametrize("given", ["", "0", "-3", "many", "2.5"])
def test_a_senseless_number_of_threads_is_ignored(given, monkeypatch):
    """As if it were not set: all cores."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    n_cores = n_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert n_threads() == n_cores


@pytest.mark.parametrize("threads", ["1", "3"])
def test_an_error_in_a_block_reaches_the_caller(threads, monkeypatch):
    """And the pool works on afterwards."""
    monkeypatch.setenv("OMP_NUM_THREADS", threads)

    def job(i):
        if i == 17:
            raise ZeroDivisionError("block 17")
        return i

    with pytest.raises(ZeroDivisionError, match="block 17"):
        in_parallel(job, list(range(50)))
    assert in_parallel(lambda i: i + 1, [1, 2, 3]) == [2, 3, 4]


def test_linear_algebra_stays_on_one_thread_until_the_last_one_is_done():
    """Whichever of two threads ends first."""
    before, inside, seen = _blas_threads(), threading.Barrier(2), []

    def short():
        with one_blas_thread():
            inside.wait()

    thread = threading.Thread(target=short)
    with one_blas_thread():
        thread.start()
        inside.wait()
        thread.join()
        seen.append(_blas_threads())
    assert set(seen[0]) == {1}
    assert _blas_threads() == before


def _blas_threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_no_more_threads_than_allowed(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    with limit_threads(3):
        assert n_threads() == 3
        with limit_threads(8):
            assert n_threads() == 3
        with limit_threads(1):
            assert (
                in_parallel(lambda _: threading.get_ident(), range(5))
                == [threading.get_ident()] * 5
            )
        assert n_threads() == 3
    assert n_threads() == 4


def test_threads_that_help_are_allowed_no_more(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    together = threading.Barrier(2, timeout=10)

    def ask(_):
        together.wait()  # one of the two is a helper
        return n_threads()

    with limit_threads(2):
        assert in_parallel(ask, range(2)) == [2, 2]


@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(None, 4), (1, 1), (3, 3), (9, 4), (-1, 4), (-2, 3), (-9, 1)]
)
def test_n_jobs_is_the_number_of_threads(n_jobs, expected, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    with limit_threads(n_jobs):
        assert n_threads() == expected
    assert n_threads() == 4


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_a_senseless_n_jobs_is_refused(n_jobs):
    with pytest.raises(ParameterError, match="n_jobs must be None"), limit_threads(n_jobs):
        pass


def test_nested_calls_share_one_limit(monkeypatch):
    """Jobs, their jobs and those of these: never more threads at work than allowed."""
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    threads._pool.cache_clear()
    busy, most, lock = 0, 0, threading.Lock()

    def job(depth):
        nonlocal busy, most
        if depth:
            in_parallel(job, [depth - 1] * 4)
            return
        with lock:
            busy += 1
            most = max(most, busy)
        time.sleep(1e-3)
        with lock:
            busy -= 1

    with limit_threads(3):
        in_parallel(job, [2] * 4)
    threads._pool.cache_clear()
    assert most == 3


def test_deeply_nested_calls_of_many_callers_end(monkeypatch):
    """More threads are wanted than there are: nobody waits for one that cannot begin."""
    monkeypatch.setenv("OMP_NUM_THREADS", "7")

    def count(depth):
        return sum(in_parallel(count, [depth - 1] * 5)) if depth else 1

    answers = []

    def call():
        with limit_threads(7):
            answers.append(count(4))

    callers = [threading.Thread(target=call, daemon=True) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert answers == [625] * 6
