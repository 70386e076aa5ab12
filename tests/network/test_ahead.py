"""Changes that others look at before they are made."""

import threading
import time

import joblib
import numpy as np
import pytest

from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.network import ahead as module
from ebnc.network.ahead import Ahead, Next, that_go_together
from ebnc.network.changes import Change
from ebnc.network.constraints import Constraints
from ebnc.network.nodes import NodeLearner, Settings
from ebnc.network.options import Option, all_options, fit_change, look_ahead
from ebnc.search.side_by_side import SideBySide

NAMES = ("A", "B", "C", "D")
SETTINGS, CONSTRAINTS = Settings(), Constraints.of(NAMES)


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 2, (4, 400)).astype(np.uint8)
    codes[1] ^= rng.random(400) < 0.7
    codes[2] = (codes[0] & codes[1]) ^ (rng.random(400) < 0.1)
    domain = Domain(dict.fromkeys(NAMES, 2))
    return Cases(domain, "A", CodedRows(NAMES, (2, 2, 2, 2), codes), codes[0], None)


def next_change(cases, change, *, fitted):
    learner = NodeLearner.of(cases, change.head, SETTINGS, CONSTRAINTS)
    state = learner.start()
    after = fit_change(learner, state, change) if fitted else None
    return Next(learner, state, Option(change, 1.0, after))


def gains(options):
    return [(str(option.change), option.gain) for option in options]


def expected(each):
    learner, state, option = each
    after = fit_change(learner, state, option.change)
    return gains(all_options(learner, after, CONSTRAINTS))


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_what_was_looked_at_before_is_what_one_sees_now(cases, backend):
    first, second, third = (
        next_change(cases, Change("add", head, tail), fitted=fitted)
        for head, tail, fitted in (("C", "A", True), ("D", "B", False), ("B", "A", False))
    )
    with joblib.parallel_config(backend):
        ahead = Ahead(SideBySide(cases, 2), SETTINGS, CONSTRAINTS)
    (seen,) = ahead.options([first], [second, third])
    assert gains(seen) == expected(first)
    for each in (second, third):  # by now begun or done by somebody, unless still at the end
        state = ahead.state(each.option.change)
        learner, before, option = each
        fitted = fit_change(learner, before, option.change)
        assert state is None or state.scores == fitted.scores
        option.state = fitted
        (seen,) = ahead.options([each], [])
        assert gains(seen) == expected(each)


def test_the_caller_works_on_what_is_likely_rather_than_wait(cases, monkeypatch):
    first, wanted, likely = (
        next_change(cases, Change("add", head, "A"), fitted=True) for head in ("B", "C", "D")
    )
    may_end = threading.Event()
    who = {}

    def look(*arguments):
        change = arguments[-2]
        who[change] = threading.current_thread()
        if change == wanted.option.change:
            may_end.wait(20)
        else:
            may_end.set()
        return look_ahead(*arguments)

    monkeypatch.setattr(module, "look_ahead", look)
    monkeypatch.setattr(module, "ENOUGH", 1.0)  # one job at a time
    with joblib.parallel_config("threading"):
        ahead = Ahead(SideBySide(cases, 2), SETTINGS, CONSTRAINTS)
    ahead.options([first], [wanted])
    (seen,) = ahead.options([wanted], [likely])
    assert gains(seen) == expected(wanted)
    assert who[likely.option.change] is threading.current_thread()
    assert who[wanted.option.change] is not threading.current_thread()


def test_a_change_is_not_known_before_it_is_on_its_way(cases, monkeypatch):
    """Jobs are handed out on another thread while the caller asks for states."""
    with joblib.parallel_config("threading"):
        team = SideBySide(cases, 2)
    ahead = Ahead(team, SETTINGS, CONSTRAINTS)
    wanted, likely = (
        next_change(cases, Change("add", head, "A"), fitted=True) for head in ("C", "D")
    )
    begin, asked = team.begin, []

    def ask_and_begin(prepared):
        asked.append(ahead.state(likely.option.change))
        return begin(prepared)

    monkeypatch.setattr(team, "begin", ask_and_begin)
    ahead.options([wanted], [likely])
    assert asked
    assert set(asked) == {None}


def test_what_a_changed_node_might_have_become_is_forgotten(cases, monkeypatch):
    monkeypatch.setattr(module, "LIKELY", 2)
    first, *some = (
        next_change(cases, Change("add", head, "A"), fitted=head == "B") for head in "BCD"
    )
    with joblib.parallel_config("threading"):
        ahead = Ahead(SideBySide(cases, 2), SETTINGS, CONSTRAINTS)
    assert [ahead.state(each.option.change) for each in some] == [None, None]
    ahead.options([first], some)
    while len(ahead._jobs) < 2 or any(job.is_on_its_way for job in ahead._jobs.values()):
        time.sleep(1e-3)
    fitted = [ahead.state(each.option.change) for each in some]
    assert [state.parents for state in fitted] == [("A",), ("A",)]
    ahead.forget(["D"])
    assert [ahead.state(each.option.change) for each in some] == [fitted[0], None]


def test_failures_of_what_nobody_wanted_stay_unheard(cases, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("this change")

    with joblib.parallel_config("threading"):
        ahead = Ahead(SideBySide(cases, 2), SETTINGS, CONSTRAINTS)
    wanted = next_change(cases, Change("add", "C", "A"), fitted=True)
    unlucky = next_change(cases, Change("add", "D", "B"), fitted=True)
    monkeypatch.setattr(module, "look_ahead", fail)
    (seen,) = ahead.options([wanted], [unlucky])
    assert gains(seen) == expected(wanted)
    job = ahead._jobs[unlucky.option.change]
    while job.is_on_its_way:
        time.sleep(1e-3)
    assert ahead.state(unlucky.option.change) is None
    with pytest.raises(ZeroDivisionError, match="this change"):
        ahead.options([unlucky], [])
    mine = ahead._whole(unlucky)
    mine.do()  # by the caller, who does not want it either
    assert mine.has_failed
    with pytest.raises(ZeroDivisionError, match="this change"):
        mine.result()


def test_changes_go_together_if_no_node_is_changed_twice_and_no_cycle_arises():
    def add(head, tail):
        return (Option(Change("add", head, tail), 1.0),)

    turn = (
        Option(Change("remove", "B", "A"), -1.0),
        Option(Change("add", "A", "B"), 2.0),
    )
    parents = {"A": (), "B": ("A",), "C": (), "D": ()}
    ranked = [add("C", "B"), add("A", "C"), add("C", "D"), turn, add("D", "C"), add("B", "D")]
    together = list(that_go_together(parents, ranked))
    assert together == [ranked[0], turn, ranked[4]]


def test_once_it_has_ended_nothing_more_is_begun(cases, monkeypatch):
    first, likely, later = (
        next_change(cases, Change("add", head, "A"), fitted=True) for head in ("B", "C", "D")
    )
    may_end, seen = threading.Event(), []

    def look(*arguments):
        seen.append(arguments[-2].head)
        may_end.wait(10)
        return look_ahead(*arguments)

    monkeypatch.setattr(module, "look_ahead", look)
    monkeypatch.setattr(module, "ENOUGH", 1.0)  # one at a time
    with joblib.parallel_config("threading"):
        ahead = Ahead(SideBySide(cases, 2), SETTINGS, CONSTRAINTS)
    ahead.options([first], [likely, later])
    ahead.end()
    may_end.set()
    time.sleep(0.1)
    assert "D" not in seen
    assert ahead.state(likely.option.change) is None
