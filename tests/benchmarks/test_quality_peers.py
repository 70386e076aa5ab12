"""The rivals of the quality study are what they say: against others' software and definitions."""

import warnings
from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from benchmarks.quality.data import Split, read_set, set_names, splits
from benchmarks.quality.models import models
from benchmarks.quality.peers import (
    AODE,
    Boosting,
    Forest,
    Logistic,
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
from benchmarks.quality.report import report
from benchmarks.quality.run import Row, append_rows, forget, measure_split, read_rows
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
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


@pytest.fixture
def directory(tmp_path):
    """Two sets of the study's format, one of them only numeric."""
    rng = np.random.default_rng(1)
    n = 40
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(3),
            "flag": np.where(rng.random(n) < 0.5, "true", "false"),
            "rare": ["only-here", *["usual"] * (n - 1)],
            "class": ["a", "b"] * (n // 2 - 1) + ["c", "c"],
        }
    )
    frame.loc[3, "flag"] = None
    frame.to_csv(tmp_path / "toy.csv.gz", index=False)
    frame[["size", "class"]].to_csv(tmp_path / "numeric.csv.gz", index=False)
    kinds = {"size": "numeric", "flag": "categorical", "rare": "categorical"}
    schema = {
        "toy": kinds | {"class": "categorical"},
        "numeric": {"size": "numeric", "class": "categorical"},
    }
    pd.Series(schema).to_json(tmp_path / "SCHEMA.json")
    return tmp_path


def test_sets_are_read_as_strings_without_rare_classes(directory):
    assert set_names(directory) == ["toy"]
    data = read_set(directory, "toy")
    assert sorted(data["class"].unique()) == ["a", "b"]  # two rows of c are too few
    assert set(data["flag"].dropna()) == {"true", "false"}


def test_splits_are_halves_the_same_every_time(directory):
    data = read_set(directory, "toy")
    first, second = list(splits(data)), list(splits(data))
    assert [(r, f) for r, f, _ in first] == [(r, f) for r in range(5) for f in range(2)]
    for (_, _, a), (_, _, b) in zip(first, second, strict=True):
        pd.testing.assert_frame_equal(a.train, b.train)
    for (_, _, a), (_, _, b) in list(pairwise(first))[::2]:
        pd.testing.assert_frame_equal(a.train, b.test)


def test_states_are_those_of_the_training_fold(directory):
    for _, _, split in splits(read_set(directory, "toy")):
        coded = split.coded()
        assert (coded.train < coded.n_states).all()
        place = split.inputs.index("rare")
        if "only-here" in set(split.test["rare"]):
            assert coded.n_states[place] == 1
            assert coded.test[:, place].max() == 1  # unseen
        else:
            assert coded.test[:, place].max() < coded.n_states[place] == 2


def test_results_are_kept_found_and_forgotten(directory):
    path = directory / "results.csv"
    _, _, split = next(splits(read_set(directory, "toy")))
    rows, failures = measure_split("toy", 0, 0, split, ["nb", "naive-evidence"])
    assert not failures
    append_rows(path, rows)
    append_rows(path, [Row("toy", "zero", 0, 0, np.inf, 0.5, 1.0, 0.1, None)])
    found = read_rows(path)
    assert set(found) == {("toy", m, 0, 0) for m in ("nb", "naive-evidence", "zero")}
    assert found["toy", "zero", 0, 0].log_loss == np.inf
    assert found["toy", "nb", 0, 0].log_loss == pytest.approx(rows[0].log_loss, rel=1e-5)
    forget(path, ["toy"], ["nb"])
    assert set(read_rows(path)) == {("toy", m, 0, 0) for m in ("naive-evidence", "zero")}


def test_a_failure_names_the_model_and_leaves_the_others(directory):
    _, _, split = next(splits(read_set(directory, "toy")))
    broken = Split(split.train, split.test.drop(columns="flag"), split.classes)
    rows, failures = measure_split("toy", 0, 0, broken, ["nb"])
    assert not rows
    assert "toy, nb, repeat 0, fold 0" in failures[0]
    assert {"nb", "tan", "aode", "logistic", "forest", "naive-evidence"} <= set(models())


def test_report_counts_wins_ranks_and_infinite_losses():
    def row(name, model, loss):
        return [Row(name, model, r, f, loss, 0.1, 0.1, 0.1, None) for r in range(5) for f in (0, 1)]

    rows = [
        *row("car", "logistic", 0.2),
        *row("car", "nb", 0.3),
        *row("car", "ebnc", 0.04),
        *row("voting", "logistic", 0.1),
        *row("voting", "nb", np.inf),
        *row("voting", "ebnc", 0.16),
    ]
    text = report(rows, ranked=("logistic", "nb", "ebnc"), ours=("ebnc",))
    assert "ebnc: 1 won, 0 drawn, 1 lost" in text
    assert "voting +0.060" in text
    assert "10 infinite" in text
    assert "car: logistic 0.2000, nb 0.3000, ebnc 0.0400" in text
