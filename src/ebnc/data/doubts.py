"""Columns that look like mistakes. One message names all of them, each with a remedy.

Identifiers are left out with a warning. A column that was probably misread (numbers with decimal
commas, a target of many numbers) is an error.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ebnc.data.summaries import MOST_STATES, ColumnSummary, TableSummary
from ebnc.data.text import is_written_number
from ebnc.domain import Domain

__all__ = ["Doubt", "doubtful_columns", "in_words"]

MANY_CLASSES = 50
SURE = 50  # entries; if so many are all different, the column is an identifier
COMMA = re.compile(r"\s*[+-]?\d+(\.\d{3})*,\d+\s*|\s*[+-]?\d{1,3}(,\d{3})+(\.\d+)?\s*")
DATE = re.compile(r"\s*\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(\b.*)?")


@dataclass(frozen=True)
class Doubt:
    """A doubtful column; if ``is_left_out``, learning continues without it."""

    name: str
    problem: str
    remedy: str
    is_left_out: bool

    def __str__(self) -> str:
        return f"{self.name!r} {self.problem} ({self.remedy})"


def in_words(doubts: Sequence[Doubt], *, refused: bool = False) -> str:
    """Return one message about all doubts."""
    title = "doubtful columns" if refused else "columns left out"
    return f"{title}: {'; '.join(map(str, doubts))}"


def doubtful_columns(
    summary: TableSummary, inputs: Sequence[str], declared: Domain, sure: Sequence[str] = ()
) -> list[Doubt]:
    """Return the doubts about inputs and target; ``sure`` are columns with a declared type."""
    doubts = []
    target = summary.target
    if target is not None and target not in declared:
        doubts += _of_target(target, summary.columns[target], is_sure=target in sure)
    for name in inputs:
        if name not in declared:
            doubts += _of_input(name, summary.columns[name], is_sure=name in sure)
    return doubts


def _of_target(name: str, column: ColumnSummary, *, is_sure: bool) -> list[Doubt]:
    labels = column.labels.seen
    n, count = len(labels), _count(column)
    if n > MOST_STATES:
        problem = f"is the target and has {count} different values"
        return [Doubt(name, problem, "predict a column with fewer classes", is_left_out=False)]
    numeric = all(isinstance(label, int | float) for label in labels)
    if n > MANY_CLASSES and not is_sure and (numeric or column.kind == "date"):
        problem = f"is the target and has {count} different numbers"
        remedy = f"ebnc predicts classes, not numbers: merge them, or set the type {name}=label"
        return [Doubt(name, problem, remedy, is_left_out=False)]
    return []


def _of_input(name: str, column: ColumnSummary, *, is_sure: bool) -> list[Doubt]:
    labels, count = list(column.labels.seen), _count(column)
    words = [label for label in labels if isinstance(label, str)]
    if column.labels.declared is None and not is_sure and words:
        commas = sum(COMMA.fullmatch(word) is not None for word in words)
        if len(words) > 2 and commas > 0.9 * len(words):
            example = next(word for word in words if COMMA.fullmatch(word))
            problem = f"holds numbers written as {example!r}"
            remedy = "set the decimal mark, decimal=',', or set its type to label"
            return [Doubt(name, problem, remedy, is_left_out=False)]
        if len(words) > MANY_CLASSES:
            numbers = [is_written_number(word) for word in words]
            if sum(numbers) > 0.9 * len(words):
                odd = words[numbers.index(False)]
                problem = f"holds numbers and {odd!r}"
                remedy = f"declare {odd!r} as a word for missing, or exclude the column"
                return [Doubt(name, problem, remedy, is_left_out=False)]
            if all(map(DATE.fullmatch, words)):
                problem = f"holds {count} dates such as {words[0]!r}"
                remedy = "write them as 2020-12-31 to use them as numbers"
                return [Doubt(name, problem, remedy, is_left_out=True)]
    if len(labels) > MOST_STATES:
        problem = f"has {count} different labels, like an identifier"
        remedy = "merge them to use it" if is_sure else "merge them to use it, or exclude it"
        return [Doubt(name, problem, remedy, is_left_out=True)]
    differ = column.labels.declared is None and len(words) == column.labels.n_entries
    if differ and not is_sure and len(words) >= SURE:
        problem = "has a different label in every row, like an identifier"
        return [Doubt(name, problem, "set its type to label to use it", is_left_out=True)]
    return []


def _count(column: ColumnSummary) -> str:
    n = len(column.labels.seen)
    return f"more than {MOST_STATES}" if n > MOST_STATES else str(n)
