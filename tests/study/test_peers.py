"""The rivals of the study are what they say: against others' software and definitions."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from study.classification.peers import (
    AODE,
    Boosting,
    Forest,
    Logistic,
    LogisticPairs,
    NaiveBayes,
    TreeAugmentedNaiveBayes,
    Tuned,
    _joint_counts,
    conditional_mutual_information,
    inner_folds,
    log_loss,
    maximum_spanning_tree,
    one_hot,
)
from threadpoolctl import threadpool_limits

N_STATES = (3, 2, 4, 2, 3)
K = 3


@pytest.fixture(autouse=True)
def _one_thread():
    with threadpool_limits(1):  # many threads on few rows wait for each other
        yield


@pytest.fixture(scope="module")
def coded():
    """Correlated inputs, three classes, every state seen: codes and classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=300)
    latent = y + rng.normal(size=300)
    noisy = latent[:, None] + rng.normal(size=(300, len(N_STATES)))
    codes = np.clip(np.floor(noisy + 1), 0, np.array(N_STATES) - 1).astype(np.int64)
    return codes, y


@pytest.fixture(scope="module")
def unseen_row():
    return np.array([N_STATES])


@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_naive_bayes_is_that_of_scikit_learn(coded, alpha):
    codes, y = coded
    ours = NaiveBayes(alpha).fit(codes[:200], N_STATES, y[:200], K)
    theirs = CategoricalNB(alpha=alpha, min_categories=N_STATES).fit(codes[:200], y[:200])
    np.testing.assert_allclose(
        ours.predict_proba(codes[200:]), theirs.predict_proba(codes[200:]), rtol=1e-10
    )


def test_conditional_mutual_information_is_a_mean_over_classes(coded):
    """I(a; b | y) = Σ p(y) I(a; b | y = k), the latter by scikit-learn."""
    codes, y = coded
    weights = conditional_mutual_information(_joint_counts(codes, N_STATES, y, K), N_STATES)
    expected = sum(
        np.mean(y == k)
        * mutual_info_classif(codes[y == k][:, [0]], codes[y == k, 2], discrete_features=True)[0]
        for k in range(K)
    )
    np.testing.assert_allclose(weights[0, 2], expected, rtol=1e-10)
    np.testing.assert_allclose(weights, weights.T, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_spanning_tree_is_that_of_networkx(seed):
    weights = np.random.default_rng(seed).random((8, 8))
    weights += weights.T
    graph = nx.Graph()
    graph.add_weighted_edges_from((i, j, weights[i, j]) for i in range(8) for j in range(i))
    theirs = {frozenset(edge) for edge in nx.maximum_spanning_tree(graph).edges}
    parents = maximum_spanning_tree(weights)
    assert {frozenset((i, p)) for i, p in enumerate(parents) if p >= 0} == theirs
    assert parents[0] == -1


def test_tan_predicts_as_pyagrum_does_with_the_same_tree(coded):
    """Maximum likelihood tables and inference are theirs."""
    gum = pytest.importorskip("pyagrum")
    codes, y = coded
    ours = TreeAugmentedNaiveBayes(mass=1e-9).fit(codes, N_STATES, y, K)
    network = gum.BayesNet()
    for i, r in enumerate(N_STATES):
        network.add(gum.RangeVariable(f"x{i}", "", 0, r - 1))
    network.add(gum.RangeVariable("y", "", 0, K - 1))
    for i, parent in enumerate(ours.parents):
        network.addArc("y", f"x{i}")
        if parent >= 0:
            network.addArc(f"x{parent}", f"x{i}")
    frame = pd.DataFrame(codes, columns=[f"x{i}" for i in range(len(N_STATES))]).assign(y=y)
    learner = gum.BNLearner(frame, network)
    learner.useSmoothingPrior(1e-12)
    exact = learner.learnParameters(network.dag())
    inference = gum.LazyPropagation(exact)
    rows = codes[:10]
    for row, probability in zip(rows, ours.predict_proba(rows), strict=True):
        inference.setEvidence({f"x{i}": int(v) for i, v in enumerate(row)})
        inference.makeInference()
        np.testing.assert_allclose(inference.posterior("y").tolist(), probability, atol=1e-6)


def test_tan_from_its_definition(coded):
    codes, y = coded
    ours = TreeAugmentedNaiveBayes(mass=2.0).fit(codes, N_STATES, y, K)
    for row in codes[:5]:
        joint = np.array([np.mean(y == k) for k in range(K)])
        for k in range(K):
            for i, parent in enumerate(ours.parents):
                context = y == k
                if parent >= 0:
                    context = context & (codes[:, parent] == row[parent])
                n = np.sum(context & (codes[:, i] == row[i]))
                joint[k] *= (n + 2.0 / N_STATES[i]) / (context.sum() + 2.0)
        np.testing.assert_allclose(ours.predict_proba(row[None])[0], joint / joint.sum())


def test_aode_from_its_definition(coded):
    codes, y = coded
    m, n_inputs = 1.0, len(N_STATES)
    ours = AODE(m).fit(codes, N_STATES, y, K)
    for row in codes[:5]:
        joint = np.zeros(K)
        for k in range(K):
            for i in range(n_inputs):
                context = (y == k) & (codes[:, i] == row[i])
                product = (context.sum() + m / (K * N_STATES[i])) / (len(y) + m)
                for j in set(range(n_inputs)) - {i}:
                    n = np.sum(context & (codes[:, j] == row[j]))
                    product *= (n + m / N_STATES[j]) / (context.sum() + m)
                joint[k] += product
        np.testing.assert_allclose(ours.predict_proba(row[None])[0], joint / joint.sum())


def test_aode_of_one_input_is_its_table(coded):
    codes, y = coded
    ours = AODE().fit(codes[:, :1], N_STATES[:1], y, K)
    counts = np.array([np.sum((codes[:, 0] == 1) & (y == k)) for k in range(K)]) + 1 / (3 * K)
    np.testing.assert_allclose(ours.predict_proba(np.array([[1]]))[0], counts / counts.sum())


@pytest.mark.parametrize("make", [NaiveBayes, TreeAugmentedNaiveBayes, AODE])
def test_generative_models_sum_unseen_values_out(coded, unseen_row, make):
    codes, y = coded
    fitted = make(1e-6).fit(codes, N_STATES, y, K)
    nothing_known = fitted.predict_proba(unseen_row)[0]
    np.testing.assert_allclose(nothing_known, np.bincount(y) / len(y), rtol=1e-12)
    one_known = unseen_row.copy()
    one_known[0, 2] = 0
    p = fitted.predict_proba(one_known)[0]
    joint = np.array([np.mean(codes[y == k, 2] == 0) * np.mean(y == k) for k in range(K)])
    np.testing.assert_allclose(p, joint / joint.sum(), rtol=1e-5)  # hardly smoothed


@pytest.mark.parametrize(
    "make",
    [
        NaiveBayes,
        TreeAugmentedNaiveBayes,
        AODE,
        lambda: Tuned(TreeAugmentedNaiveBayes, (0.5, 5.0)),
        Logistic,
        LogisticPairs,
        lambda: Forest(20),
        Boosting,
    ],
)
def test_every_peer_learns_and_gives_probabilities_also_for_unseen(coded, unseen_row, make):
    codes, y = coded
    fitted = make().fit(codes[:200], N_STATES, y[:200], K)
    p = fitted.predict_proba(np.concatenate([codes[200:], unseen_row]))
    assert p.shape == (101, K)
    assert (p > 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert log_loss(p[:-1], y[200:]) < 0.95 * np.log(K)


def test_tuned_takes_the_value_of_least_inner_log_loss(coded):
    codes, y = coded
    tuned = Tuned(NaiveBayes, (1.0, 1e4)).fit(codes, N_STATES, y, K)
    assert tuned.value == 1.0


def test_logistic_is_that_of_scikit_learn_at_its_c(coded):
    codes, y = coded
    ours = Logistic().fit(codes, N_STATES, y, K)
    cells = one_hot(codes, N_STATES)
    theirs = LogisticRegression(C=ours.c, tol=1e-6, max_iter=1000).fit(cells, y)
    np.testing.assert_allclose(ours.predict_proba(codes), theirs.predict_proba(cells), atol=1e-6)
    assert min(ours.grid) < ours.c < max(ours.grid)


def test_forest_with_no_smoothing_is_that_of_scikit_learn(coded):
    codes, y = coded
    ours = Forest(20)
    ours.smoothings = (1e-12,)
    ours.leaf_sizes = (3,)
    ours.fit(codes, N_STATES, y, K)
    cells = one_hot(codes, N_STATES).astype(np.float32)
    theirs = RandomForestClassifier(20, min_samples_leaf=3, random_state=0).fit(cells, y)
    np.testing.assert_allclose(ours.predict_proba(codes), theirs.predict_proba(cells), atol=1e-9)


def test_forest_out_of_bag_is_that_of_scikit_learn(coded):
    codes, y = coded
    cells = one_hot(codes, N_STATES).astype(np.float32)
    theirs = RandomForestClassifier(100, oob_score=True, random_state=0).fit(cells, y)
    outside = np.ones((100, len(y)), dtype=bool)
    for row, drawn in zip(outside, theirs.estimators_samples_, strict=True):
        row[drawn] = False
    ours = Forest(100)
    ours.frequencies = np.bincount(y) / len(y)
    found = ours._smoothed(theirs, cells, [1e-12], outside)[1e-12]
    np.testing.assert_allclose(found, theirs.oob_decision_function_, atol=1e-9)


def test_a_hard_zero_is_infinite():
    assert log_loss(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([1, 0])) == np.inf


def test_inner_folds_keep_every_class_of_two_rows_in_training():
    y = np.array([0] * 9 + [1] * 2 + [2] * 7 + [3] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        folds = inner_folds(y)
    assert all(set(y[train]) == {0, 1, 2, 3} for train, _ in folds)
