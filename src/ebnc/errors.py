"""Every error this package raises on purpose: what was wrong, the value got, what to do.

All derive from ``EBNCError``; each also derives from the built-in error a caller would expect.
"""

import os

__all__ = [
    "DataError",
    "DataWarning",
    "DomainError",
    "EBNCError",
    "FileError",
    "FormatError",
    "NetworkError",
    "NoEmbeddedNetworkError",
    "NoMaximumError",
    "ParameterError",
    "QueryError",
    "SearchError",
    "SingularHessianError",
    "StorageError",
    "StructureError",
    "TooLargeError",
    "available_memory",
    "readable_size",
    "refuse_if_too_large",
]


class EBNCError(Exception):
    """Base of all errors of this package."""


class StructureError(EBNCError, ValueError):
    """The graph is not an embedded structure, or does not have the variable asked for."""


class DomainError(EBNCError, ValueError):
    """A variable has no states, repeats one, or is not declared."""


class DataError(EBNCError, ValueError):
    """Rows that do not fit the domain."""


class DataWarning(UserWarning):
    """Data that were read in another way than one may expect: columns left out, unknown entries."""


class FileError(EBNCError, OSError):
    """A file that cannot be read or written."""


class FormatError(EBNCError, ValueError):
    """A file whose contents are not what its format says; nothing was loaded."""


class ParameterError(EBNCError, ValueError):
    """θ or φ of the wrong shape or outside their range."""


class NoEmbeddedNetworkError(EBNCError, ValueError):
    """φ has no exact θ that a closed form could give."""


class NoMaximumError(EBNCError, ValueError):
    """The likelihood has no unique maximum: classes are separated, or parameters not identified."""


class NetworkError(EBNCError, ValueError):
    """Local distributions that are no Bayesian network: a cycle, a node without distribution."""


class QueryError(EBNCError, ValueError):
    """A question to a network that has no answer, such as evidence of probability 0."""


class SearchError(EBNCError, ValueError):
    """A search that was asked for something impossible."""


class SingularHessianError(EBNCError, ArithmeticError):
    """The negative Hessian has no Cholesky factor."""


class StorageError(EBNCError, OSError):
    """Memory, disk or a worker gave out while data larger than memory were worked on."""


class TooLargeError(EBNCError, MemoryError):
    """Something exponential in size was asked for; nothing was allocated."""


def available_memory() -> int:
    """Bytes that can still be had: what the system has to give, 8 GiB where that is not known.

    A limit of a container (cgroup) or of the process (``ulimit -v``) counts as well.
    """
    found = [_lines_of("/proc/meminfo").get("MemAvailable:", 0) * 1024 or _physical_memory()]
    for limit, used in (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "")):
        most = _number_in(f"/sys/fs/cgroup/{limit}")
        if most is not None:
            found.append(most - (_number_in(f"/sys/fs/cgroup/{used}") or 0 if used else 0))
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            found.append(most - _lines_of("/proc/self/status").get("VmSize:", 0) * 1024)
    except ImportError:  # not on Windows
        pass
    return max(0, min(found))


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 * 2**30


def _number_in(path: str) -> int | None:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def _lines_of(path: str) -> dict[str, int]:
    """Lines such as "MemAvailable:  123 kB"."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            pairs = [line.split()[:2] for line in file]
    except OSError:
        return {}
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _memory_limit() -> int:
    """Bytes one object may take: half of the memory that is available."""
    return available_memory() // 2


def refuse_if_too_large(n_bytes: int, what: str, remedy: str) -> None:
    """Raise ``TooLargeError`` where ``what`` would take more than half of the available memory.

    Called before allocating; ``n_bytes`` is an exact int, so 2^60 cells are no trouble to name.
    """
    limit = _memory_limit()
    if n_bytes > limit:
        raise TooLargeError(
            f"{what} would take {readable_size(n_bytes)}, more than the {readable_size(limit)} "
            f"that one object may take now, half of the available memory; {remedy}"
        )


def readable_size(n_bytes: int) -> str:
    """Bytes in words: 3 GiB."""
    size, units = n_bytes, ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    for unit in units[:-1]:
        if size < 1024:
            return f"{size} {unit}"
        size //= 1024
    # A full table of many hundred parents has more digits than Python prints at once.
    return f"{size} {units[-1]}" if size < 10**12 else f"2^{n_bytes.bit_length() - 1} bytes"
