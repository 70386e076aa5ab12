"""Rows of Parquet files, coded by states that are known already: one pass, for prediction.

An entry is read as in CSV files (``csv_entries``), whatever its type in the file.
"""

from collections.abc import Iterator, Sequence
from datetime import date

from ebnc.data.csv_entries import EXACT
from ebnc.data.encoding import unseen_error
from ebnc.data.engine import Engine, quoted
from ebnc.data.file_cases import BATCH_ROWS, coded_batches, coded_columns
from ebnc.data.file_states import interval_tree
from ebnc.data.file_table import Entry, FileTable
from ebnc.data.files import DataFiles
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain, Interval, State
from ebnc.errors import DataError

__all__ = ["stream_parquet_rows"]


def stream_parquet_rows(
    files: DataFiles,
    domain: Domain,
    names: Sequence[str],
    *,
    unseen_as_extra: bool = False,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[CodedRows]:
    """All rows in the order of the files, coded, some at a time.

    An entry that is not a state is an error, or, with ``unseen_as_extra``, gets the code r.
    """
    with Engine(files) as engine:
        table = FileTable(engine)
        entries = table.entries(names)
        read, codes = [], []
        for v, name in enumerate(names):
            states = domain[name]
            if unseen_as_extra and len(states) == 1:  # what is not this state counts as it
                codes.append("0")
                continue
            # Read in a query of its own: the comparisons are many, the conversion is one.
            read += [f"{entries[name].text} AS t{v}", f"{entries[name].number} AS x{v}"]
            extra = len(states) if unseen_as_extra else None
            codes.append(code_of_entry(Entry(f"t{v}", f"x{v}"), states, extra))
        n_states = tuple(domain.n_states(name) + unseen_as_extra for name in names)
        inner = f"SELECT {', '.join(read) or '0 AS nothing'} FROM {table.source}"
        shown = coded_columns(codes, n_states) or "0 AS k0"
        engine.run(f"CREATE TABLE coded AS SELECT {shown} FROM ({inner})", "coding rows")
        _refuse_unknown(engine, table, domain, entries)
        table.refuse_changed()
        for codes_, _ in coded_batches(engine, n_states, batch_rows):
            yield CodedRows(tuple(names), n_states, codes_)


def code_of_entry(entry: Entry, states: Sequence[State], extra: int | None) -> str:
    """SQL of the code of an entry; NULL where it is not a state, and without ``extra``.

    What is not a number where intervals expect one is NULL even so.
    """
    codes: dict[State, int] = {state: code for code, state in enumerate(states)}
    missing = codes.pop(None, extra)
    if isinstance(states[0], Interval):
        cuts = [state.high for state in states if isinstance(state, Interval)][:-1]
        place = interval_tree(entry.number, cuts, 0, len(cuts))
        known = f"CASE WHEN isfinite({entry.number}) THEN {place} END"
    else:
        known = f"coalesce({', '.join([*_codes_of_labels(entry, codes), _sql(extra)])})"
    return f"CASE WHEN {entry.text} IS NULL THEN {_sql(missing)} ELSE {known} END"


def _codes_of_labels(entry: Entry, codes: dict[State, int]) -> list[str]:
    """SQL for labels that are text, numbers and booleans: NULL where an entry is none of them."""
    dates = {label: code for label, code in codes.items() if isinstance(label, date)}
    logical = {label: code for label, code in codes.items() if isinstance(label, bool)}
    numeric = {
        label: code
        for label, code in codes.items()
        if isinstance(label, int | float) and not isinstance(label, bool)
    }
    known = {*dates, *logical, *numeric}
    strings = {str(label): code for label, code in codes.items() if label not in known}
    parts = []
    large = {str(x): c for x, c in numeric.items() if isinstance(x, int) and abs(x) >= EXACT}
    for of_text in (strings, large):
        if of_text:
            place = f"enum_code(TRY_CAST({entry.text} AS ENUM({quoted(list(of_text))[1:-1]})))"
            listed = list(of_text.values())
            same = listed == list(range(len(listed)))
            parts.append(place if same else f"{listed}[{place} + 1]")
    cases = [
        f"WHEN CAST('{float(x)!r}' AS DOUBLE) THEN {code}"
        for x, code in numeric.items()
        if not isinstance(x, int) or abs(x) < EXACT
    ]
    if cases:
        parts.append(f"CASE {entry.number} {' '.join(cases)} END")
    if dates:
        cases = [f"WHEN TIMESTAMP '{x}' THEN {code}" for x, code in dates.items()]
        parts.append(f"CASE TRY_CAST({entry.text} AS TIMESTAMP) {' '.join(cases)} END")
    if logical:
        cases = [f"WHEN '{str(x).lower()}' THEN {code}" for x, code in logical.items()]
        parts.append(f"CASE lower({entry.text}) {' '.join(cases)} END")
    return parts


def _sql(code: int | None) -> str:
    return "NULL" if code is None else str(code)


def _refuse_unknown(
    engine: Engine, table: FileTable, domain: Domain, entries: dict[str, Entry]
) -> None:
    """Raise where a code is NULL, with the entry."""
    if not entries:
        return
    asked = ", ".join(f"min(rowid) FILTER (k{v} IS NULL)" for v in range(len(entries)))
    (found,) = engine.rows(f"SELECT {asked} FROM coded")
    for (name, entry), row in zip(entries.items(), found, strict=True):
        if row is not None:
            query = f"SELECT {entry.text} FROM {table.source} LIMIT 1 OFFSET {row}"
            ((text,),) = engine.rows(query)
            if text is not None and isinstance(domain[name][0], Interval):
                raise DataError(f"column {name!r} must hold finite numbers, got {text!r}")
            raise unseen_error(name, text, domain[name])
