"""Read a Dask DataFrame: workers summarise, code and count its partitions.

Partitions are frames in memory, read by the same rules as other frames. Workers send only summaries
and coded rows. The client gets the coded rows one partition after the other, and stores them like
rows of files. The scheduler recomputes lost results, so the death of a worker costs only time.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from ebnc.data.batches import Batch, FrameSource, Source
from ebnc.data.cases import Cases
from ebnc.data.files import DataFiles
from ebnc.data.plan import Plan
from ebnc.errors import DataError, EBNCError, StorageError

T = TypeVar("T")
Client: TypeAlias = Any  # of distributed, an optional dependency
Future: TypeAlias = Any

PATIENCE = 300.0
"""Seconds without any worker before giving up; a busy machine is slow to start one."""


def is_dask_frame(data: object) -> bool:
    """Whether data is a Dask DataFrame; does not import Dask."""
    return type(data).__module__.startswith("dask.") and hasattr(data, "to_delayed")


class DaskSource(Source):
    """The partitions of a Dask DataFrame."""

    def __init__(self, frame: Any) -> None:
        self.names = tuple(str(name) for name in frame.columns)
        self.memory_bytes = DataFiles("").memory_bytes
        self._partitions = tuple(frame.to_delayed())

    def batches(self, plan: Plan) -> Iterator[Batch]:  # noqa: ARG002
        """Raise: partitions stay on the workers."""
        raise DataError(
            "a Dask DataFrame is predicted partition by partition: "
            "frame[list(model.feature_names_in_)].map_partitions(model.predict_proba, meta=…)"
        )

    def each(self, job: Callable[..., T], plan: Plan, *arguments: Any) -> Iterator[T]:
        """Yield job(batch, plan, …) for every partition in order, computed on the workers."""
        client = _client()
        from dask.delayed import delayed

        run = delayed(_run, pure=False)
        tasks = [run(job, part, i, plan, arguments) for i, part in enumerate(self._partitions)]
        futures = list(client.compute(tasks))[::-1]
        try:
            while futures:
                yield _result(client, futures.pop())
        finally:  # after an error, nobody waits for the other partitions
            client.cancel(futures)


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


def _run(job: Callable[..., T], part: Any, number: int, plan: Plan, arguments: Any) -> Any:
    where = f"partition {number}"
    try:
        (batch,) = FrameSource(part).batches(plan)
        result = job(replace(batch, where=where), plan, *arguments)
    except EBNCError as error:
        raise type(error)(f"{where}: {error}") from None
    return result.counted() if isinstance(result, Cases) else result  # fewer rows to send


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
