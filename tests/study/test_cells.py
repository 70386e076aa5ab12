"""Finished cells survive what happens to long runs."""

import numpy as np
import pytest
from study.cells import Cells, environment, select_names


@pytest.fixture
def store(tmp_path):
    store = Cells(tmp_path / "results.csv", ["set", "model"], ["loss", "note"])
    store.append([{"set": "a", "model": 1, "loss": 0.123456789, "note": "x"}])
    store.append([{"set": "b", "model": 1, "loss": np.inf}, {"set": "b", "model": 2, "loss": None}])
    return store


def test_what_is_written_is_found(store):
    assert store.done() == {("a", "1"), ("b", "1"), ("b", "2")}
    frame = store.frame()
    assert frame["loss"].tolist()[:2] == [0.123457, np.inf]
    assert np.isnan(frame["loss"][2])
    assert frame["model"].tolist() == [1, 1, 2]
    assert set(frame["environment"]) == {environment(store.path.with_name("environments.csv"))}


def test_of_two_lines_with_one_key_the_last_counts(store):
    store.append([{"set": "a", "model": 1, "loss": 9.0, "note": "y"}])
    assert len(store.lines()) == 3
    assert store.frame().set_index("set").loc["a", "loss"] == 9.0


def test_lines_are_forgotten(store):
    store.forget(lambda line: line["set"] == "b")
    assert store.done() == {("a", "1")}


def test_a_run_that_was_killed_while_writing_goes_on(store):
    whole = store.path.read_bytes()
    for cut in range(whole.index(b"b,2"), len(whole)):
        store.path.write_bytes(whole[:cut])
        store.append([{"set": "c", "model": 3, "loss": 1.0, "note": ""}])
        assert {("a", "1"), ("b", "1"), ("c", "3")} <= store.done()
        assert len({line["environment"] for line in store.lines()}) == 1


def test_another_file_is_refused(store):
    with pytest.raises(ValueError, match=r"results.csv must have the columns set, loss"):
        Cells(store.path, ["set"], ["loss"]).lines()


def test_the_environment_is_described_once(tmp_path):
    path = tmp_path / "environments.csv"
    name = environment.__wrapped__(path)
    assert environment.__wrapped__(path) == name
    header, line = path.read_text().splitlines()
    assert header.startswith("environment,ebnc,source,python,numpy")
    assert line.startswith(name)


def test_names_of_an_option():
    assert select_names(None, ["a", "b"], "set") == ["a", "b"]
    assert select_names("b", ["a", "b"], "set") == ["b"]
    with pytest.raises(SystemExit, match="no set c; there are a, b"):
        select_names("a,c", ["a", "b"], "set")
