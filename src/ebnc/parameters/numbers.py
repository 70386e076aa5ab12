"""Arrays of numbers that a caller gives."""

import numpy as np
from numpy.typing import ArrayLike

from ebnc.errors import ParameterError
from ebnc.typing import FloatArray

__all__ = ["as_numbers"]


def as_numbers(given: ArrayLike, name: str) -> FloatArray:
    """A copy as an array of floats; refused where entries are no real numbers."""
    try:
        raw = np.asarray(given)
        if raw.dtype.kind not in "biufO":  # complex numbers and text would be cast in silence
            raise TypeError(f"its entries are {raw.dtype}")
        return np.array(raw, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} is not an array of numbers: {error}") from None
