"""Single rows are coded as tables are: every kind of state against every kind of entry."""

import datetime
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from ebnc import Domain
from ebnc.data.coder import encode
from ebnc.data.one_row import REMEMBERED, RowCoder
from ebnc.domain import Interval
from ebnc.errors import EBNCError

INF = float("inf")
DOMAINS = {
    "words": ["x", "y", " x", "01", "None", "NA", "true", "1", "2.5"],
    "words or missing": ["x", "y", None],
    "flags": [False, True],
    "numbers": [1, 2.5, -3, 0],
    "long numbers": [2**60, 2**60 + 1, 5],
    "intervals": [Interval(-INF, 0.0), Interval(0.0, 2.5), Interval(2.5, INF)],
    "intervals or missing": [Interval(-INF, 1.0), Interval(1.0, INF), None],
    "one interval": [Interval(-INF, INF)],
    "mixed": ["a", 1, (1, 2)],
    "missing": [None],
}
PLAIN = [
    *("x", "y", " x", "x ", "01", "1", "1.0", " 1", "2.5", "NA", "", "None", "nan", "true", "TRUE"),
    *(
        True,
        False,
        1,
        0,
        -3,
        1.0,
        2.5,
        -0.0,
        1e-300,
        5e8,
        2**53,
        2**53 + 1,
        2**60,
        -(2**60),
        10**30,
    ),
    *(1e20, 2.0**60, INF, float("nan"), None, "2020-01-01", "1152921504606846976", "unheard of"),
]
ODD = [
    *(np.float64(2.5), np.float32(2.5), np.float16(2.5), np.int8(1), np.uint64(2**63), np.int64(0)),
    *(np.bool_(True), np.str_("x"), np.float64("nan"), np.longdouble(2.5), np.complex128(1)),
    *(np.datetime64("2020-01-01"), pd.NA, pd.NaT, pd.Timestamp("2020-01-01"), pd.Interval(0, 1)),
    *(Decimal("2.5"), Decimal(1), datetime.date(2020, 1, 1), datetime.timedelta(1)),
    *((1, 2), [1], b"x", Interval(0.0, 2.5), 1j, object()),
]


def general(data, domain):
    """The code by the rule for tables; None where it raises."""
    try:
        return int(encode(data, domain, ["A"], unseen="extra").codes[0, 0])
    except (EBNCError, TypeError, ValueError, OverflowError):
        return None


N_USUAL = 5


def forms_of(entry):
    """Tables of one row with this entry; NumPy or pandas may refuse those after the usual ones."""
    objects = np.empty(1, dtype=object)
    objects[0] = entry
    yield {"A": [entry]}
    yield {"A": (entry,)}
    yield {"A": objects}
    yield pd.DataFrame({"A": pd.Series(objects, dtype=object), "B": ["b"]})
    yield pd.DataFrame({"A": pd.Series(objects, dtype=object), "B": [0.5]})
    for make in (
        lambda: {"A": np.array([entry])},
        lambda: pd.DataFrame({"A": pd.Series([entry]), "B": [0.5], "C": [7]}),
        lambda: pd.DataFrame({"A": pd.Categorical([entry])}),
        lambda: pd.DataFrame({"A": pd.array([entry]), "B": ["b"]}),
        lambda: pd.DataFrame({"A": pd.Series([entry], dtype="category"), "B": [1]}),
    ):
        try:
            yield make()
        except (TypeError, ValueError, OverflowError, NotImplementedError):
            continue


@pytest.mark.parametrize("states", DOMAINS.values(), ids=DOMAINS)
def test_a_row_has_the_codes_of_a_table(states):
    """Known entries have the same code; unknown or unreadable ones are left to the table's rule."""
    domain = Domain({"A": states})
    coder, n_known = RowCoder(domain, ["A"], extra=True), 0
    for entry in [*PLAIN, *ODD]:
        for i, data in enumerate(forms_of(entry)):
            wanted, row = general(data, domain), coder.encode(data)
            again = coder.encode(data)  # codes are remembered now
            assert (row is None) == (again is None)
            if row is None:
                is_state = wanted is not None and wanted < len(states)
                is_usual = i < N_USUAL and type(entry) in (str, int, bool, float)
                assert not (is_state and is_usual), (entry, data)
            else:
                assert row.codes.tolist() == [[wanted]], (entry, data)
                assert row.n_states == (len(states) + 1,)
                assert again.codes.tolist() == row.codes.tolist()
                n_known += 1
    assert n_known > 10


def test_codes_of_several_columns_follow_the_names():
    domain = Domain({"A": ["x", "y"], "B": DOMAINS["intervals"], "C": 3, "D": [False, True]})
    coder = RowCoder(domain, ["D", "B", "A", "C"])
    table = pd.DataFrame({"A": ["y"], "B": [2.5], "C": [1], "D": [True]})
    of_numbers = table.assign(E=0.5)[["B", "C", "E"]]  # a row of these is an array of floats
    narrow = RowCoder(domain, ["C", "B"])
    assert narrow.encode(of_numbers).codes[:, 0].tolist() == [1, 1]
    for data in (
        table,
        table.to_dict("list"),
        table.astype({"A": "category"}),
        table.astype({"A": object, "C": np.uint8, "B": np.float32}),
    ):
        row = coder.encode(data)
        assert (row.names, row.n_states) == (("D", "B", "A", "C"), (2, 3, 2, 3))
        assert row.codes[:, 0].tolist() == [1, 1, 1, 1]
    entries = {"A": "x", "B": 9, "C": 2, "D": False}
    assert coder.encode_entries(entries).codes[:, 0].tolist() == [0, 2, 0, 2]


def test_other_tables_are_left_to_the_general_rule():
    coder = RowCoder(Domain({"A": ["x", "y"]}), ["A"])
    for data in (
        {"A": ["x", "y"]},
        {"A": []},
        {"A": "x"},
        {"B": ["x"]},
        {"A": ["x"], 1: ["x"]},
        pd.DataFrame([["x", "y"]], columns=["A", "A"]),
        pd.DataFrame({"A": ["x"]}).iloc[:0],
        np.array([["x"]]),
        [["x"]],
    ):
        assert coder.encode(data) is None
    assert coder.encode_entries({}) is None


def test_memory_is_bounded_and_pickles_do_not_hold_it():
    coder = RowCoder(Domain({"A": [0.5]}), ["A"])
    for i in range(2 * REMEMBERED):
        coder.encode_entries({"A": i})
    again = pickle.loads(pickle.dumps(coder))
    assert again.encode_entries({"A": 0.5}).codes.tolist() == [[0]]
    assert len(pickle.dumps(coder)) < 1000
