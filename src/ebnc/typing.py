"""Array types as they are named in signatures."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["CodeArray", "FloatArray", "IntArray"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
CodeArray: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
"""Codes of states: the smallest unsigned type that holds them."""
