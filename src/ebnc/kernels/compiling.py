"""Compilation of kernels, cached on disk for the next process if possible."""

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first call, without the interpreter lock, with numba's cache if it can be written.

    ``error_model``: x/0 is infinite, as in NumPy; a check would prevent vectorisation.
    """
    try:
        return njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # numba can write neither to the package's folder nor to the user's
        return njit(nogil=True, error_model="numpy")(function)
