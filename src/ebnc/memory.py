"""The available memory, and a check that refuses requests for more."""

import os

from ebnc.errors import TooLargeError

UNKNOWN_MEMORY = 8 * 2**30
"""Bytes that are assumed if the system does not report its memory."""

ALWAYS_ALLOWED = 2**24
"""Bytes that need no look at the system's memory, which takes a quarter of a millisecond."""


def refuse_if_too_large(n_bytes: int, what: str, remedy: str) -> None:
    """Raise ``TooLargeError`` if ``n_bytes`` exceed half of the available memory.

    Call this before allocating. ``what`` begins the message and ``remedy`` ends it. ``n_bytes`` is
    an exact int, so that sizes such as 2^60 cells do not overflow.
    """
    if n_bytes <= ALWAYS_ALLOWED:
        return
    limit = _memory_limit()
    if n_bytes > limit:
        raise TooLargeError(
            f"{what} would take {readable_size(n_bytes)}, more than half of the available memory "
            f"({readable_size(limit)}); {remedy}"
        )


def _memory_limit() -> int:
    """Bytes that one object may take: half of the available memory."""
    return available_memory() // 2


def available_memory() -> int:
    """Return the bytes that this process can still allocate.

    This is the minimum over the system, the container (cgroup) and the process (``ulimit -v``).
    """
    limits = [_of_system(), _of_container(), _of_process()]
    return max(0, min(limit for limit in limits if limit is not None))


def _of_system() -> int:
    available = _table_in("/proc/meminfo").get("MemAvailable:", 0) * 1024
    if available:
        return available
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return UNKNOWN_MEMORY


def _of_container() -> int | None:
    """The bytes left below the limit of cgroup version 2, or the whole limit of version 1."""
    limit = _number_in("/sys/fs/cgroup/memory.max")
    if limit is not None:
        return limit - (_number_in("/sys/fs/cgroup/memory.current") or 0)
    return _number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")


def _of_process() -> int | None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    return limit - _table_in("/proc/self/status").get("VmSize:", 0) * 1024


def _number_in(path: str) -> int | None:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def _table_in(path: str) -> dict[str, int]:
    """Read the numbers in a file with lines such as "MemAvailable:  123 kB"."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            pairs = [line.split()[:2] for line in file]
    except OSError:
        return {}
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def readable_size(n_bytes: int) -> str:
    """Format a number of bytes in the largest unit that it fills, such as 3 GiB."""
    size, units = n_bytes, ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    for unit in units[:-1]:
        if size < 1024:
            return f"{size} {unit}"
        size //= 1024
    # The size of a table with hundreds of parents has more digits than Python converts to text.
    return f"{size} {units[-1]}" if size < 10**12 else f"2^{n_bytes.bit_length() - 1} bytes"
