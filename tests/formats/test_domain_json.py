"""Labels of every type come back as they were, type and all."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebnc.domain import Domain, Interval
from ebnc.errors import FormatError
from ebnc.field import Field
from ebnc.formats.domain_json import domain_from_json, domain_to_json
from ebnc.formats.strict_json import parse_json, to_json_bytes

labels = st.one_of(
    st.none(),
    st.booleans(),
    st.text(),
    st.integers(min_value=-(10**90), max_value=10**90),
    st.floats(allow_nan=False),
)
cuts = st.lists(st.floats(allow_nan=False, allow_infinity=False), unique=True, max_size=5).map(
    sorted
)


def round_trip(domain):
    return domain_from_json(Field(parse_json(to_json_bytes(domain_to_json(domain)))))


@given(st.dictionaries(st.text(min_size=1), st.lists(labels, min_size=1, unique=True), max_size=4))
def test_any_labels_come_back_with_their_types(states):
    domain = Domain(states)
    back = round_trip(domain)
    assert back == domain
    assert list(back) == list(domain)
    for name in domain:
        assert list(map(repr, back[name])) == list(map(repr, domain[name]))


@given(cuts, st.booleans())
def test_intervals_come_back_exactly(inner, with_missing):
    ends = [-math.inf, *dict.fromkeys(x + 0.0 for x in inner), math.inf]
    states = [Interval(low, high) for low, high in pairwise(ends)]
    domain = Domain({"x": [*states, *([None] if with_missing else [])]})
    back = round_trip(domain)["x"]
    assert back == domain["x"]
    assert all(isinstance(state, Interval) for state in back[: len(states)])


@given(cuts, st.booleans())
def test_the_order_of_states_comes_back(inner, with_missing):
    states = [*dict.fromkeys(inner), 1e300, *([None] if with_missing else [])]
    domain = Domain({"x": states, "y": 2, "z": states}, ordered=["x"])
    plain = domain_to_json(domain)
    assert [variable.get("ordered") for variable in plain] == [True, None, None]
    back = round_trip(domain)
    assert back == domain
    assert [back.levels(x) for x in back] == [domain.levels(x) for x in domain]


def test_numpys_scalars_become_the_equal_ones_of_python():
    domain = Domain({"x": [np.int64(3), np.float32(0.5), np.bool_(True), np.str_("a")]})
    assert round_trip(domain) == domain
    assert json.loads(to_json_bytes(domain_to_json(domain)))[0]["states"] == [
        3,
        {"float": 0.5},
        True,
        "a",
    ]


@pytest.mark.parametrize("label", [b"bytes", (1, 2), 10**200])
def test_other_labels_are_refused_by_name(label):
    with pytest.raises(FormatError, match="state"):
        domain_to_json(Domain({"x": [label]}))


@pytest.mark.parametrize(
    "text",
    [
        "2.5",
        '{"float": "nan"}',
        '{"int": "1_0"}',
        '{"int": "٣"}',
        '{"interval": [0]}',
        '{"interval": [0, 1], "float": 1}',
        "9007199254740992",
        "[1]",
        '{"interval": [0, 1]}',
    ],
)
def test_what_is_not_a_state_is_refused(text):
    with pytest.raises(FormatError):
        domain_from_json(Field(parse_json(f'[{{"name": "x", "states": [{text}]}}]'.encode())))
