"""Searches side by side: the same to the last bit, whatever the number and kind of workers."""

import gc
import os
import sys
import tempfile
import time
from concurrent.futures import BrokenExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib.parallel import BACKENDS

import ebnc
from ebnc import EmbeddedStructure
from ebnc.data.read import read_cases
from ebnc.errors import ParameterError, StorageError
from ebnc.kernels.parallel import n_threads
from ebnc.search import scorer as scorer_module
from ebnc.search import screening, side_by_side
from ebnc.search.greedy import greedy_search
from ebnc.search.scorer import Scorer
from ebnc.search.side_by_side import Kept, SideBySide, on_cores
from problems import domain_of, random_data, structure_named
from search.jobs import count_sent, count_teams, end, lengthen, ready, shared, size, who


@pytest.fixture(scope="module")
def cases():
    structure = structure_named("worked")
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 800, seed=4, scale=0.6)
    return read_cases(data, domain, structure.inputs, "Y", np.linspace(0.5, 1.5, 800))


@pytest.fixture
def everything_is_sent(monkeypatch):
    """Also jobs that are too short to be worth it; counts those that others got."""
    monkeypatch.setattr(scorer_module, "SHORT", 0.0)
    monkeypatch.setattr(screening, "SMALL", 0.0)
    return count_sent(monkeypatch)


def search(cases, n_jobs):
    start = EmbeddedStructure.naive("Y", cases.inputs)
    return greedy_search(Scorer(cases, n_jobs=n_jobs), start)


@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 2), ("loky", 3), ("threading", 2)])
def test_backend_and_number_of_workers_change_nothing(cases, backend, n_jobs, everything_is_sent):
    expected = search(cases, 1)
    assert len(expected.trace.steps) > 2
    assert everything_is_sent == []
    with joblib.parallel_config(backend):
        found = search(cases, n_jobs)
    assert set(everything_is_sent) == {"_fit_one", "_estimates_of_share"}
    assert [s.move for s in found.trace.steps] == [s.move for s in expected.trace.steps]
    assert found.trace.n_fits == expected.trace.n_fits
    assert found.best.score == expected.best.score
    np.testing.assert_array_equal(found.best.solution.phi, expected.best.solution.phi)
    assert {str(m.structure): m.score for m in found.met} == {
        str(m.structure): m.score for m in expected.met
    }


def test_a_rough_first_ranking_is_the_same_side_by_side(cases, everything_is_sent, monkeypatch):
    monkeypatch.setattr(screening, "EXPENSIVE", 0.0)
    monkeypatch.setattr(screening, "THOROUGH", 3)
    scorer = Scorer(cases, n_jobs=1)
    here = scorer.tuned(EmbeddedStructure.naive("Y", cases.inputs[:4]))
    start = EmbeddedStructure("Y", (*here.structure.families, *((x, ()) for x in cases.inputs[4:])))
    results = []
    for n_jobs in (1, 2):
        with joblib.parallel_config("threading"):
            found = greedy_search(Scorer(cases, n_jobs=n_jobs), start)
        results.append((found.best.score, [s.move for s in found.trace.steps]))
    assert everything_is_sent
    assert results[0] == results[1]


def test_what_is_soon_done_is_not_sent(cases, monkeypatch):
    sent = count_sent(monkeypatch)
    search(cases, 2)
    assert sent == []


def test_cases_are_sent_once_and_leave_nothing_behind(
    cases, tmp_path, monkeypatch, everything_is_sent
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = count_teams(monkeypatch)
    result = search(cases, 2)
    assert len(made) == 1
    assert everything_is_sent
    del result
    made.clear()
    gc.collect()
    assert [path for path in tmp_path.iterdir() if path.name.startswith("ebnc-")] == []


def test_no_room_for_the_cases_is_a_clear_error(cases, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(Path("nowhere")))
    with pytest.raises(StorageError, match="use n_jobs=1"):
        SideBySide(cases, 2)


def test_backends_that_are_not_known_are_refused(cases, monkeypatch):
    class Other(BACKENDS["loky"]):
        pass

    monkeypatch.setitem(BACKENDS, "other", Other)
    with (
        joblib.parallel_config("other"),
        pytest.raises(ParameterError, match="backend Other; choose 'loky'"),
    ):
        SideBySide(cases, 2)


# -- the team itself ------------------------------------------------------------------------------


def test_the_caller_is_one_of_the_workers_and_the_others_have_one_thread(cases):
    found = ready(SideBySide(cases, 2))(who, [(0.05,)] * 4)
    assert len({process for process, _ in found}) == 2
    assert os.getpid() in {process for process, _ in found}
    assert {threads for process, threads in found if process != os.getpid()} == {1}


def test_the_caller_has_one_thread_while_others_work_and_all_while_they_rest(cases, monkeypatch):
    team = ready(SideBySide(cases, 2))
    assert team(who, [(0.3,), (0.01,)])[1] == (os.getpid(), 1)
    monkeypatch.setattr(SideBySide, "is_ready", False)
    assert team(who, [(0.01,)]) == [(os.getpid(), n_threads())]


@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 2), ("threading", 3)])
def test_results_come_in_order_and_errors_reach_the_caller(cases, backend, n_jobs):
    with joblib.parallel_config(backend):
        team = SideBySide(cases, n_jobs)
    numbers = [3, 5, 4, 7, 1, 8, 9, 6, 12, 11, 10]
    assert team(size, [(n,) for n in numbers]) == [(n, cases.total_weight) for n in numbers]
    assert team(size, []) == []
    with pytest.raises(ZeroDivisionError, match="job 2"):
        team(size, [(n,) for n in range(9)])
    assert team(size, [(1,)]) == [(1, cases.total_weight)]


def test_jobs_leave_as_they_are_when_they_are_given(cases):
    """The caller works with the same objects while jobs are on their way."""
    growing = []
    found = ready(SideBySide(cases, 2))(lengthen, [(growing,), (growing,)])
    assert found == [1, 1]


def test_what_jobs_share_is_made_once_by_every_process(cases):
    kept, other = Kept("a"), Kept("b")
    found = ready(SideBySide(cases, 2))(shared, [(kept,), (other,)] * 4)
    assert [value for _, value, _ in found] == ["a", "b"] * 4
    assert len({process for process, _, _ in found}) == 2
    assert len(set(found)) == len({(process, value) for process, value, _ in found})


def test_a_killed_process_is_an_error_and_the_next_team_has_another(cases):
    survivor = os.getpid()
    with pytest.raises(BrokenExecutor, match="terminated"):
        ready(SideBySide(cases, 2))(end, [(survivor,)] * 4)
    found = ready(SideBySide(cases, 2))(who, [(0.05,)] * 4)
    assert len({process for process, _ in found}) == 2


def test_the_caller_works_alone_until_processes_run(cases, monkeypatch):
    asked = iter([False, False, True])
    monkeypatch.setattr(SideBySide, "is_ready", property(lambda _: next(asked)))
    alone = os.getpid()
    found = [process for process, _ in SideBySide(cases, 2)(who, [(0.05,)] * 6)]
    assert found[:2] == [alone, alone]
    assert len(set(found[2:])) == 2


def test_processes_are_not_started_before_they_are_needed(cases):
    pool = side_by_side._Pool(1)
    assert not pool.is_broken
    assert not pool.executor._processes
    while not pool.is_ready:
        time.sleep(1e-3)
    assert pool.executor._processes
    assert not pool.is_broken
    pool.executor.shutdown()


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 4), (1, 1), (3, 3), (9, 4)])
def test_n_jobs_is_the_number_of_cores(n_jobs, expected, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    with on_cores(n_jobs):
        assert n_threads() == expected
    assert n_threads() == 4


def test_estimators_and_networks_with_one_job_have_one_thread(monkeypatch):
    """Whatever is done on threads asks how many there may be."""
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    asked = set()

    def spy(job, arguments):
        asked.add(n_threads())
        return [job(argument) for argument in arguments]

    for name, module in list(sys.modules.items()):
        if name.startswith("ebnc.") and "in_parallel" in vars(module):
            monkeypatch.setattr(module, "in_parallel", spy)
    x = np.random.default_rng(0).integers(0, 3, (60, 3))
    y = (x[:, 0] > 0).astype(int)
    for n_jobs, n_cores in ((1, 1), (None, 4)):
        asked.clear()
        ebnc.EBNCClassifier(n_jobs=n_jobs).fit(x, y)
        ebnc.EBNCClassifier(structure="naive", n_jobs=n_jobs).fit(x, y)
        data = {"a": x[:, 0], "b": x[:, 1], "y": y}
        ebnc.Network.learn(data, regime="sparse", n_jobs=n_jobs)
        assert asked == {n_cores}
