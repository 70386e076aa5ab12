"""JSON without its traps: finite numbers, no key twice, bounded size, one kind of error.

Nothing in a file is executed or looked up: what comes back is dicts, lists, strings, numbers,
booleans and None.
"""

import json
import math
import os
from typing import Any

from ebnc.errors import FileError, FormatError

__all__ = ["LARGEST_FILE", "parse_json", "read_json", "to_json_bytes"]

LARGEST_FILE = 512 * 2**20
LONGEST_INTEGER = 100  # digits; larger ones are no counts, and slow to read


def read_json(path: str | os.PathLike[str]) -> Any:
    """The contents of a JSON file."""
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise FileError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from None
    return parse_json(content)


def parse_json(content: bytes) -> Any:
    """The value that JSON text stands for."""
    if len(content) > LARGEST_FILE:
        raise FormatError(f"the file is larger than {LARGEST_FILE} bytes; it is no model file")
    try:
        value = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_without_repeats,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_integer,
        )
    except json.JSONDecodeError as error:
        raise FormatError(
            f"the file is not JSON, or not all of it (line {error.lineno}, column {error.colno}: "
            f"{error.msg}); was it cut off?"
        ) from None
    except UnicodeDecodeError as error:
        raise FormatError(f"the file is not text (byte {error.start} is not UTF-8)") from None
    except RecursionError:
        raise FormatError("the file is nested too deeply to be a model file") from None
    if b"\\u" in content:
        _text(value)  # an escape may stand for half a character
    return value


def to_json_bytes(value: Any) -> bytes:
    """JSON text; floats as the shortest decimal that reads back as the same number.

    No newline at the end: whatever is cut off, the rest is not JSON.
    """
    return _text(value)


def _text(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=None).encode("utf-8")
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise FormatError(
            f"{half!r} is half a character (one surrogate of a pair), which is no text; a name or "
            "a state holds it"
        ) from None
    except ValueError:
        raise FormatError("NaN and infinite numbers have no place in a model file") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in found if keys.count(key) > 1)
        raise FormatError(f"field {twice[:80]!r} is given twice")
    return found


def _refuse_constant(text: str) -> Any:
    raise FormatError(f"{text} is not a number that a model file may hold")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise FormatError(f"number {text[:40]} is too large for a 64-bit float")
    return value


def _integer(text: str) -> int:
    if len(text) > LONGEST_INTEGER:
        raise FormatError(f"number {text[:20]}… has {len(text)} digits, more than can be meant")
    return int(text)
