"""EM for rows with gaps, against closed forms, brute force and pyAgrum; structural EM; draws."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import ebnc
from ebnc.data.rows import CodedRows
from ebnc.errors import DataError, ParameterError, TooLargeError
from ebnc.network.inference.elimination import Eliminator
from ebnc.network.inference.two_passes import TwoPasses
from ebnc.network.learning.gaps import connected
from ebnc.network.network import Network
from network.networks import joint_table, random_network


def with_gaps(frame, share, seed):
    rng = np.random.default_rng(seed)
    return frame.astype(object).mask(rng.random(frame.shape) < share)


def abc(n, seed, share=0.3):
    """a → b, (a, b) → c with two, two and three states, and gaps at random."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.8, a, 1 - a)
    c = np.where(rng.random(n) < 0.7, a + b, rng.integers(0, 3, n))
    return with_gaps(pd.DataFrame({"a": a, "b": b, "c": c}), share, seed + 1)


GRAPH = "[a][b|a][c|a:b]"
LIMITS = {"a": 2, "b": 2, "c": 3}


def brute_force_em(data, size, n_steps):
    """EM for ``GRAPH`` by listing all completions of every row; the prior is BDeu."""
    rows = data.where(data.notna(), None).to_numpy().tolist()
    cells = list(product(range(2), range(2), range(3)))
    fits = [
        [all(x is None or x == y for x, y in zip(row, z, strict=True)) for z in cells]
        for row in rows
    ]
    theta = np.full((2, 2, 3), 1 / 12)
    for _ in range(n_steps):
        p = theta.ravel() * fits
        counts = (p / p.sum(axis=1, keepdims=True)).sum(axis=0).reshape(2, 2, 3)
        of_a = counts.sum((1, 2)) + size / 2
        of_b = counts.sum(2) + size / 4
        of_c = counts + size / 12
        theta = (
            (of_a / of_a.sum())[:, None, None]
            * (of_b / of_b.sum(1, keepdims=True))[:, :, None]
            * (of_c / of_c.sum(2, keepdims=True))
        )
    return theta


@pytest.mark.parametrize("size", [0.5, 5.0])
def test_three_variables_by_brute_force(size):
    data = abc(150, 0)
    network = Network.fit(
        GRAPH, data, local="table", equivalent_sample_size=size, missing="em", categories=LIMITS
    )
    assert network.em.converged
    np.testing.assert_allclose(joint_table(network), brute_force_em(data, size, 1000), atol=5e-4)
    observed = network.log_likelihood(data).sum()
    assert network.em.log_likelihood == pytest.approx(observed, abs=1e-6)


@pytest.mark.parametrize("local", ["table", "ebnc"])
def test_a_child_with_gaps_has_a_closed_form(local):
    """Only b has gaps: p(a) is that of all rows, p(b | a) that of the rows with b."""
    data = abc(300, 3, share=0.0)[["a", "b"]]
    data.loc[np.random.default_rng(1).random(300) < 0.4, "b"] = None
    network = Network.fit(
        "[a][b|a]",
        data,
        local=local,
        missing="em",
        prior_scale=np.inf,
        equivalent_sample_size=1e-7,
        categories={"a": 2, "b": 2},
    )
    known = data.dropna().astype(int)
    expected = [(1 - data["a"].mean()), *(known.b[known.a == k].mean() for k in (0, 1))]
    found = [
        network.query("a")[0],
        *(network.query("b", {"a": k})[1] for k in (0, 1)),
    ]
    np.testing.assert_allclose(found, expected, atol=3e-4)


@pytest.mark.parametrize(
    "options",
    [
        {"local": "table", "equivalent_sample_size": 2.0},
        {"local": "table"},
        {"local": "ebnc", "prior_scale": 0.7},
        {"local": "ebnc", "prior_scale": np.inf},
        {"local": "ebnc"},
        {"local": {"a": "table", "b": "auto", "c": "ebnc"}},
    ],
)
def test_every_step_with_fixed_priors_raises_the_objective(options):
    em = Network.fit(GRAPH, abc(200, 5), missing="em", categories=LIMITS, **options).em
    fixed = em.objectives[max(0, em.n_choosing - 1) :]
    assert len(fixed) >= 2
    assert np.diff(fixed).min() > -1e-7
    if options.get("prior_scale") == np.inf:
        assert em.objectives == em.log_likelihoods


def test_parameters_are_those_of_pyagrum():
    gum = pytest.importorskip("pyagrum")
    truth = random_network(11, n_nodes=6, kinds=("table",))
    data = with_gaps(truth.sample(400, random_state=0), 0.2, 1)
    ours = Network.fit(
        truth,
        data,
        local="table",
        missing="em",
        equivalent_sample_size=3.0,
        categories=dict(truth.domain),
    )
    assert ours.em.converged
    learner = gum.BNLearner(data.fillna("?"), truth.to_pyagrum(), ["?"])
    learner.useBDeuPrior(3.0)
    learner.useEM(1e-9)
    learner.EMsetMaxIter(2000)
    # Ends "prematurely" where rounding lowers the likelihood, at 1e-9 of it.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*completed prematurely", UserWarning)
        learned = learner.learnParameters(truth.to_pyagrum().dag())
    theirs = Network.from_pyagrum(learned)
    rows = truth.sample(200, random_state=5)
    np.testing.assert_allclose(ours.log_likelihood(rows), theirs.log_likelihood(rows), atol=5e-3)


def test_a_hidden_variable_is_found():
    """Five noisy copies of a variable without any entry: two classes with the true error rates."""
    rng = np.random.default_rng(0)
    hidden = rng.random(1500) < 0.35
    seen = {f"x{i}": np.where(rng.random(1500) < 0.1 + 0.02 * i, ~hidden, hidden) for i in range(5)}
    data = pd.DataFrame({**seen, "h": [None] * 1500}, dtype=object)
    arcs = [("h", x) for x in seen]
    states = {"h": ["one", "other"]}
    network = Network.fit(arcs, data, local="table", missing="em", categories=states)
    p = sorted(network.query("h").probabilities)
    assert p[0] == pytest.approx(0.35, abs=0.04)
    rare = network.domain["h"][int(np.argmin(network.query("h").probabilities))]
    for i, x in enumerate(seen):
        assert network.query(x, {"h": rare})[True] == pytest.approx(0.9 - 0.02 * i, abs=0.06)
    independent = Network.fit([], data[list(seen)], local="table")
    ours = network.log_likelihood(data).sum()
    assert ours > independent.log_likelihood(data[list(seen)]).sum() + 500


def test_weights_count_rows():
    data = abc(80, 7)
    options = {"missing": "em", "categories": LIMITS, "local": "ebnc", "prior_scale": 0.5}
    weights = np.random.default_rng(0).integers(1, 4, 80)
    once = Network.fit(GRAPH, data, weights=weights, **options)
    repeated = Network.fit(GRAPH, data.loc[data.index.repeat(weights)], **options)
    assert once.n_cases == repeated.n_cases == weights.sum()
    np.testing.assert_allclose(joint_table(once), joint_table(repeated), atol=1e-6)


def test_rows_without_gaps_are_fitted_as_always():
    data = abc(100, 2, share=0.0)
    options = {"local": "table", "equivalent_sample_size": 1.0, "categories": LIMITS}
    em = Network.fit(GRAPH, data, missing="em", **options)
    assert joint_table(em) == pytest.approx(joint_table(Network.fit(GRAPH, data, **options)))


def test_order_of_columns_and_rows_does_not_matter():
    data = abc(100, 4)
    options = {"missing": "em", "local": "table", "categories": LIMITS}
    one = Network.fit(GRAPH, data, **options)
    other = Network.fit(GRAPH, data[["c", "a", "b"]].iloc[::-1], **options)
    moved = np.transpose(joint_table(other), [1, 2, 0])
    np.testing.assert_allclose(joint_table(one), moved, atol=1e-9)


@pytest.mark.slow
def test_numbers_may_have_gaps():
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    data = pd.DataFrame({"a": a, "b": a + 0.3 * rng.normal(size=300)})
    data.loc[rng.random(300) < 0.3, "b"] = np.nan
    network = Network.fit("[a][b|a]", data, numbers="smooth", missing="em", prior_scale=1.0)
    assert network.domain.kind("b") == "numeric"
    assert None not in network.domain["b"]
    assert network.predict("b", {"a": [-1.0, 1.0]}) == pytest.approx([-1.0, 1.0], abs=0.3)


def test_structures_from_gaps_beat_deletion_and_the_most_frequent_state():
    """A chain of eight variables with a fifth of the entries missing: 17 % of rows are complete."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, 260)]
    for _ in range(7):
        columns.append(np.where(rng.random(260) < 0.55, columns[-1], rng.integers(0, 3, 260)))
    full = pd.DataFrame({f"v{i}": column for i, column in enumerate(columns)})
    data = with_gaps(full, 0.2, 1)
    states = dict.fromkeys(full, 3)
    options = {"local": "table", "categories": states}
    truth = Network.fit([(f"v{i}", f"v{i + 1}") for i in range(7)], full, **options)
    found = Network.learn(data, missing="em", **options)
    deleted = Network.learn(data.dropna(), **options)
    distance = truth.compare(found).class_distance
    assert distance <= 1
    assert distance < truth.compare(deleted).class_distance
    filled = Network.learn(data.fillna(data.mode().iloc[0]).astype(int), **options)
    assert found.log_likelihood(full).sum() > filled.log_likelihood(full).sum() + 5
    assert found.em.converged


def test_draws_follow_the_joint_distribution_of_what_is_hidden():
    network = random_network(4, n_nodes=5)
    table = joint_table(network)
    names = network.variables
    observed, n = names[2], 20_000
    passes = TwoPasses(Eliminator(network), [observed])
    n_states = tuple(map(network.domain.n_states, names))
    rows = CodedRows(names, n_states, np.zeros((5, n), np.uint8))
    rows.codes[2] = 1
    drawn = passes.drawn(rows, np.random.default_rng(0))
    hidden = [x for x in names if x != observed]
    shape = [network.domain.n_states(x) for x in hidden]
    cells = np.ravel_multi_index([drawn[x] for x in hidden], shape)
    p = np.take(table, 1, axis=2).ravel()
    p /= p.sum()
    often = p * n > 5
    counts = np.bincount(cells, minlength=len(p))
    assert counts[p == 0].sum() == 0
    expected = np.append(p[often], p[~often].sum()) * n
    got = np.append(counts[often], counts[~often].sum())
    keep = expected > 0
    assert chisquare(got[keep], expected[keep]).pvalue > 1e-3


def test_families_are_those_of_brute_force():
    network = random_network(9, n_nodes=5)
    names, table = network.variables, joint_table(network)
    n_states = tuple(map(network.domain.n_states, names))
    rows = CodedRows(names, n_states, np.zeros((5, 1), np.uint8))
    log_p, found = TwoPasses(Eliminator(network), names[:1]).families(rows)
    given = np.take(table, 0, axis=0)
    assert np.exp(log_p[0]) == pytest.approx(given.sum())
    for hidden, p in found.values():
        others = tuple(i - 1 for i in range(1, 5) if names[i] not in hidden)
        own = [x for x in names if x in hidden]
        expected = (given / given.sum()).sum(axis=others)
        np.testing.assert_allclose(np.transpose(p[0], [hidden.index(x) for x in own]), expected)


def test_components():
    families = {"a": ("a",), "b": ("a", "b"), "c": ("b", "c"), "d": ("d",)}
    assert connected(families, ["a", "b", "d"]) == [("a", "b"), ("d",)]
    assert connected(families, ["a", "c"]) == [("a",), ("c",)]


def test_wrong_uses_are_refused():
    data = abc(40, 0)
    with pytest.raises(ParameterError, match="missing must be one of state, refuse, em, got 'EM'"):
        Network.fit(GRAPH, data, missing="EM")
    with pytest.raises(DataError, match="column 'h' has no entries; declare its states"):
        Network.fit([("h", "a")], data.assign(h=None), missing="em")
    network = Network.fit(GRAPH, data, missing="em", local="table", categories=LIMITS)
    for score in ("bic", "log_evidence"):
        with pytest.raises(ParameterError, match=r"\.em\.log_likelihood is the log-likelihood"):
            getattr(network, score)
    assert "log-likelihood" in network._repr_html_()
    with pytest.raises(ParameterError, match="no checkpoints with missing='em'"):
        Network.learn(data, missing="em", checkpoint="run.jsonl")
    with pytest.raises(ParameterError, match="sparse networks only"):
        Network.learn(data, missing="em", order=["a", "b", "c"])
    with pytest.raises(ParameterError, match="kind 'noisy-max', which missing='em' does not fit"):
        Network.learn(data, missing="em", local="noisy-max", categories=LIMITS)


def test_sums_that_are_too_large_are_refused_in_words():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({f"x{i}": rng.integers(0, 2, 30) for i in range(25)}).astype(object)
    data.iloc[3, :24] = None
    arcs = [(f"x{i}", "x24") for i in range(24)]
    with pytest.raises(TooLargeError, match=r"24 variables \('x0', .*\) are missing together"):
        Network.fit(arcs, data, missing="em", prior_scale=1.0)


def test_files_keep_what_em_fitted(tmp_path):
    network = Network.fit(GRAPH, abc(60, 1), missing="em", categories=LIMITS)
    network.save(tmp_path / "network.json")
    assert ebnc.load(tmp_path / "network.json") == network
