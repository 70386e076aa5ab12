"""Noisy-MAX against its definition by hidden causes, pyAgrum, scipy's maxima and integrals."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import minimize
from scipy.stats import beta, dirichlet

import ebnc
from ebnc.data.cases import Cases
from ebnc.data.coder import encode
from ebnc.data.read import learn_joint_cases
from ebnc.errors import ParameterError
from ebnc.network.local.noisy_max_learning import (
    _Counts,
    _fit,
    cause_gains,
    learn_noisy_max,
)
from ebnc.score.dirichlet import dirichlet_log_evidence
from network.networks import random_local

DOMAIN = {"A": ["a", "b", "c"], "B": [False, True], "C": [1, 2, 3, 4], "Z": ["no", "some", "much"]}


def random_noisy_max(seed, descending=False):
    rng = np.random.default_rng(seed)
    while True:
        found = random_local("noisy-max", "Z", ["A", "B", "C"], DOMAIN, rng)
        if found.descending == descending:
            return found


def rows_of(local, n, seed=0):
    """Parents at random, the node from its distribution."""
    rng = np.random.default_rng(seed)
    data = {x: rng.choice(np.array(local.domain[x], object), n) for x in local.parents}
    p = local.probabilities(data)
    drawn = (rng.random(n)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return data | {local.target: np.array(local.domain[local.target], object)[drawn]}


def cases_of(data, domain, target="Z"):
    cases, _ = learn_joint_cases(data, domain, "state", None)
    return Cases(cases.domain, target, cases.rows, cases.rows.column(target), cases.weights)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_those_of_the_highest_hidden_cause(seed, descending):
    """By the definition: all levels of all causes are listed."""
    local = random_noisy_max(seed, descending)
    highest = min if descending else max
    for states in product(*(DOMAIN[x] for x in local.parents)):
        causes = [local.leak]
        for name, state in zip(local.parents, states, strict=True):
            causes.append(local.effects[name][DOMAIN[name].index(state)])
        expected = np.zeros(3)
        for levels in product(range(3), repeat=len(causes)):
            expected[highest(levels)] += np.prod(
                [c[k] for c, k in zip(causes, levels, strict=True)]
            )
        row = {x: [state] for x, state in zip(local.parents, states, strict=True)}
        found = local.probabilities(row)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
        assert found.sum() == pytest.approx(1.0, abs=1e-14)
        each = {x: [state] * 3 for x, state in zip(local.parents, states, strict=True)}
        with np.errstate(divide="ignore"):
            expected_logarithms = np.log(expected)
        np.testing.assert_allclose(
            local.log_probability(each | {"Z": DOMAIN["Z"]}), expected_logarithms, rtol=1e-11
        )


def test_two_states_are_pyagrums_noisy_or(gum):
    names = ["X1", "X2", "X3"]
    two = {x: ["no", "yes"] for x in [*names, "Z"]}
    weights = [0.7, 0.25, 0.05]
    effects = {x: [[1, 0], [1 - w, w]] for x, w in zip(names, weights, strict=True)}
    ours = ebnc.NoisyMax("Z", two, [0.9, 0.1], effects)
    bn = gum.BayesNet()
    for name in names:
        bn.add(gum.LabelizedVariable(name, "", ["no", "yes"]))
    bn.addNoisyORNet(gum.LabelizedVariable("Z", "", ["no", "yes"]), 0.1)
    for name, weight in zip(names, weights, strict=True):
        bn.addWeightedArc(name, "Z", weight)
    for states in product(["no", "yes"], repeat=3):
        row = dict(zip(names, states, strict=True))
        theirs = [bn.cpt("Z")[row | {"Z": z}] for z in ("no", "yes")]
        found = ours.probabilities({x: [s] for x, s in row.items()})[0]
        np.testing.assert_allclose(found, theirs, atol=1e-7)


def test_queries_go_through_pyagrums_maximum_of_hidden_causes(gum):
    """A network with the causes as nodes of their own and MAX as an aggregator."""
    local = random_noisy_max(4)
    rng = np.random.default_rng(0)
    roots = [ebnc.Table(x, [], DOMAIN, rng.dirichlet(np.ones(len(DOMAIN[x])))) for x in "ABC"]
    network = ebnc.Network([*roots, local])
    bn = gum.BayesNet()
    for root in roots:
        bn.add(gum.RangeVariable(root.target, "", 0, len(DOMAIN[root.target]) - 1))
        bn.cpt(root.target).fillWith(root.theta.tolist())
    bn.addMAX(gum.RangeVariable("Z", "", 0, 2))
    for hidden, table in {"leak": local.leak, **local.effects}.items():
        bn.add(gum.RangeVariable(f"Z_{hidden}", "", 0, 2))
        if hidden != "leak":
            bn.addArc(hidden, f"Z_{hidden}")
        bn.addArc(f"Z_{hidden}", "Z")
        bn.cpt(f"Z_{hidden}").fillWith(np.ravel(table).tolist())
    engine = gum.LazyPropagation(bn)
    engine.setEvidence({"Z": 1, "A": 2})
    ours = network.query("C", {"Z": "some", "A": "c"}).probabilities
    np.testing.assert_allclose(ours, engine.posterior("C").toarray(), atol=1e-10)
    expanded = network.to_pyagrum()
    assert expanded.dim() == 2 + 1 + 3 + 24 * 2


@pytest.mark.parametrize("descending", [False, True])
def test_the_truth_is_recovered_from_samples(descending):
    truth = random_noisy_max(1, descending)
    learned = learn_noisy_max(cases_of(rows_of(truth, 40_000), DOMAIN), truth.parents)
    assert learned.local.descending == descending
    assert learned.local.normal == truth.normal
    np.testing.assert_allclose(learned.local.leak, truth.leak, atol=0.05)
    for name, table in truth.effects.items():
        np.testing.assert_allclose(learned.local.effects[name], table, atol=0.05)


@pytest.mark.slow
def test_the_fit_is_the_highest_maximum_that_scipy_finds():
    """In softmax coordinates, where the objective is not concave, from many starts."""
    truth = random_noisy_max(2)
    data, alpha, normal = rows_of(truth, 200, seed=3), 0.5, (0, 1, 2)
    cases = cases_of(data, DOMAIN)
    fit = _fit(_Counts.of(cases, truth.parents), normal, alpha)

    coded = encode(data, ebnc.Domain(DOMAIN), tuple(DOMAIN))

    def local_of(theta):
        effects, first = {}, 1
        for name, usual in zip(truth.parents, normal, strict=True):
            size = len(DOMAIN[name]) - 1
            effects[name] = np.insert(theta[first : first + size], usual, [1, 0, 0], axis=0)
            first += size
        return ebnc.NoisyMax("Z", DOMAIN, theta[0], effects)

    def objective(theta):
        likelihood = local_of(theta).log_probability(coded).sum()
        return float(likelihood + alpha * np.log(theta).sum())

    def minus(logits):
        theta = np.exp(logits.reshape(-1, 3))
        return -objective(theta / theta.sum(axis=1, keepdims=True))

    ratios = np.exp(-fit.delta)
    theta = np.column_stack(
        [ratios.prod(axis=1), (1 - ratios[:, 0]) * ratios[:, 1], 1 - ratios[:, 1]]
    )
    ours = objective(theta)
    rng = np.random.default_rng(0)
    theirs = [-minimize(minus, rng.normal(size=theta.size), method="BFGS").fun for _ in range(4)]
    assert ours == pytest.approx(max(theirs), abs=1e-4)
    assert ours >= max(theirs) - 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_evidence_of_one_cause_is_nearly_the_integral(alpha):
    two = {"X": 2, "Z": 2}
    data = {"X": [0] * 60 + [1] * 40, "Z": [0] * 50 + [1] * 10 + [0] * 12 + [1] * 28}
    fit = _fit(_Counts.of(cases_of(data, two), ["X"]), (0,), alpha)

    def joint(leak, cause):
        h, g = leak, leak * cause
        likelihood = h**50 * (1 - h) ** 10 * g**12 * (1 - g) ** 28
        return likelihood * beta.pdf(leak, alpha, alpha) * beta.pdf(cause, alpha, alpha)

    exact = np.log(dblquad(joint, 0, 1, 0, 1, epsabs=0, epsrel=1e-6)[0])
    assert fit.log_evidence == pytest.approx(exact, abs=0.1)


def test_without_parents_evidence_is_nearly_dirichlets():
    data = {"Z": ["no"] * 30 + ["some"] * 12 + ["much"] * 7}
    counted = _Counts.of(cases_of(data, DOMAIN), [])
    exact = dirichlet_log_evidence(np.array([[30.0, 12.0, 7.0]]), 0.5)
    assert _fit(counted, (), 0.5).log_evidence == pytest.approx(exact, abs=0.1)
    # The prior is symmetric: it is the same whichever way round the levels are.
    theta = [0.2, 0.3, 0.5]
    stick = beta.pdf(0.4, 0.5, 0.5) * beta.pdf(0.5, 1.0, 0.5) / 0.5
    assert stick == pytest.approx(dirichlet.pdf(theta, [0.5] * 3))


def test_states_that_are_never_met_are_left_to_the_prior():
    data = {"X": [0, 0, 1, 1] * 20, "Z": [0, 1, 1, 1] * 20}
    two = learn_noisy_max(cases_of(data, {"X": 2, "Z": 2}), ["X"])
    three = learn_noisy_max(cases_of(data, {"X": 3, "Z": 2}), ["X"])
    assert two.log_evidence == pytest.approx(three.log_evidence)
    np.testing.assert_allclose(
        three.local.probabilities({"X": [0, 1]}), two.local.probabilities(data)[[0, 2]]
    )
    assert np.isfinite(three.local.probabilities({"X": [2]})).all()


def test_gains_of_a_cause_are_near_what_it_adds():
    truth = random_noisy_max(5)
    cases = cases_of(rows_of(truth, 2000), DOMAIN)
    before = learn_noisy_max(cases, ["A"])
    gains = cause_gains(cases, before.local, ["B", "C"])
    for name in ("B", "C"):
        after = learn_noisy_max(cases, ["A", name])
        added = after.log_evidence + after.log_prior - before.log_evidence - before.log_prior
        assert gains[name] == pytest.approx(added, abs=0.1 * abs(added) + 3.0)


@pytest.mark.slow
def test_search_finds_the_causes_and_the_kind():
    two = dict.fromkeys(["X1", "X2", "X3", "X4", "X5", "Z"], 2)
    effects = {x: [[1, 0], [0.4, 0.6]] for x in list(two)[:4]}
    truth = ebnc.NoisyMax("Z", two, [0.95, 0.05], effects)
    rng = np.random.default_rng(0)
    data = {x: rng.integers(0, 2, 4000) for x in list(two)[:5]}
    data["Z"] = (rng.random(4000) > truth.probabilities(data)[:, 0]).astype(int)
    found = ebnc.Network.learn(
        data, local=("ebnc", "table", "tree", "graph", "noisy-max"), tiers=[list(two)[:5], ["Z"]]
    )
    assert found.regime == "sparse"
    assert found.local("Z").kind == "noisy-max"
    assert set(found.parents("Z")) == {"X1", "X2", "X3", "X4"}
    alone = ebnc.Network.learn(data, local="noisy-max", tiers=[list(two)[:5], ["Z"]])
    assert set(alone.parents("Z")) == {"X1", "X2", "X3", "X4"}
    np.testing.assert_allclose(
        alone.local("Z").probabilities(data), truth.probabilities(data), atol=0.06
    )


@pytest.mark.parametrize(
    ("leak", "effects", "message"),
    [
        ([0.5, 0.5], {}, "must have shape"),
        ([0.5, 0.5, 0.5], {}, "sums to 1.5"),
        (["a", 0, 1], {}, "numbers only"),
        ([1, 0, 0], {"B": [[1, 0, 0], [2, -1, 0]]}, "-1.0 in the effects of 'B'"),
        ([1, 0, 0], {"B": [[0.9, 0.1, 0], [0.5, 0.5, 0]]}, "no state of 'B' is normal"),
        ([1, 0, 0], {"Z": [[1, 0, 0]] * 3}, "its own causes"),
    ],
)
def test_what_is_no_noisy_max(leak, effects, message):
    with pytest.raises(ParameterError, match=message):
        ebnc.NoisyMax("Z", DOMAIN, leak, effects)
