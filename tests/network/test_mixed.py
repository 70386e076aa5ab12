"""Networks of labels, ordered states and numbers with gaps: sums, brute force, samples, files."""

import json
from itertools import product

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import ks_2samp
from sklearn.ensemble import HistGradientBoostingClassifier

import ebnc
from damage import damaged_json
from ebnc.domain import Interval
from ebnc.errors import EBNCError
from ebnc.formats.native import schema
from ebnc.network.network import Network
from network.networks import everything


def mixed(n, seed):
    """Labels, grades, a skew number with many zeros, a whole number with gaps, a smooth number."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    shift = pd.Series(group).map({"a": 0.0, "b": 1.0, "c": 2.0}).to_numpy()
    gain = np.where(rng.random(n) < 0.7, 0.0, rng.exponential(1 + shift).round(2))
    age = np.round(40 + 8 * shift + 9 * rng.normal(size=n))
    age[rng.random(n) < 0.1 + 0.1 * (group == "b")] = np.nan
    level = np.clip((shift + rng.normal(size=n)).round(), 0, 3)
    grade = pd.Categorical.from_codes(
        level.astype(int), ["poor", "fair", "good", "best"], ordered=True
    )
    score = np.sin(level) + 0.5 * (gain > 0) + 0.3 * rng.normal(size=n)
    return pd.DataFrame({"group": group, "gain": gain, "age": age, "grade": grade, "score": score})


GRAPH = "[group][gain|group][age|group][grade|group][score|grade:gain]"


@pytest.fixture(scope="module", params=["ebnc", "table"])
def network(request):
    return Network.fit(GRAPH, mixed(250, 0), numbers="smooth", local=request.param, prior_scale=0.5)


@pytest.fixture(scope="module")
def few():
    """Small enough for tables of all states: numbers in few intervals, one with gaps."""
    return Network.fit(
        GRAPH,
        mixed(60, 1),
        numbers="smooth",
        local={"group": "table", "gain": "auto", "age": "table"},
        prior_scale=0.5,
    )


def test_the_density_of_a_number_given_the_others_integrates_to_its_probability(network):
    """∫ p(group, age, score) d age by pieces, with the probability of a gap, is p(group, score)."""
    given = {"group": ["b"], "score": [0.7]}
    density = network.densities["age"]

    def at(age):
        return float(np.exp(network.log_likelihood(row(network, given, age=age)))[0])

    pieces = zip([-np.inf, *density.cuts], [*density.cuts, np.inf], strict=True)
    known = sum(quad(at, low, high, limit=50, epsabs=1e-7)[0] for low, high in pieces)
    gap = np.exp(network.log_likelihood(row(network, given, age=None)))[0]
    answer = network.query("group", {"score": 0.7})
    assert known + gap == pytest.approx(answer["b"] * np.exp(answer.log_evidence), rel=1e-5)


def row(network, given, **more):
    cells = {x: [None] for x in network} | given | {x: [value] for x, value in more.items()}
    return pd.DataFrame(cells, dtype=object)


def test_answers_are_those_of_brute_force_with_evidence_of_any_kind(few):
    """Labels, a number, any interval: each state of a number counts by the share inside."""
    names, rows = few.variables, everything(few)
    p = [few[x].probabilities(rows)[np.arange(len(rows)), rows.column(x)] for x in names]
    table = np.prod(p, axis=0).reshape([few.domain.n_states(x) for x in names])
    assert table.sum() == pytest.approx(1.0, abs=1e-9)
    low, high = 33.3, 47.7
    weights = {x: np.ones(few.domain.n_states(x)) for x in names}
    density = few.densities["age"]
    inside = [
        quad(lambda y: float(np.exp(density.log_density_in_bin(np.array([y])))[0]), a, b)[0]
        if (a := max(start, low)) < (b := min(end, high))
        else 0.0
        for start, end in zip([-np.inf, *density.cuts], [*density.cuts, np.inf], strict=True)
    ]
    for atom in density.atoms:
        inside[atom] = float(low < density.means[atom] <= high)
    weights["age"] = np.array(inside + [0.0] * (few.domain.n_states("age") - len(inside)))
    weights["score"] = np.eye(few.domain.n_states("score"))[
        next(i for i, s in enumerate(few.domain["score"]) if s.low < 0.5 <= s.high)
    ]
    for axis, name in enumerate(names):
        shape = [1] * len(names)
        shape[axis] = -1
        table = table * weights[name].reshape(shape)
    evidence = {"age": Interval(low, high), "score": 0.5}
    for asked in ("group", "gain", "grade"):
        others = tuple(i for i, x in enumerate(names) if x != asked)
        expected = table.sum(axis=others) / table.sum()
        np.testing.assert_allclose(few.query(asked, evidence).probabilities, expected, atol=1e-9)
    answer = few.query("group", {"age": Interval(low, high)})
    assert answer.log_evidence < 0


def test_predictions_are_queries_for_rows_with_gaps(few):
    rows = mixed(6, 3)
    rows.loc[1, "score"] = np.nan
    rows.loc[2, ["group", "gain"]] = None
    for target in few:
        found = few.predict_proba(target, rows.drop(columns=target))
        assert found.sum(axis=1) == pytest.approx(1.0)
        for i in range(len(rows)):
            given = {
                x: None if pd.isna(rows[x][i]) else rows[x][i]
                for x in few
                if x != target and (not pd.isna(rows[x][i]) or None in few.domain[x])
            }
            expected = few.query(target, given).probabilities
            np.testing.assert_allclose(found[i], expected, atol=1e-9)


def accuracy_of_telling_apart(real, drawn):
    """Two-fold accuracy of boosting on real and drawn rows; 1/2 if they look the same."""
    both = pd.concat([real, drawn], ignore_index=True)
    coded = both.apply(lambda c: c if c.dtype == float else c.astype("category").cat.codes)
    is_drawn = np.repeat([0, 1], [len(real), len(drawn)])
    fold = np.random.default_rng(0).integers(0, 2, len(both))
    return np.mean(
        [
            HistGradientBoostingClassifier(random_state=0)
            .fit(coded[fold != k], is_drawn[fold != k])
            .score(coded[fold == k], is_drawn[fold == k])
            for k in (0, 1)
        ]
    )


@pytest.mark.slow
def test_samples_look_like_the_data():
    learned = Network.fit(
        GRAPH, mixed(1500, 0), numbers="smooth", local={"gain": "table"}, prior_scale=0.5
    )
    real = mixed(1500, 7)
    drawn = learned.sample(1500, random_state=0)
    drawn["grade"] = pd.Categorical(drawn["grade"], real["grade"].cat.categories, ordered=True)
    for x in ("gain", "age", "score"):
        assert ks_2samp(real[x].dropna(), drawn[x].dropna()).pvalue > 1e-4
    assert (drawn["gain"] == 0).mean() == pytest.approx((real["gain"] == 0).mean(), abs=0.05)
    ages = drawn["age"].dropna()
    assert (ages == ages.round()).all()
    assert drawn["age"].isna().mean() == pytest.approx(real["age"].isna().mean(), abs=0.05)
    assert accuracy_of_telling_apart(real, drawn) < 0.60
    independent = drawn.copy()
    for i, x in enumerate(drawn):
        independent[x] = drawn[x].sample(frac=1, random_state=i).to_numpy()
    assert accuracy_of_telling_apart(real, independent) > 0.62


def test_a_number_with_one_value_is_sampled_and_predicted_as_that_number(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": [7.25] * 60 + [np.nan] * 40, "b": rng.normal(size=100)})
    network = Network.fit("[a][b|a]", data, numbers="smooth")
    drawn = network.sample(50, random_state=0)["a"]
    assert set(drawn.dropna()) == {7.25}
    assert drawn.isna().any()
    assert network.predict("a", data[["b"]]).tolist() == [7.25] * 100
    assert network.predict_quantiles("a", data[["b"]][:1], [0.1, 0.9]).tolist() == [[7.25, 7.25]]
    of_states = network.log_likelihood({"a": [None], "b": [None]})
    assert np.exp(of_states)[0] == pytest.approx(network.query("a")[None])
    inside = network.query("b", {"a": Interval(7.0, 8.0)})
    assert np.exp(inside.log_evidence) == pytest.approx(1 - network.query("a")[None])
    network.save(tmp_path / "one.json")
    assert ebnc.load(tmp_path / "one.json") == network
    jsonschema.validate(json.loads((tmp_path / "one.json").read_bytes()), schema())


def test_every_truncation_of_a_file_is_refused(few, tmp_path):
    path = tmp_path / "network.json"
    few.save(path)
    content = path.read_bytes().rstrip()
    for end in {*range(0, len(content), max(1, len(content) // 150)), len(content) - 1}:
        path.write_bytes(content[:end])
        with pytest.raises(EBNCError):
            ebnc.load(path)


def test_damaged_files_are_refused_in_words_or_have_proper_probabilities(few, tmp_path):
    path = tmp_path / "network.json"
    few.save(path)
    document = json.loads(path.read_bytes())
    n_refused = 0
    for seed in range(120):
        path.write_bytes(damaged_json(document, np.random.default_rng(seed)))
        try:
            again = ebnc.load(path)
        except EBNCError:
            n_refused += 1
            continue
        for x in again:
            assert again.query(x).probabilities.sum() == pytest.approx(1.0)
        again.sample(3, random_state=0)
    assert n_refused > 60


def test_states_of_all_pairs_add_up(network):
    for one, other in product(["group", "grade"], ["age", "gain", "score"]):
        joint = network.query([one, other]).probabilities
        assert joint.sum() == pytest.approx(1.0, abs=1e-9)
        np.testing.assert_allclose(joint.sum(axis=1), network.query(one).probabilities, atol=1e-9)
