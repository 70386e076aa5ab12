"""Predictions as CSV or JSON lines; probabilities are the shortest decimals that are exact.

Classes: the most probable one, and the probability of each. Numbers: the mean, and an interval.
"""

import csv
import io
import json
from collections.abc import Sequence

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.data.text import number_array, text_array
from ebnc.parameters.smooth_density import SmoothDensity
from ebnc.predictor import Predictor

AT_A_TIME = 2**16  # probabilities, so few that their text stays in the cache
NUMBERS = "{!r},{!r},{!r}\n"


class PredictionText:
    """Formats predictions for coded rows: first ``header``, then ``lines``."""

    def __init__(self, predictor: Predictor, *, as_json: bool, at_a_time: int = AT_A_TIME) -> None:
        classes = predictor.classes.tolist()
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
        starts = text_array(self._starts).take(number_array(p.argmax(axis=1)))
        comma, end, nothing = text_array([",", self._end, ""])
        together = pc.binary_join_element_wise(*texts, comma)
        lines = pc.binary_join_element_wise(starts, together, end, nothing)
        return "".join(lines.to_pylist()).encode()


class NumberText:
    """Formats predicted numbers for coded rows, like ``PredictionText``.

    ``density``: that of the predictor. ``level``: probability of the interval.
    """

    def __init__(
        self, predictor: Predictor, density: SmoothDensity, *, as_json: bool, level: float
    ) -> None:
        self.header = b"" if as_json else b"prediction,low,high\n"
        self._line = '{{"prediction": {!r}, "interval": [{!r}, {!r}]}}\n' if as_json else NUMBERS
        self._predictor, self._density = predictor, density
        self._levels = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])

    def lines(self, rows: CodedRows) -> bytes:
        """Predict rows, which hold the predictor's inputs with one more state each, and format."""
        p = self._predictor.probabilities(rows)
        intervals = self._density.quantiles(p, self._levels)
        numbers = np.column_stack([self._density.mean(p), intervals]).tolist()
        return "".join(self._line.format(*row) for row in numbers).encode()


def _csv_line(entries: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(entries)  # entries with \r or \n need quotes
    return text.getvalue().removesuffix("\r\n") + "\n"
