"""Jobs over the same cases side by side: in processes unless joblib is told otherwise.

``joblib.parallel_config`` chooses who works: processes of this machine (the default), threads, or
with ``parallel_config("dask")`` the workers of a cluster. On this machine the caller is one of the
``n_jobs`` workers, and each works on one thread; the caller on all cores while the others rest. The
jobs are futures of the standard library: ``joblib.Parallel`` looks for results every 10 ms, and a
step of a search may be over in less.

The cases are sent once, not with every job: as memory-mapped files to processes, as one broadcast
to a cluster. What a job returns depends on its arguments alone, not on who does it.
"""

import os
import pickle
import shutil
import sys
import tempfile
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from threading import RLock
from typing import Any, Generic, TypeVar
from uuid import uuid4

import numpy as np
from joblib import effective_n_jobs, parallel_config
from joblib.parallel import BACKENDS, get_active_backend

from ebnc.data.cases import Cases
from ebnc.data.memory import reuse_memory
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.errors import ParameterError, StorageError
from ebnc.kernels.parallel import at_most, one_blas_thread, one_thread

__all__ = ["Kept", "SideBySide", "gather_team", "on_cores"]

M = TypeVar("M")
T = TypeVar("T")

FETCHING = 120.0  # seconds
IDLE = 300.0  # seconds after which a process that has no jobs ends
LEAVING = 2e-3  # seconds that a job may take to leave; 5 ms of work went by before it did
HAVE_JOBS = ("ebnc.search", "ebnc.network")  # what comes above them is not loaded by others
MOST_HELD = 4  # sets of cases, and other things that several jobs need, that a worker keeps


def gather_team(cases: Cases, n_jobs: int | None) -> "SideBySide | None":
    """Workers that hold the cases; None where one would work alone."""
    return None if effective_n_jobs(n_jobs) == 1 else SideBySide(cases, n_jobs)


@contextmanager
def on_cores(n_jobs: int | None) -> Iterator[None]:
    """No more threads than ``n_jobs``, where it is given: 1 is one core, None is all of them."""
    with nullcontext() if n_jobs is None else at_most(effective_n_jobs(n_jobs)):
        yield


class SideBySide:
    """A team of workers that all hold the same cases.

    ``n_workers``: how many jobs run at the same time. ``takes_part``: whether the caller is one of
    those who do them; of a cluster it is not.
    """

    def __init__(self, cases: Cases, n_jobs: int | None) -> None:
        self.n_workers = int(effective_n_jobs(n_jobs))
        backend, _ = get_active_backend()
        self._mine = _Here(cases)
        self.takes_part = not hasattr(backend, "client")
        self._executor: Executor
        self._pool: _Pool | None = None
        self._sent: _Here | _Sent
        if not self.takes_part:
            self._executor = backend.client.get_executor(pure=False)
            self._sent, self._kept = _sent_to_cluster(cases, backend.client)
        elif type(backend) is BACKENDS["threading"]:
            self._executor, self._sent = ThreadPoolExecutor(self.n_workers - 1), self._mine
        elif type(backend) in (BACKENDS["loky"], BACKENDS.get("multiprocessing")):
            self._pool = _pool(self.n_workers - 1)
            self._executor = self._pool.executor
            self._sent = _sent_to_processes(cases)
        else:
            raise ParameterError(
                f"jobs cannot be done by joblib's backend {type(backend).__name__}; choose 'loky', "
                "'threading' or 'dask' in joblib.parallel_config, or n_jobs=1"
            )

    @property
    def is_ready(self) -> bool:
        """Whether others can begin at once; processes are started when they are first asked for,
        which takes them a second, and the caller works alone until then."""
        return self._pool is None or self._pool.is_ready

    def __call__(self, job: Callable[..., T], arguments: Iterable[tuple[Any, ...]]) -> list[T]:
        """job(cases, …) for every tuple of arguments, results in their order.

        They are begun in that order: the longest first, and all end together.
        """
        return list(self.as_they_come(job, arguments))

    def as_they_come(
        self, job: Callable[..., T], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[T]:
        """The same, each result as soon as it and those before it are there."""
        waiting = deque(enumerate(arguments))
        n_jobs = len(waiting)
        finished: SimpleQueue[tuple[int, Future[T]]] = SimpleQueue()
        on_their_way: set[int] = set()

        def take() -> tuple[int, tuple[Any, ...]] | None:
            try:
                return waiting.popleft()  # atomic
            except IndexError:
                return None

        def send_next() -> "Future[T] | None":
            if (taken := take()) is None:
                return None
            i, given = taken

            def note(future: "Future[T]") -> None:
                finished.put((i, future))
                if not future.cancelled() and future.exception() is None:
                    send_next()
                on_their_way.discard(i)

            on_their_way.add(i)
            future: Future[T] = self._executor.submit(*self._packed(job, given))
            future.add_done_callback(note)
            return future

        found: dict[int, T] = {}
        n_others = self.n_workers - 1 if self.takes_part else n_jobs
        alone = True
        try:
            for place in range(n_jobs):
                while place not in found:
                    if alone and self.is_ready:
                        alone = False
                        sent = [send_next() for _ in range(n_others)]
                        if self.takes_part:
                            _wait_until_sent(sent[-1])
                    if (taken := take()) is not None:
                        found[taken[0]] = _run(self._mine, job, taken[1], lambda: not on_their_way)
                    else:
                        i, future = finished.get()
                        found[i] = future.result()
                yield found.pop(place)
        finally:
            waiting.clear()

    def prepared(self, job: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
        """job(cases, …) for ``begin``."""
        return _pack_result, *self._packed(job, arguments)

    def begin(self, prepared: tuple[Any, ...]) -> "Future[bytes]":
        """Another begins a job; ``pickle`` reads its result, which may never be wanted."""
        return self._executor.submit(*prepared)

    def here(self, others_rest: Callable[[], bool], job: Callable[..., T], *arguments: Any) -> T:
        """job(cases, …) by the caller, on one thread unless the others rest."""
        return _run(self._mine, job, arguments, others_rest)

    def _packed(self, job: Callable[..., T], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """A job as it is handed over. What travels is packed here and now: the caller goes on to
        work with the same objects, which may change them (what they keep once it is computed)."""
        if self._sent is self._mine:
            return _run, self._mine, job, arguments
        return _unpack_and_run, self._sent, pickle.dumps((job, arguments))


def _wait_until_sent(future: "Future[Any] | None") -> None:
    """Rest until a job has left: the threads that send it would wait for the interpreter."""
    until = time.perf_counter() + LEAVING
    while future is not None and time.perf_counter() < until:
        if future.running() or future.done():
            time.sleep(1e-4)
            return
        time.sleep(2e-5)


class Kept(Generic[T]):
    """What several jobs need; ``value`` is unpacked once by every process that does some of them,
    and what they make of it is kept there with it."""

    def __init__(self, value: T, key: str = "") -> None:
        self.value, self._key = value, key or uuid4().hex
        self._lock = RLock()
        self._made: Any = None

    def __reduce__(self) -> tuple[Callable[..., "Kept[T]"], tuple[str, bytes]]:
        return _unpack_once, (self._key, self._packed)

    def made(self, make: Callable[[], M]) -> M:
        """What ``make`` returns, the first time."""
        with self._lock:
            if self._made is None:
                self._made = make()
            made: M = self._made
        return made

    @cached_property
    def _packed(self) -> bytes:
        return pickle.dumps(self.value)


_unpacked: dict[str, Kept[Any]] = {}


def _unpack_once(key: str, packed: bytes) -> Kept[Any]:
    if key not in _unpacked:
        _leave_room(_unpacked)
        _unpacked[key] = Kept(pickle.loads(packed), key)
    return _unpacked[key]


class _Pool:
    """Processes that stay for the next team; our own, so that no other user of joblib ends them."""

    def __init__(self, n_workers: int) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        self.executor: Executor = ProcessPoolExecutor(n_workers, timeout=IDLE)
        self._first: Future[None] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether the processes run; they are started if they do not."""
        if self._first is None:
            loaded = [name for name in HAVE_JOBS if name in sys.modules]
            self._first = self.executor.submit(_load, loaded)
        return self._first.done()

    @property
    def is_broken(self) -> bool:
        """Whether one of the processes was killed."""
        if self._first is None:
            return False
        try:
            self.executor.submit(os.getpid)
        except BrokenExecutor:
            return True
        return False


_pools: dict[tuple[int, int], _Pool] = {}


def _pool(n_workers: int) -> _Pool:
    which = (os.getpid(), n_workers)  # a fork has no part in its parent's processes
    if which not in _pools or _pools[which].is_broken:
        _pools[which] = _Pool(n_workers)
    return _pools[which]


def _load(packages: Sequence[str]) -> None:
    """Libraries and compiled code: the first job would wait for them, and its caller for it."""
    for name in packages:
        import_module(f"{name}.rehearsal").rehearse()


def _unpack_and_run(sent: "_Sent", packed: bytes) -> Any:
    return _run(sent, *pickle.loads(packed))


def _run(
    sent: "_Here | _Sent",
    job: Callable[..., T],
    arguments: tuple[Any, ...],
    others_rest: Callable[[], bool] = lambda: False,
) -> T:
    # A worker that waited for others of its cluster, all waiting too, would wait for ever.
    with parallel_config("sequential"), one_thread(others_rest), one_blas_thread():
        return job(sent.cases(), *arguments)


def _pack_result(run: Callable[..., Any], *how: Any) -> bytes:
    return pickle.dumps(run(*how))


# -- the cases as a worker finds them -------------------------------------------------------------

_Arrays = tuple[Any, Any, Any]  # codes, classes, weights


@dataclass(frozen=True, eq=False)
class _Here:
    """Cases of this process."""

    of_this_process: Cases

    def cases(self) -> Cases:
        return self.of_this_process


@dataclass(frozen=True, eq=False)
class _Sent:
    """Cases elsewhere; ``fetch(key)`` gets their arrays, once a worker."""

    key: str
    fetch: Callable[[str], _Arrays]
    domain: Domain
    target: str
    names: tuple[str, ...]

    def cases(self) -> Cases:
        if self.key not in _held:
            reuse_memory()
            _hold(self.key, self.fetch(self.key))
        held = _held[self.key]
        if not isinstance(held, Cases):
            codes, classes, weights = held
            rows = CodedRows(self.names, tuple(map(self.domain.n_states, self.names)), codes)
            # The same cases for all jobs: what is made of them is kept as long as they are.
            held = _held[self.key] = Cases(self.domain, self.target, rows, classes, weights)
        return held


_held: dict[str, _Arrays | Cases] = {}
"""In a worker: what was sent, by key. A cluster's own store will not do: its copies are thinned
out after seconds, since no task of the cluster's graph names them."""


def _hold(key: str, arrays: _Arrays) -> None:
    _leave_room(_held)
    _held[key] = arrays


def _leave_room(held: dict[str, Any]) -> None:
    while len(held) >= MOST_HELD:
        del held[next(iter(held))]


def _sent_to_processes(cases: Cases) -> _Sent:
    try:
        folder = Path(tempfile.mkdtemp(prefix="ebnc-sent-"))
        sent = _Sent(str(folder), _from_files, cases.domain, cases.target, cases.inputs)
        weakref.finalize(sent, shutil.rmtree, folder, ignore_errors=True)
        for number, array in enumerate((cases.rows.codes, cases.classes, cases.weights)):
            if array is not None:
                np.save(folder / f"{number}.npy", array)
    except OSError as error:
        raise StorageError(
            f"the cases cannot be written for other processes: {error}; use n_jobs=1"
        ) from None
    return sent


def _from_files(folder: str) -> _Arrays:
    def load(number: int) -> Any:
        file = Path(folder, f"{number}.npy")
        if not file.exists():
            return None
        try:
            # A plain view: slices of np.memmap itself cost a search a quarter of its time. Nobody
            # writes to it, but for arrays that are read-only all code would be compiled again.
            return np.asarray(np.load(file, mmap_mode="c"))
        except ValueError:  # nothing in it, which cannot be mapped
            return np.load(file)

    return load(0), load(1), load(2)


def _sent_to_cluster(cases: Cases, client: Any) -> tuple[_Sent, Any]:
    """Also a future: the cluster keeps what was sent while that lives."""
    arrays = (cases.rows.codes, cases.classes, cases.weights)
    (future,) = client.scatter([arrays], hash=False)  # for workers that come later
    client.run(_hold, future.key, arrays)
    return _Sent(future.key, _from_cluster, cases.domain, cases.target, cases.inputs), future


def _from_cluster(key: str) -> _Arrays:
    from distributed import Future, get_client
    from distributed import TimeoutError as TooLong

    try:
        found: _Arrays = Future(key, get_client()).result(timeout=FETCHING)
    except TooLong:
        raise StorageError(
            f"a new worker did not get the cases within {FETCHING:g} seconds; learn again"
        ) from None
    return found
