"""Tables counted all at once, against counting them one by one."""

from itertools import product

import numpy as np
import pytest

from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.network.learning.candidates import fit_change
from ebnc.network.learning.changes import Change
from ebnc.network.learning.node_learner import NodeLearner
from ebnc.network.local.configurations import (
    count_cells,
    count_configurations,
    count_with,
    distinct_configurations,
    number_configurations,
)
from ebnc.network.local.node import Settings

SIZES = {"A": 2, "B": 3, "C": 4, "D": 2, "E": 3}


def problem(n_rows=200, *, weighted=False, sizes=SIZES):
    rng = np.random.default_rng(1)
    codes = np.array([rng.integers(r, size=n_rows) for r in sizes.values()], dtype=np.uint32)
    codes[-1] = np.minimum(codes[0], sizes[list(sizes)[-1]] - 1)  # configurations that never occur
    rows = CodedRows(tuple(sizes), tuple(sizes.values()), codes)
    weights = rng.random(n_rows) + 0.1 if weighted else None
    return Cases(Domain(sizes), "A", rows, codes[0], weights)


def brute_force(cases, names):
    columns = [cases.rows.column(x) for x in names]
    sizes = [cases.domain.n_states(x) for x in names]
    weights = np.ones(len(cases)) if cases.weights is None else cases.weights
    cells = product(*map(range, sizes))
    is_there = [
        np.all([c == s for c, s in zip(columns, cell, strict=True)], axis=0) for cell in cells
    ]
    return np.reshape([weights[where].sum() for where in is_there], sizes)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("parents", [(), ("B",), ("E", "C")])
def test_all_tables_are_those_of_brute_force(parents, weighted):
    cases = problem(weighted=weighted)
    names = [x for x in SIZES if x not in (*parents, "A")]
    inside = number_configurations(cases, [*parents, "A"])
    n_inside = np.prod([SIZES[x] for x in (*parents, "A")])
    for name in names:
        counts = count_with(cases, inside, n_inside, cases.rows.column(name), SIZES[name])
        expected = brute_force(cases, [*parents, "A", name])
        np.testing.assert_allclose(counts, expected.reshape(counts.shape), atol=1e-12)
    counts = count_cells(cases, parents)
    expected = brute_force(cases, [*parents, "A"])
    np.testing.assert_allclose(counts, expected.reshape(counts.shape), atol=1e-12)


def test_configurations_are_numbered_beyond_two_bytes():
    sizes = {"A": 2, "B": 300, "C": 300}
    cases = problem(sizes=sizes)
    for names in (["B"], ["B", "A"], ["B", "C"], ["B", "C", "A"]):
        columns = tuple(cases.rows.column(x).astype(np.int64) for x in names)
        expected = np.ravel_multi_index(columns, [sizes[x] for x in names])
        assert (number_configurations(cases, names) == expected).all()


@pytest.mark.parametrize("score", ["laplace", "bic"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gains_of_tables_are_what_the_tables_score(score, weighted):
    learner = NodeLearner(problem(weighted=weighted), "A", Settings(score, ("table",)))
    state = learner.learn(["B"])
    gains = learner.tables.gains(state, ["C", "D", "E"])
    for name, gain in gains.items():
        after = fit_change(learner, state, Change("add", "A", name))
        assert gain == pytest.approx(after.score - state.score, abs=1e-9)


def test_tables_that_are_too_large_are_left_out():
    cases = problem()
    learner = NodeLearner(cases, "A", Settings(kinds=("table",), most_cells=12))
    assert set(learner.tables.gains(learner.learn(["B"]), ["C", "D"])) == {"D"}  # 2 · 3 · 4 > 12
    left = fit_change(learner, learner.learn(["B", "C"]), Change("remove", "A", "B"))
    assert left.scores == learner.learn(["C"]).scores


@pytest.mark.parametrize("weighted", [False, True])
def test_distinct_configurations_of_a_node_are_counted(weighted):
    cases = problem(weighted=weighted)
    for parents in (["B", "E"], ["B", "C", "D", "E"], []):
        found = distinct_configurations(cases, parents)
        codes, counts = count_configurations(cases, parents)
        assert found.total_weight == pytest.approx(counts.sum())
        assert len(found) == np.count_nonzero(counts)
        again = count_configurations(found, parents)
        assert (again[0] == codes).all()
        np.testing.assert_allclose(again[1], counts)
