"""§5 where a search or a network uses it: eq. 9, one σ, kinds of nodes on one scale."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import ebnc
from ebnc.errors import NoMaximumError, ParameterError, SingularHessianError
from ebnc.likelihood.prior import NormalPrior
from ebnc.network.learning.node_learner import NodeLearner
from ebnc.network.local.node import Settings
from ebnc.score.criterion import BIC
from ebnc.search.scorer import Scorer
from problems import read_cases


def eq_9(rows, classes, n_cells, n_classes):
    """L at maximum likelihood of a table, from counts alone, minus (d/2) log N."""
    counts = np.zeros((n_cells, n_classes))
    np.add.at(counts, (rows, classes), 1.0)
    present = counts > 0
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    d = n_cells * (n_classes - 1)
    return float(counts[present] @ np.log(shares[present])) - 0.5 * d * math.log(len(rows))


def random_table(seed):
    generator = np.random.default_rng(seed)
    n_inputs, n_classes = int(generator.integers(1, 4)), int(generator.integers(2, 5))
    sizes = generator.integers(2, 4, n_inputs)
    n_rows = int(generator.choice([20, 100, 500]))
    columns = [generator.integers(0, size, n_rows) for size in sizes]
    cells = np.zeros(n_rows, dtype=int)
    for size, column in zip(sizes, columns, strict=True):
        cells = cells * size + column
    theta = generator.dirichlet(np.full(n_classes, 0.5), size=int(np.prod(sizes)))
    uniform = generator.random((n_rows, 1))
    classes = (np.cumsum(theta[cells], axis=1)[:, :-1] < uniform).sum(axis=1)
    data = {f"X{i}": column for i, column in enumerate(columns)} | {"Y": classes}
    states = {f"X{i}": int(size) for i, size in enumerate(sizes)} | {"Y": n_classes}
    return data, states, eq_9(cells, classes, int(np.prod(sizes)), n_classes)


@pytest.mark.parametrize("block", range(4))
@pytest.mark.slow
def test_bic_of_a_trivial_ebnc_is_that_of_the_table_in_fits_searches_and_networks(block):
    """Fifty data sets a block, most of them with empty cells and separated classes."""
    for seed in range(50 * block, 50 * (block + 1)):
        data, states, expected = random_table(seed)
        inputs = [x for x in data if x != "Y"]
        domain = ebnc.Domain(states)
        trivial = ebnc.EmbeddedStructure.table("Y", inputs)
        fitted = ebnc.fit(trivial, data, prior_scale=1.0, categories=states)
        assert fitted.bic == pytest.approx(expected, abs=1e-6)
        cases = read_cases(data, domain, inputs, "Y")
        assert Scorer(cases, BIC()).tuned(trivial).fit.bic == pytest.approx(expected, abs=1e-6)
        whole = read_cases(data, domain, list(data), "Y")
        learner = NodeLearner(whole, "Y", Settings("bic", ("ebnc", "table")))
        state = learner.refine(learner.learn(inputs), trivial)
        # The table has no arcs inside; an EBNC pays for those.
        scored = state.fits["ebnc"].model
        price = scored.score - scored.fit.bic - learner.node.log_prior(len(inputs))
        assert state.scores["ebnc"] - price == pytest.approx(state.scores["table"], abs=1e-6)


def test_bic_of_trees_and_noisy_max_is_at_maximum_likelihood():
    """A tree with all leaves of the table, a noisy-OR of one cause: both are the table."""
    generator = np.random.default_rng(0)
    a = generator.integers(0, 2, 800)
    data = {"A": a, "Y": (generator.random(800) < np.where(a == 1, 0.9, 0.2)).astype(int)}
    cases = read_cases(data, ebnc.Domain({"A": 2, "Y": 2}), ["A", "Y"], "Y")
    kinds = ("table", "tree", "graph", "noisy-max")
    learner = NodeLearner(cases, "Y", Settings("bic", kinds, structure_prior=False))
    scores = learner.learn(["A"]).scores
    expected = eq_9(a, data["Y"], 2, 2)
    assert scores == pytest.approx(dict.fromkeys(kinds, expected), abs=1e-6)


def rare_and_frequent(n_rows=400):
    generator = np.random.default_rng(1)
    x = pd.DataFrame(generator.integers(0, 2, (n_rows, 3)), columns=list("ABC")).astype(str)
    both = (x["A"] == x["B"]).to_numpy()
    y = np.where(generator.random(n_rows) < np.where(both, 0.85, 0.15), "yes", "no")
    return x, y


@pytest.mark.parametrize("sigma", [0.05, 1.0])
def test_one_sigma_holds_for_interactions_too(sigma):
    """A searched model is the same structure given, and both are a ridge regression's."""
    x, y = rare_and_frequent()
    searched = ebnc.EBNCClassifier(prior_scale=sigma, average=False).fit(x, y)
    given = ebnc.EBNCClassifier(structure=searched.structure_, prior_scale=sigma).fit(x, y)
    np.testing.assert_allclose(searched.predict_proba(x), given.predict_proba(x), atol=1e-9)
    if sigma == 1.0:
        assert len(searched.structure_.clusters[0]) == 2  # A and B interact
        terms = searched.ebnc_.basis.terms[1:]
        signs = {name: 2.0 * (x[name] == "1").to_numpy() - 1.0 for name in x}
        columns = np.column_stack(
            [np.prod([signs[name] for name in term.inputs], axis=0) for term in terms]
        )
        # λ = 2 φ x, so |φ|²/2σ² is a penalty of |w|²/8σ².
        peer = LogisticRegression(C=4 * sigma**2, tol=1e-10, max_iter=10_000).fit(columns, y)
        np.testing.assert_allclose(
            searched.predict_proba(x), peer.predict_proba(columns), atol=2e-3
        )


def test_a_list_of_sigmas_is_one_for_each_order():
    x, y = rare_and_frequent()
    model = ebnc.EBNCClassifier(prior_scale=[1.0, 0.3], average=False).fit(x, y)
    assert model.ebnc_.prior.scales == (1.0, 0.3)


def test_infinity_is_maximum_likelihood_everywhere():
    x, y = rare_and_frequent()
    with pytest.raises(ParameterError, match="criterion='bic'"):
        ebnc.EBNCClassifier(prior_scale=np.inf).fit(x, y)
    model = ebnc.EBNCClassifier(prior_scale=np.inf, criterion="bic", average=False).fit(x, y)
    flat = ebnc.EBNCClassifier(structure=model.structure_, prior_scale=np.inf).fit(x, y)
    np.testing.assert_allclose(model.predict_proba(x), flat.predict_proba(x), atol=1e-9)
    n = len(y)
    shares = pd.DataFrame({"c": x["A"] + x["B"], "y": y == "yes"}).groupby("c")["y"].mean()
    expected = (x["A"] + x["B"]).map(shares).to_numpy()
    np.testing.assert_allclose(model.predict_proba(x)[:, 1], expected, atol=1e-6)
    assert model.bic_ == pytest.approx(
        float(np.log(np.where(y == "yes", expected, 1 - expected)).sum()) - 2 * math.log(n)
    )


def sampled(kind, seed, n_rows=300, n_classes=4):
    """Rows of two parents with three states each: log odds that add up, or a table."""
    generator = np.random.default_rng(seed)
    a, b = generator.integers(0, 3, (2, n_rows))
    if kind == "additive":
        effects = generator.normal(0, 1, (2, 3, n_classes))
        log_odds = effects[0][a] + effects[1][b]
    else:
        log_odds = generator.normal(0, 2.0, (9, n_classes))[3 * a + b]
    p = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    y = (np.cumsum(p, axis=1)[:, :-1] < generator.random((n_rows, 1))).sum(axis=1)
    return {"A": a, "B": b, "Y": y}, ebnc.Domain({"A": 3, "B": 3, "Y": n_classes})


@pytest.mark.parametrize(("kind", "expected"), [("additive", "ebnc"), ("table", "table")])
def test_the_kind_that_made_the_data_wins(kind, expected):
    """Nodes with given parents; a naive EBNC against a table."""
    won = 0
    for seed in range(20):
        data, domain = sampled(kind, seed)
        cases = read_cases(data, domain, list(data), "Y")
        learner = NodeLearner(cases, "Y", Settings(kinds=("naive", "table")))
        won += learner.learn(["A", "B"]).kind == expected
    assert won >= 17


@pytest.mark.parametrize("n_classes", [2, 4, 8])
def test_without_parents_no_kind_has_an_advantage_of_many_nats(n_classes):
    """The normal intercept of an EBNC cost 5, 15 and 34 nats against a table."""
    generator = np.random.default_rng(n_classes)
    y = generator.choice(n_classes, 500, p=generator.dirichlet(np.full(n_classes, 2.0)))
    cases = read_cases({"Y": y}, ebnc.Domain({"Y": n_classes}), ["Y"], "Y")
    scores = NodeLearner(cases, "Y", Settings(kinds=("ebnc", "table"))).learn(()).scores
    assert abs(scores["ebnc"] - scores["table"]) < 1.0 + n_classes / 2


def test_dense_networks_honour_the_sample_size():
    generator = np.random.default_rng(0)
    data = pd.DataFrame(generator.integers(0, 2, (200, 3)), columns=list("ABC"))
    found = [
        ebnc.Network.learn(data, regime="dense", local="table", equivalent_sample_size=s)
        for s in (1.0, 64.0)
    ]
    ones = [float(network["A"].probabilities({x: [1] for x in "ABC"})[0, 1]) for network in found]
    assert abs(ones[1] - 0.5) < abs(ones[0] - 0.5)


def test_separation_is_found_whatever_the_weights():
    naive = ebnc.EmbeddedStructure.naive("y", ["x"])
    data = {"x": ["a", "a", "b", "b"], "y": ["u", "v", "u", "u"]}
    for ratio in (1e8, 1e10, 1e12, 1e14):
        with pytest.raises(NoMaximumError, match="separated by x"):
            ebnc.fit(naive, data, np.inf, weights=[ratio, ratio, 1, 1])
    exists = data | {"y": ["u", "v", "u", "v"]}
    fitted = ebnc.fit(naive, exists, np.inf, weights=[1e8, 2e8, 1, 3])
    expected = [[1 / 3, 2 / 3], [1 / 4, 3 / 4]]
    np.testing.assert_allclose(fitted.probabilities({"x": ["a", "b"]}), expected, rtol=1e-6)
    with pytest.raises(ParameterError, match="too far apart"):
        ebnc.fit(naive, exists, np.inf, weights=[1e14, 2e14, 1, 3])


def test_the_papers_laplace_refuses_every_singular_hessian():
    """Random small data: refused where the rank of the rows' design says so."""
    generator = np.random.default_rng(0)
    naive = ebnc.EmbeddedStructure.naive("Y", ["A", "B"])
    refused = 0
    for _ in range(60):
        n = int(generator.integers(2, 12))
        data = {x: generator.integers(0, 3, n) for x in ("A", "B")}
        data["Y"] = np.append([0, 1], generator.integers(0, 2, n - 2))
        fitted = ebnc.fit(naive, data, 1.0, categories={"A": 3, "B": 3, "Y": 2})
        columns = [np.ones(n)] + [data[x] == s for x in ("A", "B") for s in (1, 2)]
        if np.linalg.matrix_rank(np.column_stack(columns).astype(float)) < 5:
            refused += 1
            with pytest.raises(SingularHessianError, match="do not determine"):
                fitted.laplace("likelihood")
        else:
            # p(D) of discrete data is at most 1; eq. 8 as printed misses by a few nats at N < 12.
            assert fitted.laplace("likelihood") < 3.0
    assert 10 < refused < 60


def test_scales_by_evidence_find_the_better_of_two_maxima():
    """A symmetric problem, whose evidence has a saddle where both scales are equal."""
    from itertools import product

    from ebnc.score.scales import _climb, maximise_evidence
    from problems import posterior_of

    table = ebnc.EmbeddedStructure.table("Y", ["A", "B"])
    generator = np.random.default_rng(3)
    for _ in range(10):
        n = int(generator.integers(4, 12))
        data = {x: generator.integers(0, 2, n).tolist() for x in ("A", "B", "Y")}
        posterior, _ = posterior_of(table, ebnc.Domain(dict.fromkeys("ABY", 2)), data)
        found = maximise_evidence(posterior).log_evidence
        grid = product((0.05, 0.3, 1.0, 5.0), repeat=2)
        others = [
            _climb(posterior, 1e-3, NormalPrior(scales), None).log_evidence for scales in grid
        ]
        assert found > max(others) - 0.01


def test_bic_says_nothing_of_less_than_one_case():
    """With N < 1 eq. 9 would lie above the likelihood."""
    data = {"A": [0, 1, 0, 1], "Y": [0, 1, 1, 0]}
    naive = ebnc.EmbeddedStructure.naive("Y", ["A"])
    assert ebnc.fit(naive, data, 1.0, weights=[0.1] * 4).bic is None
    one = ebnc.fit(naive, data, 1.0, weights=[0.25] * 4)
    assert one.bic == pytest.approx(math.log(0.5))  # N = 1: the price is log 1


def test_dense_networks_honour_the_structure_prior():
    """Trees pay for their questions, and the network for the orders that it is the best of."""
    generator = np.random.default_rng(1)
    a, b = generator.integers(0, 2, (2, 300))
    c = np.where(generator.random(300) < 0.9, a & b, 1 - (a & b))
    data = pd.DataFrame({"A": a, "B": b, "C": c})
    order = ["A", "B", "C"]
    found = {
        prior: ebnc.Network.learn(
            data, regime="dense", local="tree", order=order, structure_prior=prior
        )
        for prior in (True, False)
    }
    assert found[True]["C"].parents == found[False]["C"].parents
    n_splits = found[True]["C"].n_leaves - 1
    # log 2 for the root, log 4 and one of two questions for every split.
    price = math.log(2) + n_splits * math.log(4 * 2)
    assert found[False].scores["C"] - found[True].scores["C"] == pytest.approx(price)
