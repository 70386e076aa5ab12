"""Predictions as text, CSV or JSON lines; probabilities are exact, the shortest decimals.

Rows that agree in all inputs have the same line: where there are not too many configurations, each
is predicted and written out once.
"""

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.formats.predictor import Predictor
from ebnc.typing import FloatArray, IntArray

__all__ = ["PredictionText"]

MOST_CONFIGURATIONS = 2**16  # whose lines are kept
FEW_ROWS = 2**12  # which Python writes out sooner than DuckDB is loaded

MANY_ROWS = 2**18  # predicted and written at a time

Format = Callable[[FloatArray], list[bytes]]
"""Lines, one or more to an element, of probabilities of shape (rows, K)."""


class PredictionText:
    """The lines of coded rows, after ``header``."""

    def __init__(self, predictor: Predictor, *, as_json: bool) -> None:
        classes = predictor.classes.tolist()
        labels = [str(label) for label in classes]
        self.header = b"" if as_json else _csv_line(["prediction", *(f"p({x})" for x in labels)])
        self._format = _json_format(classes) if as_json else _csv_format(labels)
        self._predictor = predictor
        self._n_states = [predictor.domain.n_states(x) + 1 for x in predictor.used]
        self._lines = np.empty(0, dtype=object)
        self._places = np.empty(0, dtype=np.int32)  # of lines; −1 where there is none yet
        if self.repeats:
            self._places = np.full(prod(self._n_states), -1, dtype=np.int32)

    @property
    def repeats(self) -> bool:
        """Whether lines are kept."""
        return prod(self._n_states) <= MOST_CONFIGURATIONS

    def parts(self, batches: Iterator[CodedRows]) -> Iterator[list[bytes]]:
        """The lines of rows, which hold the predictor's inputs with one more state each."""
        if self.repeats:
            yield from map(self._kept_lines, batches)
        else:
            for rows in _joined(batches):
                yield self._format(self._predictor.probabilities(rows))

    def _kept_lines(self, rows: CodedRows) -> list[bytes]:
        cells = np.zeros(len(rows), dtype=np.int32)
        for codes, r in zip(rows.codes, self._n_states, strict=True):
            cells *= r
            cells += codes
        places = self._places[cells]
        if (places < 0).any():
            self._add(cells[places < 0].tolist(), rows)
            places = self._places[cells]
        lines: list[bytes] = self._lines[places].tolist()
        return lines

    def _add(self, cells: list[int], rows: CodedRows) -> None:
        """Predict configurations; their numbers are mixed radix, the last input is the fastest."""
        new = sorted(set(cells))  # np.unique would load much that is not needed
        self._places[new] = np.arange(len(self._lines), len(self._lines) + len(new))
        lines = self._lines.tolist()
        for start in range(0, len(new), FEW_ROWS):  # so many get a line each
            numbers = np.array(new[start : start + FEW_ROWS])
            codes = np.empty((len(self._n_states), len(numbers)), dtype=rows.codes.dtype)
            for v in reversed(range(len(codes))):
                numbers, codes[v] = np.divmod(numbers, self._n_states[v])
            part = CodedRows(rows.names, rows.n_states, codes)
            lines += self._format(self._predictor.probabilities(part))
        self._lines = np.array(lines, dtype=object)


def _joined(batches: Iterator[CodedRows]) -> Iterator[CodedRows]:
    """The same rows, many at a time."""
    waiting: list[CodedRows] = []
    for rows in batches:
        waiting.append(rows)
        if sum(map(len, waiting)) >= MANY_ROWS:
            yield _as_one(waiting)
            waiting = []
    if waiting:
        yield _as_one(waiting)


def _as_one(parts: Sequence[CodedRows]) -> CodedRows:
    codes = np.concatenate([rows.codes for rows in parts], axis=1)
    return CodedRows(parts[0].names, parts[0].n_states, codes)


def _csv_format(labels: Sequence[str]) -> Format:
    entries = [_csv_line([label])[:-1].decode() for label in labels]

    def lines(probabilities: FloatArray) -> list[bytes]:
        best = probabilities.argmax(axis=1)
        if len(best) > FEW_ROWS:
            return [_by_duckdb(entries, best, probabilities)]
        pairs = zip(best.tolist(), probabilities.tolist(), strict=True)
        return [f"{entries[k]},{','.join(map(repr, row))}\n".encode() for k, row in pairs]

    return lines


def _by_duckdb(entries: Sequence[str], best: IntArray, probabilities: FloatArray) -> bytes:
    """The same lines, of many rows; DuckDB writes decimals as ``repr`` does, on all cores."""
    import duckdb

    from ebnc.data.engine import quoted

    batch = {f"p{k}": np.ascontiguousarray(column) for k, column in enumerate(probabilities.T)}
    batch["best"] = best.astype(np.int32)
    shown = ", ".join(f"p{k}" for k in range(len(entries)))
    query = f"SELECT ({quoted(entries)})[best + 1], {shown} FROM batch"
    with tempfile.TemporaryDirectory(prefix="ebnc-") as folder, duckdb.connect() as connection:
        part = Path(folder) / "part.csv"
        # The entries have their quotes already.
        options = "FORMAT csv, HEADER false, QUOTE '', ESCAPE ''"
        connection.execute(f"COPY ({query}) TO {quoted(str(part))} ({options})")
        return part.read_bytes()


def _json_format(classes: Sequence[Any]) -> Format:
    def lines(probabilities: FloatArray) -> list[bytes]:
        best = probabilities.argmax(axis=1).tolist()
        found = []
        for k, row in zip(best, probabilities.tolist(), strict=True):
            line = {"prediction": classes[k], "classes": classes, "probabilities": row}
            found.append(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        return found

    return lines


def _csv_line(entries: Sequence[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(entries)
    return text.getvalue().encode()
