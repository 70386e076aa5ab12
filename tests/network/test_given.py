"""Networks with given arcs: fitted node by node, scores that add up (Theorem 2, eq. 8 and 9)."""

import numpy as np
import pandas as pd
import pytest

import ebnc
from ebnc.errors import DataError, NetworkError, NoMaximumError, ParameterError
from ebnc.network.network import FittedNetwork

ARCS = [("A", "B"), ("A", "C"), ("B", "C"), ("C", "D")]
STRING = "[A][B|A][C|A:B][D|C]"


def sample(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """Rows of four variables with 2, 3, 2 and 3 states; every state occurs."""
    rng = np.random.default_rng(seed)
    a = rng.integers(2, size=n)
    b = (a + rng.integers(3, size=n)) % 3
    c = (rng.random(n) < 0.2 + 0.3 * a + 0.2 * (b == 1)).astype(int)
    d = np.where(rng.random(n) < 0.6, c, rng.integers(3, size=n))
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": d})


def eq_9_of_table(frame: pd.DataFrame, node: str, parents: list[str]) -> float:
    """Σ N_jk log N_jk/N_j − (d/2) log N, written down from counts."""
    k = frame[node].nunique()
    q = int(np.prod([frame[x].nunique() for x in parents])) if parents else 1
    groups = [part for _, part in frame.groupby(parents)] if parents else [frame]
    likelihood = 0.0
    for part in groups:
        counts = part[node].value_counts().to_numpy()
        likelihood += float((counts * np.log(counts / counts.sum())).sum())
    return likelihood - 0.5 * q * (k - 1) * np.log(len(frame))


def parents_of(arcs) -> dict[str, list[str]]:
    return {x: [tail for tail, head in arcs if head == x] for x in "ABCD"}


@pytest.mark.parametrize("seed", range(5))
def test_bic_of_tables_is_eq_9_written_by_hand(seed):
    frame = sample(seed=seed)
    network = ebnc.Network.fit(ARCS, frame, local="table")
    for node, parents in parents_of(ARCS).items():
        expected = eq_9_of_table(frame, node, parents)
        assert network.node_scores[node].bic == pytest.approx(expected, abs=1e-9)
        assert network.score(frame).by_node[node] == pytest.approx(expected, abs=1e-9)


def test_bic_and_bdeu_of_tables_are_pgmpys():
    pytest.importorskip("pgmpy")
    from pgmpy.base import DAG
    from pgmpy.structure_score import BIC, BDeu

    frame = sample()
    network = ebnc.Network.fit(ARCS, frame, local="table", equivalent_sample_size=7)
    named = frame.astype("category")
    dag = DAG(ARCS)
    assert network.bic == pytest.approx(BIC(named).score(dag), rel=1e-9)
    bdeu = BDeu(named, equivalent_sample_size=7).score(dag)
    assert network.log_evidence == pytest.approx(bdeu, rel=1e-9)


@pytest.mark.slow
def test_a_trivial_ebnc_and_a_table_have_the_same_bic():
    """200 data sets, many so small that classes are separated and configurations do not occur."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        sizes = {x: int(rng.integers(2, 4)) for x in "ABY"}
        n = int(rng.integers(3, 80))
        frame = pd.DataFrame({x: rng.integers(r, size=n) for x, r in sizes.items()})
        if rng.random() < 0.5:
            frame["Y"] = np.minimum(frame["A"], sizes["Y"] - 1)
        structure = ebnc.EmbeddedStructure.table("Y", ["A", "B"])
        uniform = np.full([sizes[x] for x in "ABY"], 1 / sizes["Y"])
        roots = [ebnc.Table(x, [], sizes, np.full(sizes[x], 1 / sizes[x])) for x in "AB"]
        trivial = ebnc.EBNC(structure, sizes, np.zeros(ebnc.dimension(structure, sizes)))
        table = ebnc.Table("Y", ["A", "B"], sizes, uniform)
        assert trivial.dimension == table.dimension
        one = ebnc.Network([*roots, trivial]).score(frame).by_node["Y"]
        other = ebnc.Network([*roots, table]).score(frame).by_node["Y"]
        assert one == pytest.approx(other, abs=1e-6)


def test_bic_of_a_naive_ebnc_is_that_of_logistic_regression():
    linear = pytest.importorskip("sklearn.linear_model")
    frame = sample(2_000)
    network = ebnc.Network.fit(ARCS, frame)
    inputs = pd.get_dummies(frame[["A", "B"]].astype(str), drop_first=True).to_numpy(float)
    peer = linear.LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(inputs, frame["C"])
    each = peer.predict_log_proba(inputs)[np.arange(len(frame)), frame["C"]]
    expected = each.sum() - 0.5 * 4 * np.log(len(frame))
    assert network.node_scores["C"].bic == pytest.approx(expected, abs=1e-5)
    structure = ebnc.EmbeddedStructure.naive("C", ["A", "B"])
    by_fit = ebnc.fit(structure, frame, prior_scale=np.inf).bic
    assert network.node_scores["C"].bic == pytest.approx(by_fit, abs=1e-7)


@pytest.mark.parametrize("local", ["ebnc", "table", "auto"])
def test_summands_add_up_and_each_is_that_of_the_node_alone(local):
    frame = sample()
    network = ebnc.Network.fit(STRING, frame, local=local)
    assert isinstance(network, FittedNetwork)
    assert set(network.arcs) == set(ARCS)
    assert network.n_cases == len(frame)
    for criterion, total in (("bic", network.bic), ("laplace", network.log_evidence)):
        score = network.score(frame, criterion)
        assert score.total == pytest.approx(sum(score.by_node.values()))
        assert score.total == pytest.approx(total, abs=1e-6)
    likelihood = network.score(frame, "log_likelihood")
    assert likelihood.total == pytest.approx(network.log_likelihood(frame).sum())
    for node, fitted in network.node_scores.items():
        assert fitted.kind == network[node].kind
        assert fitted.log_likelihood == pytest.approx(likelihood.by_node[node])
        assert fitted.log_likelihood <= fitted.max_log_likelihood
    # Theorem 2: an arc changes the summand of its head and nothing else.
    more = ebnc.Network.fit([*ARCS, ("B", "D")], frame, local=local)
    for node in "ABC":
        assert more.node_scores[node] == network.node_scores[node]
    assert more.node_scores["D"] != network.node_scores["D"]


def test_evidence_of_ebnc_nodes_is_that_of_fits_of_their_own():
    frame = sample()
    network = ebnc.Network.fit(ARCS, frame, prior_scale=1.5)
    total = 0.0
    for node, parents in parents_of(ARCS).items():
        structure = ebnc.EmbeddedStructure.naive(node, parents)
        alone = ebnc.fit(structure, frame, prior_scale=1.5, categories=network.domain)
        assert network.node_scores[node].log_evidence == pytest.approx(alone.log_evidence)
        total += alone.log_evidence
    assert network.log_evidence == pytest.approx(total)


def test_a_graph_may_be_given_in_many_ways():
    frame = sample()
    first = ebnc.Network.fit(ARCS, frame)
    structures = {x: ebnc.EmbeddedStructure.naive(x, parents_of(ARCS)[x]) for x in "ABCD"}
    as_table = ebnc.Network.fit(ARCS, frame, local="table")
    for given in (STRING, structures, parents_of(ARCS), first, as_table):
        assert ebnc.Network.fit(given, frame).bic == pytest.approx(first.bic, abs=1e-9)
    chain = ebnc.EmbeddedStructure.chain("C", ["A", "B"])
    other = ebnc.Network.fit(structures | {"C": chain}, frame)
    assert other["C"].structure == chain
    assert ebnc.Network.fit(other, frame)["C"].structure == chain
    mixed = ebnc.Network.fit(ARCS, frame, local={"C": "table"})
    assert [mixed[x].kind for x in "ABCD"] == ["ebnc", "ebnc", "table", "ebnc"]


def test_auto_takes_a_table_for_parity_and_an_ebnc_for_many_weak_parents():
    rng = np.random.default_rng(1)
    bits = rng.integers(2, size=(1_000, 6))
    frame = pd.DataFrame(bits, columns=[f"X{i}" for i in range(6)])
    frame["parity"] = (bits[:, 0] ^ bits[:, 1]) ^ (rng.random(1_000) < 0.05)
    odds = bits.sum(axis=1) - 3
    frame["sum"] = (rng.random(1_000) < 1 / (1 + np.exp(-odds))).astype(int)
    given = {"parity": ["X0", "X1"], "sum": [f"X{i}" for i in range(6)]}
    network = ebnc.Network.fit(given, frame, local="auto")
    assert network["parity"].kind in ("table", "tree")
    assert network["sum"].kind == "ebnc"
    assert set(network.parents("parity")) == {"X0", "X1"}


def test_scores_of_learned_networks_with_trees():
    frame = sample(1_000)
    learned = ebnc.Network.learn(frame, local=("tree",), regime="sparse")
    score = learned.score(frame)
    for node in "ABCD":
        tree = learned[node]
        rows = pd.Series(map(tuple, tree.probabilities(frame).round(12)))  # a leaf each
        likelihood = 0.0
        for _, part in frame.groupby(rows):
            counts = part[node].value_counts().to_numpy()
            likelihood += float((counts * np.log(counts / counts.sum())).sum())
        expected = likelihood - 0.5 * tree.dimension * np.log(len(frame))
        assert score.by_node[node] == pytest.approx(expected)
    assert np.isfinite(learned.score(frame, "laplace").total)


def test_weights_are_repeated_rows():
    frame = sample(60)
    weights = np.random.default_rng(0).integers(0, 4, size=60)
    repeated = frame.loc[frame.index.repeat(weights)]
    categories = {"A": [0, 1], "B": [0, 1, 2], "C": [0, 1], "D": [0, 1, 2]}
    one = ebnc.Network.fit(ARCS, frame, weights=weights, categories=categories)
    other = ebnc.Network.fit(ARCS, repeated, categories=categories)
    assert one.bic == pytest.approx(other.bic, abs=1e-7)
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-7)
    score = one.score(frame, weights=weights)
    assert score == one.score(frame.assign(times=weights), weights="times")
    assert score.total == pytest.approx(one.score(repeated).total, abs=1e-7)


def test_a_node_and_a_parent_with_one_state_add_nothing():
    frame = sample().assign(E=1)
    plain = ebnc.Network.fit(ARCS, sample())
    network = ebnc.Network.fit([*ARCS, ("E", "C"), ("C", "E")][:-1], frame)
    assert network.node_scores["E"].bic == 0
    assert network.bic == pytest.approx(plain.bic)


def test_maximum_likelihood_and_where_there_is_none():
    frame = sample(2_000)
    network = ebnc.Network.fit(ARCS, frame, prior_scale=np.inf)
    node = network.node_scores["C"]
    assert node.log_likelihood == pytest.approx(node.max_log_likelihood, abs=1e-7)
    assert node.log_evidence is None
    with pytest.raises(ParameterError, match="no evidence under a flat prior"):
        _ = network.log_evidence
    copy = pd.DataFrame({"A": [0, 1] * 20, "B": [0, 1] * 20})
    with pytest.raises(NoMaximumError, match="node 'B'"):
        ebnc.Network.fit([("A", "B")], copy, prior_scale=np.inf)
    separated = ebnc.Network.fit([("A", "B")], copy)
    assert separated.node_scores["B"].max_log_likelihood == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([("A", "Z")], "'Z' is not a column"),
        ([("A", "B"), ("B", "A")], "cycle"),
        ("[A][B|A][B]", "two brackets"),
        ([("A", "B", "C")], "pair"),
        (["AB"], "pair"),
        ([("A", "A")], "repeat a name"),
        ({"A": "B"}, "list of its parents"),
        ({"A": 3}, "list of its parents"),
        ({"A": ebnc.EmbeddedStructure.naive("B", ["C"])}, "target 'B'"),
    ],
)
def test_what_is_no_graph_is_refused(given, message):
    with pytest.raises(NetworkError, match=message):
        ebnc.Network.fit(given, sample(50))


def test_wrong_options_are_refused():
    frame = sample(50)
    with pytest.raises(ParameterError, match="local must be one of"):
        ebnc.Network.fit(ARCS, frame, local="forest")
    with pytest.raises(NetworkError, match="'Z'"):
        ebnc.Network.fit(ARCS, frame, local={"Z": "table"})
    with pytest.raises(ParameterError, match="equivalent_sample_size"):
        ebnc.Network.fit(ARCS, frame, equivalent_sample_size=-1)
    network = ebnc.Network.fit(ARCS, frame)
    with pytest.raises(ParameterError, match="criterion must be one of"):
        network.score(frame, "aic")


def test_noisy_max_has_a_likelihood_only():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"A": rng.integers(2, size=100)})
    frame["B"] = frame["A"] & (rng.random(100) < 0.8)
    two = {"A": 2, "B": [False, True]}
    network = ebnc.Network(
        [
            ebnc.Table("A", [], two, [0.5, 0.5]),
            ebnc.NoisyMax("B", two, [0.9, 0.1], {"A": [[1, 0], [0.2, 0.8]]}),
        ]
    )
    assert np.isfinite(network.score(frame, "log_likelihood").total)
    with pytest.raises(ParameterError, match="noisy-max"):
        network.score(frame)


def test_a_score_reads_as_a_table():
    network = ebnc.Network.fit(ARCS, sample(), local="table")
    lines = repr(network.score(sample())).splitlines()
    assert lines[0].split() == ["node", "bic"]
    assert [line.split()[0] for line in lines[1:]] == ["A", "B", "C", "D", "total"]
    assert float(lines[-1].split()[1]) == pytest.approx(network.bic, abs=1e-4)


def test_no_graph_and_no_rows_are_refused_in_words():
    data = {"a": [0, 1, 0, 1], "y": [0, 1, 1, 1]}
    with pytest.raises(NetworkError, match=r"a graph must be a list of arcs .* got 3"):
        ebnc.Network.fit(3, data)
    network = ebnc.Network.fit([("a", "y")], data)
    with pytest.raises(DataError, match="no rows"):
        network.score({"a": [], "y": []})
