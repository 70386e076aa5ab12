"""Random small tables of text in many dialects, and what they mean by the written rules.

The meaning is computed entry by entry in plain Python (``float``, ``datetime``, ``csv``), after
docs/guides/columns.md, and knows nothing of the package's own reader: ``meaning`` says what the
entries of a column are, ``states_are_right`` whether states follow from them, ``code`` which state
an entry is.
"""

import csv
import io
import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?")
MISSING = ["", "NA", "NaN", "null", "None", "n/a", "#N/A", " NA "]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FEW_VALUES = 10  # different whole numbers that are states, not cut into intervals
COMMA = re.compile(r"[+-]?\d+,\d+")

KINDS: dict[str, list[str]] = {
    "whole": ["0", "1", "2", "-3", "17"],
    "numbers": [f"{x:.3g}" for x in np.linspace(-2, 2, 23)] + ["1e3", ".5", "2.", "+4", " 7 "],
    "labels": ["a", "b", "Ärger", "it's", "x,y", 'say "no"', "two\nlines", " padded"],
    "hexadecimal": ["0x1", "0x2", "0X1f", "0b101"],
    "zeros": ["01", "02", "10", "007"],
    "booleans": ["True", "False"],
    "capitals": ["TRUE", "FALSE"],
    "small": ["true", "false"],
    "dates": ["2020-01-01", "2020-06-30", "2021-12-24", "1969-12-31", "2020-01-01 12:30"],
    "german dates": ["01.02.2020", "31.12.2021"],
    "commas": ["1,5", "2,25", "3,0"],
    "long": ["9007199254740993", "9223372036854775807", "12345678901234567890"],
    "large": ["1e308", "-1e300", "5e-324", "0.1"],
    "separators": ["1_000", "2_000"],
    "odd numbers": ["1", "2", "NAN", "+nan", "1e", "--1"],
    "numbers and labels": ["1", "2", "3", "x"],
    "gaps": [""],
}


def random_table(generator: np.random.Generator) -> tuple[dict[str, list[str]], list[str]]:
    """Columns of text, of at most 60 rows, and classes; a column's name ends in its kind."""
    n = int(generator.integers(8, 60))
    kinds = generator.choice(list(KINDS), int(generator.integers(1, 5)))
    columns = {f"c{i} {kind}": random_entries(kind, n, generator) for i, kind in enumerate(kinds)}
    classes = ["no" if generator.random() < 0.5 else "yes" for _ in range(n - 2)]
    return columns, [*classes, "no", "yes"]


def random_entries(kind: str, n: int, generator: np.random.Generator) -> list[str]:
    """Entries of one kind; in some columns with gaps, in some with an entry of another kind."""
    entries = generator.choice(np.array(KINDS[kind], dtype=object), n).tolist()
    if generator.random() < 0.4:
        entries = [
            str(generator.choice(MISSING)) if generator.random() < 0.2 else x for x in entries
        ]
    if generator.random() < 0.1:
        other = KINDS[str(generator.choice(list(KINDS)))]
        entries[int(generator.integers(n))] = str(generator.choice(other))
    return entries


def as_csv(columns: dict[str, list[str]], generator: np.random.Generator) -> str:
    """In a random dialect."""
    text = io.StringIO()
    writer = csv.writer(
        text,
        delimiter=str(generator.choice([",", ";", "\t", "|"] if len(columns) > 1 else [","])),
        quoting=csv.QUOTE_ALL if generator.random() < 0.3 else csv.QUOTE_MINIMAL,
        lineterminator="\r\n" if generator.random() < 0.3 else "\n",
    )
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    bom = "\ufeff" if generator.random() < 0.1 else ""
    return bom + text.getvalue()


def meaning(entries: Sequence[str]) -> tuple[str, list[Any]]:
    """What a column of text is, and its entries as such; None is missing."""
    present = [None if x.strip() in {m.strip() for m in MISSING} else x for x in entries]
    known = [x for x in present if x is not None]
    if known and all(map(_is_number, known)):
        return "number", [None if x is None else float(x) for x in present]
    if known and all(DATE.fullmatch(x.strip()) for x in known):
        return "date", [None if x is None else _days(x.strip()) for x in present]
    if known and set(known) <= {"True", "False"}:
        return "label", [None if x is None else x == "True" for x in present]
    return "label", present


def _is_number(text: str) -> bool:
    text = text.strip()
    if not NUMBER.fullmatch(text):
        return False
    return not (re.fullmatch(r"[+-]?\d+", text) and abs(float(text)) > 2**53)


def _days(text: str) -> float:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return (moment - EPOCH).total_seconds() / 86_400


def is_refused(columns: dict[str, list[str]]) -> bool:
    """Whether some column holds numbers with decimal commas, which ends the run."""
    for entries in columns.values():
        kind, values = meaning(entries)
        words = {x for x in values if isinstance(x, str)}
        commas = sum(COMMA.fullmatch(word) is not None for word in words)
        if kind == "label" and len(words) > 2 and commas > 0.9 * len(words):
            return True
    return False


def states_are_right(states: Sequence[Any], kind: str, entries: Sequence[Any]) -> bool:
    """Whether a column with such entries has these states.

    Labels and few whole numbers are states in ascending order. Other numbers are cut somewhere
    into intervals that leave no gap. None, where an entry is missing, is the last state.
    """
    seen = {entry for entry in entries if entry is not None}
    known = list(states)
    if None in entries and (not known or known.pop() is not None):
        return False
    few_whole = len(seen) <= FEW_VALUES and all(
        x == round(x) and abs(x) <= 2**53 for x in seen if kind == "number"
    )
    if kind == "label" or (kind == "number" and few_whole):
        return known == sorted(seen) and all(isinstance(x, int | str) for x in known)
    lows, highs = [low for low, _ in known], [high for _, high in known]
    met = all(high == low for (_, high), (low, _) in pairwise(known))
    return met and lows[0] == -math.inf and highs[-1] == math.inf and lows == sorted(set(lows))


def code(states: Sequence[Any], kind: str, entry: Any) -> int:
    """The number of an entry's state, by comparing it with one after the other."""
    return next(i for i, state in enumerate(states) if _is_state(state, kind, entry))


def _is_state(state: Any, kind: str, entry: Any) -> bool:
    if entry is None or state is None:
        return entry is state
    if isinstance(state, tuple):
        return state[0] < entry <= state[1]
    return state == entry and (kind == "number" or type(state) is type(entry))


def typed_frames(columns: dict[str, list[str]]) -> dict[str, Any]:
    """Frames whose columns have the types that their text means: floats, dates, booleans."""
    pandas, polars = {}, {}
    for name, entries in columns.items():
        kind, values = meaning(entries)
        if kind == "number":
            pandas[name] = pd.Series([math.nan if x is None else x for x in values], dtype=float)
            polars[name] = pl.Series(values, dtype=pl.Float64)
        elif kind == "date":
            moments = [None if x is None else _moment(entries[i]) for i, x in enumerate(values)]
            pandas[name] = pd.Series(moments, dtype="datetime64[us]")
            polars[name] = pl.Series(moments, dtype=pl.Datetime("us"))
        elif any(isinstance(x, bool) for x in values):
            pandas[name] = pd.Series(values, dtype="boolean")
            polars[name] = pl.Series(values, dtype=pl.Boolean)
        else:
            pandas[name] = pd.Series(values, dtype=object)
            polars[name] = pl.Series(values, dtype=pl.String)
    return {"pandas typed": pd.DataFrame(pandas), "polars typed": pl.DataFrame(polars)}


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.strip())
