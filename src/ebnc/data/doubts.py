"""Columns that look like a mistake, all of them named at once, each with what would mend it.

Identifiers are left out with a warning; a column that was probably read wrongly (a
number with decimal commas, a number to be predicted) ends the run before it begins.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ebnc.data.summaries import MOST_STATES, ColumnSummary, TableSummary
from ebnc.data.text import is_written_number
from ebnc.domain import Domain

__all__ = ["Doubt", "doubtful_columns", "in_words"]

MANY_CLASSES = 50
SURE = 50  # entries from which on all of them being different is no accident
COMMA = re.compile(r"\s*[+-]?\d+(\.\d{3})*,\d+\s*|\s*[+-]?\d{1,3}(,\d{3})+(\.\d+)?\s*")
DATE = re.compile(r"\s*\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(\b.*)?")


@dataclass(frozen=True)
class Doubt:
    """``is_left_out``: learning goes on without the column."""

    name: str
    problem: str
    remedy: str
    is_left_out: bool

    def __str__(self) -> str:
        return f"{self.name!r} {self.problem} ({self.remedy})"


def in_words(doubts: Sequence[Doubt], *, refused: bool = False) -> str:
    """One message about all of them."""
    what = "doubtful columns" if refused else "columns left out"
    return f"{what}: {'; '.join(map(str, doubts))}"


def doubtful_columns(
    summary: TableSummary, inputs: Sequence[str], declared: Domain, sure: Sequence[str] = ()
) -> list[Doubt]:
    """Of inputs and target; ``sure``: columns whose type the caller has given."""
    found = []
    target = summary.target
    if target is not None and target not in declared:
        found += _of_target(target, summary.columns[target], is_sure=target in sure)
    for name in inputs:
        if name not in declared:
            found += _of_input(name, summary.columns[name], is_sure=name in sure)
    return found


def _of_target(name: str, column: ColumnSummary, *, is_sure: bool) -> list[Doubt]:
    labels = column.labels.seen
    n, count = len(labels), _count(column)
    if n > MOST_STATES:
        problem = f"is to be predicted and has {count} different values"
        return [Doubt(name, problem, "predict a column of fewer classes", is_left_out=False)]
    numeric = all(isinstance(label, int | float) for label in labels)
    if n > MANY_CLASSES and not is_sure and (numeric or column.kind == "date"):
        problem = f"is to be predicted and has {count} different numbers"
        remedy = f"this predicts classes, not numbers: merge them, or give {name}=label as type"
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
            remedy = "say which decimal mark they have: decimal=',', or give its type as label"
            return [Doubt(name, problem, remedy, is_left_out=False)]
        if len(words) > MANY_CLASSES:
            numbers = [is_written_number(word) for word in words]
            if sum(numbers) > 0.9 * len(words):
                odd = words[numbers.index(False)]
                problem = f"holds numbers and {odd!r}"
                remedy = f"give {odd!r} as a word for missing, or exclude the column"
                return [Doubt(name, problem, remedy, is_left_out=False)]
            if all(map(DATE.fullmatch, words)):
                problem = f"holds {count} dates such as {words[0]!r}"
                remedy = "write them as 2020-12-31 to use them as numbers"
                return [Doubt(name, problem, remedy, is_left_out=True)]
    if len(labels) > MOST_STATES:
        problem = f"has {count} different labels, as an identifier has"
        remedy = "merge them to use it" if is_sure else "merge them to use it, or exclude it"
        return [Doubt(name, problem, remedy, is_left_out=True)]
    differ = column.labels.declared is None and len(words) == column.labels.n_entries
    if differ and not is_sure and len(words) >= SURE:
        problem = "has another label in every row, as an identifier has"
        return [Doubt(name, problem, "give its type as label to use it", is_left_out=True)]
    return []


def _count(column: ColumnSummary) -> str:
    n = len(column.labels.seen)
    return f"more than {MOST_STATES}" if n > MOST_STATES else str(n)
