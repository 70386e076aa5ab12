"""Cases out of files: count equal rows out of core, learn states, code, and keep what is left.

1. Numbers of many values are cut into intervals first, from their own value counts.
2. Where rows repeat, DuckDB groups them (``GROUP BY``, raw values: one pass over the files);
   states and codes then come from the distinct rows. A look at the first rows decides.
3. Coded rows that fit into half of the memory limit are ``Cases``, in ascending order; the others
   ``StoredParts`` on disk.

Everything is as in memory: the same states, the same codes, the same weights.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ebnc.data.cases import LARGEST_WEIGHT, Cases
from ebnc.data.encoding import unseen_error
from ebnc.data.engine import Engine
from ebnc.data.file_states import (
    Observed,
    Source,
    code_of_column,
    states_of_column,
    states_of_target,
)
from ebnc.data.file_table import FileColumn, FileTable
from ebnc.data.files import DataFiles
from ebnc.data.parts import Parts, StoredParts
from ebnc.data.rows import CodedRows, code_type
from ebnc.data.states import Categories, Missing, refuse_many, refuse_single_class
from ebnc.domain import Domain, Interval, State
from ebnc.errors import DataError
from ebnc.typing import CodeArray, FloatArray

__all__ = [
    "BATCH_ROWS",
    "coded_batches",
    "coded_columns",
    "column_names",
    "read_columns_of_files",
    "read_files",
]

SAMPLE = 2**17  # rows that are looked at first
NARROW = 256  # whole numbers in such a range are grouped as they are
BATCH_ROWS = 2**18
PART_ROWS = 2**20
KEPT_SHARE = 0.5  # of the memory limit that coded rows may take


def column_names(files: DataFiles) -> list[str]:
    """The columns of files, in their order."""
    with Engine(files) as engine:
        return list(FileTable(engine).names)


def read_columns_of_files(
    files: DataFiles, names: Sequence[str], most_rows: int
) -> tuple[dict[str, Any], int]:
    """Columns as arrays in memory, masked where entries are missing, and how many rows there are.

    Where there are more than ``most_rows``, every second, third … row, in the order of the files.
    """
    with Engine(files) as engine:
        table = FileTable(engine)
        table.select(names)
        ((length,),) = engine.rows(f"SELECT count(*) FROM {table.view}", "counting rows")
        step = -(-length // most_rows)
        query = f"SELECT * FROM {table.view}"
        if step > 1:
            query += f" QUALIFY row_number() OVER () % {step} = 0"
        found = engine.arrays(query)
        table.refuse_changed()
        return {name: found[table.columns[name].key] for name in names}, length


def read_files(
    files: DataFiles,
    inputs: Sequence[str],
    target: str | None,
    *,
    keep: Sequence[str] | None = None,
    categories: Categories | None = None,
    missing: Missing = "state",
    weights: object = None,
) -> Parts:
    """States of ``inputs`` and ``target``, and the coded cases of ``keep`` (all unless given).

    Without a target the last input stands where cases have their class; states are learned without.
    """
    if weights is not None and not isinstance(weights, str):
        raise DataError("weights of data in files must be the name of a column")
    kept = list(inputs) if keep is None else list(keep)
    holder = kept.pop() if target is None else target
    with Engine(files) as engine:
        table = FileTable(engine)
        reader = _Reader(table, [*inputs, *([] if target is None else [target])], weights)
        domain = reader.learn_domain(
            inputs, target, [*kept, holder], Domain(categories or {}), missing
        )
        if target is not None:
            refuse_single_class(domain, target)
        cases = reader.cases(domain, kept, holder)
        table.refuse_changed()
        return cases


class _Reader:
    """The steps of reading one table, in order."""

    def __init__(self, table: FileTable, names: Sequence[str], weights: str | None) -> None:
        self.table, self.engine = table, table.engine
        table.select([*names, *([weights] if weights and weights not in names else [])])
        self.columns = table.columns
        self.weight = "1"
        if weights is not None:
            self._check_weights(weights)
        self.typed = Source(self.engine, table.view, self.weight)
        self.source = self.typed  # becomes the distinct rows, where these are counted
        self.binned: dict[str, tuple[State, ...]] = {}
        self.seen: dict[str, Observed] = {}
        self.in_source: set[str] = set(self.columns)

    # -- states -----------------------------------------------------------------------------

    def learn_domain(
        self,
        inputs: Sequence[str],
        target: str | None,
        kept: Sequence[str],
        declared: Domain,
        missing: Missing,
    ) -> Domain:
        states: dict[str, Sequence[State]] = {}
        class_code = None
        if target is not None:
            column = self.columns[target]
            self.seen[target] = observed = self.typed.observed(column)
            states[target] = (
                declared[target] if target in declared else states_of_target(target, observed)
            )
            class_code = observed.lookup(range(len(observed.values)), None)
        wide = self._wide([x for x in inputs if x not in declared])
        for name in wide:
            column = self.columns[name]
            states[name] = states_of_column(self.typed, column, class_code, missing)
            self.binned[name] = tuple(states[name])
        self.binned |= {x: declared[x] for x in declared if isinstance(declared[x][0], Interval)}
        self._count(kept)
        for name in inputs:
            if name in declared:
                states[name] = declared[name]
            elif name not in states:
                of = self.source if name in self.in_source else self.typed
                column = self.columns[name]
                states[name] = states_of_column(of, column, class_code, missing)
        order = [*inputs, *([] if target is None else [target])]
        return Domain({name: states[name] for name in order})

    def _wide(self, names: Sequence[str]) -> list[str]:
        """Columns of numbers with too many values for rows to be grouped by them."""
        numeric = [self.columns[name] for name in names if self.columns[name].is_numeric]
        if not numeric:
            return []
        asked = []
        for column in numeric:
            if column.is_whole:
                asked.append(f"max({column.key})::DOUBLE - min({column.key})::DOUBLE")
            else:
                asked.append(f"approx_count_distinct({column.key})")
        (found,) = self.engine.rows(
            f"SELECT {', '.join(asked)} FROM {self.table.view}", "looking at numbers"
        )
        return [c.name for c, size in zip(numeric, found, strict=True) if size and size > NARROW]

    # -- counting ---------------------------------------------------------------------------

    def _count(self, names: Sequence[str]) -> None:
        """Group equal rows, where at least half of them are repeats."""
        keys = [self._grouped(name) for name in names]
        if not self._worth_counting(names, keys):
            return
        pairs = zip(names, keys, strict=True)
        shown = ", ".join(f"{sql} AS {self.columns[name].key}" for name, sql in pairs)
        total = "count(*)" if self.weight == "1" else f"sum({self.weight})"
        self.engine.run(
            f"CREATE TABLE counted AS SELECT {shown}, {total} AS n "
            f"FROM {self.table.view} GROUP BY ALL",
            "counting rows",
        )
        self.source = Source(self.engine, "counted", "n")
        self.in_source = set(names)

    def _grouped(self, name: str) -> str:
        """What rows are grouped by: the value itself, or the number of its interval."""
        column = self.columns[name]
        if name in self.binned:
            return code_of_column(column, self.binned[name], None, None)
        return column.key

    def _worth_counting(self, names: Sequence[str], keys: Sequence[str]) -> bool:
        """Among s rows of D equally likely ones s²/2D pairs are equal; is D at most half of N?"""
        engine = self.engine
        shown = ", ".join(f"{key} AS g{i}" for i, key in enumerate(keys))
        engine.run(f"CREATE TABLE looked AS SELECT {shown} FROM {self.table.view} LIMIT {SAMPLE}")
        for i, name in enumerate(names):
            if not self.columns[name].is_numeric:
                ((found,),) = engine.rows(f"SELECT count(DISTINCT g{i}) FROM looked")
                refuse_many(name, found, "is it an identifier? leave it out")
        ((rows, pairs),) = engine.rows(
            "SELECT coalesce(sum(n), 0), coalesce(sum(n * (n - 1) / 2), 0) FROM "
            "(SELECT count(*) AS n FROM looked GROUP BY ALL)"
        )
        engine.run("DROP TABLE looked")
        if rows < SAMPLE:
            return True
        ((total,),) = engine.rows(f"SELECT count(*) FROM {self.table.view}")
        return bool(pairs > SAMPLE**2 / total)

    # -- coding -----------------------------------------------------------------------------

    def codes(self, domain: Domain, names: Sequence[str], unseen_as_extra: bool) -> list[str]:
        """SQL of each column's code in ``source``; what is not a state is refused or extra."""
        found = []
        for name in names:
            column, states = self.columns[name], domain[name]
            if name in self.binned and self.source.table == "counted":
                found.append(self._regrouped(column, states))
                continue
            observed = self.seen.get(name) or self.source.observed(column)
            extra = len(states) if unseen_as_extra else None
            if extra is None:
                _refuse_unseen(observed, states)
            found.append(code_of_column(column, states, observed, extra))
        return found

    def _regrouped(self, column: FileColumn, states: tuple[State, ...]) -> str:
        """Intervals were numbered before the counting; only missing entries may be refused."""
        if None not in states:
            query = f"SELECT bool_or({column.key} IS NULL) FROM counted"
            if self.engine.rows(query)[0][0]:
                raise unseen_error(column.name, None, states)
        return column.key

    def cases(self, domain: Domain, names: Sequence[str], target: str) -> Parts:
        """The coded rows, in memory or in parts on disk."""
        order = [*names, target]
        codes = self.codes(domain, order, unseen_as_extra=False)
        n_states = tuple(domain.n_states(name) for name in order)
        weight = "" if self.source.weight == "1" else f", CAST({self.source.weight} AS DOUBLE) AS n"
        query = f"SELECT {coded_columns(codes, n_states)}{weight} FROM {self.source.table}"
        if self.source.table == "counted":
            keys = ", ".join(f"k{v}" for v in range(len(codes)))
            query = f"SELECT {keys}, sum(n) AS n FROM ({query}) GROUP BY ALL ORDER BY ALL"
        self.engine.run(f"CREATE TABLE coded AS {query}", "coding rows")
        ((length,),) = self.engine.rows("SELECT count(*) FROM coded")
        if length == 0:
            raise DataError("the data have no rows")
        row_bytes = 3 * len(order) * np.dtype(code_type(n_states)).itemsize + 32
        batches = coded_batches(self.engine, n_states, PART_ROWS)
        if length * row_bytes <= self.engine.memory * KEPT_SHARE:
            parts = list(batches)
            joined = np.concatenate([part for part, _ in parts], axis=1)
            weights = None
            if parts[0][1] is not None:
                weights = np.concatenate([w for _, w in parts if w is not None])
            return _as_cases(domain, names, target, joined, weights)
        built = (_as_cases(domain, names, target, *batch) for batch in batches)
        return StoredParts.write(built, self.engine.files.temp_directory)

    # -- weights ----------------------------------------------------------------------------

    def _check_weights(self, name: str) -> None:
        """Weights of a column; rows of weight 0 are not there."""
        column = self.columns[name]
        if not column.is_numeric:
            raise DataError(f"column {name!r} of weights must hold numbers")
        key = f"CAST({column.key} AS DOUBLE)"
        wrong = f"{key} IS NULL OR isinf({key}) OR {key} < 0"
        ((bad, largest),) = self.engine.rows(f"SELECT bool_or({wrong}), max({key}) FROM typed")
        if bad:
            raise DataError(f"column {name!r} of weights has one that is not a finite number ≥ 0")
        if largest == 0:
            raise DataError("all weights are zero; at least one must be positive")
        if largest is not None and largest > LARGEST_WEIGHT:
            raise DataError(f"weight {largest} is too large; scale the weights down")
        self.weight = key
        self.table.leave_out(f"{key} = 0")


def _refuse_unseen(observed: Observed, states: tuple[State, ...]) -> None:
    if observed.has_missing and None not in states:
        raise unseen_error(observed.column.name, None, states)
    if not isinstance(states[0], Interval):
        known = set(states)
        for value in observed.values:
            if value not in known:
                raise unseen_error(observed.column.name, value, states)


def _as_cases(
    domain: Domain,
    names: Sequence[str],
    target: str,
    codes: CodeArray,
    weights: FloatArray | None,
) -> Cases:
    n_states = tuple(domain.n_states(name) for name in names)
    rows = CodedRows(tuple(names), n_states, np.ascontiguousarray(codes[: len(names)]))
    return Cases(domain, target, rows, codes[len(names)], weights)


def coded_columns(codes: Sequence[str], n_states: Sequence[int]) -> str:
    """SQL of codes as columns k0, k1, … of the smallest type that holds them all."""
    type_ = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER"}[np.dtype(code_type(n_states)).itemsize]
    return ", ".join(f"CAST({code} AS {type_}) AS k{v}" for v, code in enumerate(codes))


def coded_batches(
    engine: Engine, n_states: Sequence[int], batch_rows: int
) -> Iterator[tuple[CodeArray, FloatArray | None]]:
    """Codes (columns, rows) and weights of the table ``coded``, some rows at a time."""
    dtype = code_type(n_states)
    for batch in _ranges(engine, "coded", batch_rows):
        codes = np.empty((len(n_states), len(batch["k0"])), dtype=dtype)
        for v in range(len(n_states)):
            codes[v] = batch[f"k{v}"]
        yield codes, batch.get("n")


def _ranges(engine: Engine, table: str, batch_rows: int) -> Iterator[dict[str, Any]]:
    """A table in the order it was written, as arrays; an empty one is one empty batch."""
    ((length,),) = engine.rows(f"SELECT count(*) FROM {table}")
    for start in range(0, max(1, length), batch_rows):
        limits = f"rowid >= {start} AND rowid < {start + batch_rows}"
        yield engine.arrays(f"SELECT * FROM {table} WHERE {limits}")
