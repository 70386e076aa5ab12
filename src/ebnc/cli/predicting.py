"""Write predictions for the rows of a table, and compare them with the target if it is there."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import BinaryIO, NamedTuple

import numpy as np

from ebnc.cli.arguments import columns_from
from ebnc.cli.prediction_text import Density, NumberText, PredictionText
from ebnc.data.batches import Batch, Source, require
from ebnc.data.coder import Coder, Unknown
from ebnc.data.columns import Column
from ebnc.data.rows import CodedRows
from ebnc.data.table import Kind
from ebnc.errors import DataError
from ebnc.typing import FloatArray, IntArray


class Answers(NamedTuple):
    """What predicts the rows of a table.

    ``probabilities``: of classes, or of the bins of a number with a ``density``. ``best``: the
    class to predict, from probabilities.
    """

    target: str
    probabilities: Callable[[CodedRows], FloatArray]
    best: Callable[[FloatArray], IntArray]
    density: Density | None


def kept_columns(source: Source, id_column: str | None, keep: Sequence[str] | None) -> list[str]:
    """Return the columns of the data that are written beside predictions."""
    wanted = [] if id_column is None else [id_column]
    for name in columns_from(keep, source.names):
        wanted += list(source.names) if name == "all" and "all" not in source.names else [name]
    require(wanted, source.names)
    if "prediction" in wanted:
        raise DataError("a column 'prediction' cannot be kept beside the predictions; rename it")
    return list(dict.fromkeys(wanted))


class Score:
    """How well predictions agree with the target, if the data have it.

    ``n``: number of rows with a target that the model knows; sums over them are added up.
    """

    def __init__(self, coder: Coder, answers: Answers) -> None:
        self._coder = Coder(coder.domain, [answers.target], "extra")
        self._answers = answers
        self.n = 0
        self._right = self._loss = self._squares = 0.0

    def add(self, p: FloatArray, column: Column) -> None:
        """Add predictions of some rows, and their targets."""
        name, density = self._answers.target, self._answers.density
        codes = self._coder.encode(Batch({name: column}, len(column))).codes[0].astype(np.int64)
        known = (codes < p.shape[1]) & ~column.missing
        p, codes = p[known], codes[known]
        self.n += len(codes)
        if density is not None:
            numbers = self._coder.numbers(name, column)[known]
            self._squares += float(((density.mean(p) - numbers) ** 2).sum())
            return
        self._right += float((self._answers.best(p) == codes).sum())
        with np.errstate(divide="ignore"):
            self._loss -= float(np.log(p[np.arange(len(p)), codes]).sum())

    def __str__(self) -> str:
        if self._answers.density is not None:
            words = f"RMSE {math.sqrt(self._squares / self.n):.5g}"
        else:
            words = f"accuracy {self._right / self.n:.2%}, log-loss {self._loss / self.n:.4f}"
        return f"against column {self._answers.target!r} of the data: {words}"


def write_predictions(
    source: Source,
    coder: Coder,
    text: PredictionText | NumberText,
    answers: Answers,
    file: BinaryIO,
    kept: Sequence[str],
) -> tuple[int, Score]:
    """Predict all rows of a source; return their number, and the agreement with the target.

    ``coder``: codes the inputs; its domain has the target.
    """
    target, score = answers.target, Score(coder, answers)
    plan = coder.plan(source.options)
    has_target = target in source.names
    others = dict.fromkeys([*kept, *([target] if has_target else [])])
    kinds: dict[str, Kind] = {**plan.kinds, **dict.fromkeys(kept, "label")}
    if has_target:
        kinds |= Coder(coder.domain, [target]).plan(source.options).kinds
    names = (*plan.names, *(name for name in others if name not in plan.names))
    plan = replace(plan, names=names, kinds=kinds)
    file.write(text.header)
    n_rows = 0
    for batch in source.batches(plan):
        rows = coder.encode(batch)
        p = answers.probabilities(rows)
        columns = [batch.columns[name] for name in kept]
        if isinstance(text, NumberText):
            file.write(text.lines(p, columns))
        else:
            file.write(text.lines(p, answers.best(p), columns))
        n_rows += len(rows)
        if has_target:
            score.add(p, batch.columns[target])
    if n_rows == 0:
        raise DataError("the data have no rows")
    coder.unknown.refuse_wholly_unknown(coder.domain)
    return n_rows, score


def print_result(n_rows: int, score: Score, out: str, unknown: Unknown, *, quiet: bool) -> None:
    """Print counts of unknown entries, and for people what was written and how good it is.

    If predictions went to standard output, only a terminal gets the rest, on standard error.
    """
    from ebnc.cli.printing import readable_count
    from ebnc.cli.streams import STANDARD

    if unknown:
        print(f"ebnc: {unknown}", file=sys.stderr)
    if quiet or (out == STANDARD and not sys.stderr.isatty()):
        return
    stream = sys.stderr if out == STANDARD else sys.stdout
    where = "" if out == STANDARD else f" in {out}"
    print(f"{readable_count(n_rows)} predictions{where}", file=stream)
    if score.n:
        print(f"{score} (`ebnc evaluate` measures more)", file=stream)
