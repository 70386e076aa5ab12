"""Memory for arrays that come and go."""

from functools import cache

import numpy as np

__all__ = ["reuse_memory"]

LARGE = 31 * 2**20  # bytes; beyond 32 MiB glibc does not learn


@cache
def reuse_memory() -> None:
    """From now on arrays that are given back make room for the next ones.

    glibc maps and unmaps arrays of 128 KiB and more one by one, and the system clears every page
    anew, until it has had one back that was as large. A tenth of a search was spent on that, and a
    quarter of reading CSV.
    """
    np.empty(LARGE, dtype=np.uint8)
