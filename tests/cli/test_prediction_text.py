"""Lines of predictions, whatever the labels and the probabilities are."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ebnc.cli.prediction_text import PredictionText, rounded
from ebnc.data.columns import Numbers
from ebnc.data.entries import read_column

ODD = ["", "],[", "\n", '"', "a,b", 'say "no"\r\n', "0.5", "[[", "ü€", " ", "]}"]


class Fixed:
    """Classes, and a table of probabilities."""

    def __init__(self, classes, table):
        self.classes = np.empty(len(classes), dtype=object)
        self.classes[:] = classes
        self.table = table

    def text(self, numbers, *, as_json):
        text = PredictionText(self.classes.tolist(), as_json=as_json, at_a_time=7)
        p = self.table[list(numbers)]
        return (text.header + text.lines(p, p.argmax(axis=1))).decode()


doubles = st.floats(0.0, 1.0) | st.sampled_from(
    [0.0, 1.0, 5e-324, 2.2250738585072014e-308, 1e-7, 1e-5, 1e-4, 0.1, 1 / 3, 1 - 2**-53]
)
labels = st.lists(st.sampled_from(ODD) | st.text(max_size=6), min_size=1, max_size=30, unique=True)


@st.composite
def cases(draw):
    classes = draw(labels.filter(lambda found: all(_is_text(label) for label in found)))
    shape = (draw(st.integers(1, 6)), len(classes))
    table = draw(arrays(np.float64, shape, elements=doubles))
    return Fixed(classes, table), draw(st.lists(st.integers(0, shape[0] - 1), max_size=20))


def _is_text(label):
    try:
        label.encode()
    except UnicodeEncodeError:
        return False
    return True


class TestLines:
    """Read by Python's csv and json: every label, and every probability to the bit."""

    @given(case=cases())
    @example(case=(Fixed(["no", "yes"], np.array([[0.0, 1.0]])), [0]))
    @settings(max_examples=150, deadline=None)
    def test_csv(self, case):
        predictor, numbers = case
        classes, table = predictor.classes.tolist(), predictor.table[numbers]
        found = list(csv.reader(io.StringIO(predictor.text(numbers, as_json=False), newline="")))
        assert found[0] == ["prediction", *(f"p({label})" for label in classes)]
        assert [row[0] for row in found[1:]] == [classes[k] for k in table.argmax(axis=1)]
        assert [[float(p) for p in row[1:]] for row in found[1:]] == table.tolist()

    @given(case=cases())
    @settings(max_examples=150, deadline=None)
    def test_json(self, case):
        predictor, numbers = case
        classes, table = predictor.classes.tolist(), predictor.table[numbers]
        lines = predictor.text(numbers, as_json=True).split("\n")
        assert lines.pop() == ""
        assert [json.loads(line) for line in lines] == [
            {"prediction": classes[row.argmax()], "classes": classes, "probabilities": row.tolist()}
            for row in table
        ]


def test_decimals_are_the_shortest():
    """As Python's, but for zeros in exponents and behind the point."""
    numbers = [0.1, 1 / 3, 1e-4, 1e-7, 1.5e-10, 5e-324, 0.0, 1.0, 0.1 + 0.2]
    table = np.array([[x, 1.0] for x in numbers])
    lines = Fixed(["a", "b"], table).text(range(len(numbers)), as_json=False).splitlines()[1:]
    assert [line.split(",")[1] for line in lines] == [
        repr(x).replace("e-0", "e-").removesuffix(".0") for x in numbers
    ]


@given(
    x=arrays(np.float64, 5, elements=st.floats(-1e15, 1e15, allow_subnormal=False)),
    digits=st.integers(1, 16),
)
@settings(max_examples=200, deadline=None)
def test_rounding_to_significant_digits(x, digits):
    """As Python's format; numbers that round to a tie may differ in the last digit."""
    for value, found in zip(x, rounded(x, digits), strict=True):
        expected = float(f"{value:.{digits - 1}e}")
        assert abs(found - expected) <= 1.01 * 10.0 ** (1 - digits) * abs(value) + 1e-300


def test_short_texts():
    for x in [0.123456789, 1e-12 / 3, 0.999999999, 0.5, 12345.6789]:
        (text,) = map(repr, rounded(np.array([x]), 6).tolist())
        assert float(text) == float(f"{x:.5e}")


@pytest.mark.parametrize("as_json", [False, True])
def test_columns_that_come_first(as_json):
    """Text as it is, whole numbers without a point, dates as dates, missing entries empty."""
    kept = {
        "id": read_column("id", ["01", 'a, "b"', None], "label"),
        "count": Numbers(np.array([3.0, np.nan, 0.5])),
        "day": Numbers(np.array([0.0, 1.5, np.nan]), "date"),
    }
    expected = [
        {"id": "01", "count": 3, "day": "1970-01-01"},
        {"id": 'a, "b"', "count": None, "day": "1970-01-02T12:00:00.000000"},
        {"id": None, "count": 0.5, "day": None},
    ]
    text = PredictionText(["x", "y"], as_json=as_json, kept=list(kept), at_a_time=4)
    p = np.array([[0.25, 0.75]] * 3)
    lines = text.lines(p, p.argmax(axis=1), list(kept.values())).decode()
    if as_json:
        found = [json.loads(line) for line in lines.splitlines()]
        assert [line["kept"] for line in found] == expected
        assert all(line["probabilities"] == [0.25, 0.75] for line in found)
        return
    assert text.header == b"id,count,day,prediction,p(x),p(y)\n"
    rows = list(csv.reader(io.StringIO(lines)))
    blank = [["" if x is None else str(x) for x in row.values()] for row in expected]
    assert rows == [[*row, "y", "0.25", "0.75"] for row in blank]
