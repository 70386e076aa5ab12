"""Strict JSON: finite numbers, unique keys, bounded size, and ``FormatError`` for all violations.

Nothing in a file is executed: the result consists of dicts, lists, strings, numbers, booleans and
None.
"""

import json
import math
import os
from typing import Any

from ebnc.errors import FileError, FormatError

LARGEST_FILE = 512 * 2**20
LONGEST_INTEGER = 100  # digits; longer numbers are not counts, and are slow to read


def read_json(path: str | os.PathLike[str], largest: int = LARGEST_FILE) -> Any:
    """Read a JSON file of at most ``largest`` bytes."""
    try:
        with open(path, "rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise FileError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from None
    return parse_json(content, largest)


def parse_json(content: bytes, largest: int = LARGEST_FILE) -> Any:
    """Parse JSON text of at most ``largest`` bytes."""
    if len(content) > largest:
        raise FormatError(f"the file is larger than {largest} bytes; it is not a model file")
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
            f"the file is not a model file, or was cut off: it is not JSON (line {error.lineno}, "
            f"column {error.colno}: {error.msg})"
        ) from None
    except UnicodeDecodeError as error:
        raise FormatError(f"the file is not text (byte {error.start} is not UTF-8)") from None
    except RecursionError:
        raise FormatError("the file is nested too deeply to be a model file") from None
    if b"\\u" in content:
        to_json_bytes(value)  # an escape may stand for half a character
    return value


def to_json_bytes(value: Any) -> bytes:
    """Convert plain data to JSON; a float is the shortest decimal that reads back equal.

    The text has no newline at the end, so that a file cut off anywhere is not JSON.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise FormatError(
            f"{half!r} is half a character (one surrogate of a pair), which is not text; remove it "
            "from the name or state that contains it"
        ) from None
    except ValueError:
        raise FormatError("a model file cannot hold NaN or infinite numbers") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in fields if keys.count(key) > 1)
        raise FormatError(f"field {twice[:80]!r} is given twice")
    return fields


def _refuse_constant(text: str) -> Any:
    raise FormatError(f"{text} is not a number that a model file may hold")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise FormatError(f"number {text[:40]} is too large for a 64-bit float")
    return value


def _integer(text: str) -> int:
    if len(text) > LONGEST_INTEGER:
        raise FormatError(
            f"number {text[:20]}… has {len(text)} digits; the limit is {LONGEST_INTEGER}"
        )
    return int(text)
