"""Fixed blocks of rows on a few threads; compiled kernels release the interpreter lock.

The blocks depend on the number of rows only, so results do not depend on the number of cores.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

__all__ = ["for_each_block"]

BLOCK_ROWS = 65_536


def for_each_block(n_rows: int, work: Callable[[int, int], None]) -> None:
    """Call ``work(start, stop)`` for consecutive blocks of rows, in parallel."""
    starts = range(0, n_rows, BLOCK_ROWS)
    if len(starts) <= 1:
        work(0, n_rows)
        return
    stops = (min(start + BLOCK_ROWS, n_rows) for start in starts)
    for _ in _threads(os.getpid()).map(work, starts, stops):
        pass


@cache
def _threads(process: int) -> ThreadPoolExecutor:
    """One pool for each process: threads do not survive a fork, so neither may the pool."""
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ThreadPoolExecutor(max_workers=n_cores, thread_name_prefix=f"ebnc-{process}")
