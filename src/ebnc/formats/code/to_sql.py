"""A model as one SELECT statement, for DuckDB, SQLite and other databases with window functions.

The model's numbers are small tables (``VALUES``); the statement that joins them is the same for all
models.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ebnc.formats.code.scorecard import Column, Scorecard

PROGRAM = """\
  unknown(id, n, input) AS (  -- rows with unknown entries
    SELECT id, COUNT(*), MIN(input) FROM codes WHERE code IS NULL GROUP BY id
  ),
  filled(id, filling, weight) AS (  -- such rows take the place of several
    SELECT ebnc_row, -1, 1e0 FROM numbered WHERE ebnc_row NOT IN (SELECT id FROM unknown)
    UNION ALL
    SELECT u.id, f.filling, f.weight FROM unknown u
      JOIN fillings f ON f.input = CASE WHEN u.n = 1 THEN u.input ELSE -1 END
  ),
  cells(id, filling, term, cell) AS (  -- the row of each term's table
    SELECT f.id, f.filling, t.term, SUM(t.stride * COALESCE(c.code, b.code))
    FROM filled f
      JOIN codes c ON c.id = f.id
      JOIN strides t ON t.input = c.input
      LEFT JOIN background b ON b.filling = f.filling AND b.input = c.input
    GROUP BY f.id, f.filling, t.term
  ),
  sums(id, filling, model, class, value) AS (
    SELECT c.id, c.filling, t.model, t.class, SUM(t.value)
    FROM cells c JOIN term_tables t ON t.term = c.term AND t.cell = c.cell
    GROUP BY c.id, c.filling, t.model, t.class
  ),
  odds(id, filling, weight, model, class, value) AS (
    SELECT f.id, f.filling, f.weight * m.weight, m.model, m.class,
      m.intercept + COALESCE(s.value, 0e0)
    FROM filled f
      CROSS JOIN models m
      LEFT JOIN sums s ON s.id = f.id AND s.filling = f.filling
        AND s.model = m.model AND s.class = m.class
  ),
  powers(id, filling, weight, model, class, value) AS (
    SELECT id, filling, weight, model, class,
      EXP(value - MAX(value) OVER (PARTITION BY id, filling, model))
    FROM odds
  ),
  softmax(id, class, p) AS (
    SELECT id, class, weight * value / SUM(value) OVER (PARTITION BY id, filling, model)
    FROM powers
  ),
  averages(id, class, p) AS (SELECT id, class, SUM(p) FROM softmax GROUP BY id, class),
  probabilities(id, class, p, place) AS (
    SELECT id, class, p / SUM(p) OVER (PARTITION BY id),
      ROW_NUMBER() OVER (PARTITION BY id ORDER BY p DESC, class)
    FROM averages
  ),
"""


def to_sql(card: Scorecard, note: str, table: str) -> str:
    """Return a SELECT from ``table``; ``note``: a line that says where it comes from."""
    parts = [
        f"-- Predicts {_one_line(card.target)} for every row of {_name(table)}. {note}\n"
        "-- Missing entries are NULL; numbers are columns of numbers.\n"
        "WITH\n"
        f"  numbered AS (SELECT ROW_NUMBER() OVER () AS ebnc_row, * FROM {_name(table)})"
    ]
    with_unknown = card.fillings is not None
    codes = [
        f"    SELECT ebnc_row, {i}, {_code(column, with_unknown=with_unknown)} FROM numbered"
        for i, column in enumerate(card.columns)
    ]
    codes = codes or ["    SELECT ebnc_row, -1, -1 FROM numbered WHERE 1 = 0"]
    parts.append("  codes(id, input, code) AS (\n" + "\n    UNION ALL\n".join(codes) + "\n  )")
    parts += _tables(card)
    return ",\n".join(parts) + ",\n" + PROGRAM + _result(card)


def _tables(card: Scorecard) -> list[str]:
    """The model's numbers. Terms of different models have different numbers."""
    terms = [(m, term) for m, model in enumerate(card.models) for term in model.terms]
    strides = [
        (t, i, stride)
        for t, (_, term) in enumerate(terms)
        for i, stride in zip(term.inputs, term.strides, strict=True)
    ]
    values = [
        (t, cell, m, k, value)
        for t, (m, term) in enumerate(terms)
        for cell, row in enumerate(term.table)
        for k, value in enumerate(row, 1)
    ]
    models = [
        (m, k, model.weight, value)
        for m, model in enumerate(card.models)
        for k, value in enumerate([0.0, *model.intercept])
    ]
    fillings: list[tuple[Any, ...]] = []
    background: list[tuple[Any, ...]] = []
    if card.fillings is not None:
        rows, weights = card.fillings.rows, card.fillings.weights
        fillings = [(f, -1, weight) for f, weight in enumerate(weights)]
        background = [(f, i, code) for f, row in enumerate(rows) for i, code in enumerate(row)]
        for i, shares in enumerate(card.fillings.shares):
            for state, share in enumerate(shares):
                if not share:
                    continue
                background.append((len(fillings), i, state))
                fillings.append((len(fillings), i, share))
    return [
        _values("strides", ("term", "input", "stride"), strides),
        _values("term_tables", ("term", "cell", "model", "class", "value"), values),
        _values("models", ("model", "class", "weight", "intercept"), models),
        _values("fillings", ("filling", "input", "weight"), fillings),
        _values("background", ("filling", "input", "code"), background),
    ]


def _result(card: Scorecard) -> str:
    """The SELECT of all columns of the data, the prediction and the probabilities."""
    if card.mean is not None:
        rows = list(enumerate(zip(card.mean.weights, card.mean.means, strict=True)))
        bins = _values("bins", ("class", "weight", "mean"), [(b, *pair) for b, pair in rows])
        return (
            f"{bins},\n  predictions(id, prediction) AS (\n"
            "    SELECT p.id, SUM(p.p * b.weight * b.mean) / SUM(p.p * b.weight)\n"
            "    FROM probabilities p JOIN bins b ON b.class = p.class GROUP BY p.id\n  )\n"
            "SELECT numbered.*, predictions.prediction\n"
            "FROM numbered JOIN predictions ON predictions.id = ebnc_row ORDER BY ebnc_row;\n"
        )
    labels = [(k, _sql(label)) for k, label in enumerate(card.classes)]
    best = " ".join(f"WHEN {k} THEN {label}" for k, label in labels)
    columns = "".join(
        f",\n      MAX(CASE WHEN class = {k} THEN p END) AS {_name(f'p({label})')}"
        for k, label in enumerate(card.classes)
    )
    names = "".join(f", predictions.{_name(f'p({label})')}" for label in card.classes)
    return (
        "  predictions AS (\n    SELECT id,\n"
        f"      CASE MIN(CASE WHEN place = 1 THEN class END) {best} END AS prediction{columns}\n"
        "    FROM probabilities GROUP BY id\n  )\n"
        f"SELECT numbered.*, predictions.prediction{names}\n"
        "FROM numbered JOIN predictions ON predictions.id = ebnc_row ORDER BY ebnc_row;\n"
    )


def _code(column: Column, *, with_unknown: bool) -> str:
    """The expression for the code of an entry; NULL for an unknown one."""
    name = _name(column.name)
    unknown = "NULL" if with_unknown else str(column.unknown)
    missing = unknown if column.missing == column.unknown else str(column.missing)
    start = f"CASE WHEN {name} IS NULL THEN {missing}"
    if column.kind == "interval":
        steps = [f"WHEN {name} <= {_sql(cut)} THEN {code}" for code, cut in enumerate(column.cuts)]
        return " ".join([start, *steps, f"ELSE {len(column.cuts)} END"])
    entry, keys = name, column.labels
    if column.kind == "boolean":
        entry, keys = f"CAST({name} AS INTEGER)", [int(label) for label in column.labels]
    elif column.kind == "text":
        entry = f"CAST({name} AS VARCHAR)"
    pairs = zip(keys, column.codes, strict=True)
    steps = [f"WHEN {entry} = {_sql(label)} THEN {code}" for label, code in pairs]
    return " ".join([start, *steps, f"ELSE {unknown} END"])


def _values(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A common table expression of these rows, perhaps none."""
    lines = [f"({', '.join(map(_sql, row))})" for row in rows]
    if not lines:
        inside = f"SELECT {', '.join('0' for _ in columns)} WHERE 1 = 0"
    else:
        inside = "VALUES\n    " + ",\n    ".join(lines)
    return f"  {name}({', '.join(columns)}) AS ({inside})"


def _sql(value: Any) -> str:
    """A literal. Floats have an exponent: without, they are decimals in some databases."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _one_line(text: str) -> str:
    return " ".join(text.split())
