"""How kernels are compiled: once, and kept on disk for the next process where that is possible."""

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["compiled"]


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first call, without the interpreter lock, with numba's cache if it has a place.

    ``error_model``: x/0 is infinite, as in NumPy; a check would keep loops from being vectorised.
    """
    try:
        return njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's can be written
        return njit(nogil=True, error_model="numpy")(function)
