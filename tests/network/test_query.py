"""Queries: exact ones against brute force, approximate ones within four standard errors."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import ebnc
from ebnc.errors import DataError, NetworkError, ParameterError, QueryError, TooLargeError
from ebnc.network.inference import query as module
from ebnc.network.inference.evidence import Evidence
from ebnc.network.inference.pyagrum import exact_posterior
from network.networks import joint_table, random_counting, random_network


def expected_answer(network, variables, evidence):
    table = joint_table(network)
    names = network.variables
    for name, state in evidence.items():
        table = np.take(table, [network.domain.codes(name)[state]], axis=names.index(name))
    others = tuple(i for i, x in enumerate(names) if x not in variables)
    kept = [x for x in names if x in variables]
    table = table.sum(axis=others) / table.sum()
    return np.transpose(table, [kept.index(x) for x in variables])


def questions(seed):
    """A network and a random question to it."""
    rng = np.random.default_rng(seed)
    network = random_network(seed, n_nodes=6)
    names = list(rng.permutation(network.variables))
    evidence = {x: str(rng.choice(network.domain[x])) for x in names[:2]}
    return network, [str(x) for x in names[2:4]], {str(x): s for x, s in evidence.items()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_exact_by_elimination(seed):
    network, variables, evidence = questions(seed)
    found = network.query(variables, evidence, method="exact")
    assert found.method == "exact"
    expected = expected_answer(network, variables, evidence)
    np.testing.assert_allclose(found.probabilities, expected, rtol=1e-10)
    states = tuple(network.domain[x][0] for x in variables)
    assert found[states] == pytest.approx(expected[0, 0])
    assert found.to_dict()[states] == found[states]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.usefixtures("gum")
def test_exact_through_pyagrum(seed):
    network, variables, evidence = questions(seed)
    for asked in (variables, variables[:1]):
        for given in (evidence, {}):
            codes = {x: network.domain[x].index(state) for x, state in given.items()}
            found, log_evidence = exact_posterior(network, asked, Evidence(codes))
            expected = expected_answer(network, asked, given)
            np.testing.assert_allclose(found, expected, rtol=1e-9)
            by_listing = np.log(_probability(network, given))
            assert log_evidence == pytest.approx(by_listing, abs=1e-9)


@pytest.mark.usefixtures("gum")
def test_large_tables_are_left_to_pyagrum():
    """A node of 18 parents: 2^19 cells, more than elimination takes."""
    names = [f"X{i}" for i in range(18)]
    domain = dict.fromkeys([*names, "Y"], 2)
    phi = np.random.default_rng(0).normal(0, 0.3, 19)
    y = ebnc.EBNC(ebnc.EmbeddedStructure.naive("Y", names), domain, phi)
    tables = [ebnc.Table(x, [], domain, [0.5, 0.5]) for x in names]
    found = ebnc.Network([*tables, y]).query("Y")
    cells = np.array(list(product([0, 1], repeat=18)))
    expected = np.mean(1 / (1 + np.exp(-(phi[0] + cells @ phi[1:]))))
    assert found.method == "exact (pyAgrum)"
    assert found.probabilities[1] == pytest.approx(expected, rel=1e-9)


def _probability(network, evidence):
    table = joint_table(network)
    where = [
        network.domain.codes(x)[evidence[x]] if x in evidence else slice(None)
        for x in network.variables
    ]
    return table[tuple(where)].sum()


@pytest.mark.parametrize("method", ["weighting", "gibbs"])
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 2, 3))]
)
def test_sampling_within_four_standard_errors(method, seed):
    network, variables, evidence = questions(seed)
    found = network.query(variables[0], evidence, method=method, n_samples=20_000)
    expected = expected_answer(network, variables[:1], evidence)
    assert found.method == method
    assert (np.abs(found.probabilities - expected) <= 4 * found.standard_errors).all()
    assert found.standard_errors.max() < 0.05
    again = network.query(variables[0], evidence, method=method, n_samples=20_000)
    np.testing.assert_array_equal(again.probabilities, found.probabilities)


def test_weighting_estimates_the_probability_of_the_evidence():
    network, variables, evidence = questions(2)
    found = network.query(variables, evidence, method="weighting", n_samples=50_000)
    assert found.log_evidence == pytest.approx(np.log(_probability(network, evidence)), abs=0.05)


def test_a_node_with_hundreds_of_parents():
    """No table could hold it; with its parents known the answer is one look-up."""
    rng = np.random.default_rng(0)
    names = [f"X{i}" for i in range(300)]
    domain = dict.fromkeys([*names, "Y"], 2)
    y = ebnc.EBNC(ebnc.EmbeddedStructure.naive("Y", names), domain, rng.normal(0, 0.2, 301))
    network = ebnc.Network([*(ebnc.Table(x, [], domain, [0.5, 0.5]) for x in names), y])
    evidence = {x: int(rng.integers(2)) for x in names}
    found = network.query("Y", evidence)
    row = {x: [s] for x, s in evidence.items()}
    np.testing.assert_allclose(found.probabilities, y.probabilities(row)[0], rtol=1e-12)
    few = dict(list(evidence.items())[:250])
    sampled = network.query("Y", few)
    assert sampled.method == "weighting"
    with pytest.raises(TooLargeError, match="'Y' alone has 300 parents"):
        network.query("Y", few, method="exact")
    with pytest.raises(TooLargeError):
        network.write_bif("never-written.bif")


def test_rare_evidence_goes_to_gibbs(monkeypatch):
    monkeypatch.setattr(module, "exact", _too_large)
    names = [f"X{i}" for i in range(30)]
    domain = dict.fromkeys(["Y", *names], 2)
    y = ebnc.Table("Y", [], domain, [0.999, 0.001])
    children = [ebnc.Table(x, ["Y"], domain, [[0.9, 0.1], [0.2, 0.8]]) for x in names]
    network = ebnc.Network([y, *children])
    evidence = {x: int(i < 15) for i, x in enumerate(names)}
    found = network.query("Y", evidence, n_samples=4000)
    n_ones = sum(evidence.values())
    odds = 0.001 * 0.8**n_ones * 0.2 ** (30 - n_ones) / (0.999 * 0.1**n_ones * 0.9 ** (30 - n_ones))
    assert found.method == "gibbs"
    assert abs(found[1] - odds / (1 + odds)) <= 4 * found.standard_errors[1]


def _too_large(question):
    raise TooLargeError("for the test")


def near_copy(flips, n_rare):
    """B is A but for few flips, C says what B is; causes of rare evidence make weights uneven."""
    rare = range(n_rare)
    names = ["A", "B", "C", *(f"D{i}" for i in rare), *(f"E{i}" for i in rare)]
    domain = dict.fromkeys(names, 2)
    copy = [[1 - flips, flips], [flips, 1 - flips]]
    return ebnc.Network(
        [
            ebnc.Table("A", [], domain, [0.9, 0.1]),
            ebnc.Table("B", ["A"], domain, copy),
            ebnc.Table("C", ["B"], domain, [[0.99, 0.01], [0.19, 0.81]]),
            *(ebnc.Table(f"D{i}", [], domain, [0.8, 0.2]) for i in rare),
            *(ebnc.Table(f"E{i}", [f"D{i}"], domain, [[0.95, 0.05], [0.05, 0.95]]) for i in rare),
        ]
    )


def p_of_a(flips):
    """p(A = 1 | C = 1) by hand: whatever is rare is independent of it."""
    one = 0.1 * ((1 - flips) * 0.81 + flips * 0.01)
    zero = 0.9 * (flips * 0.81 + (1 - flips) * 0.01)
    return one / (one + zero)


@pytest.mark.slow
@pytest.mark.parametrize("flips", [0.01, 1e-6])
def test_gibbs_intervals_cover_the_truth_where_chains_hardly_move(flips):
    """12 intervals of 95 %: at least 9 cover, but for one time in 500."""
    network, covered = near_copy(flips, 0), 0
    for seed in range(12):
        found = network.query("A", {"C": 1}, method="gibbs", random_state=seed)
        covered += abs(found[1] - p_of_a(flips)) <= 1.96 * found.standard_errors[1]
        assert found.warning is None
    assert covered >= 9


def test_gibbs_says_where_chains_disagree():
    """Starts that weights cannot correct: the answer is flagged, printed and raised."""
    evidence = {"C": 1, **{f"E{i}": 1 for i in range(12)}}
    with pytest.warns(UserWarning, match="Gibbs chains disagree"):
        found = near_copy(1e-6, 12).query("A", evidence, method="gibbs")
    assert "standard errors cannot be trusted" in found.warning
    assert str(found).endswith(found.warning)
    mixes = near_copy(0.2, 12).query("A", evidence, method="gibbs")
    assert mixes.warning is None
    assert abs(mixes[1] - p_of_a(0.2)) <= 4 * mixes.standard_errors[1]


def test_gibbs_says_where_hardly_any_start_is_possible():
    """Two copies of a state that evidence leaves open; zeros keep a chain on its side."""
    domain = {"A": 2, "B": 2, "C": 2}
    network = ebnc.Network(
        [
            ebnc.Table("A", [], domain, [0.5, 0.5]),
            ebnc.Table("B", ["A"], domain, [[1, 0], [0, 1]]),
            ebnc.Table("C", [], domain, [0.9998, 0.0002]),
            ebnc.Table("D", ["C"], {**domain, "D": 2}, [[1, 0], [0, 1]]),
        ]
    )
    with pytest.warns(UserWarning, match="samples agree with the evidence|disagree"):
        network.query(["A", "C"], {"D": 1}, method="gibbs")


def test_weighting_says_where_its_weights_are_uneven():
    evidence = {f"E{i}": 1 for i in range(12)}
    with pytest.warns(UserWarning, match="below 200"):
        near_copy(0.1, 12).query("A", evidence, method="weighting", n_samples=500)


@pytest.mark.parametrize("method", ["exact", "weighting", "gibbs", "auto"])
def test_impossible_evidence(method):
    domain = {"A": 2, "B": 2}
    network = ebnc.Network(
        [
            ebnc.Table("A", [], domain, [1.0, 0.0]),
            ebnc.Table("B", ["A"], domain, [[0.5, 0.5], [0.5, 0.5]]),
        ]
    )
    with pytest.raises(QueryError, match="probability"):
        network.query("B", {"A": 1}, method=method)


@pytest.mark.usefixtures("gum")
def test_impossible_evidence_in_pyagrum():
    domain = {"A": 2, "B": 2}
    tables = [("A", [], [1.0, 0.0]), ("B", ["A"], [[0.5, 0.5], [0.5, 0.5]])]
    network = ebnc.Network([ebnc.Table(x, own, domain, theta) for x, own, theta in tables])
    assert exact_posterior(network, ["B"], Evidence({"A": 1})) is None


def test_bad_questions():
    network = random_network(0)
    a, b = network.variables[:2]
    with pytest.raises(NetworkError, match="no node 'Q'"):
        network.query("Q")
    with pytest.raises(NetworkError, match="no node 'Q'"):
        network.query(a, {"Q": "s0"})
    with pytest.raises(DataError, match="'s9' in column"):
        network.query(a, {b: "s9"})
    with pytest.raises(QueryError, match="none that is also evidence"):
        network.query(a, {a: "s0"})
    with pytest.raises(QueryError, match="at least one"):
        network.query([])
    with pytest.raises(ParameterError, match="method must be one of"):
        network.query(a, method="guess")
    with pytest.raises(ParameterError, match="n_samples"):
        network.query(a, n_samples=0)
    with pytest.raises(QueryError, match="not a state"):
        network.query(a)["s9"]


def rain_and_wet():
    two = {"rain": ["no", "yes"], "wet": ["no", "yes"]}
    rain = ebnc.Table("rain", [], two, [0.8, 0.2])
    return ebnc.Network([rain, ebnc.Table("wet", ["rain"], two, [[0.9, 0.1], [0.2, 0.8]])])


def test_answers_are_mappings_from_states():
    network = rain_and_wet()
    answer = network.query("rain", {"wet": "yes"})
    assert dict(answer) == pytest.approx({"no": 1 / 3, "yes": 2 / 3})
    both = network.query(["rain", "wet"])
    assert dict(both.items())["yes", "no"] == pytest.approx(0.2 * 0.2)
    assert len(both) == 4
    assert "maybe" not in answer
    assert both.get(("yes", "maybe"), 0.5) == 0.5
    assert "snow" not in network
    assert "snow" not in network.marginals()
    with pytest.raises(KeyError, match=r"^'maybe' is not a state of 'rain'"):
        answer["maybe"]


@pytest.mark.parametrize(
    "evidence", [pd.DataFrame({"wet": ["yes"]}), pd.Series({"wet": "yes"}), "wet", [], False]
)
@pytest.mark.parametrize("ask", ["query", "marginals", "most_probable"])
def test_evidence_that_is_no_mapping_is_refused(ask, evidence):
    network = rain_and_wet()
    arguments = ["rain"] if ask == "query" else []
    with pytest.raises(QueryError, match=r"evidence is a mapping.* predict_proba"):
        getattr(network, ask)(*arguments, evidence)


@pytest.mark.parametrize("n_parents", [5, 12, 13])
def test_many_parents_that_count_against_all_configurations(n_parents):
    """With 13 parents the node has 2^14 cells, of which the query needs 2^13."""
    rng = np.random.default_rng(n_parents)
    names = [f"P{i}" for i in range(n_parents)]
    states = {x: ["no", "yes"] for x in (*names, "Y")}
    node = random_counting("Y", names, states, rng)
    priors = rng.uniform(0.1, 0.9, n_parents)
    roots = [
        ebnc.Table(x, [], states, [1 - p, p]) for x, p in zip(names, priors.tolist(), strict=True)
    ]
    codes = np.array(list(product((0, 1), repeat=n_parents))).T
    columns = {x: np.array(["no", "yes"])[column] for x, column in zip(names, codes, strict=True)}
    weights = np.where(codes == 1, priors[:, None], 1 - priors[:, None]).prod(axis=0)
    weights *= node.probabilities(columns)[:, 1]
    found = ebnc.Network([*roots, node]).query("P0", {"Y": "yes"})
    assert found.method == "exact"
    assert found["yes"] == pytest.approx(weights[codes[0] == 1].sum() / weights.sum(), rel=1e-10)
