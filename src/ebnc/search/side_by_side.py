"""Jobs over the same cases side by side, through joblib: processes unless told otherwise.

``joblib.parallel_config`` chooses the backend, so ``parallel_config("dask")`` takes the jobs to a
cluster. The cases are sent once, not with every job: as memory-mapped files to processes of this
machine, as one broadcast to the workers of a cluster. Results come back in the order of the jobs.
"""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend

from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.errors import StorageError

__all__ = ["SideBySide"]

T = TypeVar("T")

FETCHING = 120.0  # seconds
MOST_HELD = 4  # sets of cases that a worker of a cluster keeps


class SideBySide:
    """A team of workers that all hold the same cases."""

    def __init__(self, cases: Cases, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs
        backend, _ = get_active_backend()
        self._kept: Any = None  # a future, so that the cluster keeps what was sent
        if hasattr(backend, "client"):
            self._sent, self._kept = _Sent.to_cluster(cases, backend.client)
        else:
            self._sent = _Sent.to_processes(cases)

    @property
    def n_workers(self) -> int:
        """How many jobs run at the same time."""
        return int(effective_n_jobs(self.n_jobs))

    def __call__(self, job: Callable[..., T], arguments: Iterable[tuple[Any, ...]]) -> list[T]:
        """job(cases, …) for every tuple of arguments."""
        found: list[T] = Parallel(n_jobs=self.n_jobs)(self._tasks(job, arguments))
        return found

    def as_they_come(
        self, job: Callable[..., T], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[T]:
        """The same, each result as soon as it and those before it are there."""
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator")
        yield from parallel(self._tasks(job, arguments))

    def _tasks(
        self, job: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [delayed(_run)(self._sent, job, given) for given in arguments]


class _Sent:
    """Cases as a worker finds them: arrays in files, or under a key of a cluster."""

    def __init__(self, domain: Domain, target: str, names: tuple[str, ...]) -> None:
        self.domain, self.target, self.names = domain, target, names
        self.arrays: tuple[Any, ...] = ()
        self.key: str | None = None

    @classmethod
    def to_processes(cls, cases: Cases) -> "_Sent":
        sent = cls(cases.domain, cases.target, cases.inputs)
        try:
            folder = Path(tempfile.mkdtemp(prefix="ebnc-sent-"))
            weakref.finalize(sent, shutil.rmtree, folder, ignore_errors=True)
            arrays = []
            for number, array in enumerate((cases.rows.codes, cases.classes, cases.weights)):
                if array is not None and array.size:
                    file = folder / f"{number}.npy"
                    np.save(file, array)
                    arrays.append(np.load(file, mmap_mode="r"))
                else:
                    arrays.append(array)
        except OSError as error:
            raise StorageError(
                f"the cases cannot be written for other processes: {error}; use n_jobs=1"
            ) from None
        sent.arrays = tuple(arrays)
        return sent

    @classmethod
    def to_cluster(cls, cases: Cases, client: Any) -> tuple["_Sent", Any]:
        sent = cls(cases.domain, cases.target, cases.inputs)
        arrays = (cases.rows.codes, cases.classes, cases.weights)
        (future,) = client.scatter([arrays], hash=False)  # for workers that come later
        client.run(_hold, future.key, arrays)
        sent.key = future.key
        return sent, future

    def cases(self) -> Cases:
        arrays = self.arrays if self.key is None else _of_cluster(self.key)
        # Plain views: slices of np.memmap itself cost a search a quarter of its time.
        codes, classes = np.asarray(arrays[0]), np.asarray(arrays[1])
        weights = None if arrays[2] is None else np.asarray(arrays[2])
        n_states = tuple(self.domain.n_states(name) for name in self.names)
        rows = CodedRows(self.names, n_states, codes)
        return Cases(self.domain, self.target, rows, classes, weights)


def _run(sent: _Sent, job: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    # A worker that waited for others of its cluster, all waiting too, would wait for ever.
    with parallel_config("sequential"):
        return job(sent.cases(), *arguments)


_held: dict[str, Any] = {}
"""On a worker of a cluster: arrays that were sent, by key. The worker's own store will not do: its
copies are thinned out after seconds, since no task of the cluster's graph names them."""


def _hold(key: str, arrays: Any) -> None:
    while len(_held) >= MOST_HELD:
        del _held[next(iter(_held))]
    _held[key] = arrays


def _of_cluster(key: str) -> Any:
    """What was sent to the workers: in this one's memory, unless it is new."""
    if key not in _held:
        from distributed import Future, get_client
        from distributed import TimeoutError as TooLong

        try:
            _held[key] = Future(key, get_client()).result(timeout=FETCHING)
        except TooLong:
            raise StorageError(
                f"a new worker did not get the cases within {FETCHING:g} seconds; learn again"
            ) from None
    return _held[key]
