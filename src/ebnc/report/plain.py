"""From plain JSON data to frozen dataclasses, with every field checked against its type."""

import math
import types
from dataclasses import fields
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from ebnc.errors import FormatError

__all__ = ["from_plain"]

T = TypeVar("T")


def from_plain(kind: type[T], plain: object, where: str, leave_out: tuple[str, ...] = ()) -> T:
    """A dataclass from a dict with exactly its fields; an error says which one is wrong."""
    if not isinstance(plain, dict):
        raise FormatError(f"{where} must be an object, got {_shown(plain)}")
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind) if field.name not in leave_out]  # type: ignore[arg-type]
    for name in names:
        if name not in plain:
            raise FormatError(f"{where} has no field {name!r}")
    for name in plain:
        if name not in names:
            raise FormatError(f"{where} has a field {name!r} that is not known")
    return kind(**{name: _value(hints[name], plain[name], f"{where}.{name}") for name in names})


def _value(hint: Any, given: object, where: str) -> Any:
    if get_origin(hint) is types.UnionType:  # only “… | None” is used
        if given is None:
            return None
        hint = next(part for part in get_args(hint) if part is not types.NoneType)
    if get_origin(hint) is tuple:
        if not isinstance(given, list | tuple):
            raise FormatError(f"{where} must be a list, got {_shown(given)}")
        parts = get_args(hint)
        if parts[-1] is not Ellipsis:
            if len(given) != len(parts):
                raise FormatError(f"{where} must have {len(parts)} entries, got {len(given)}")
            each = parts
        else:
            each = (parts[0],) * len(given)
        return tuple(
            _value(part, entry, f"{where}[{i}]")
            for i, (part, entry) in enumerate(zip(each, given, strict=True))
        )
    if hint is float:
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise FormatError(f"{where} must be a number, got {_shown(given)}")
        try:
            number = float(given)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise FormatError(f"{where} must be finite, got {_shown(given)}")
        return number
    if hint in (int, str, bool):
        if type(given) is not hint:
            raise FormatError(f"{where} must be of type {hint.__name__}, got {_shown(given)}")
        return given
    return from_plain(hint, given, where)


def _shown(given: object) -> str:
    text = repr(given) if not isinstance(given, int) or abs(given) < 10**30 else "a huge number"
    return text if len(text) <= 40 else f"{text[:40]}…"
