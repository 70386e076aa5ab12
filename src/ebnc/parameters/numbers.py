"""Validation of arrays of numbers."""

import numpy as np
from numpy.typing import ArrayLike

from ebnc.errors import ParameterError
from ebnc.typing import FloatArray


def as_numbers(given: ArrayLike, name: str) -> FloatArray:
    """Copy to an array of floats; raise ``ParameterError`` if entries are not real numbers."""
    try:
        raw = np.asarray(given)
        if raw.dtype.kind not in "biufO":  # NumPy would cast complex numbers and text silently
            raise TypeError(f"its entries are {raw.dtype}")
        return np.array(raw, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} is not an array of numbers: {error}") from None
