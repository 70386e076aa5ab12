"""Read a Dask DataFrame: workers summarise, code and count its partitions.

Partitions are frames in memory, read by the same rules as other frames. Workers send only summaries
and coded rows. The client gets the coded rows one partition after the other, and stores them like
rows of files. The scheduler recomputes lost results, so the death of a worker costs only time.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar

from ebnc.data.batches import Batch, FrameSource
from ebnc.data.cases import Cases
from ebnc.data.coder import Coder
from ebnc.data.files import DataFiles
from ebnc.data.plan import Plan, add_batch, coded_cases
from ebnc.data.sources import column_names
from ebnc.data.summaries import TableSummary
from ebnc.data.table import Kind, Options
from ebnc.errors import EBNCError, StorageError

__all__ = ["DaskReader"]

T = TypeVar("T")
Client: TypeAlias = Any  # of distributed, an optional dependency
Future: TypeAlias = Any

PATIENCE = 300.0
"""Seconds without any worker before giving up; a busy machine is slow to start one."""


class DaskReader:
    """Reads the partitions of a Dask DataFrame."""

    def __init__(self, frame: Any) -> None:
        self.names, self.options = tuple(column_names(frame)), Options()
        self.memory_bytes: int | None = DataFiles("").memory_bytes
        self.temp_directory = None
        self._client = _client()
        self._partitions = tuple(frame.to_delayed())

    def summary(self, plan: Plan) -> TableSummary:
        """Summarise all partitions."""
        return TableSummary.merged(self._each(_summary, plan))

    def coded(self, plan: Plan, coder: Coder) -> Iterator[Cases]:
        """Yield the cases of every partition, counted if that saves much."""
        return self._each(_coded, plan, coder)

    def _each(self, job: Callable[..., T], *arguments: Any) -> Iterator[T]:
        """Yield job(partition, …) for every partition in order, computed on the workers."""
        from dask.delayed import delayed

        run = delayed(_run, pure=False)
        tasks = [run(job, part, i, arguments) for i, part in enumerate(self._partitions)]
        futures = list(self._client.compute(tasks))[::-1]
        while futures:
            yield _result(self._client, futures.pop())


def _client() -> Client:
    try:
        from distributed import get_client
    except ImportError:
        raise StorageError("a Dask DataFrame needs dask's scheduler; install ebnc[dask]") from None
    try:
        return get_client()
    except ValueError:
        raise StorageError(
            "a Dask DataFrame needs a client: from dask.distributed import Client; Client()"
        ) from None


def _batch(part: Any, plan: Plan, kinds: dict[str, Kind]) -> Batch:
    (batch,) = FrameSource(part).batches(plan.read, kinds, plan.options)
    return batch


def _summary(part: Any, where: str, plan: Plan) -> TableSummary:
    batch = _batch(part, plan, dict(plan.kinds))
    summary = TableSummary(plan.target)
    add_batch(summary, Batch(batch.columns, batch.n_rows, where), plan)
    return summary


def _coded(part: Any, where: str, plan: Plan, coder: Coder) -> Cases:  # noqa: ARG001
    return coded_cases(_batch(part, plan, {**plan.kinds, **coder.kinds}), coder, plan).counted()


def _run(job: Callable[..., T], part: Any, number: int, arguments: tuple[Any, ...]) -> T:
    where = f"partition {number}"
    try:
        return job(part, where, *arguments)
    except EBNCError as error:
        raise type(error)(f"{where}: {error}") from None


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
                    f"the cluster has had no workers for {PATIENCE:g} seconds; start workers"
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
