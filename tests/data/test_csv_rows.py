"""Coding CSV text for prediction, against Python's csv and float and against pandas."""

import csv
import io
import math
from bisect import bisect_left
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebnc.data import csv_rows
from ebnc.data.csv_columns import MISSING
from ebnc.data.csv_entries import entry_coder
from ebnc.data.csv_numbers import intervals
from ebnc.data.csv_rows import stream_csv_rows
from ebnc.data.csv_text import PAD, Text
from ebnc.data.encoding import encode
from ebnc.data.files import DataFiles
from ebnc.domain import Domain, Interval
from ebnc.errors import DataError

CUTS = (-2.5, -1e-9, 0.0, 0.1, 0.30000000000000004, 7.0, 12345678.5, 1e15)
NUMBERS = tuple(Interval(*ends) for ends in pairwise((-math.inf, *CUTS, math.inf)))
LABELS = (
    "a",
    "red",
    "with, comma",
    'a "quote"',
    "two\nlines",
    "a label of more than 24 bytes",
    "ü",
)
DOMAIN = Domain({"x": NUMBERS, "label": LABELS, "n": (1, 2, 10), "is": (False, True)})


@pytest.fixture
def small_pieces(monkeypatch):
    """Many blocks, though the files are small."""
    for name, size in {"BLOCK": 37, "MOST_OPEN": 300, "BATCH": 3}.items():
        monkeypatch.setattr(csv_rows, name, size)


def coded(path, names=("x", "label", "n", "is"), *, extra=True):
    parts = list(stream_csv_rows(DataFiles(path), DOMAIN, names, unseen_as_extra=extra))
    return np.concatenate([part.codes for part in parts], axis=1).tolist() if parts else []


def by_hand(rows, columns, names=("x", "label", "n", "is")):
    coders = [entry_coder(name, DOMAIN[name], unseen_as_extra=True) for name in names]
    return [
        [coder(row[columns.index(name)]) for row in rows]
        for name, coder in zip(names, coders, strict=True)
    ]


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-20, 20).map(lambda x: f"{x:.3f}"),
    st.decimals(-(10**9), 10**9, allow_nan=False, places=12).map(str),
    st.sampled_from([repr(cut) for cut in CUTS]),
    st.sampled_from(
        ["1.", ".5", "+7", "-0", "007", "1e3", "1E-3", "0.1000000000000000055511151231"]
    ),
    st.integers(-(10**20), 10**20).map(str),
)
entries = st.tuples(
    numbers | st.sampled_from(MISSING),
    st.sampled_from([*LABELS, *MISSING, "purple", "'", "a red", "  red"]),
    st.sampled_from(["1", "2", "10", "1.0", "2e0", "3", "", "x", " 2"]),
    st.sampled_from(["true", "False", "TRUE", "no", ""]),
    st.sampled_from(["", "anything", "1,5", '"', "\n", "\r\n", "ß" * 20]),
)


@given(
    st.lists(entries, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans()
)
@settings(max_examples=150, deadline=None)
def test_codes_are_those_of_entries_read_one_by_one(tmp_path_factory, rows, end, whole, quoted):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    text = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(text, lineterminator=end, quoting=quoting)
    columns = ["x", "label", "n", "is", "other"]
    writer.writerows([columns, *rows])
    written = text.getvalue() if whole else text.getvalue().rstrip("\r\n")
    path.write_text(written, newline="", encoding="utf-8")
    expected = by_hand(rows, columns) if rows else []
    assert coded(path) == expected
    with pytest.MonkeyPatch.context() as patch:
        for name, size in {"BLOCK": 37, "MOST_OPEN": 300, "BATCH": 3}.items():
            patch.setattr(csv_rows, name, size)
        assert coded(path) == expected


@given(st.lists(numbers, min_size=1, max_size=40))
@settings(max_examples=300, deadline=None)
def test_intervals_are_those_of_python_s_numbers(texts):
    joined = ",".join(texts).encode() + b"\n"
    stop = np.cumsum([len(text) + 1 for text in texts]) - 1
    start = stop - [len(text) for text in texts]
    codes, certain = intervals(Text(joined + bytes(PAD), len(joined)), start, stop, CUTS)
    for text, code, is_certain in zip(texts, codes, certain, strict=True):
        if is_certain:
            assert code == bisect_left(CUTS, float(text)), text
        if len(text) <= 16 and "e" not in text.lower():
            assert is_certain, text


@pytest.mark.parametrize("text", ["", "-", ".", "+.", "1-2", "1.2.3", "0x1", "1_0", "12a", "1 2"])
def test_what_is_no_number_is_not_taken_for_one(text):
    for entry in (text, text and "00000000" + text):  # also in numbers of more than one word
        joined = entry.encode() + b"\n"
        buffer = Text(joined + bytes(PAD), len(joined))
        _, certain = intervals(buffer, np.array([0]), np.array([len(entry)]), CUTS)
        assert not certain[0] or entry in ("00000000.",)


def test_a_large_file_as_pandas_reads_it(tmp_path):
    rng = np.random.default_rng(0)
    n = 120_000  # several pieces
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "label": rng.choice([*LABELS, "new", None], n),
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) * 10),
            "n": rng.choice([1, 2, 10, 11], n),
        }
    )
    names = ("x", "label", "n")
    for suffix in ("data.csv", "data.csv.gz"):
        frame.to_csv(tmp_path / suffix, index=False)
        read = pd.read_csv(tmp_path / suffix, keep_default_na=True)
        expected = encode(read, DOMAIN, names, unseen_as_extra=True)
        assert coded(tmp_path / suffix, names) == expected.codes.tolist()


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    "body",
    [
        "0,red,1\n\n0,a,2\n",  # an empty line
        "0,red,1\r0,a,2\r",  # the line ends of old Macs
        '0,5" pipe,1\n0,a,2\n0,6" pipe,2\n',  # quotes within entries
        '0,"red",1\n0,"a\n\nb",2\n',
        "\n\n0,red,1\n0,a,2\n\n\n",
    ],
)
def test_text_that_is_not_plain_is_read_as_python_does(tmp_path, body):
    path = tmp_path / "data.csv"
    path.write_text("x,label,n\n" + body, newline="")
    rows = [row for row in csv.reader(io.StringIO(body, newline="")) if row]
    names = ("x", "label", "n")
    assert coded(path, names) == by_hand(rows, list(names), names)


@pytest.mark.usefixtures("small_pieces")
def test_a_quote_that_seems_to_open_much_loses_no_row(tmp_path, monkeypatch):
    """Wherever reading on is given up, the rest of the file is read all the same."""
    body = '0,5" pipe,1\n' + "0,red,2\n" * 60 + '0,6" pipe,2\n' + "0,a,1\n" * 60
    path = tmp_path / "data.csv"
    path.write_text("x,label,n\n" + body)
    names = ("x", "label", "n")
    expected = by_hand(list(csv.reader(io.StringIO(body))), list(names), names)
    for most in range(20, 700, 8):
        monkeypatch.setattr(csv_rows, "MOST_OPEN", most)
        assert coded(path, names) == expected


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("0,red,1\n" * 9 + "0,red\n", "line 11: 2 entries instead of 3"),
        ("0,red,1\n" * 9 + "0,red,1,4\n" + "0,a,1\n" * 5, "line 11: 4 entries instead of 3"),
        ('0,"red,1\n' + "0,a,1\n" * 50, "line 52: unexpected end of data"),
        ('0,"red"x,1\n', "line 2: ',' expected after '\"'"),
        ("0,red,1\n" * 9 + "fast,red,1\n", "'x' must hold finite numbers, got 'fast'"),
        ("inf,red,1\n", "'x' must hold finite numbers, got 'inf'"),
        ("0,r\0d,1\n", "zero bytes"),
    ],
)
def test_errors_say_where(tmp_path, body, words):
    path = tmp_path / "data.csv"
    path.write_text("x,label,n\n" + body, newline="")
    with pytest.raises(DataError) as raised:
        coded(path, ("x", "label", "n"))
    assert words in str(raised.value)


def test_text_that_is_not_utf_8(tmp_path):
    (tmp_path / "data.csv").write_bytes("x,label,other\n0,red,ü\n".encode("latin-1"))
    with pytest.raises(DataError, match="cannot be read: 'utf-8' codec can't decode byte 0xfc"):
        coded(tmp_path / "data.csv", ("x",))


def test_what_is_not_a_state_is_refused_where_asked(tmp_path):
    path = tmp_path / "data.csv"
    for body, words in {"0,purple": "'purple' in column 'label'", "0,": "missing values"}.items():
        path.write_text(f"x,label\n0,red\n{body}\n")
        with pytest.raises(DataError, match=words):
            coded(path, ("x", "label"), extra=False)


def test_more_entries_than_are_remembered(tmp_path):
    """New labels all the way; their codes are that of the unseen."""
    path = tmp_path / "data.csv"
    labels = [f"label {i}" for i in range(30_000)] + ["red", "a"]
    path.write_text("label\n" + "\n".join(labels) + "\n")
    assert coded(path, ("label",)) == [[len(LABELS)] * 30_000 + [1, 0]]


def test_a_mark_of_utf_8_and_files_that_change(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("label,x\nred,0\n" * 1, encoding="utf-8-sig")
    assert coded(path, ("label",)) == [[1]]
    stream = stream_csv_rows(DataFiles(path), DOMAIN, ["label"], unseen_as_extra=True)
    next(stream)
    path.write_text("label,x\nred,0\nred,1\n")
    with pytest.raises(DataError, match="was changed while it was read"):
        list(stream)
