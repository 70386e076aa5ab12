"""Array types as they are named in signatures."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
CodeArray: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""Codes of states, in the smallest unsigned type that holds them."""
