"""Threads for blocks of rows, candidates of a search and nodes of a network.

Compiled kernels and linear algebra release the interpreter lock. Blocks of rows depend only on the
number of rows, and results are returned in the order of the arguments, so sums are identical, bit
for bit, for any number of threads.
"""

import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import pairwise
from numbers import Integral
from types import SimpleNamespace
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from ebnc.errors import ParameterError

BLOCK_ROWS = 4_096
MOST_BLOCKS = 64

A = TypeVar("A")
R = TypeVar("R")


def row_blocks(n_rows: int) -> list[tuple[int, int]]:
    """Cut 0 … n_rows into consecutive blocks, at most ``MOST_BLOCKS``, of about equal length."""
    n_blocks = min(MOST_BLOCKS, max(1, n_rows // BLOCK_ROWS))
    return list(pairwise(n_rows * i // n_blocks for i in range(n_blocks + 1)))


def in_parallel(job: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
    """Call job(a) for every argument, on several threads; return the results in order.

    The calling thread works too: waiting for a pool instead, 3 ms of work ran slower on two cores
    than on one (measured: 0.9 times the speed; this way 1.8 times). Jobs may call ``in_parallel``
    themselves: together they use no more threads than ``limit_threads`` allows. After an error or
    Ctrl-C, the other jobs end at their next call of ``in_parallel``. So do all jobs when the time
    of ``limit_time`` is up.
    """
    stopped = _stopped.get()
    if stopped is not None and stopped.is_set():
        raise _StoppedError
    if is_time_up():
        raise OutOfTimeError
    team = _team()
    n_helpers = team.reserve(len(arguments) - 1)
    if n_helpers == 0:
        return [job(argument) for argument in arguments]
    results: dict[int, R] = {}
    waiting = deque(enumerate(arguments))  # its popleft is atomic
    failed = threading.Event()

    def work() -> None:
        while waiting:
            try:
                i, argument = waiting.popleft()
            except IndexError:  # another thread was faster
                return
            results[i] = job(argument)

    def help_out() -> None:
        _stopped.set(failed)
        try:
            work()
        finally:
            team.release()

    def finish(helper: Future[None]) -> None:
        if helper.cancelled():
            return
        if helper.cancel():  # it never started: other callers use all threads of the pool
            team.release()
        else:
            helper.result()

    # A copied context carries the limit of threads to the helpers.
    helpers = [_pool(os.getpid()).submit(copy_context().run, help_out) for _ in range(n_helpers)]
    try:
        work()
        for helper in helpers:
            finish(helper)
    except BaseException:
        failed.set()
        waiting.clear()
        for helper in helpers:
            with suppress(Exception):  # the first error is raised
                finish(helper)
        raise
    return [results[i] for i in range(len(arguments))]


def n_threads() -> int:
    """Return the number of threads that ``in_parallel`` may use, including the calling one.

    This is ``OMP_NUM_THREADS`` if it is set, else the number of cores, up to the limit of
    ``limit_threads``.
    """
    return _team().n_threads


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[None]:
    """Let ``in_parallel`` use no more than ``n_jobs`` threads inside this context.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads, including the calling one. None adds no limit to that of an outer
        context. Negative numbers are as in scikit-learn: −1 is one per core, −2 one less.
    """
    if n_jobs is None:
        yield
        return
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ParameterError(
            f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}; "
            "1 is one thread, None one for each core"
        )
    n_now = n_threads()
    team = _Team(min(n_now, int(n_jobs) if n_jobs > 0 else max(1, n_now + 1 + n_jobs)))
    token = _limited.set(team)
    try:
        yield
    finally:
        _limited.reset(token)


class OutOfTimeError(Exception):
    """The time of ``limit_time`` is up; searches catch it and keep their best result."""


@contextmanager
def limit_time(seconds: float | None) -> Iterator[None]:
    """Let ``in_parallel`` raise ``OutOfTimeError`` after so many seconds inside this context.

    Parameters
    ----------
    seconds : float or None
        Time from now. None sets no limit.
    """
    if seconds is None:
        yield
        return
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def check_time_limit(seconds: object) -> None:
    """Raise ``ParameterError`` unless ``seconds`` is None or a positive number.

    Parameters
    ----------
    seconds : object
        A value for ``limit_time``.
    """
    if seconds is not None and not (isinstance(seconds, int | float) and 0 < seconds < math.inf):
        raise ParameterError(
            f"time_limit must be None or a positive number of seconds, got {seconds!r}"
        )


def is_time_up() -> bool:
    """Return True if the time of ``limit_time`` is up."""
    return time.monotonic() > _deadline.get()


def is_time_limited() -> bool:
    """Return True inside the context of a ``limit_time``."""
    return _deadline.get() < math.inf


class _Team:
    """A budget of threads for a caller and all nested calls of ``in_parallel``."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._n_free, self._lock = n_threads - 1, threading.Lock()

    def reserve(self, n_wanted: int) -> int:
        """Reserve at most ``n_wanted`` helper threads; return how many."""
        with self._lock:
            n_reserved = max(0, min(n_wanted, self._n_free))
            self._n_free -= n_reserved
        return n_reserved

    def release(self) -> None:
        """Return one helper thread to the budget."""
        with self._lock:
            self._n_free += 1


_limited: ContextVar[_Team | None] = ContextVar("_limited", default=None)
_stopped: ContextVar[threading.Event | None] = ContextVar("_stopped", default=None)
_deadline: ContextVar[float] = ContextVar("_deadline", default=math.inf)


class _StoppedError(Exception):
    """Another job of the same ``in_parallel`` call failed, so this result is not needed."""


def _team() -> _Team:
    """The team of the innermost ``limit_threads``, or else the team of the whole process."""
    return _limited.get() or _unlimited(os.getpid(), _n_cores())


@cache
def _unlimited(process: int, n_cores: int) -> _Team:  # noqa: ARG001 -- one per process
    return _Team(n_cores)


def _n_cores() -> int:
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The pool of a process; a forked process needs a new one, because threads do not survive."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix=f"ebnc-{process}")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep linear algebra on one thread inside this context; also a decorator.

    Parallel work runs on our own threads: two-threaded BLAS inside them, or beside another process,
    was up to 40 times slower. It also makes sums independent of the number of cores. The limit
    holds for the whole process, until the last thread leaves this context.
    """
    shared = _blas_limit(os.getpid())
    with shared.lock:
        if shared.n_inside == 0:
            shared.limiter = _blas().limit(limits=1, user_api="blas")
        shared.n_inside += 1
    try:
        yield
    finally:
        with shared.lock:
            shared.n_inside -= 1
            if shared.n_inside == 0:
                shared.limiter.restore_original_limits()


@cache
def _blas_limit(process: int) -> SimpleNamespace:  # noqa: ARG001 -- forks may copy a held lock
    """The number of threads inside ``one_blas_thread``, and their common limit."""
    return SimpleNamespace(lock=threading.Lock(), n_inside=0, limiter=None)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
