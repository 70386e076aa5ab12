"""Domains: a read-only mapping from names to labels."""

import copy
import pickle
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebnc import Domain
from ebnc.domain import as_domain, count_states
from ebnc.errors import DomainError, EBNCError
from strategies import AWKWARD_NAMES

labels = st.lists(
    st.one_of(st.text(max_size=3), st.integers(), st.booleans(), st.none(), st.tuples(st.text())),
    min_size=1,
    max_size=5,
    unique=True,
)


@given(st.dictionaries(st.sampled_from(AWKWARD_NAMES), labels, max_size=4))
def test_labels_and_codes_are_inverse(states):
    """Any hashable labels, any names."""
    domain = Domain(states)
    assert list(domain) == list(states)
    assert len(domain) == len(states)
    for name, given_labels in states.items():
        assert domain[name] == tuple(given_labels)
        assert domain.n_states(name) == len(given_labels)
        codes = domain.codes(name)
        assert [codes[label] for label in domain[name]] == list(range(len(given_labels)))
    assert count_states(states, states) == tuple(map(len, states.values()))
    assert count_states(domain, states) == tuple(map(len, states.values()))


def test_a_count_stands_for_the_labels_from_zero():
    """As do NumPy's integers."""
    assert Domain({"A": 3}) == Domain({"A": [0, 1, 2]}) == Domain({"A": np.int64(3)})
    assert Domain({"A": 1})["A"] == (0,)


def test_a_domain_is_a_mapping_like_any_other():
    """``in``, ``get``, ``items``, equality and hash; the order of names is not part of it."""
    domain = Domain({"A": 2, "B": ["x"]})
    assert isinstance(domain, Mapping)
    assert "A" in domain
    assert "Z" not in domain
    assert domain.get("A") == (0, 1)
    assert domain.get("Z") is None
    assert domain.get("Z", 7) == 7
    assert dict(domain.items()) == {"A": (0, 1), "B": ("x",)}
    same = Domain({"B": ["x"], "A": 2})
    assert same == domain
    assert hash(same) == hash(domain)
    assert domain != Domain({"A": 2})
    assert domain != Domain({"A": [1, 0], "B": ["x"]})


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))]
)
def test_copies_pickles_and_repr_are_equal(again):
    """``repr`` evaluates to an equal domain."""
    domain = Domain({"A": ["no", "yes"], "größe": 3})
    assert again(domain) == domain
    assert again(domain).codes("A") == {"no": 0, "yes": 1}
    assert eval(repr(domain)) == domain


def test_as_domain_keeps_a_domain():
    """And makes one of a mapping."""
    domain = Domain({"A": 2})
    assert as_domain(domain) is domain
    assert as_domain({"A": 2}) == domain


def test_a_domain_is_kept_apart_from_the_callers_lists():
    """Changing the list afterwards changes nothing."""
    given_labels = ["a", "b"]
    domain = Domain({"A": given_labels})
    given_labels.append("c")
    assert domain["A"] == ("a", "b")


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({"A": 0}, "'A' has 0 states"),
        ({"A": -2}, "'A' has -2 states"),
        ({"A": []}, "'A' has no states"),
        ({"A": ()}, "'A' has no states"),
        ({"A": ["x", "x"]}, "states 'x' and 'x' of 'A' are equal"),
        ({"A": [1, 1.0]}, "states 1 and 1.0 of 'A' are equal"),
        ({"A": [1, True]}, "states 1 and True of 'A' are equal"),
        ({"A": [float("nan"), 1.0]}, "NaN is not a state of 'A'"),
        ({"A": np.array([1, np.nan], dtype=np.float32)}, "NaN is not a state of 'A'"),
        ({"A": [np.datetime64("NaT")]}, "NaN is not a state of 'A'"),
        ({"A": [["x"], ["y"]]}, "state .* of 'A' is not hashable"),
        ({"A": np.eye(2)}, "state .* of 'A' is not hashable"),
        ({"A": {"x"}}, "states of 'A' are given as a set"),
        ({"A": frozenset("x")}, "states of 'A' are given as a set"),
        ({"A": "xyz"}, "states of 'A' must be a whole number or a list of labels, got 'xyz'"),
        ({"A": b"xyz"}, "states of 'A' must be a whole number"),
        ({"A": 2.0}, "states of 'A' must be a whole number"),
        ({"A": None}, "states of 'A' must be a whole number"),
        ({"A": True}, "states of 'A' must be a whole number"),
        ({"": 2}, "names must be non-empty strings, got ''"),
        ({1: 2}, "names must be non-empty strings, got 1"),
        ({None: 2}, "names must be non-empty strings, got None"),
        ([("A", 2)], "got list"),
        (None, "got NoneType"),
        ("A", "got str"),
        (3, "got int"),
    ],
    ids=[str(i) for i in range(26)],
)
@pytest.mark.parametrize("make", [Domain, as_domain])
def test_a_bad_domain_gets_one_clear_error_that_names_the_variable(make, states, message):
    """No states, equal states, NaN, no labels, no names."""
    with pytest.raises(DomainError, match=message) as error:
        make(states)
    assert isinstance(error.value, EBNCError)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(
    "ask", [lambda d: d["Z"], lambda d: d.n_states("Z"), lambda d: d.codes("Z")]
)
def test_an_undeclared_variable_is_named_with_those_there_are(ask):
    """At most eight of them."""
    domain = Domain({f"X{i}": 2 for i in range(1000)})
    with pytest.raises(DomainError, match="for 'Z'; declared variables are 'X0'") as e:
        ask(domain)
    assert len(str(e.value)) < 200
