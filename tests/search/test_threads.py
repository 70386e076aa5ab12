"""Searches on several threads: the same to the last bit, whatever their number."""

import gc
import sys

import joblib
import numpy as np
import pytest

import ebnc
from ebnc import EmbeddedStructure
from ebnc.likelihood.counts import CellCounts
from ebnc.search.greedy import greedy_search
from ebnc.search.limits import Limits
from ebnc.search.moves import moves
from ebnc.search.scorer import Scorer
from ebnc.search.screening import screen
from ebnc.threads import limit_threads, n_threads
from problems import domain_of, random_data, read_cases, structure_named


@pytest.fixture(scope="module")
def cases():
    structure = structure_named("worked")
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 800, seed=4, scale=0.6)
    return read_cases(data, domain, structure.inputs, "Y", np.linspace(0.5, 1.5, 800))


@pytest.fixture(autouse=True)
def many_cores(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")


def search(cases, n_jobs):
    with limit_threads(n_jobs):
        return greedy_search(Scorer(cases), EmbeddedStructure.naive("Y", cases.inputs))


@pytest.mark.parametrize("n_jobs", [2, None])
def test_the_number_of_threads_changes_nothing(cases, n_jobs):
    expected, found = search(cases, 1), search(cases, n_jobs)
    assert len(expected.trace.steps) > 2
    assert [s.move for s in found.trace.steps] == [s.move for s in expected.trace.steps]
    assert found.trace.n_fits == expected.trace.n_fits
    assert found.best.score == expected.best.score
    np.testing.assert_array_equal(found.best.fit.solution.phi, expected.best.fit.solution.phi)
    assert {str(m.structure): m.score for m in found.met} == {
        str(m.structure): m.score for m in expected.met
    }


def test_a_rough_first_ranking_does_not_depend_on_it_either(cases):
    scorer = Scorer(cases)
    here = scorer.tuned(EmbeddedStructure.naive("Y", cases.inputs))
    n_states = dict(zip(cases.inputs, cases.n_states, strict=True))
    candidates = moves(here.structure, n_states, Limits())

    def ranked(n_jobs):
        with limit_threads(n_jobs):
            screened = screen(scorer, here, candidates, thorough=3, expensive=0.0)
        return [(each.move.description, each.gain) for each in screened]

    assert ranked(1) == ranked(4)
    assert len(ranked(1)) > 3


def test_a_search_keeps_no_rows_of_the_models_it_met(cases):
    result = search(cases, 2)
    assert len(result.met) > 2
    gc.collect()
    assert not [kept for kept in gc.get_objects() if isinstance(kept, CellCounts)]


def test_estimators_and_networks_with_one_job_have_one_thread(monkeypatch):
    """Whatever is done on threads asks how many there may be."""
    asked = set()

    def spy(job, arguments):
        asked.add(n_threads())
        return [job(argument) for argument in arguments]

    for name, module in list(sys.modules.items()):
        if name.startswith("ebnc.") and "in_parallel" in vars(module):
            monkeypatch.setattr(module, "in_parallel", spy)
    x = np.random.default_rng(0).integers(0, 3, (60, 3))
    y = (x[:, 0] > 0).astype(int)
    for n_jobs, expected in ((1, 1), (None, 4)):
        asked.clear()
        ebnc.EBNCClassifier(n_jobs=n_jobs).fit(x, y)
        ebnc.EBNCClassifier(structure="naive", n_jobs=n_jobs).fit(x, y)
        data = {"a": x[:, 0], "b": x[:, 1], "y": y}
        ebnc.Network.learn(data, regime="sparse", n_jobs=n_jobs)
        assert asked == {expected}


@pytest.mark.parametrize("backend", ["loky", "threading", "sequential", "multiprocessing"])
def test_backends_of_joblib_are_left_alone(backend):
    x = np.random.default_rng(0).integers(0, 3, (60, 3))
    y = (x[:, 0] > 0).astype(int)
    expected = ebnc.EBNCClassifier().fit(x, y).predict_proba(x)
    with joblib.parallel_config(backend, n_jobs=2):
        for n_jobs in (None, 2, -1):
            found = ebnc.EBNCClassifier(n_jobs=n_jobs).fit(x, y).predict_proba(x)
            np.testing.assert_array_equal(found, expected)
