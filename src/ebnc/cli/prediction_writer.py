"""Predictions as CSV and as JSON lines; probabilities are exact, the shortest decimals."""

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ebnc.data.engine import quoted
from ebnc.typing import FloatArray

__all__ = ["csv_writer", "json_writer"]

Write = Callable[[BinaryIO, FloatArray, bool], None]
"""Write probabilities, shape (rows, K), to a file; True for the first rows of it."""


def csv_writer(classes: Sequence[Any]) -> Write:
    """CSV with the columns prediction, p(CLASS) …; DuckDB formats the numbers."""
    import duckdb

    labels = [str(label) for label in classes]
    names = [f"p({label})".replace('"', '""') for label in labels]
    shown = ", ".join(f'p{k} AS "{name}"' for k, name in enumerate(_different(names)))
    query = f"SELECT ({quoted(labels)})[best + 1] AS prediction, {shown} FROM batch"
    connection = duckdb.connect(":memory:")

    def write(file: BinaryIO, probabilities: FloatArray, first: bool) -> None:
        batch: dict[str, Any] = {"best": probabilities.argmax(axis=1).astype(np.int32)}
        for k in range(len(labels)):
            batch[f"p{k}"] = np.ascontiguousarray(probabilities[:, k])
        with tempfile.TemporaryDirectory(prefix="ebnc-") as folder:
            part = Path(folder) / "part.csv"
            options = f"FORMAT csv, HEADER {str(first).lower()}"
            connection.execute(f"COPY ({query}) TO {quoted(str(part))} ({options})")
            file.write(part.read_bytes())

    return write


def json_writer(classes: Sequence[Any]) -> Write:
    """One object a line: the prediction, and the probabilities in the order of the classes."""

    def write(file: BinaryIO, probabilities: FloatArray, first: bool) -> None:
        del first
        best = probabilities.argmax(axis=1).tolist()
        for k, row in zip(best, probabilities.tolist(), strict=True):
            line = {"prediction": classes[k], "classes": classes, "probabilities": row}
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    return write


def _different(names: Sequence[str]) -> list[str]:
    """DuckDB's names ignore case; those that it would take as equal get a number."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        times = seen.setdefault(name.lower(), 0)
        seen[name.lower()] += 1
        found.append(f"{name}_{times + 1}" if times else name)
    return found
