"""``predict`` and ``predict_proba`` of any variable: equal to queries, brute force and pyAgrum."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ebnc
from ebnc.data.rows import CodedRows
from ebnc.errors import (
    DataError,
    DataWarning,
    NetworkError,
    ParameterError,
    QueryError,
    TooLargeError,
)
from ebnc.network.inference.prediction import relevant_nodes
from network.networks import joint_table, random_network


def rows_with_gaps(network, n, share, seed=0):
    rng = np.random.default_rng(seed)
    frame = network.sample(n, random_state=seed).astype(object)
    return frame.mask(rng.random(frame.shape) < share, None)


@pytest.mark.parametrize("seed", range(4))
def test_predictions_are_those_of_brute_force_and_of_queries(seed):
    """Every target, complete rows and rows with gaps."""
    network = random_network(seed, n_nodes=5)
    table, names = joint_table(network), network.variables
    for share in (0.0, 0.4):
        rows = rows_with_gaps(network, 12, share, seed)
        for target in names:
            p = network.predict_proba(target, rows)
            labels = network.predict(target, rows)
            for i, row in enumerate(rows.to_dict("records")):
                evidence = {x: s for x, s in row.items() if s is not None and x != target}
                where = tuple(
                    network.domain.codes(x)[evidence[x]] if x in evidence else slice(None)
                    for x in names
                )
                kept = [x for x in names if x not in evidence]
                axes = tuple(k for k, x in enumerate(kept) if x != target)
                expected = table[where].sum(axis=axes)
                np.testing.assert_allclose(p[i], expected / expected.sum(), rtol=1e-9)
                asked = network.query(target, evidence, method="exact").probabilities
                np.testing.assert_allclose(p[i], asked, rtol=1e-10)
                assert labels[i] == network.domain[target][asked.argmax()]


@pytest.mark.parametrize("seed", range(2))
def test_predictions_are_those_of_pyagrum(seed, gum):
    network = random_network(seed, n_nodes=25)
    bn, rows = network.to_pyagrum(), rows_with_gaps(network, 8, 0.5, seed)
    for target in network.variables[:5]:
        p = network.predict_proba(target, rows)
        for i, row in enumerate(rows.to_dict("records")):
            given = {x: s for x, s in row.items() if s is not None and x != target}
            expected = gum.getPosterior(bn, target=target, evs=given).toarray()
            np.testing.assert_allclose(p[i], expected, rtol=0, atol=1e-9)


def test_rows_are_grouped_by_what_matters():
    """Gaps of variables that others separate from the target need no program of their own."""
    two = dict.fromkeys("ABCD", 2)
    chain = [ebnc.Table("A", [], two, [0.3, 0.7])]
    chain += [ebnc.Table(x, [y], two, [[0.9, 0.1], [0.4, 0.6]]) for x, y in ("BA", "CB", "DC")]
    network = ebnc.Network(chain)
    assert relevant_nodes(network, "D", {"C"}) == ("D",)
    assert relevant_nodes(network, "D", {"C", "A"}) == ("D",)
    assert relevant_nodes(network, "B", {"A", "C", "D"}) == ("B", "C")
    assert relevant_nodes(network, "B", {"D"}) == ("A", "B", "C", "D")
    rows = {"A": [0, None, 1], "B": [None, 1, 0], "C": [1, 1, 1]}
    p = network.predict_proba("D", rows)
    np.testing.assert_allclose(p, [[0.4, 0.6]] * 3)
    assert network._eliminator._program.cache_info().currsize == 1


def test_sources_give_the_same_predictions(tmp_path):
    network = random_network(1, n_nodes=6)
    frame = rows_with_gaps(network, 40, 0.3)
    target = network.variables[2]
    expected = network.predict_proba(target, frame)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    shuffled = frame[list(reversed(frame.columns))].assign(more=1)
    array = frame[list(network.variables)].to_numpy()
    sources = [
        *(frame.drop(columns=target), shuffled, frame.to_dict("list"), array),
        *(pl.from_pandas(frame), str(tmp_path / "rows.csv")),
    ]
    for source in sources:
        np.testing.assert_array_equal(network.predict_proba(target, source), expected)
    codes = {x: [network.domain.codes(x)[s] for s in network.sample(5, 0)[x]] for x in network}
    coded = CodedRows.from_codes(network.domain, codes)
    np.testing.assert_array_equal(
        network.predict_proba(target, coded),
        network.predict_proba(target, network.sample(5, 0)),
    )


def test_columns_that_are_not_there_are_summed_out():
    network = random_network(2, n_nodes=6)
    x, target = network.variables[:2]
    state = network.domain[x][1]
    found = network.predict_proba(target, {x: [state, state]})
    expected = network.query(target, {x: state}).probabilities
    np.testing.assert_allclose(found, [expected, expected], rtol=1e-12)


def test_numbers_have_means_and_quantiles():
    rng = np.random.default_rng(0)
    dose = rng.exponential(size=400)
    response = np.sin(dose) + 0.3 * rng.normal(size=400)
    data = pd.DataFrame({"dose": dose, "response": response})
    data.loc[::10, "response"] = np.nan
    network = ebnc.Network.fit([("dose", "response")], data, numbers="smooth")
    rows = {"dose": [0.2, 1.5, None]}
    means = network.predict("response", rows)
    quantiles = network.predict_quantiles("response", rows, [0.1, 0.9])
    assert network.predict_proba("response", rows).shape == (3, network.domain.n_states("response"))
    for i, value in enumerate(rows["dose"]):
        answer = network.query("response", {} if value is None else {"dose": value})
        assert means[i] == pytest.approx(answer.mean(), rel=1e-9)
        np.testing.assert_allclose(quantiles[i], answer.quantiles([0.1, 0.9]), rtol=1e-7)
    assert network.predict_quantiles("response", rows).shape == (3, 3)
    label = ebnc.Network.fit([("dose", "response")], data)
    assert isinstance(label.predict("response", rows)[0], ebnc.Interval)
    with pytest.raises(QueryError, match="'response' has no density"):
        label.predict_quantiles("response", rows)


def test_a_missing_entry_is_never_predicted():
    """The state for missing entries is most probable, and is left out."""
    data = {"a": ["x", None, None, "x", "y", None] * 10}
    network = ebnc.Network.fit([], {**data, "b": ["u", "v", "v"] * 20}, local="table")
    rows = {"b": ["u"]}
    assert network.domain["a"][network.predict_proba("a", rows)[0].argmax()] is None
    assert network.predict("a", rows).tolist() == ["x"]


def test_large_sums_are_refused_or_sampled():
    """An EBNC of 30 parents: exact with few gaps, refused with many, sampled on request."""
    rng = np.random.default_rng(0)
    names = [f"X{i}" for i in range(30)]
    domain = dict.fromkeys([*names, "Y"], 2)
    y = ebnc.EBNC(ebnc.EmbeddedStructure.naive("Y", names), domain, rng.normal(0, 0.4, 31))
    network = ebnc.Network([*(ebnc.Table(x, [], domain, [0.5, 0.5]) for x in names), y])
    few = {x: [1, None if i < 10 else 0] for i, x in enumerate(names)}
    p = network.predict_proba("Y", few)
    rest = np.array([[i >> k & 1 for k in range(10)] for i in range(2**10)])
    log_odds = y.phi[0] + rest @ y.phi[1:11]
    assert p[1, 1] == pytest.approx(np.mean(1 / (1 + np.exp(-log_odds))), rel=1e-9)
    many = {x: [0, None if i < 20 else 0, None if i < 20 else 0] for i, x in enumerate(names)}
    with pytest.raises(TooLargeError, match="for row 1; give n_samples"):
        network.predict_proba("Y", many)
    with pytest.warns(UserWarning, match="1 different rows is estimated from 4000 samples"):
        sampled = network.predict_proba("Y", many, n_samples=4000)
    np.testing.assert_array_equal(sampled[1], sampled[2])
    np.testing.assert_allclose(sampled[0], network.predict_proba("Y", {x: [0] for x in names})[0])
    rest = rng.random((200_000, 20)) < 0.5
    truth = np.mean(1 / (1 + np.exp(-(y.phi[0] + rest @ y.phi[1:21]))))
    assert sampled[1, 1] == pytest.approx(truth, abs=0.03)


def test_bad_data():
    network = random_network(0)
    x, y = network.variables[:2]
    with pytest.raises(NetworkError, match="no node 'Q'"):
        network.predict("Q", {x: ["s0"]})
    with pytest.raises(DataError, match="no variable of the network besides"):
        network.predict(x, {x: ["s0"], "other": [1]})
    with pytest.raises(ParameterError, match="n_samples"):
        network.predict(x, {y: ["s0"]}, n_samples=0)
    with pytest.warns(DataWarning, match=f"unknown: '{y}' \\(1\\)"):
        found = network.predict_proba(x, {y: ["s0", "new", None]})
    np.testing.assert_array_equal(found[1], found[2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network.predict_proba(x, {y: ["s0", None]})  # gaps are nothing to warn of
    assert network.predict(x, {y: []}).shape == (0,)


def test_impossible_entries():
    two = {"A": 2, "B": 2, "C": 2}
    tables = [
        ebnc.Table("A", [], two, [0.0, 1.0]),
        ebnc.Table("B", ["A"], two, [[0.5, 0.5], [0.5, 0.5]]),
        ebnc.Table("C", ["A"], two, [[0.5, 0.5], [1.0, 0.0]]),
    ]
    network = ebnc.Network(tables)
    with pytest.raises(QueryError, match=r"entries \{'C': 1\} of row 1 have probability 0"):
        network.predict("B", {"C": [0, 1]})
