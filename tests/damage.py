"""Damage to files: a value of JSON replaced, words of BIF moved, bytes flipped, the end cut off."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

__all__ = ["damaged_bif", "damaged_bytes", "damaged_json"]

INF = float("inf")
ODD_VALUES: list[Any] = [
    *[None, True, -1, 0, 1, 2, 3, 1e308, -1e308, 5e-324, 2**62, 10**30, INF, -INF, float("nan")],
    *["", "\ud800", "inf", "-inf", "x" * 999, "\x00", "<b>", [], {}, [[]], [None]],
    *[{"float": "inf"}, {"int": "9" * 99}, {"interval": ["-inf", "inf"]}, {"interval": [1, 0]}],
]
ODD_WORDS = [
    *["nan", "inf", "-1", "1e999", "1e-320", "0", "2", "9" * 30, "x" * 999, '""', '"', "\ud800"],
    *["{", "}", "(", ")", "[", "]", ",", ";", "|", "//", "/*", "variable", "probability", "table"],
    *["default", "discrete", "property", "network", "\x00", "é"],
]


def damaged_json(document: Any, generator: np.random.Generator) -> bytes:
    """A JSON file with one or two values replaced, removed, doubled or exchanged, anywhere."""
    document = deepcopy(document)
    for _ in range(int(generator.integers(1, 3))):
        every = list(_places(document))
        place, key = every[int(generator.integers(len(every)))]
        chosen = generator.random()
        if chosen < 0.7:
            place[key] = deepcopy(ODD_VALUES[int(generator.integers(len(ODD_VALUES)))])
        elif chosen < 0.8:
            del place[key]
        elif chosen < 0.9:
            other_place, other = every[int(generator.integers(len(every)))]
            place[key] = deepcopy(other_place[other])
        elif isinstance(place, list):
            place.append(deepcopy(place[key]))
    return json.dumps(document).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every object or array inside a value, with each of its keys."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def damaged_bif(text: str, generator: np.random.Generator) -> bytes:
    """A BIF file of which a few words are replaced, removed, doubled or exchanged."""
    words = re.findall(r"\s+|[{}()\[\],;|]|[^\s{}()\[\],;|]+", text)
    for _ in range(int(generator.integers(1, 4))):
        at, other = (int(i) for i in generator.integers(len(words), size=2))
        chosen = generator.random()
        if chosen < 0.5:
            words[at] = ODD_WORDS[int(generator.integers(len(ODD_WORDS)))]
        elif chosen < 0.7:
            del words[at]
        elif chosen < 0.85:
            words[at], words[other] = words[other], words[at]
        else:
            low, high = sorted((at, other))
            words[high:high] = words[low:high]
    return "".join(words).encode("utf-8", "surrogatepass")


def damaged_bytes(content: bytes, generator: np.random.Generator) -> bytes:
    """A file with one to three bytes replaced, often by digits, or with its end cut off."""
    if generator.random() < 0.1:
        return content[: int(generator.integers(len(content)))]
    replacements = b"0123456789e-" if generator.random() < 0.5 else bytes(range(256))
    changed = bytearray(content)
    for at in generator.integers(len(content), size=int(generator.integers(1, 4))):
        changed[int(at)] = replacements[int(generator.integers(len(replacements)))]
    return bytes(changed)
