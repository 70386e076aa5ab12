"""Dense networks: nodes against ``ebnc.fit`` and scikit-learn, the choice of kinds, orders."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import ebnc
from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows, all_configurations
from ebnc.errors import SearchError
from ebnc.likelihood.prior import INTERCEPT_SCALE
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.dense import _fit_effects
from ebnc.network.learning.ordering import candidate_orders
from network.networks import random_network

pytestmark = pytest.mark.slow


def binary_data(seed=0, n_rows=300, n=6):
    """Ones of very different frequency; the last variable depends on the others."""
    rng = np.random.default_rng(seed)
    x = (rng.random((n_rows, n)) < rng.uniform(0.05, 0.95, n)).astype(int)
    logit = (x[:, :-1] - 0.5) @ rng.normal(0, 1.5, n - 1)
    x[:, -1] = rng.random(n_rows) < 1 / (1 + np.exp(-logit))
    return {f"V{i}": x[:, i] for i in range(n)}


def mixed_data(seed=0, n_rows=250):
    """Labels, an ordered category and a number, which depend on each other."""
    rng = np.random.default_rng(seed)
    colour = rng.integers(0, 3, n_rows)
    grade = np.clip(colour + rng.integers(-1, 2, n_rows), 0, 3)
    size = rng.normal(grade, 1.0)
    return pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue"])[colour],
            "grade": pd.Categorical.from_codes(grade, ["D", "C", "B", "A"], ordered=True),
            "size": size,
            "large": np.where(size + rng.normal(0, 0.5, n_rows) > 1.5, "yes", "no"),
        }
    )


def cases_of(data, weights=None, states=2):
    names = tuple(data)
    codes = np.array(list(data.values()), dtype=np.uint8)
    rows = CodedRows(names, (states,) * len(names), codes)
    return Cases(ebnc.Domain(dict.fromkeys(names, states)), names[0], rows, codes[0], weights)


def naive_fit(cases, d):
    return _fit_effects(cases, cases.rows.names[d], cases.rows.names[:d], None, None)


def hyperprior(scale, d):
    """½ z², z = log σ − log ½."""
    return 0.5 * (math.log(scale) - math.log(0.5)) ** 2 if d else 0.0


def test_the_scale_is_at_mackays_fixed_point():
    """τ |φ|² + max(−z, 0) = d − τ tr A⁻¹ + max(z, 0), A written out."""
    data = binary_data(2)
    fit = naive_fit(cases_of(data), 5)
    scale, phi = fit.prior.scales[0], fit.phi
    x = np.array([np.ones(300), *(2.0 * data[f"V{i}"] - 1 for i in range(5))]).T
    p = 1 / (1 + np.exp(-2 * x @ phi))
    curvature = 4 * x.T @ ((p * (1 - p))[:, None] * x)
    curvature += np.diag([INTERCEPT_SCALE**-2, *[scale**-2] * 5])
    determined = 5 - np.trace(np.linalg.inv(curvature)[1:, 1:]) / scale**2
    z = math.log(scale) - math.log(0.5)
    raising = phi[1:] @ phi[1:] / scale**2 + max(-z, 0)
    lowering = determined + max(z, 0)
    assert 0.25 * (raising - lowering) * math.log(raising / lowering) < 0.02


def test_parents_that_say_nothing_at_all():
    """All weights are exactly 0 and σ is at the hyperprior's mode: nothing raises it."""
    fit = naive_fit(cases_of({"V0": np.array([0, 0, 1, 1]), "V1": np.array([0, 1, 0, 1])}), 1)
    np.testing.assert_allclose(fit.phi, 0.0, atol=1e-12)
    assert 0.0 < fit.prior.scales[0] < 0.5


@pytest.mark.parametrize("states", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_node_is_what_fit_finds(seed, states):
    data = binary_data(seed)
    if states == 3:
        data = {x: column + (np.arange(300) % 7 == i) for i, (x, column) in enumerate(data.items())}
    cases = cases_of(data, states=states)
    for d in (0, 1, 5):
        fit = naive_fit(cases, d)
        name, *before = cases.rows.names[d], *cases.rows.names[:d]
        naive = ebnc.EmbeddedStructure.naive(name, before)
        scale = fit.prior.scales[0]
        expected = ebnc.fit(naive, data, prior_scale=scale, categories=cases.domain)
        np.testing.assert_allclose(fit.phi, expected.phi_in("orthonormal"), atol=1e-6)
        assert fit.log_evidence == pytest.approx(expected.log_evidence - hyperprior(scale, d))
        best = ebnc.fit(naive, data, categories=cases.domain)
        # MacKay's fixed point leaves a term out; it must be near the maximum of evidence.
        assert fit.log_evidence > best.log_evidence - 0.5


def test_a_node_is_logistic_regression_with_the_same_penalty():
    """The intercept's prior is nearly flat there and here."""
    data = binary_data(5, n_rows=500)
    fit = naive_fit(cases_of(data), 5)
    x = np.array([data[f"V{i}"] for i in range(5)]).T * 2.0 - 1.0
    # λ = 2 φ_0 + Σ 2 φ_j x_j with x = ±1: a penalty |φ|²/2σ² is |w|²/8σ².
    scale = fit.prior.scales[0]
    peer = LogisticRegression(C=4 * scale**2, tol=1e-12, max_iter=10_000).fit(x, data["V5"])
    np.testing.assert_allclose(2 * fit.phi[1:], peer.coef_[0], atol=1e-3)
    assert INTERCEPT_SCALE >= 10


def test_weights_are_repeated_rows_in_a_node():
    data = binary_data(1, n_rows=120)
    weights = np.where(np.arange(120) < 40, 3.0, 1.0)
    repeated = {x: np.repeat(column, weights.astype(int)) for x, column in data.items()}
    first, second = naive_fit(cases_of(data, weights), 5), naive_fit(cases_of(repeated), 5)
    np.testing.assert_allclose(first.phi, second.phi, atol=1e-9)
    assert first.log_evidence == pytest.approx(second.log_evidence, abs=1e-9)


def test_a_node_of_more_parameters_than_can_be_factored_has_no_ebnc():
    """99 · (1 + 2 · 99) parameters; trees and tables take its place."""
    rng = np.random.default_rng(0)
    cases = cases_of({x: rng.integers(0, 100, 200) for x in "ABC"}, states=100)
    assert naive_fit(cases, 2) is None
    assert naive_fit(cases, 0) is not None


@pytest.mark.parametrize("numbers", ["quantile", "smooth"])
def test_mixed_dense_networks_sum_to_one(numbers):
    """Over all configurations of states; numbers as their intervals."""
    data = mixed_data()
    learned = ebnc.Network.learn(data, regime="dense", numbers=numbers)
    assert learned.regime == "dense"
    everything = all_configurations(learned.domain, learned.variables)
    assert math.fsum(np.exp(learned.log_likelihood(everything))) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_random_dense_networks_sum_to_one(seed):
    data = random_network(seed, n_nodes=6, max_states=4).sample(200, random_state=seed)
    learned = ebnc.Network.learn(data, regime="dense")
    everything = all_configurations(learned.domain, learned.variables)
    assert math.fsum(np.exp(learned.log_likelihood(everything))) == pytest.approx(1.0, abs=1e-9)


def test_dense_networks_of_any_variables_predict_what_depends():
    """On fresh rows, better than independent variables by most of what there is to gain."""
    truth = random_network(8, n_nodes=8, max_parents=3, max_states=4)
    data, fresh = truth.sample(2000, random_state=0), truth.sample(4000, random_state=1)
    learned = ebnc.Network.learn(data, regime="dense")
    alone = ebnc.Network.fit([], data, local="table").log_likelihood(fresh).mean()
    best, found = truth.log_likelihood(fresh).mean(), learned.log_likelihood(fresh).mean()
    assert best - found < 0.3 * (best - alone)


def test_forbidden_arcs_and_the_number_of_parents_are_kept():
    data = mixed_data()
    order = ["size", "colour", "grade", "large"]
    forbidden = [("colour", "grade"), ("size", "large")]
    for max_parents in (None, 1, 0):
        learned = ebnc.Network.learn(
            data, order=order, forbidden=forbidden, max_parents=max_parents, local="ebnc"
        )
        most = 3 if max_parents is None else max_parents
        assert max(len(learned.parents(x)) for x in order) <= most
        assert not set(forbidden) & set(learned.arcs)
        assert all(order.index(tail) < order.index(head) for tail, head in learned.arcs)


def test_the_best_parents_are_kept_if_they_are_too_many():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (400, 5))
    y = (x[:, 1] + x[:, 3] + rng.integers(0, 2, 400)) % 4
    data = {f"X{i}": x[:, i] for i in range(5)} | {"Y": x[:, 1] * 2 + (x[:, 3] > 0), "Z": y}
    arguments = {"order": list(data), "max_parents": 2, "local": "ebnc"}
    assert set(ebnc.Network.learn(data, **arguments).parents("Y")) == {"X1", "X3"}
    required = ebnc.Network.learn(data, required=[("X0", "Y")], **arguments)
    assert set(required.parents("Y")) == {"X0", "X1"}


def test_required_parents_that_say_nothing_are_kept():
    """The search for interactions drops what is useless, except required parents."""
    rng = np.random.default_rng(1)
    data = {x: rng.integers(0, 2, 300) for x in "ABCD"}
    learned = ebnc.Network.learn(data, order="ABCD", required=[("B", "D")], local="ebnc")
    assert "B" in learned.parents("D")


def test_candidate_orders_rank_by_variation_and_correlation():
    """Squared correlations of binary variables by NumPy; weights count."""
    data = binary_data(3, n=7)
    names, weights = list(data), np.random.default_rng(0).integers(1, 4, 300).astype(float)
    codes = np.array(list(data.values()))
    correlation = np.cov(codes, aweights=weights)
    spread = np.sqrt(np.diagonal(correlation))
    centrality = ((correlation / np.outer(spread, spread)) ** 2).sum(axis=1)
    share = np.average(codes, axis=1, weights=weights)
    rarity = np.minimum(share, 1 - share)
    free = Constraints.of(names)
    orders = candidate_orders(cases_of(data, weights), names, free)
    keys = [-rarity, rarity, -centrality, centrality, np.arange(7)]
    assert orders == [[names[i] for i in np.argsort(key)] for key in keys]


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
        ({"regime": "dense", "score": "bic"}, "score='laplace'"),
    ],
)
def test_bad_orders(arguments, message):
    with pytest.raises(SearchError, match=message):
        ebnc.Network.learn(binary_data(), **arguments)


def test_dense_is_chosen_for_binary_variables_without_limits_only():
    data = binary_data()
    three = data | {"three": np.arange(300) % 3}
    assert ebnc.Network.learn(three).regime == "sparse"
    assert ebnc.Network.learn(three, regime="dense").regime == "dense"
    assert ebnc.Network.learn(data, max_parents=2).regime == "sparse"
    assert ebnc.Network.learn(data, forbidden=[("V0", "V1")]).regime == "sparse"


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
