"""Places that nodes have left, and searches that come back to them."""

import numpy as np

import ebnc
from ebnc.network import places as module
from ebnc.network.nodes import NodeState
from ebnc.network.outlook import Outlook
from ebnc.network.places import Place, Places


def state(*parents):
    return NodeState(parents, {"table": 0.0}, None, {})


def test_a_place_is_found_whatever_the_order_of_its_parents():
    places = Places()
    left = Place(state("A", "B"), ["an option"])
    places.leave("C", left)
    assert places.find("C", state("B", "A")) is left
    assert places.find("D", state("A", "B")) is None
    assert places.find("C", state("A")) is None


def test_only_the_latest_places_are_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST_PLACES", 2)
    places = Places()
    for parent in "ABA":
        places.leave("Z", Place(state(parent), ()))
    places.leave("Z", Place(state("C"), ()))
    assert [places.find("Z", state(x)) is not None for x in "ABC"] == [True, False, True]


def sample():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 400))
    c = (a & b) ^ (rng.random(400) < 0.1)
    d = c ^ (rng.random(400) < 0.2)
    return dict(zip("abcd", (a, b, c, d), strict=True)) | {"e": rng.integers(0, 3, 400)}


def test_a_search_that_comes_back_ends_as_one_that_looks_again(monkeypatch):
    """Scores are equal but for the rounding of fits that begin elsewhere."""
    came_back = []
    find = Places.find

    def spy(self, name, there):
        found = find(self, name, there)
        came_back.append(found is not None and bool(found.options))
        return found

    monkeypatch.setattr(Places, "find", spy)
    learned = ebnc.Network.learn(sample(), regime="sparse")
    assert any(came_back)
    monkeypatch.setattr(Places, "find", lambda *_: None)
    again = ebnc.Network.learn(sample(), regime="sparse")
    assert sorted(again.arcs) == sorted(learned.arcs)
    assert abs(again.learned_score - learned.learned_score) < 1e-6


def test_those_who_help_hear_that_the_search_has_ended(monkeypatch):
    ended = []
    end = Outlook.end

    def spy(self):
        ended.append(self)
        end(self)

    monkeypatch.setattr(Outlook, "end", spy)
    ebnc.Network.learn(sample(), regime="sparse", local="table")
    assert len(ended) == 1
