"""``Field``: a value from a file together with its place, so that every error names the place."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from ebnc.errors import EBNCError, FormatError
from ebnc.typing import FloatArray

__all__ = ["Field", "scale_to_json"]

T = TypeVar("T")

INFINITE = {"inf": math.inf, "-inf": -math.inf}


class Field:
    """A value of a parsed JSON file, and where it stands, such as ``model.domain[3].name``."""

    __slots__ = ("place", "value")

    def __init__(self, value: Any, place: str = "") -> None:
        self.value = value
        self.place = place

    def error(self, problem: str) -> FormatError:
        """The error that says what is wrong here."""
        return FormatError(f"{self.place or 'the file'}: {problem}")

    def built(self, make: Callable[[], T]) -> T:
        """What ``make`` makes; its own errors are those of the file."""
        try:
            return make()
        except FormatError:
            raise
        except EBNCError as error:
            raise self.error(str(error)) from None

    def object(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, "Field"]:
        """The fields of an object: all that are required, none that are not known."""
        if not isinstance(self.value, dict):
            raise self._expected("an object")
        needed = list(required)
        for key in needed:
            if key not in self.value:
                raise self.error(f"field {key!r} is missing")
        unknown = self.value.keys() - {*needed, *optional}
        if unknown:
            raise self.error(f"unknown field {min(unknown)[:80]!r}")
        return {
            key: Field(value, f"{self.place}.{key}".lstrip("."))
            for key, value in self.value.items()
        }

    def items(self, most: int = 10_000_000) -> Iterator["Field"]:
        """The items of an array."""
        if not isinstance(self.value, list):
            raise self._expected("an array")
        if len(self.value) > most:
            raise self.error(f"has {len(self.value)} items, more than {most}")
        return (Field(value, f"{self.place}[{i}]") for i, value in enumerate(self.value))

    def pair(self) -> tuple["Field", "Field"]:
        """The two items of an array of two."""
        found = tuple(self.items(most=2))
        if len(found) != 2:
            raise self._expected("an array of two items")
        return found[0], found[1]

    def is_null(self) -> bool:
        """Whether the value is null."""
        return self.value is None

    def text(self, most: int = 1_000_000) -> str:
        """A string."""
        if not isinstance(self.value, str) or len(self.value) > most:
            raise self._expected("a string")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """An array of strings."""
        return tuple(item.text() for item in self.items())

    def choice(self, options: Iterable[str]) -> str:
        """One of several strings."""
        known = list(options)
        if self.value not in known:
            raise self._expected(f"one of {known}")
        return str(self.value)

    def boolean(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self._expected("true or false")
        return self.value

    def integer(self, low: int, high: int = 2**63 - 1) -> int:
        """A whole number in a range."""
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self._expected(f"a whole number of at least {low}")
        return value

    def number(self, limit: float = math.inf) -> float:
        """A finite number of at most this size."""
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            raise self._expected("a number")
        value = float(self.value)
        if abs(value) > limit:
            raise self.error(f"{value:g} is too large; the limit is {limit:g}")
        return value

    def scale(self) -> float:
        """A number, or ``"inf"`` or ``"-inf"``, which JSON has no number for."""
        infinite = INFINITE.get(self.value) if isinstance(self.value, str) else None
        return self.number() if infinite is None else infinite

    def numbers(self, limit: float = math.inf) -> FloatArray:
        """An array of finite numbers of at most this size."""
        if not isinstance(self.value, list):
            raise self._expected("an array of numbers")
        if not set(map(type, self.value)) <= {int, float}:
            raise self._expected("an array of numbers")
        array = np.array(self.value, dtype=np.float64)
        if array.size and not np.abs(array).max() <= limit:
            raise self.error(f"{array[np.abs(array).argmax()]:g} is too large for a parameter")
        return array

    def _expected(self, what: str) -> FormatError:
        shown = repr(self.value)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}…"
        return self.error(f"must be {what}, got {shown}")


def scale_to_json(value: float) -> float | str:
    """A float as ``Field.scale`` reads it."""
    value = float(value)
    if math.isnan(value):
        raise FormatError("NaN has no place in a model file")
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
