"""Dense networks: nodes against ``ebnc.fit`` and scikit-learn, the choice of kinds, orders."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import ebnc
from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows
from ebnc.errors import SearchError
from ebnc.likelihood.prior import INTERCEPT_SCALE
from ebnc.network.learning.dense_node import fit_dense_node
from ebnc.network.learning.indicators import Indicators
from network.networks import random_network

pytestmark = pytest.mark.slow


def binary_data(seed=0, n_rows=300, n=6):
    """Ones of very different frequency; the last variable depends on the others."""
    rng = np.random.default_rng(seed)
    x = (rng.random((n_rows, n)) < rng.uniform(0.05, 0.95, n)).astype(int)
    logit = (x[:, :-1] - 0.5) @ rng.normal(0, 1.5, n - 1)
    x[:, -1] = rng.random(n_rows) < 1 / (1 + np.exp(-logit))
    return {f"V{i}": x[:, i] for i in range(n)}


def indicators_of(data, weights=None):
    names = tuple(data)
    domain = ebnc.Domain(dict.fromkeys(names, 2))
    codes = np.array(list(data.values()), dtype=np.uint8)
    rows = CodedRows(names, (2,) * len(names), codes)
    return Indicators.of(Cases(domain, names[0], rows, codes[0], weights), names), domain


@pytest.mark.parametrize("share", [0.0, 1.0], ids=["BLAS", "lists"])
@pytest.mark.parametrize("seed", range(3))
def test_a_node_is_what_fit_finds_with_the_same_scale(seed, share):
    data = binary_data(seed)
    rows, domain = indicators_of(data)
    rows = replace(rows, dense_share=share)
    names = list(data)
    for d in (0, 1, 5):
        fit = fit_dense_node(rows, d)
        naive = ebnc.EmbeddedStructure.naive(names[d], names[:d])
        expected = ebnc.fit(naive, data, prior_scale=fit.scale, categories=domain)
        np.testing.assert_allclose(fit.phi, expected.phi_in("indicator"), atol=1e-6)
        assert fit.log_evidence == pytest.approx(expected.log_evidence, abs=1e-3)
        best = ebnc.fit(naive, data, categories=domain)
        # MacKay's fixed point leaves a term out; it must be near the maximum of evidence.
        assert fit.log_evidence > best.log_evidence - 0.5


def test_parents_that_say_nothing_at_all():
    """All weights are exactly 0 and σ is at the hyperprior's mode: nothing raises it."""
    rows, _ = indicators_of({"V0": np.array([0, 0, 1, 1]), "V1": np.array([0, 1, 0, 1])})
    fit = fit_dense_node(rows, 1)
    np.testing.assert_allclose(fit.phi, 0.0, atol=1e-12)
    assert 0.0 < fit.scale < 0.5


def test_a_node_is_logistic_regression_with_the_same_penalty():
    """The intercept's prior is nearly flat there and here."""
    data = binary_data(5, n_rows=500)
    rows, _ = indicators_of(data)
    fit = fit_dense_node(rows, 5)
    x = np.array([data[f"V{i}"] for i in range(5)]).T * 2.0 - 1.0
    # λ = 2 φ_0 + Σ 2 φ_j x_j with x = ±1: a penalty |φ|²/2σ² is |w|²/8σ².
    peer = LogisticRegression(C=4 * fit.scale**2, tol=1e-12, max_iter=10_000).fit(x, data["V5"])
    np.testing.assert_allclose(fit.phi[1:] / 2, peer.coef_[0], atol=1e-3)
    assert INTERCEPT_SCALE >= 10


def test_weights_are_repeated_rows_in_a_node():
    data = binary_data(1, n_rows=120)
    weights = np.where(np.arange(120) < 40, 3.0, 1.0)
    repeated = {x: np.repeat(column, weights.astype(int)) for x, column in data.items()}
    first = fit_dense_node(indicators_of(data, weights)[0], 5)
    second = fit_dense_node(indicators_of(repeated)[0], 5)
    np.testing.assert_allclose(first.phi, second.phi, atol=1e-9)
    assert first.score == pytest.approx(second.score, abs=1e-9)


def test_a_variable_that_never_varies_in_the_data_is_no_trouble():
    data = binary_data(2) | {"never": np.zeros(300, dtype=int)}
    learned = ebnc.Network.learn(data, categories=dict.fromkeys(data, 2), regime="dense")
    assert np.isfinite(learned.log_likelihood(data)).all()


def test_dense_networks_sum_to_one_and_mix_kinds():
    truth = random_network(3, n_nodes=9, max_parents=3, max_states=2)
    data = truth.sample(1500, random_state=0)
    learned = ebnc.Network.learn(data, regime="dense")
    assert learned.regime == "dense"
    assert len({local.kind for local in learned.values()}) > 1
    from ebnc.data.rows import all_configurations

    everything = all_configurations(learned.domain, learned.variables)
    assert np.exp(learned.log_likelihood(everything)).sum() == pytest.approx(1.0, abs=1e-9)
    fresh = truth.sample(4000, random_state=1)
    alone = sum(
        np.log(fresh[x].map(data[x].value_counts(normalize=True))).mean() for x in data.columns
    )
    best, found = truth.log_likelihood(fresh).mean(), learned.log_likelihood(fresh).mean()
    assert best - found < 0.3 * (best - alone)


def test_many_weak_parents_are_kept_and_beat_selection():
    """Many parents of small effect: shrunk they predict better than the few that stand out."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (3500, 40))
    y = rng.random(3500) < 1 / (1 + np.exp(-(x - 0.5) @ rng.normal(0, 0.4, 40)))
    data = {f"X{i}": x[:, i] for i in range(40)} | {"Y": y.astype(int)}
    train = {name: column[:500] for name, column in data.items()}
    test = {name: column[500:] for name, column in data.items()}
    inputs = list(data)[:-1]
    dense = ebnc.Network.learn(train, order=list(data), local="ebnc")
    forbidden = [(a, b) for a in inputs for b in data if b not in (a, "Y")]
    sparse = ebnc.Network.learn(train, forbidden=forbidden, tiers=[inputs, ["Y"]])
    assert len(dense.parents("Y")) == 40
    gain = dense.local("Y").log_probability(test) - sparse.local("Y").log_probability(test)
    assert gain.mean() > 0


def test_tiers_and_required_arcs_are_kept():
    data = binary_data(4)
    learned = ebnc.Network.learn(
        data, regime="dense", tiers=[["V5"], ["V0"]], required=[("V4", "V1"), ("V1", "V0")]
    )
    assert ("V0", "V5") not in learned.arcs
    assert {("V4", "V1"), ("V1", "V0")} <= set(learned.arcs)


def test_order_is_kept():
    data = binary_data(6)
    order = ["V3", "V5", "V0", "V1", "V4", "V2"]
    learned = ebnc.Network.learn(data, order=order, local="ebnc")
    for i, name in enumerate(order):
        assert set(learned.parents(name)) <= set(order[:i])  # searched: some may be left out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": ["V0"]}, "must list every variable exactly once"),
        ({"order": ["V0", "V0", "V1", "V2", "V3", "V4"]}, "must list every variable exactly once"),
        ({"order": [f"V{i}" for i in range(6)], "required": [("V1", "V0")]}, "required parent"),
        ({"order": [f"V{i}" for i in range(6)], "tiers": [["V5"], ["V0"]]}, "against the tiers"),
        ({"regime": "dense", "max_parents": 2}, "max_parents need regime='sparse'"),
        ({"regime": "dense", "forbidden": [("V0", "V1")]}, "forbidden arcs"),
        ({"regime": "dense", "score": "bic"}, "score='laplace'"),
    ],
)
def test_bad_orders(arguments, message):
    with pytest.raises(SearchError, match=message):
        ebnc.Network.learn(binary_data(), **arguments)


def test_more_than_two_states_are_for_sparse_networks():
    data = binary_data() | {"three": np.arange(300) % 3}
    with pytest.raises(SearchError, match="'three' has 3 states"):
        ebnc.Network.learn(data, regime="dense")
    assert ebnc.Network.learn(data).regime == "sparse"


def test_killed_dense_learning_ends_at_the_same_network(tmp_path):
    """Every prefix of the record, also cut in the middle of a line."""
    data = binary_data(7)
    checkpoint = tmp_path / "run.jsonl"
    expected = ebnc.Network.learn(data, regime="dense", checkpoint=checkpoint)
    whole = checkpoint.read_bytes()
    for cut in (0, 30, len(whole) // 3, len(whole) // 2, len(whole) - 5):
        checkpoint.write_bytes(whole[:cut])
        again = ebnc.Network.learn(data, regime="dense", checkpoint=checkpoint)
        assert again.arcs == expected.arcs
        np.testing.assert_array_equal(again.log_likelihood(data), expected.log_likelihood(data))


def test_networks_from_files(tmp_path):
    import pandas as pd

    data = pd.DataFrame(binary_data(8))
    path = tmp_path / "data.csv"
    data.to_csv(path, index=False)
    from_file, from_memory = ebnc.Network.learn(path), ebnc.Network.learn(data)
    assert set(from_file.arcs) == set(from_memory.arcs)
    assert from_file.learned_score == pytest.approx(from_memory.learned_score, rel=1e-9)


def test_kinds_that_dense_networks_do_not_have_are_for_sparse_ones():
    rng = np.random.default_rng(0)
    data = {x: rng.integers(0, 2, 60) for x in "ABC"}
    assert ebnc.Network.learn(data, local=("ebnc", "graph")).regime == "sparse"
    with pytest.raises(SearchError, match="not noisy-max"):
        ebnc.Network.learn(data, local="noisy-max", regime="dense")
