"""``Field``: a value from a JSON file with its place in the file, which every error names."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from ebnc.errors import EBNCError, FormatError
from ebnc.typing import FloatArray

T = TypeVar("T")

INFINITE = {"inf": math.inf, "-inf": -math.inf}


class Field:
    """A value of a parsed JSON file, and its place, such as ``model.domain[3].name``.

    The methods check the type of the value and return it, or raise ``FormatError``.
    """

    __slots__ = ("place", "value")

    def __init__(self, value: Any, place: str = "") -> None:
        self.value = value
        self.place = place

    def error(self, problem: str) -> FormatError:
        """Return an error that names this place and the problem."""
        return FormatError(f"{self.place or 'the file'}: {problem}")

    def built(self, make: Callable[[], T]) -> T:
        """Call ``make``; turn its ``EBNCError`` into a ``FormatError`` that names this place."""
        try:
            return make()
        except FormatError:
            raise
        except EBNCError as error:
            raise self.error(str(error)) from None

    def object(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, "Field"]:
        """The fields of an object. Missing required fields and unknown fields are errors."""
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
        """The items of an array of at most ``most`` items."""
        if not isinstance(self.value, list):
            raise self._expected("an array")
        if len(self.value) > most:
            raise self.error(f"has {len(self.value)} items, more than {most}")
        return (Field(value, f"{self.place}[{i}]") for i, value in enumerate(self.value))

    def pair(self) -> tuple["Field", "Field"]:
        """The two items of an array of two."""
        both = tuple(self.items(most=2))
        if len(both) != 2:
            raise self._expected("an array of two items")
        return both[0], both[1]

    def is_null(self) -> bool:
        """Whether the value is null."""
        return self.value is None

    def optional(self, read: "Callable[[Field], T]") -> T | None:
        """Return ``read(self)``, or None for null."""
        return None if self.is_null() else read(self)

    def text(self, most: int = 1_000_000) -> str:
        """A string of at most ``most`` characters."""
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
        """A finite number of absolute value at most ``limit``."""
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            raise self._expected("a number")
        try:
            value = float(self.value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise self._expected("a finite number")
        if abs(value) > limit:
            raise self.error(f"{value:g} is too large; the limit is {limit:g}")
        return value

    def scale(self) -> float:
        """A finite number, or ``"inf"`` or ``"-inf"``; JSON has no infinite numbers."""
        infinite = INFINITE.get(self.value) if isinstance(self.value, str) else None
        return self.number() if infinite is None else infinite

    def numbers(self, limit: float = math.inf) -> FloatArray:
        """An array of finite numbers of absolute value at most ``limit``."""
        if not isinstance(self.value, list) or not set(map(type, self.value)) <= {int, float}:
            raise self._expected("an array of numbers")
        array = np.array(self.value, dtype=np.float64)
        if array.size and not np.abs(array).max() <= limit:
            raise self.error(f"{array[np.abs(array).argmax()]:g} is too large for a parameter")
        return array

    def record(self, kind: type[T], leave_out: Iterable[str] = ()) -> T:
        """A dataclass or NamedTuple from an object with exactly its fields, of the right types.

        Fields with a default may be missing, as in files of earlier versions. Types may be str,
        bool, float (finite), int (not negative), tuples and lists of these, other records, and
        unions of these with None. Fields in ``leave_out`` keep their defaults.
        """
        hints = get_type_hints(kind)
        names = [name for name in _field_names(kind) if name not in set(leave_out)]
        defaults = _default_names(kind)
        parts = self.object([name for name in names if name not in defaults], names)
        return kind(**{name: part._of_type(hints[name]) for name, part in parts.items()})

    def _of_type(self, hint: Any) -> Any:
        origin, options = get_origin(hint), get_args(hint)
        if NoneType in options:
            return None if self.is_null() else self._of_type(options[options.index(NoneType) - 1])
        if origin is list or (origin is tuple and options[-1] is Ellipsis):
            every = [item._of_type(options[0]) for item in self.items()]
            return every if origin is list else tuple(every)
        if origin is tuple:
            each = tuple(self.items())
            if len(each) != len(options):
                raise self._expected(f"an array of {len(options)} items")
            return tuple(item._of_type(part) for item, part in zip(each, options, strict=True))
        if hint is str:
            return self.text()
        if hint is bool:
            return self.boolean()
        if hint is float:
            return self.number()
        return self.integer(0) if hint is int else self.record(hint)

    def _expected(self, description: str) -> FormatError:
        return self.error(f"must be {description}, got {_shown(self.value)}")


def record_to_json(record: Any) -> Any:
    """Convert dataclasses and NamedTuples to plain data that ``Field.record`` reads."""
    names = _field_names(type(record))
    if names:
        return {name: record_to_json(getattr(record, name)) for name in names}
    if isinstance(record, list | tuple):
        return [record_to_json(item) for item in record]
    return record.item() if isinstance(record, np.generic) else record


def _field_names(kind: Any) -> tuple[str, ...]:
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    return getattr(kind, "_fields", ())


def _default_names(kind: Any) -> set[str]:
    """The fields of a record that have a default."""
    if is_dataclass(kind):
        return {each.name for each in fields(kind) if each.default is not MISSING}
    return set(getattr(kind, "_field_defaults", ()))


def _shown(value: Any) -> str:
    is_huge = isinstance(value, int) and abs(value) >= 10**60
    shown = "a huge number" if is_huge else repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"


def scale_to_json(value: float) -> float | str:
    """Convert a float to a JSON value that ``Field.scale`` reads."""
    value = float(value)
    if math.isnan(value):
        raise FormatError("a model file cannot hold NaN")
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
