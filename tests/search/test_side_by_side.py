"""Searches side by side: the same to the last bit, whatever the number and kind of workers."""

import gc
import tempfile
from pathlib import Path

import joblib
import numpy as np
import pytest

from ebnc import EmbeddedStructure
from ebnc.data.cases import read_cases
from ebnc.errors import StorageError
from ebnc.search import scorer as scorer_module
from ebnc.search.greedy import greedy_search
from ebnc.search.scorer import Scorer
from ebnc.search.side_by_side import SideBySide
from problems import domain_of, random_data, structure_named


@pytest.fixture(scope="module")
def cases():
    structure = structure_named("worked")
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 800, seed=4, scale=0.6)
    return read_cases(data, domain, structure.inputs, "Y", np.linspace(0.5, 1.5, 800))


def search(cases, n_jobs):
    start = EmbeddedStructure.naive("Y", cases.inputs)
    return greedy_search(Scorer(cases, n_jobs=n_jobs), start)


@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 2), ("loky", 3), ("threading", 2)])
def test_backend_and_number_of_workers_change_nothing(cases, backend, n_jobs):
    expected = search(cases, 1)
    assert len(expected.trace.steps) > 2
    with joblib.parallel_config(backend):
        found = search(cases, n_jobs)
    assert [s.move for s in found.trace.steps] == [s.move for s in expected.trace.steps]
    assert found.trace.n_fits == expected.trace.n_fits
    assert found.best.score == expected.best.score
    np.testing.assert_array_equal(found.best.solution.phi, expected.best.solution.phi)
    assert {str(m.structure): m.score for m in found.met} == {
        str(m.structure): m.score for m in expected.met
    }


def test_cases_are_sent_once_and_leave_nothing_behind(cases, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = []

    class Counting(SideBySide):
        def __init__(self, *arguments):
            made.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr(scorer_module, "SideBySide", Counting)
    result = search(cases, 2)
    assert len(made) == 1
    del result
    made.clear()
    gc.collect()
    assert [path for path in tmp_path.iterdir() if path.name.startswith("ebnc-")] == []


def test_no_room_for_the_cases_is_a_clear_error(cases, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(Path("nowhere")))
    with pytest.raises(StorageError, match="use n_jobs=1"):
        SideBySide(cases, 2)
