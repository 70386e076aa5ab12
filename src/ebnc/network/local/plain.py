"""Plain values of local distributions: variables by name, numbers as flat arrays.

Files store these values, and models are equal if these values are. A ``FieldType`` describes the
type of each field.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ebnc.errors import ParameterError
from ebnc.network.local.local import Local
from ebnc.typing import FloatArray

L = TypeVar("L", bound=Local)


class FieldType(Enum):
    """The type of a field of a local distribution."""

    VARIABLES = "a list of variables"
    VARIABLES_OR_NONE = "a list of variables or None"
    FAMILIES = "pairs of a variable and the list of its parents"
    WHOLE_NUMBERS = "a list of whole numbers, none negative"
    PROBABILITIES = "a flat array of numbers of at most 1"
    SEVERAL_PROBABILITIES = "a list of flat arrays of numbers of at most 1"
    PARAMETERS = "a flat array of numbers"
    FLAG = "True or False"
    WORD = "a string"


def equal_by_value(one: L, other: L, to_plain: Callable[[L], dict[str, Any]]) -> bool:
    """Return True if two distributions of one kind have equal target, states and plain values."""
    if one is other:
        return True
    if (one.target, one.domain) != (other.target, other.domain):
        return False
    return _same(to_plain(one), to_plain(other))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def shaped(name: str, numbers: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Return a flat field as an array of this shape."""
    if numbers.size != prod(shape):
        raise ParameterError(
            f"{name} has {numbers.size} numbers; shape {list(shape)} needs {prod(shape)}"
        )
    return np.asarray(numbers.reshape(shape))


def distributions(
    values: ArrayLike, shape: tuple[int, ...], axes: Sequence[str], title: str, rounding: float
) -> FloatArray:
    """Return checked distributions along the last axis.

    ``title``: their name in errors. ``rounding``: how much a sum may differ from 1.
    """
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{title} must hold numbers only") from None
    if array.shape != shape:
        raise ParameterError(
            f"{title} must have shape {shape}, one axis for each of {list(axes)}, got {array.shape}"
        )
    wrong = array[~(np.isfinite(array) & (array >= 0))]
    if wrong.size:
        raise ParameterError(f"{wrong[0]} in {title} is not a probability")
    sums = array.sum(axis=-1)
    farthest = np.ravel(sums)[np.abs(np.ravel(sums) - 1.0).argmax()]
    if abs(farthest - 1.0) > rounding:
        raise ParameterError(f"a row of {title} sums to {farthest:.6g}, not to 1")
    return array


def frozen(values: ArrayLike, dtype: type[Any] = np.float64) -> Any:
    """Return a read-only copy, because distributions are immutable."""
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array
