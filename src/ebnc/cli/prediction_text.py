"""Predictions as CSV or JSON lines; probabilities are the shortest decimals that are exact.

Classes: the most probable one, and the probability of each. Numbers: the mean, and an interval.
"""

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ebnc.cli.network.files import state_text
from ebnc.data.rows import CodedRows
from ebnc.data.text import number_array, text_array
from ebnc.typing import FloatArray, IntArray

AT_A_TIME = 2**16  # probabilities, so few that their text stays in the cache
NUMBERS = "{!r},{!r},{!r}\n"


class ClassPredictor(Protocol):
    """What predicts classes."""

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, in the order of the probabilities."""

    def probabilities(self, rows: CodedRows) -> FloatArray:
        """Return the probabilities of the classes, shape (rows, K)."""

    def best(self, p: FloatArray) -> IntArray:
        """Return the number of the class to predict, from the probabilities."""


class Density(Protocol):
    """What turns probabilities of bins into statements about a number."""

    def mean(self, p: FloatArray) -> FloatArray:
        """Return the mean for each row of probabilities."""

    def quantiles(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """Return quantiles for each row of probabilities, shape (rows, len(q))."""


class PredictionText:
    """Formats predictions for coded rows: first ``header``, then ``lines``."""

    def __init__(
        self, predictor: ClassPredictor, *, as_json: bool, at_a_time: int = AT_A_TIME
    ) -> None:
        classes = [
            label if isinstance(label, str | int | float) else state_text(label)
            for label in predictor.classes.tolist()
        ]
        if as_json:
            self.header, self._end = b"", "]}\n"
            empty = ({"prediction": x, "classes": classes, "probabilities": []} for x in classes)
            self._starts = [json.dumps(x, ensure_ascii=False)[:-2] for x in empty]
        else:
            self.header = _csv_line(["prediction", *(f"p({label})" for label in classes)]).encode()
            self._end = "\n"
            self._starts = [_csv_line([str(label), ""])[:-1] for label in classes]
        self._predictor = predictor
        self._n_rows = max(1, at_a_time // len(classes))  # rows per prediction

    def lines(self, rows: CodedRows) -> bytes:
        """Predict rows, which hold the predictor's inputs with one more state each, and format."""
        starts = range(0, len(rows), self._n_rows)
        return b"".join(self._part(rows.codes[:, i : i + self._n_rows], rows) for i in starts)

    def _part(self, codes: object, rows: CodedRows) -> bytes:
        import pyarrow as pa
        import pyarrow.compute as pc

        part = CodedRows(rows.names, rows.n_states, codes)  # type: ignore[arg-type]
        p = self._predictor.probabilities(part)
        texts = [number_array(column).cast(pa.string()) for column in p.T]
        starts = text_array(self._starts).take(number_array(self._predictor.best(p)))
        comma, end, nothing = text_array([",", self._end, ""])
        together = pc.binary_join_element_wise(*texts, comma)
        lines = pc.binary_join_element_wise(starts, together, end, nothing)
        return "".join(lines.to_pylist()).encode()


class NumberText:
    """Formats predicted numbers for coded rows, like ``PredictionText``.

    ``bins``: the probabilities of the bins of a ``density``. ``level``: that of the interval.
    """

    def __init__(
        self,
        bins: Callable[[CodedRows], FloatArray],
        density: Density,
        *,
        as_json: bool,
        level: float,
    ) -> None:
        self.header = b"" if as_json else b"prediction,low,high\n"
        self._line = '{{"prediction": {!r}, "interval": [{!r}, {!r}]}}\n' if as_json else NUMBERS
        self._bins, self._density = bins, density
        self._levels = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])

    def lines(self, rows: CodedRows) -> bytes:
        """Predict rows, which hold the predictor's inputs with one more state each, and format."""
        p = self._bins(rows)
        intervals = self._density.quantiles(p, self._levels)
        numbers = np.column_stack([self._density.mean(p), intervals]).tolist()
        return "".join(self._line.format(*row) for row in numbers).encode()


def _csv_line(entries: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(entries)  # entries with \r or \n need quotes
    return text.getvalue().removesuffix("\r\n") + "\n"
