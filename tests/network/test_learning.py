"""Learning networks: scores against other libraries, constraints, determinism, odd data."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import ebnc
from ebnc.data.read import learn_joint_cases
from ebnc.errors import DataError, ParameterError, SearchError
from ebnc.network.learning.node_learner import NodeLearner
from ebnc.network.local.node import Settings
from network.networks import random_network


def sample(seed, n=1000, **more):
    truth = random_network(seed, **more)
    return truth, truth.sample(n, random_state=seed)


def learner(data, name, **settings):
    return NodeLearner(learn_joint_cases(data, None, "state", None)[0], name, Settings(**settings))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sample_size", [1.0, 10.0])
def test_table_scores_are_bdeu_as_pgmpy_computes_it(seed, sample_size, without_warnings):
    """Of the network that was learned, and of others."""
    from pgmpy.structure_score import BDeu

    _, data = sample(seed, kinds=("table",))
    learned = ebnc.Network.learn(
        data, local="table", equivalent_sample_size=sample_size, structure_prior=False
    )
    theirs = BDeu(data, equivalent_sample_size=sample_size)
    for name in learned:
        expected = theirs.local_score(name, learned.parents(name))
        assert learned.scores[name] == pytest.approx(expected, abs=1e-6)
        mine = learner(data, name, sample_size=sample_size, structure_prior=False)
        for parents in combinations([x for x in data.columns if x != name], 2):
            expected = theirs.local_score(name, parents)
            assert mine.tables.learn(parents).score == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_hill_climbing_reaches_what_pgmpys_does(seed, without_warnings):
    from pgmpy.causal_discovery import HillClimbSearch
    from pgmpy.structure_score import BDeu

    _, data = sample(seed, kinds=("table",))
    learned = ebnc.Network.learn(
        data, local="table", equivalent_sample_size=10.0, structure_prior=False
    )
    theirs = BDeu(data, equivalent_sample_size=10.0)
    dag = HillClimbSearch("bdeu", return_type="dag", show_progress=False).fit(data).causal_graph_
    total = sum(theirs.local_score(x, tuple(dag.get_parents(x))) for x in dag.nodes())
    assert learned.learned_score >= total - 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    "kinds", ["ebnc", "naive", "table", "tree", "graph", "noisy-max", ("ebnc", "table", "tree")]
)
@pytest.mark.parametrize("score", ["laplace", "bic"])
def test_learned_networks_are_closer_to_the_truth_than_independence(kinds, score):
    truth, data = sample(7, n=2000, kinds=("ebnc", "table", "tree"))
    learned = ebnc.Network.learn(data, local=kinds, score=score)
    fresh = truth.sample(4000, random_state=99)
    alone = sum(
        np.log(fresh[x].map(data[x].value_counts(normalize=True))).mean() for x in data.columns
    )
    best, found = truth.log_likelihood(fresh).mean(), learned.log_likelihood(fresh).mean()
    assert best - found < 0.3 * (best - alone)
    allowed = {kinds.replace("naive", "ebnc")} if isinstance(kinds, str) else set(kinds)
    assert {local.kind for local in learned.values()} <= allowed | {"table"}
    assert learned.learned_score == pytest.approx(learned.trace.steps[-1].score)


def test_kinds_are_what_the_data_were_made_of():
    """Many parents that add up: an EBNC. A question behind a question: a tree."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (3000, 6))
    logit = (2 * x - 1) @ np.array([1.0, 0.9, 0.8, -0.9, 0.8, -1.0])
    data = {f"X{i}": x[:, i] for i in range(6)}
    data["sum"] = (rng.random(3000) < 1 / (1 + np.exp(-logit))).astype(int)
    last = np.where(x[:, 2] == 1, 0.7, 0.2)
    switch = np.where(x[:, 0] == 1, np.where(x[:, 1] == 1, last, 0.95), 0.1)
    data["switch"] = (rng.random(3000) < switch).astype(int)
    learned = ebnc.Network.learn(
        data,
        tiers=[[f"X{i}" for i in range(6)], ["sum", "switch"]],
        forbidden=[("sum", "switch"), ("switch", "sum")],
    )
    assert learned.local("sum").kind == "ebnc"
    assert set(learned.parents("sum")) == {f"X{i}" for i in range(6)}
    assert learned.local("switch").kind == "tree"
    assert set(learned.parents("switch")) == {"X0", "X1", "X2"}


def test_constraints_are_kept():
    _, data = sample(3)
    a, b, c, *rest = data.columns
    learned = ebnc.Network.learn(
        data, required=[(a, b)], forbidden=[(b, c), (c, b)], tiers=[[c], rest], max_parents=2
    )
    assert (a, b) in learned.arcs
    assert not {(b, c), (c, b)} & set(learned.arcs)
    assert not any(head == c and tail in rest for tail, head in learned.arcs)
    assert max(len(learned.parents(x)) for x in learned) <= 2


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"required": [("A", "Q")]}, "'Q' is not a variable"),
        ({"required": [("A", "B")], "forbidden": [("A", "B")]}, "required and forbidden"),
        ({"required": [("A", "B")], "tiers": [["B"], ["A"]]}, "against the tiers"),
        ({"required": [("A", "B"), ("B", "A")]}, "contradict each other.*cycle"),
        ({"required": [("A", "C"), ("B", "C")], "max_parents": 1}, "2 required parents"),
        ({"required": [("A", "A")]}, "leads to itself"),
        ({"required": ["AB"]}, "must be a pair"),
        ({"tiers": ["AB"]}, "lists of names"),
        ({"tiers": [["A"], ["A"]]}, "two tiers"),
        ({"max_parents": -1}, "at least 0"),
    ],
)
def test_contradictions(constraints, message):
    data = {"A": [0, 1, 0, 1], "B": [0, 0, 1, 1], "C": [0, 1, 1, 0]}
    with pytest.raises(SearchError, match=message):
        ebnc.Network.learn(data, **constraints)


def test_bad_arguments():
    data = {"A": [0, 1], "B": [1, 0]}
    with pytest.raises(ParameterError, match="score must be one of"):
        ebnc.Network.learn(data, score="aic")
    with pytest.raises(ParameterError, match="local must name some of"):
        ebnc.Network.learn(data, local=("ebnc", "forest"))
    with pytest.raises(ParameterError, match="must be positive"):
        ebnc.Network.learn(data, equivalent_sample_size=0.0)
    with pytest.raises(DataError, match="no rows"):
        ebnc.Network.learn({"A": [], "B": []}, categories={"A": 2, "B": 2})
    with pytest.raises(DataError, match="no columns"):
        ebnc.Network.learn({})
    with pytest.raises(DataError, match="must be a DataFrame"):
        ebnc.Network.learn(3)
    with pytest.raises(DataError, match="column names must be strings"):
        ebnc.Network.learn(pd.DataFrame({0: [1, 2], 1: [2, 1]}))


def test_constant_columns_missing_values_and_numbers():
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    data = pd.DataFrame(
        {
            "constant": ["always"] * 400,
            "number": x,
            "label": np.where(rng.random(400) < 0.1, None, np.where(x > 0, "high", "low")),
        }
    )
    learned = ebnc.Network.learn(data)
    assert learned.parents("constant") == ()
    assert None in learned.domain["label"]
    assert len(learned.arcs) == 1
    assert np.isfinite(learned.log_likelihood(data)).all()
    again = learned.sample(50, random_state=0)
    assert np.isfinite(learned.log_likelihood(again)).all()
    with pytest.raises(DataError, match="'never' in column 'constant'"):
        learned.log_likelihood(data.assign(constant="never"))


def test_weights_are_repeated_rows():
    _, data = sample(5, n=300)
    twice = pd.concat([data, data.iloc[:100]], ignore_index=True)
    weights = np.where(np.arange(300) < 100, 2.0, 1.0)
    by_weight = ebnc.Network.learn(data, weights=weights)
    by_row = ebnc.Network.learn(twice)
    assert set(by_weight.arcs) == set(by_row.arcs)
    assert by_weight.learned_score == pytest.approx(by_row.learned_score, rel=1e-8)


def test_the_order_of_the_rows_changes_nothing():
    _, data = sample(6)
    first = ebnc.Network.learn(data)
    second = ebnc.Network.learn(data.iloc[::-1])
    assert first.arcs == second.arcs
    assert first.learned_score == pytest.approx(second.learned_score, rel=1e-9)


@pytest.mark.parametrize("pair", [(0, 1), (1, 3), (2, 4)])
def test_the_interaction_that_is_there_is_found(pair):
    """All refinements of a node compete, not only one of those that look best."""
    rng = np.random.default_rng(sum(pair))
    x = rng.integers(0, 2, (2000, 5))
    signs = 2 * x - 1
    logit = signs @ np.full(5, 0.7) + 1.5 * signs[:, pair[0]] * signs[:, pair[1]]
    names = [f"X{i}" for i in range(5)]
    data = {name: x[:, i] for i, name in enumerate(names)}
    data["Z"] = (rng.random(2000) < 1 / (1 + np.exp(-logit))).astype(int)
    learned = ebnc.Network.learn(data, local="ebnc", regime="sparse", tiers=[names, ["Z"]])
    local = learned.local("Z")
    assert {frozenset(cluster) for cluster in local.structure.clusters if len(cluster) > 1} == {
        frozenset(names[i] for i in pair)
    }


def test_a_node_may_have_few_parents_among_many_variables_of_many_states(monkeypatch):
    """Fits of few parents do not have separate classes; a fit of all variables would."""
    _, data = sample(3, n=400, kinds=("ebnc",))
    expected = ebnc.Network.learn(data, regime="sparse", local="ebnc")
    assert expected.arcs
    monkeypatch.setattr("ebnc.likelihood.class_form.MOST_JOINT", 12)
    learned = ebnc.Network.learn(data, regime="sparse", local="ebnc")
    assert learned.arcs == expected.arcs
    assert learned.learned_score == pytest.approx(expected.learned_score, abs=1e-6)
