"""Predictions as CSV or JSON lines.

Classes: the most probable one, and the probability of each. Numbers: the mean, and an interval.
Columns of the data, such as an identifier, may come first.
"""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ebnc.cli.network.files import state_text
from ebnc.data.columns import Column, Numbers, factorise
from ebnc.data.text import DAY, number_array, text_array
from ebnc.typing import FloatArray, IntArray

AT_A_TIME = 2**16  # probabilities, so few that their text stays in the cache
EXACT = 17  # digits that tell all doubles apart


class Density(Protocol):
    """What turns probabilities of bins into statements about a number."""

    def mean(self, p: FloatArray) -> FloatArray:
        """Return the mean for each row of probabilities."""

    def quantiles(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """Return quantiles for each row of probabilities, shape (rows, len(q))."""


class PredictionText:
    """Formats predicted classes: first ``header``, then ``lines``.

    ``kept``: names of columns of the data that come first. ``digits``: of probabilities.
    """

    def __init__(
        self,
        classes: Sequence[Any],
        *,
        as_json: bool,
        digits: int = EXACT,
        kept: Sequence[str] = (),
        at_a_time: int = AT_A_TIME,
    ) -> None:
        labels = [x if isinstance(x, str | int | float) else state_text(x) for x in classes]
        self._kept, self._digits = _KeptText(kept, as_json=as_json), digits
        if as_json:
            self.header, self._end = b"", "]}\n"
            empty = ({"prediction": x, "classes": labels, "probabilities": []} for x in labels)
            self._starts = [json.dumps(x, ensure_ascii=False)[1:-2] for x in empty]
        else:
            names = [*kept, "prediction", *(f"p({label})" for label in labels)]
            self.header, self._end = f"{_csv_line(names)}\n".encode(), "\n"
            self._starts = [f"{_csv_field(str(label))}," for label in labels]
        self._n_rows = max(1, at_a_time // len(labels))  # rows at once

    def lines(self, p: FloatArray, best: IntArray, kept: Sequence[Column] = ()) -> bytes:
        """Format predictions: probabilities (rows, K), classes to predict, and kept columns."""
        parts = []
        for i in range(0, len(p), self._n_rows):
            some = np.arange(i, min(i + self._n_rows, len(p)))
            parts.append(self._part(p[some], best[some], [column.take(some) for column in kept]))
        return b"".join(parts)

    def _part(self, p: FloatArray, best: IntArray, kept: Sequence[Column]) -> bytes:
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = rounded(p, self._digits).T
        texts = [number_array(column).cast(pa.string()) for column in columns]
        starts = text_array(self._starts).take(number_array(np.asarray(best)))
        comma, end, nothing = text_array([",", self._end, ""])
        together = pc.binary_join_element_wise(*texts, comma)
        before = self._kept.texts(kept, len(p))
        lines = pc.binary_join_element_wise(*before, starts, together, end, nothing)
        return "".join(lines.to_pylist()).encode()


class NumberText:
    """Formats predicted numbers, like ``PredictionText``, from probabilities of bins.

    ``level``: probability of the interval.
    """

    def __init__(
        self,
        density: Density,
        *,
        as_json: bool,
        level: float,
        digits: int = EXACT,
        kept: Sequence[str] = (),
    ) -> None:
        names = [*kept, "prediction", "low", "high"]
        self.header = b"" if as_json else f"{_csv_line(names)}\n".encode()
        self._line = (
            '"prediction": {!r}, "interval": [{!r}, {!r}]}}' if as_json else "{!r},{!r},{!r}"
        )
        self._kept, self._digits = _KeptText(kept, as_json=as_json), digits
        self._density = density
        self._levels = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])

    def lines(self, p: FloatArray, kept: Sequence[Column] = ()) -> bytes:
        """Format predictions of rows from probabilities of bins (rows, B), and kept columns."""
        import pyarrow.compute as pc

        intervals = self._density.quantiles(p, self._levels)
        numbers = rounded(np.column_stack([self._density.mean(p), intervals]), self._digits)
        texts = text_array([self._line.format(*row) for row in numbers.tolist()])
        end, nothing = text_array(["\n", ""])
        before = self._kept.texts(kept, len(p))
        lines = pc.binary_join_element_wise(*before, texts, end, nothing)
        return "".join(lines.to_pylist()).encode()


def prediction_text(
    classes: Sequence[Any],
    density: Density | None,
    *,
    as_json: bool,
    level: float,
    digits: int,
    kept: Sequence[str],
) -> PredictionText | NumberText:
    """Return what formats the predictions of a target, which is a number if it has a density."""
    if density is None:
        return PredictionText(classes, as_json=as_json, digits=digits, kept=kept)
    return NumberText(density, as_json=as_json, level=level, digits=digits, kept=kept)


class _KeptText:
    """Formats columns of the data as the beginnings of lines."""

    def __init__(self, names: Sequence[str], *, as_json: bool) -> None:
        self._names, self._as_json = names, as_json

    def texts(self, columns: Sequence[Column], n_rows: int) -> list[Any]:
        """Return Arrow arrays of text, which are the beginnings of lines when they are joined."""
        if self._as_json:
            keys = [f"{json.dumps(name, ensure_ascii=False)}: " for name in self._names]
            starts = ['{"kept": {' + keys[0], *(f", {key}" for key in keys[1:])] if keys else ["{"]
            starts = starts[: len(keys)]
            texts = [self._column(*each) for each in zip(columns, starts, strict=True)]
            return [*texts, text_array(["}, " if keys else "{"] * n_rows)]
        return [self._column(column, "") for column in columns]

    def _column(self, column: Column, start: str) -> Any:
        """The entries of a column, each between ``start`` and what ends it."""
        labelled = factorise(column)
        entries: list[Any] = [*labelled.labels, None]
        if isinstance(column, Numbers) and column.kind == "date":
            entries = [*(_date(days) for days in labelled.labels), None]
        if self._as_json:
            plain = (
                x if x is None or isinstance(x, str | int | float) else str(x) for x in entries
            )
            texts = [json.dumps(x, ensure_ascii=False) for x in plain]
        else:
            texts = [f"{_csv_field('' if x is None else str(x))}," for x in entries]
        codes = np.where(labelled.codes < 0, len(entries) - 1, labelled.codes)
        return text_array([start + text for text in texts]).take(number_array(codes))


def rounded(x: FloatArray, digits: int) -> FloatArray:
    """Round to significant digits; the shortest text of a result has no more digits than these."""
    if digits >= EXACT:
        return x
    size = np.abs(x)
    power = np.floor(np.log10(np.where(size > 0, size, 1.0)))
    shift = digits - 1 - power
    up, down = 10.0 ** shift.clip(0, 300), 10.0 ** (-shift).clip(0, 300)
    return np.asarray(np.round(x * up / down) / up * down)


def _date(days: Any) -> str:
    """Days since 1970 as a date, with the time if there is one."""
    moment = np.datetime64(round(days * DAY), "us")
    return str(moment.astype("datetime64[D]") if days % 1 == 0 else moment)


def _csv_line(entries: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(entries)  # entries with \r or \n need quotes
    return text.getvalue().removesuffix("\r\n")


def _csv_field(entry: str) -> str:
    return _csv_line([entry, ""])[:-1]
