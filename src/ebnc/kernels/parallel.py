"""Fixed blocks of rows on a few threads; compiled kernels release the interpreter lock.

The blocks depend on the number of rows alone and results come back in their order, so sums over
them are the same, bit for bit, whatever the number of cores.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["at_most", "in_parallel", "n_threads", "one_blas_thread", "one_thread", "row_blocks"]

BLOCK_ROWS = 4_096
MOST_BLOCKS = 64

A = TypeVar("A")
R = TypeVar("R")


def row_blocks(n_rows: int) -> list[tuple[int, int]]:
    """Cuts 0 … n_rows into consecutive blocks, at most ``MOST_BLOCKS``, of about equal length."""
    n_blocks = min(MOST_BLOCKS, max(1, n_rows // BLOCK_ROWS))
    return list(pairwise(n_rows * i // n_blocks for i in range(n_blocks + 1)))


def in_parallel(job: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
    """job(a) for every argument, results in order.

    The calling thread works too: waiting for a pool instead, 3 ms of work ran slower on two cores
    than on one (measured: 0.9 times the speed; this way 1.8 times).
    """
    n_helpers = min(n_threads(), len(arguments)) - 1
    if n_helpers < 1:
        return [job(argument) for argument in arguments]
    results: dict[int, R] = {}
    waiting = deque(enumerate(arguments))  # its popleft is atomic

    def drain() -> None:
        while waiting:
            try:
                i, argument = waiting.popleft()
            except IndexError:  # another thread was faster
                return
            results[i] = job(argument)

    most = getattr(_mine, "most", sys.maxsize)

    def help_out() -> None:
        with at_most(most):  # what the job does on threads itself
            drain()

    helpers = [_pool(os.getpid()).submit(help_out) for _ in range(n_helpers)]
    try:
        drain()
    finally:
        waiting.clear()
        for helper in helpers:
            helper.result()
    return [results[i] for i in range(len(arguments))]


def n_threads() -> int:
    """One within ``one_thread``; else ``OMP_NUM_THREADS`` where it is set, else all cores, and no
    more than ``at_most`` allows."""
    others_rest = getattr(_mine, "others_rest", None)
    if others_rest is not None and not others_rest():
        return 1
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given) > 0:
        n_cores = int(given)
    elif hasattr(os, "sched_getaffinity"):
        n_cores = len(os.sched_getaffinity(0))
    else:
        n_cores = os.cpu_count() or 1
    return min(n_cores, getattr(_mine, "most", sys.maxsize))


_mine = threading.local()


@contextmanager
def at_most(n: int) -> Iterator[None]:
    """``in_parallel`` on no more than ``n`` threads while it lasts."""
    before = getattr(_mine, "most", sys.maxsize)
    _mine.most = min(n, before)
    try:
        yield
    finally:
        _mine.most = before


@contextmanager
def one_thread(unless: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """``in_parallel`` on the calling thread alone while it lasts: the other cores are taken, unless
    those who take them rest, which is asked every time."""
    before = getattr(_mine, "others_rest", None)
    _mine.others_rest = unless
    try:
        yield
    finally:
        _mine.others_rest = before


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """One pool for each process: threads do not survive a fork, so neither may the pool."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix=f"ebnc-{process}")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Linear algebra on one thread while it lasts; also a decorator.

    Our own threads carry the parallel work: two-threaded BLAS inside them, or beside another
    process, was up to 40 times slower. And sums then do not depend on the number of cores.
    The limit is the whole process's: it lasts until the last thread that asked for it is done.
    """
    with _limit.lock:
        if _limit.n_inside == 0:
            _limit.limiter = _blas().limit(limits=1, user_api="blas")
        _limit.n_inside += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.n_inside -= 1
            if _limit.n_inside == 0:
                _limit.limiter.restore_original_limits()


class _Limit:
    """The threads that want linear algebra on one thread."""

    def __init__(self) -> None:
        self.limiter: Any = None
        self.forget()

    def forget(self) -> None:
        """After a fork: the threads are not there, and one of them may have held the lock."""
        self.lock, self.n_inside = threading.Lock(), 0


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.forget)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
