"""Predictions as text, CSV or JSON lines; probabilities are exact, the shortest decimals.

Rows that agree in all inputs have the same line: where there are not too many configurations, each
is predicted and written out once.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from math import prod
from typing import TypeAlias

import numpy as np
import orjson

from ebnc.data.rows import CodedRows
from ebnc.formats.predictor import Predictor
from ebnc.typing import FloatArray

__all__ = ["Part", "PredictionText"]

MOST_CONFIGURATIONS = 2**16  # whose lines are kept
AT_A_TIME = 2**16  # probabilities; what is made of them stays in the cache

Part: TypeAlias = CodedRows | FloatArray
"""Some rows, coded or predicted already."""


class PredictionText:
    """The lines of coded rows, after ``header``."""

    def __init__(self, predictor: Predictor, *, as_json: bool) -> None:
        classes = predictor.classes.tolist()
        if as_json:
            self.header, self._end = b"", b"]}\n"
            said = ({"prediction": x, "classes": classes, "probabilities": []} for x in classes)
            starts = [json.dumps(x, ensure_ascii=False).encode()[:-2] for x in said]
        else:
            self.header = _csv_line(["prediction", *(f"p({label})" for label in classes)])
            self._end = b"\n"
            starts = [_csv_line([str(label), ""])[:-1] for label in classes]
        self._starts = np.array(starts, dtype=object)  # of a line, by its class
        self._predictor = predictor
        self._n_states = [predictor.domain.n_states(x) + 1 for x in predictor.used]
        self._n_rows = max(1, AT_A_TIME // len(classes))  # that are predicted at a time
        self._lines = np.empty(0, dtype=object)
        self._places = np.empty(0, dtype=np.int32)  # of lines; −1 where there is none yet
        if self._repeats:
            self._places = np.full(prod(self._n_states), -1, dtype=np.int32)

    def parts(self, rows: CodedRows) -> Iterator[CodedRows]:
        """Rows, which hold the predictor's inputs with one more state each, some at a time."""
        for first in range(0, len(rows), self._n_rows):
            codes = rows.codes[:, first : first + self._n_rows]
            yield CodedRows(rows.names, rows.n_states, codes)

    def predicted(self, part: CodedRows) -> Part:
        """What ``pieces`` would do first, and then need not: the probabilities of a part."""
        return part if self._repeats else self._predictor.probabilities(part)

    def pieces(self, part: Part) -> list[bytes]:
        """The lines of a part."""
        if not isinstance(part, CodedRows):
            return self._written(part)
        return self._kept_lines(part) if self._repeats else self.pieces(self.predicted(part))

    @property
    def _repeats(self) -> bool:
        """Whether lines are kept."""
        return prod(self._n_states) <= MOST_CONFIGURATIONS

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
        for first in range(0, len(new), self._n_rows):
            numbers = np.array(new[first : first + self._n_rows])
            codes = np.empty((len(self._n_states), len(numbers)), dtype=rows.codes.dtype)
            for v in reversed(range(len(codes))):
                numbers, codes[v] = np.divmod(numbers, self._n_states[v])
            part = CodedRows(rows.names, rows.n_states, codes)
            pieces = self._written(self._predictor.probabilities(part))
            lines += [b"".join(line) for line in zip(*[iter(pieces)] * 3, strict=True)]
        self._lines = np.array(lines, dtype=object)

    def _written(self, probabilities: FloatArray) -> list[bytes]:
        """Three pieces for each row: what is before its probabilities, they, and the line's end."""
        text = orjson.dumps(probabilities, option=orjson.OPT_SERIALIZE_NUMPY)
        pieces = [self._end] * (3 * len(probabilities))
        pieces[::3] = self._starts[probabilities.argmax(axis=1)].tolist()
        pieces[1::3] = text[2:-2].split(b"],[")  # [[0.25,0.75],[0.5,0.5]]
        return pieces


def _csv_line(entries: Sequence[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(entries)  # both need quotes in entries
    return text.getvalue().removesuffix("\r\n").encode() + b"\n"
