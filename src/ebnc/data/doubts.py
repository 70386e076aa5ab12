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
    for name in dict.fromkeys([*([summary.target] if summary.target else []), *inputs]):
        if name not in declared:
            check = _of_target if name == summary.target else _of_input
            doubts.append(check(name, summary.columns[name], name in sure))
    return [doubt for doubt in doubts if doubt is not None]


def _of_target(name: str, column: ColumnSummary, is_sure: bool) -> Doubt | None:
    labels = column.labels.seen
    if len(labels) > MOST_STATES:
        problem = f"is the target and has {_count(column)} different values"
        return Doubt(name, problem, "predict a column with fewer classes", False)
    numeric = all(isinstance(label, int | float) for label in labels)
    if len(labels) > MANY_CLASSES and not is_sure and (numeric or column.kind == "date"):
        problem = f"is the target and has {_count(column)} different numbers"
        remedy = f"predict it with EBNCRegressor, merge them, or set the type {name}=label"
        return Doubt(name, problem, remedy, False)
    return None


def _of_input(name: str, column: ColumnSummary, is_sure: bool) -> Doubt | None:
    words = [label for label in column.labels.seen if isinstance(label, str)]
    doubt = None
    if column.labels.declared is None and not is_sure:
        doubt = _of_words(name, words, _count(column))
    if doubt is None and len(column.labels.seen) > MOST_STATES:
        problem = f"has {_count(column)} different labels, like an identifier"
        remedy = "merge them to use it" if is_sure else "merge them to use it, or exclude it"
        return Doubt(name, problem, remedy, True)
    differ = column.labels.declared is None and len(words) == column.labels.n_entries
    if doubt is None and differ and not is_sure and len(words) >= SURE:
        problem = "has a different label in every row, like an identifier"
        return Doubt(name, problem, "set its type to label to use it", True)
    return doubt


def _of_words(name: str, words: Sequence[str], count: str) -> Doubt | None:
    """Text that is probably numbers or dates."""
    with_comma = [word for word in words if COMMA.fullmatch(word)]
    if len(words) > 2 and len(with_comma) > 0.9 * len(words):
        remedy = "set the decimal mark (decimal=',', in the shell --decimal ,) or its type to label"
        return Doubt(name, f"holds numbers written as {with_comma[0]!r}", remedy, False)
    if len(words) <= MANY_CLASSES:
        return None
    others = [word for word in words if not is_written_number(word)]
    if others and len(words) - len(others) > 0.9 * len(words):
        remedy = f"declare {others[0]!r} as a word for missing, or exclude the column"
        return Doubt(name, f"holds numbers and {others[0]!r}", remedy, False)
    if all(map(DATE.fullmatch, words)):
        remedy = "write them as 2020-12-31 to use them as numbers"
        return Doubt(name, f"holds {count} dates such as {words[0]!r}", remedy, True)
    return None


def _count(column: ColumnSummary) -> str:
    n = len(column.labels.seen)
    return f"more than {MOST_STATES}" if n > MOST_STATES else str(n)
