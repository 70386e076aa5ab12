"""CSV files of very many columns, read in memory: a query over thousands of columns takes hours.

The rules are those of ``csv_columns``: what is missing, what is a number, what is true or false.
"""

import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebnc.data.csv_columns import MISSING, TRUE_FALSE, csv_header, read_entries
from ebnc.data.csv_entries import number_of
from ebnc.data.engine import memory_bytes
from ebnc.data.files import DataFiles, format_of
from ebnc.errors import DataError

__all__ = ["WIDE", "typed_column", "wide_columns"]

WIDE = 256  # columns from which on this is faster
MEMORY_SHARE = 32  # text as Python's strings takes about so many times its size in a file

_WHOLE = re.compile(r"\s*[+-]?\d{1,18}\s*")
_MISSING = frozenset(MISSING)


def wide_columns(files: DataFiles) -> dict[str, NDArray[Any]] | None:
    """All columns as text, None where missing; None where DuckDB should read the files."""
    found = files.find()
    if format_of(found[0]) != "csv":
        return None
    headers = csv_header(found)
    names = headers[0].names
    size = sum(os.path.getsize(file) for file in found)
    limit = memory_bytes("memory_limit", files.memory_limit)
    if len(names) < WIDE or size * MEMORY_SHARE > limit:
        return None
    pairs = zip(found, headers, strict=True)
    rows = [row for file, header in pairs for row in read_entries(file, header)]
    if not rows:
        raise DataError("the data have no rows")
    return {
        name: _object_array([None if text in _MISSING else text for text in column])
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }


def typed_column(texts: NDArray[Any]) -> NDArray[Any]:
    """A column of text as whole numbers, numbers, booleans or text, whichever all entries are."""
    present = [text for text in texts if text is not None]
    if present and all(map(_WHOLE.fullmatch, present)):
        return _converted(texts, int)
    if present and all(number_of(text) is not None for text in present):
        return np.array([np.nan if text is None else float(text) for text in texts])
    if present and all(text in TRUE_FALSE for text in present):
        return _converted(texts, lambda text: text.lower() == "true")
    return texts


def _converted(texts: NDArray[Any], convert: Any) -> NDArray[Any]:
    values = [None if text is None else convert(text) for text in texts]
    return _object_array(values) if None in values else np.array(values)


def _object_array(values: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
