"""Cases on the workers of a Dask cluster: coded there, kept there, summed there.

Every part is a future that the scheduler can make again from the frame's own graph, so a worker
that dies costs time and nothing else. Sums go up a fixed tree, in the order of the partitions.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from ebnc.data.parts import add
from ebnc.domain import Domain
from ebnc.errors import EBNCError, StorageError

__all__ = ["DaskParts", "PartitionedFrame", "add_up_futures", "is_dask_frame", "named_partition"]

T = TypeVar("T")
Client: TypeAlias = Any  # distributed's; dask is an extra
Future: TypeAlias = Any

PATIENCE = 300.0
"""Seconds without any worker after which a sum is given up; a busy machine is slow to start one."""


@dataclass(frozen=True, eq=False)
class DaskParts:
    """Futures of cases (or of what was made of them), one for each partition."""

    domain: Domain
    target: str
    inputs: tuple[str, ...]
    n_states: tuple[int, ...]
    n_rows: int
    total_weight: float
    client: Client
    futures: tuple[Future, ...]

    def add_up(self, job: Callable[..., T], *arguments: Any) -> T:
        """Σ job(part, …), computed where the parts are."""
        summed: T = add_up_futures(self.client, self._jobs(job, arguments))
        return summed

    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]:
        """job(part, …) of every part, in order."""
        return [_result(self.client, future) for future in self._jobs(job, arguments)]

    def prepared(self, make: Callable[..., Any], *arguments: Any) -> "DaskParts":
        """make(part, …), kept on the workers."""
        what = (self.domain, self.target, self.inputs, self.n_states, self.n_rows)
        futures = tuple(self._jobs(make, arguments))
        return DaskParts(*what, self.total_weight, self.client, futures)

    def _jobs(self, job: Callable[..., Any], arguments: Sequence[Any]) -> list[Future]:
        # Sent once, from worker to worker, instead of once with every task.
        sent = self.client.submit(_same, tuple(arguments), pure=False)
        return [
            self.client.submit(_run, job, part, number, sent, pure=False)
            for number, part in enumerate(self.futures)
        ]


@dataclass(frozen=True, eq=False)
class PartitionedFrame:
    """The partitions of a Dask DataFrame, not computed yet."""

    client: Client
    delayed: tuple[Any, ...]

    @classmethod
    def of(cls, frame: Any) -> "PartitionedFrame":
        """With the client that is current."""
        try:
            from distributed import get_client
        except ImportError:
            raise StorageError(
                "a Dask DataFrame needs dask's scheduler; install ebnc[dask]"
            ) from None
        try:
            client = get_client()
        except ValueError:
            raise StorageError(
                "a Dask DataFrame needs a client: from dask.distributed import Client; Client()"
            ) from None
        return cls(client, tuple(frame.to_delayed()))

    def submit(self, job: Callable[..., Any], *arguments: Any) -> list[Future]:
        """Futures of job(partition, …), the partitions themselves being released again."""
        from dask.delayed import delayed

        run = delayed(_run, pure=False)
        tasks = [
            run(job, part, number, tuple(arguments)) for number, part in enumerate(self.delayed)
        ]
        return list(self.client.compute(tasks))

    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]:
        """job(partition, …) of every partition, in order."""
        return [_result(self.client, future) for future in self.submit(job, *arguments)]

    def add_up(self, job: Callable[..., T], *arguments: Any) -> T:
        """Σ job(partition, …)."""
        summed: T = add_up_futures(self.client, self.submit(job, *arguments))
        return summed


def is_dask_frame(data: object) -> bool:
    """Whether data is a Dask DataFrame, found out without importing Dask."""
    return type(data).__module__.startswith("dask.") and hasattr(data, "to_delayed")


def named_partition(number: int) -> str:
    """How a partition is called in errors."""
    return f"partition {number}"


def add_up_futures(client: Client, futures: Sequence[Future]) -> Any:
    """Neighbours are added, then neighbouring sums; only the last sum leaves the workers."""
    level = list(futures)
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [client.submit(add, *pair, pure=False) if pair[1:] else pair[0] for pair in pairs]
    return _result(client, level[0])


def _result(client: Client, future: Future) -> Any:
    from distributed import KilledWorker
    from distributed import TimeoutError as TooLong

    alone_since = None
    while True:
        try:
            return future.result(timeout=min(6.0, PATIENCE / 10))
        except TooLong:
            now = time.monotonic()
            if client.scheduler_info()["workers"]:
                alone_since = None
            elif alone_since is None:
                alone_since = now
            elif now - alone_since > PATIENCE:
                raise StorageError(
                    f"the cluster has had no workers for {PATIENCE:g} seconds; start some"
                ) from None
        except KilledWorker as error:
            raise StorageError(
                f"workers died repeatedly at the same task ({error.task}), probably for lack of "
                "memory; use smaller partitions, or give workers more memory"
            ) from None
        except MemoryError as error:
            if isinstance(error, EBNCError):
                raise
            raise StorageError(
                f"a worker ran out of memory: {error}; use smaller partitions, or give workers "
                "more memory"
            ) from None


def _run(job: Callable[..., T], part: Any, number: int, arguments: tuple[Any, ...]) -> T:
    try:
        return job(part, *arguments)
    except EBNCError as error:
        raise type(error)(f"{named_partition(number)}: {error}") from None


def _same(what: T) -> T:
    return what
