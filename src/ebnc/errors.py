"""The errors of this package. A message names what was wrong, the value, and what to do.

All derive from ``EBNCError``; each also derives from the built-in error a caller would expect.
"""

import difflib
from collections.abc import Sequence

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
    "NoSuchKeyError",
    "ParameterError",
    "QueryError",
    "SearchError",
    "SingularHessianError",
    "StorageError",
    "StructureError",
    "TooLargeError",
]


class EBNCError(Exception):
    """The base class of all errors of this package."""


class StructureError(EBNCError, ValueError):
    """A graph is not an embedded structure, or lacks a variable that was requested."""


class DomainError(EBNCError, ValueError):
    """A variable has no states, repeats one, or is not declared."""


class DataError(EBNCError, ValueError):
    """Data cannot be read, or do not fit the domain."""


class DataWarning(UserWarning):
    """Data were read in a way that users may not expect: columns left out, unknown entries."""


class FileError(EBNCError, OSError):
    """A file cannot be read or written."""


class FormatError(EBNCError, ValueError):
    """The contents of a file violate its format; nothing was loaded."""


class ParameterError(EBNCError, ValueError):
    """A parameter has a wrong value; θ or φ have a wrong shape or are outside their range."""


class NoEmbeddedNetworkError(EBNCError, ValueError):
    """No closed form converts this φ exactly to θ."""


class NoMaximumError(EBNCError, ValueError):
    """The likelihood has no unique maximum: separated classes, or unidentified parameters."""


class NetworkError(EBNCError, ValueError):
    """Local distributions do not form a Bayesian network: a cycle, a node without distribution."""


class QueryError(EBNCError, ValueError):
    """A network cannot answer a query, for example because the evidence has probability 0."""


class NoSuchKeyError(NetworkError, QueryError, KeyError):
    """A network has no such node, or an answer no such state; ``in`` and ``get`` expect this."""

    __str__ = ValueError.__str__  # that of KeyError puts the message in quotes


class SearchError(EBNCError, ValueError):
    """A search has contradictory or unknown requirements."""


class SingularHessianError(EBNCError, ArithmeticError):
    """The negative Hessian has no Cholesky factor."""


class StorageError(EBNCError, OSError):
    """Memory, disk or a worker failed while data larger than memory were processed."""


class TooLargeError(EBNCError, MemoryError):
    """A request needs more memory than is available; nothing was allocated."""


def alternatives(name: object, present: Sequence[str], they_have: str) -> str:
    """Say which names exist in place of a wrong one, the closest first: the end of a message."""
    close = difflib.get_close_matches(str(name), present, 1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    shown = ", ".join(map(repr, present[:8]))
    return f"{meant}{they_have} {shown}{', …' if len(present) > 8 else ''}"
