"""Nodes that count: written out by hand, learned, scored, saved, refused where wrong."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

import ebnc
from ebnc.errors import FormatError, ParameterError, TooLargeError
from ebnc.formats.native import document, schema
from ebnc.network.local.counting import MOST_BINS, Counter
from ebnc.score.scales import maximise_evidence
from network.networks import random_counting
from network.test_dense import cases_of


def contrasts(n_states):
    """Helmert's contrasts with the squared length r, from their definition."""
    columns = []
    for j in range(1, n_states):
        column = np.zeros(n_states)
        column[:j], column[j] = -1.0, j
        columns.append(column * np.sqrt(n_states / (j * (j + 1))))
    return np.array(columns).T.reshape(n_states, -1)


def waves(n_bins):
    b, j = np.arange(n_bins)[:, None] + 0.5, np.arange(1, min(12, n_bins - 1) + 1)
    return np.sqrt(2) * np.cos(np.pi * j * b / n_bins) / j


def log_odds_by_hand(node, codes):
    """λ of every row: intercept, contrasts of parents, and the curve at the bin of the count."""
    count = sum((codes[x] != u).astype(int) for x, u in zip(node.parents, node.usual, strict=True))
    bins = sum((count > cut).astype(int) for cut in node.cuts) + np.zeros_like(count)
    parts = [np.ones((len(count), 1))]
    parts += [contrasts(node.domain.n_states(x))[codes[x]] for x in node.parents]
    parts += [waves(len(node.cuts) + 1)[bins]] if len(node.cuts) else []
    design = np.hstack(parts)
    n_classes = node.domain.n_states(node.target)
    coefficients = node.phi.reshape(design.shape[1], n_classes - 1) @ contrasts(n_classes).T
    return design @ coefficients


@pytest.mark.parametrize("seed", range(20))
def test_probabilities_are_those_written_out(seed):
    rng = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(rng.integers(1, 9))]
    domain = {x: int(rng.integers(2, 5)) for x in (*names, "Y")}
    node = random_counting("Y", names, {x: range(r) for x, r in domain.items()}, rng)
    codes = {x: rng.integers(0, r, 50) for x, r in domain.items()}
    expected = log_softmax(log_odds_by_hand(node, codes), axis=1)
    np.testing.assert_allclose(np.log(node.probabilities(codes)), expected, atol=1e-9)
    of_class = expected[np.arange(50), codes["Y"]]
    np.testing.assert_allclose(node.log_probability(codes), of_class, atol=1e-9)


def test_a_fitted_node_is_the_maximum_of_its_posterior():
    """SciPy maximises log likelihood and normal prior, written out, from zero."""
    rng = np.random.default_rng(0)
    x = (rng.random((400, 6)) < 0.3).astype(int)
    y = (rng.random(400) < 1 / (1 + np.exp(4 - 2.0 * x.sum(axis=1)))).astype(int)
    data = {f"X{i}": x[:, i] for i in range(6)} | {"Y": y}
    cases = cases_of(data).with_target("Y")
    counter = Counter.of(cases, [f"X{i}" for i in range(6)])
    likelihood, _ = counter.likelihood(cases)
    fit = maximise_evidence(likelihood)
    node = ebnc.CountingEBNC(
        "Y", counter.parents, cases.domain, counter.usual, counter.cuts, fit.phi
    )
    assert counter.usual.tolist() == (x.mean(axis=0) > 0.5).astype(int).tolist()
    scales = np.r_[10.0, [fit.prior.scales[0]] * 6, [fit.prior.weak_scale] * len(node.cuts)]

    def loss(phi):
        trial = ebnc.CountingEBNC(
            "Y", counter.parents, cases.domain, counter.usual, counter.cuts, phi
        )
        log_p = log_softmax(log_odds_by_hand(trial, data), axis=1)
        return -log_p[np.arange(400), y].sum() + 0.5 * ((phi / scales) ** 2).sum()

    best = minimize(loss, np.zeros(len(node.phi)), method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(node.phi, best.x, atol=1e-4)
    assert fit.prior.weak_scale != fit.prior.scales[0]


def test_bins_have_equal_width_in_logarithms_and_begin_with_zero():
    rng = np.random.default_rng(1)
    rates = rng.beta(0.5, 2.0, size=(2000, 1))
    data = {f"X{i}": column for i, column in enumerate((rng.random((2000, 300)) < rates).T)}
    cases = cases_of({x: column.astype(int) for x, column in data.items()})
    counter = Counter.of(cases, list(data))
    assert counter.cuts[0] == 0
    assert len(counter.cuts) < MOST_BINS
    widths = np.diff(np.log1p(counter.cuts[counter.cuts > 40]))
    assert widths.max() < 1.5 * widths.min()


def test_a_usual_state_is_the_most_frequent_one_with_weights():
    cases = cases_of({"A": [2, 2, 0, 1], "Y": [0, 1, 0, 1]}, np.array([1.0, 1.0, 1.0, 5.0]), 3)
    assert Counter.of(cases.with_target("Y"), ["A"]).usual.tolist() == [1]


def overdispersed(seed=0, n_rows=600, n=12, n_states=2):
    """Rows differ in their number of ones far more than independent entries would."""
    rng = np.random.default_rng(seed)
    rate = rng.beta(0.4, 1.6, n_rows)
    x = (rng.random((n_rows, n)) < rate[:, None]) * rng.integers(1, n_states, (n_rows, n))
    return pd.DataFrame(x.astype(int), columns=[f"V{i}" for i in range(n)])


@pytest.mark.parametrize("n_states", [2, 4])
def test_dense_networks_count_where_that_helps(n_states):
    train, test = overdispersed(0, n_states=n_states), overdispersed(1, 4000, n_states=n_states)
    options = {
        "regime": "dense",
        "order": list(train),
        "categories": dict.fromkeys(train, n_states),
    }
    counting = ebnc.Network.learn(train, local=("ebnc", "table"), **options)
    plain = ebnc.Network.learn(train, local="naive", **options)
    assert sum(local.kind == "counting" for local in counting.values()) > train.shape[1] / 2
    assert not any(local.kind == "counting" for local in plain.values())
    gain = counting.log_likelihood(test) - plain.log_likelihood(test)
    assert gain.mean() > 4 * gain.std() / np.sqrt(len(gain))
    assert counting.learned_score > plain.learned_score


@pytest.mark.slow
def test_dense_networks_do_not_count_where_that_says_nothing():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.integers(0, 2, (300, 20)), columns=[f"V{i}" for i in range(20)])
    network = ebnc.Network.learn(data, regime="dense", local="ebnc", order=list(data))
    assert not any(local.kind == "counting" for local in network.values())


@pytest.mark.slow
def test_sparse_networks_count_if_asked():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (800, 4))
    data = pd.DataFrame(x, columns=list("ABCD")).assign(Y=(x.sum(axis=1) == 2).astype(int))
    required = [(x, "Y") for x in "ABCD"]
    network = ebnc.Network.learn(
        data, regime="sparse", local=("ebnc", "counting"), required=required, n_jobs=1
    )
    assert network["Y"].kind == "counting"
    assert ebnc.Network.learn(data, regime="sparse", local="counting", score="bic").order


@pytest.mark.parametrize("criterion", ["bic", "laplace", "log_likelihood"])
def test_networks_with_counting_nodes_have_scores(criterion):
    data = overdispersed(0, 300, 6)
    network = ebnc.Network.learn(data, regime="dense", local="counting", order=list(data))
    score = network.score(data, criterion)
    assert np.isfinite(score.total)
    if criterion == "log_likelihood":
        assert score.total == pytest.approx(network.log_likelihood(data).sum())
    if criterion == "laplace":
        one = network.score(data, criterion, prior_scale=0.5)
        assert one.total < score.total


def test_large_counting_nodes_are_sampled_and_not_expanded(tmp_path):
    data = overdispersed(0, 200, 40)
    network = ebnc.Network.learn(data, regime="dense", local="counting", order=list(data))
    assert network["V39"].kind == "counting"
    assert network.query("V0", {"V39": 1}, n_samples=2000).method != "exact"
    for convert in (network.to_pyagrum, lambda: network.write_bif(tmp_path / "network.bif")):
        with pytest.raises(TooLargeError, match="full tables"):
            convert()


DAMAGE = [
    ({"usual": [0, 9, 0]}, "no state number 9"),
    ({"usual": [0]}, "usual has 1 states, for 3 parents"),
    ({"cuts": [1, 0]}, "must ascend"),
    ({"cuts": [0, 3]}, "smaller than 3"),
    ({"phi": [0.0]}, "must have shape"),
    ({"parents": [0, 0, 1]}, "repeat|twice"),
    ({"parents": [0, 1, 3]}, "V3"),
    ({"usual": [0, 0, -1]}, "at least 0|negative"),
]


@pytest.mark.parametrize(("change", "message"), DAMAGE)
def test_damaged_files_are_refused(change, message, tmp_path):
    data = overdispersed(0, 200, 4)
    network = ebnc.Network.learn(data, regime="dense", local="counting", order=list(data))
    content = document(network)
    jsonschema.Draft202012Validator(schema()).validate(content)
    content["model"]["nodes"][3].update(change)
    (tmp_path / "network.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match=message):
        ebnc.load(tmp_path / "network.json")


def test_numbers_that_are_not_whole_are_refused():
    two = {"A": 2, "Y": 2}
    with pytest.raises(ParameterError, match="usual must be whole numbers"):
        ebnc.CountingEBNC("Y", ["A"], two, [0.5], [], [0.0, 0.0])
    with pytest.raises(ParameterError, match="cuts must be whole numbers"):
        ebnc.CountingEBNC("Y", ["A"], two, [0], [-1], [0.0, 0.0])


def test_a_variable_may_have_the_name_of_the_count():
    name = "number of unusual states"
    node = ebnc.CountingEBNC("Y", [name, "A"], {name: 2, "A": 2, "Y": 2}, [0, 0], [0], [0, 0, 0, 1])
    assert node.parents == (name, "A")
    assert node.ebnc.parents == (name, "A", f"{name}'")
