"""Lines of predictions, whatever the labels and the probabilities are."""

import csv
import io
import json

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ebnc.cli.prediction_text import PredictionText
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain

ODD = ["", "],[", "\n", '"', "a,b", 'say "no"\r\n', "0.5", "[[", "ü€", " ", "]}"]


class Fixed:
    """A predictor of one input whose state's number is the row of a table of probabilities."""

    target, used = "y", ("x",)

    def __init__(self, classes, table):
        self.classes = np.empty(len(classes), dtype=object)
        self.classes[:] = classes
        self.domain = Domain({"y": tuple(classes), "x": tuple(range(len(table)))})
        self.table = table

    def probabilities(self, rows):
        return self.table[rows.codes[0]]

    def best(self, p):
        return p.argmax(axis=1)

    def text(self, numbers, *, as_json):
        text = PredictionText(self, as_json=as_json, at_a_time=7)
        rows = CodedRows(("x",), (len(self.table) + 1,), np.array([numbers], dtype=np.uint32))
        return (text.header + text.lines(rows)).decode()


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
