"""Compilation of kernels, cached on disk for the next process if possible."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from numba import njit

FEW = 2**13
"""Numbers in the first array of a kernel, up to which NumPy takes about as long."""


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first call, without the interpreter lock, with numba's cache if it can be written.

    ``error_model``: x/0 is infinite, as in NumPy; a check would prevent vectorisation.
    """
    try:
        return njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # numba can write neither to the package's folder nor to the user's
        return njit(nogil=True, error_model="numpy")(function)


def compiled_for_many(
    few: Callable[..., Any], most: int = FEW
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a kernel, but call ``few``, its equivalent in NumPy, if its first array is small.

    Compiling takes seconds in a new environment, longer than the fit of a small table.
    """

    def of(function: Callable[..., Any]) -> Callable[..., Any]:
        kernel = compiled(function)

        @wraps(function)
        def chosen(first: Any, *arguments: Any) -> Any:
            return (few if first.size <= most else kernel)(first, *arguments)

        return chosen

    return of
