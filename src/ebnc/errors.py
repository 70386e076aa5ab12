"""Every error this package raises on purpose: what was wrong, the value got, what to do.

All derive from ``EBNCError``; each also derives from the built-in error a caller would expect.
"""

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
