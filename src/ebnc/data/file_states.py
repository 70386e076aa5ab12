"""States of the columns of files, by the rules of ``ebnc.data.states``, from counts in SQL.

Labels come from the distinct values. Numbers come as values with their weight in each class, which
is all that MDLP and quantiles look at; the counting is DuckDB's, out of core.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ebnc.data.engine import Engine, quoted
from ebnc.data.file_table import FileColumn
from ebnc.data.states import Missing, number_states, refuse_many, target_states, with_missing
from ebnc.domain import Interval, State
from ebnc.errors import DataError
from ebnc.typing import FloatArray, IntArray

__all__ = [
    "Observed",
    "Source",
    "code_of_column",
    "interval_tree",
    "states_of_column",
    "states_of_target",
]

PAIR_BYTES = 64  # a value with its class and weight, and what MDLP makes of them
BUCKETS = 2**20  # values beyond memory are taken together, this many of about equal weight
COMPARISONS = 16  # more of them are slower than a join with a table of codes (measured)
MOST_LABELS = 100_000  # of declared states; undeclared ones have a lower limit


@dataclass(frozen=True)
class Source:
    """A table or view, and the SQL of a row's weight in it."""

    engine: Engine
    table: str
    weight: str

    def observed(self, column: FileColumn) -> "Observed":
        """The distinct values of one column."""
        query = f"SELECT DISTINCT {column.key} AS v FROM {self.table} LIMIT {MOST_LABELS + 1}"
        rows = self.engine.rows(f"SELECT v, CAST(v AS VARCHAR) FROM ({query}) ORDER BY v")
        if len(rows) > MOST_LABELS:
            refuse_many(column.name, len(rows), "is it an identifier? leave it out")
        present = [row for row in rows if row[0] is not None]
        return Observed(
            self.engine,
            column,
            tuple(value for value, _ in present),
            tuple(text for _, text in present),
            len(present) < len(rows),
        )


@dataclass(frozen=True)
class Observed:
    """Distinct values of a column in ascending order, as Python's and as text for SQL."""

    engine: Engine
    column: FileColumn
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    has_missing: bool

    def lookup(self, codes: Sequence[int | None], missing: int | None) -> str:
        """SQL of the code of an entry: comparisons, or a look-up in a table where they are many."""
        key, pairs = self.column.key, list(zip(self.texts, map(_code, codes), strict=True))
        if len(pairs) <= COMPARISONS:
            value = f"CAST({{}} AS {self.column.type})"
            cases = [f"WHEN {value.format(quoted(text))} THEN {code}" for text, code in pairs]
            inside = f"CASE {key} {' '.join(cases)} END" if cases else "NULL"
        else:
            rows = ", ".join(f"({quoted(text)}, {code})" for text, code in pairs)
            self.engine.run(
                f"CREATE OR REPLACE TABLE codes_{key} AS SELECT CAST(text AS {self.column.type}) "
                f"AS value, code FROM (VALUES {rows}) AS listed(text, code)"
            )
            inside = f"(SELECT code FROM codes_{key} WHERE value = {key})"
        return f"CASE WHEN {key} IS NULL THEN {_code(missing)} ELSE {inside} END"


def states_of_target(name: str, observed: Observed) -> tuple[State, ...]:
    """The states of the target; never intervals."""
    return target_states(name, _ordered(observed.values), observed.has_missing)


def states_of_column(
    source: Source, column: FileColumn, class_code: str | None, missing: Missing
) -> tuple[State, ...]:
    """The states of an input. ``class_code``: SQL of the class's number, None without a target."""
    if not column.is_numeric:
        found = source.observed(column)
        refuse_many(column.name, len(found.values), "is it an identifier? leave it out")
        return with_missing(column.name, _ordered(found.values), found.has_missing, missing)
    values, classes, weights = _value_counts(source, column, class_code)
    lacking = bool(np.isnan(values).any())
    states = number_states(values, classes if class_code is not None else None, weights)
    if states is None:
        states = tuple(map(int, source.observed(column).values))
    return with_missing(column.name, states, lacking, missing)


def code_of_column(
    column: FileColumn, states: Sequence[State], observed: Observed | None, extra: int | None
) -> str:
    """SQL of an entry's code. ``extra``: the code of what is not a state; NULL without one.

    ``observed`` is not needed where the states are intervals.
    """
    codes: dict[State, int] = {state: code for code, state in enumerate(states)}
    missing = codes.get(None, extra)
    if isinstance(states[0], Interval):
        if not column.is_numeric:
            raise DataError(f"column {column.name!r} must hold numbers, it holds {column.type}")
        cuts = [state.high for state in states if isinstance(state, Interval)][:-1]
        inside = interval_tree(f"CAST({column.key} AS DOUBLE)", cuts, 0, len(cuts))
        return f"CASE WHEN {column.key} IS NULL THEN {_code(missing)} ELSE {inside} END"
    assert observed is not None
    return observed.lookup([codes.get(value, extra) for value in observed.values], missing)


def _value_counts(
    source: Source, column: FileColumn, class_code: str | None
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Distinct (value, class) pairs of a column with their weights; NaN is missing."""
    engine = source.engine
    engine.run(
        f"CREATE OR REPLACE TABLE value_counts AS SELECT v, y, CAST(sum(w) AS DOUBLE) AS n FROM "
        f"(SELECT CAST({column.key} AS DOUBLE) AS v, CAST({class_code or 0} AS INTEGER) AS y, "
        f"{source.weight} AS w FROM {source.table}) GROUP BY v, y",
        f"counting values of {column.name}",
    )
    ((length, infinite),) = engine.rows("SELECT count(*), bool_or(isinf(v)) FROM value_counts")
    if infinite:
        raise DataError(f"column {column.name!r} holds an infinite number; remove or replace it")
    if length * PAIR_BYTES > engine.memory // 2:
        engine.run(
            "CREATE OR REPLACE TABLE value_counts AS WITH placed AS (SELECT v, y, n, "
            f"floor(sum(n) OVER (ORDER BY v) / sum(n) OVER () * {BUCKETS}) AS bucket "
            "FROM value_counts), ends AS (SELECT bucket, v IS NULL AS lacks, max(v) AS high "
            "FROM placed GROUP BY ALL) SELECT high AS v, y, sum(n) AS n FROM placed JOIN ends "
            "ON placed.bucket = ends.bucket AND (v IS NULL) = lacks GROUP BY high, y",
            f"thinning values of {column.name}",
        )
    found = engine.arrays("SELECT v, y, n FROM value_counts ORDER BY v, y")
    engine.run("DROP TABLE value_counts")
    values = np.ma.filled(np.ma.asarray(found["v"], dtype=np.float64), np.nan)
    classes = np.ma.filled(np.ma.asarray(found["y"]), -1).astype(np.int64)
    if (classes < 0).any():  # a missing class counts as one more, as it does in memory
        classes = np.where(classes < 0, classes.max() + 1, classes)
    return values, classes, np.asarray(found["n"], dtype=np.float64)


def _ordered(values: Sequence[Any]) -> tuple[State, ...]:
    return tuple(sorted(values))


def interval_tree(key: str, cuts: Sequence[float], start: int, stop: int) -> str:
    """The number of cuts below the entry, of those from start to stop: low < x ≤ high."""
    if start == stop:
        return str(start)
    middle = (start + stop) // 2
    left = interval_tree(key, cuts, start, middle)
    right = interval_tree(key, cuts, middle + 1, stop)
    return f"CASE WHEN {key} <= CAST('{cuts[middle]!r}' AS DOUBLE) THEN {left} ELSE {right} END"


def _code(code: int | None) -> str:
    return "NULL" if code is None else str(code)
