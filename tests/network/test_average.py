"""Averages of networks: against brute force, orders, files, what they refuse."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest

import ebnc
from cli.command import refused, succeeded
from ebnc.data.rows import all_configurations
from ebnc.errors import DataError, FormatError, NetworkError, ParameterError
from ebnc.formats.native import document, schema
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.ordering import FEW_ORDERS, candidate_orders
from network.networks import joint_table, random_network
from network.test_counting import overdispersed
from network.test_dense import cases_of, mixed_data


@pytest.fixture(scope="module")
def learned():
    data = overdispersed(0, 300, 6)
    return ebnc.Network.learn(data, regime="dense", n_orders=3)


def mean_table(average):
    """The mean of the joint tables, with the axes of the first network."""
    tables = []
    for network in average.networks:
        axes = [network.variables.index(x) for x in average.variables]
        tables.append(np.transpose(joint_table(ebnc.Network(network.values())), axes))
    return np.mean(tables, axis=0)


def test_probabilities_are_the_mean_of_the_networks(learned):
    average = learned.average
    assert len(average.networks) == 3
    expected = mean_table(average)
    rows = all_configurations(average.domain, average.variables)
    p = np.exp(average.log_likelihood(rows)).reshape(expected.shape)
    np.testing.assert_allclose(p, expected, atol=1e-12)
    assert p.sum() == pytest.approx(1.0)


def test_predictions_are_the_conditionals_of_the_mean(learned):
    average = learned.average
    data = overdispersed(7, 50, 6)
    table = mean_table(average)
    for i, name in enumerate(average.variables):
        of_rows = np.moveaxis(table, i, -1)[tuple(data.drop(columns=name).to_numpy().T)]
        expected = of_rows / of_rows.sum(axis=1, keepdims=True)
        p = average.predict_proba(name, data.drop(columns=name))
        np.testing.assert_allclose(p, expected, atol=1e-9)
        np.testing.assert_array_equal(average.predict(name, data), expected.argmax(axis=1))


def test_samples_have_the_probabilities_of_the_mean(learned):
    average, n = learned.average, 40_000
    expected = mean_table(average).ravel()
    drawn = average.sample(n, random_state=0)[list(average.variables)].to_numpy()
    sizes = [average.domain.n_states(x) for x in average.variables]
    counts = np.bincount(np.ravel_multi_index(drawn.T, sizes), minlength=expected.size)
    often = expected * n > 5
    chi = ((counts - n * expected) ** 2 / (n * expected))[often].sum()
    assert chi < often.sum() + 5 * np.sqrt(2 * often.sum())
    pd.testing.assert_frame_equal(average.sample(9, random_state=1), average.sample(9, 1))
    assert len(average.sample(0)) == 0


def test_networks_may_list_their_variables_in_other_orders():
    network = random_network(3, n_nodes=4)
    turned = ebnc.Network(reversed(list(network.values())))
    average = ebnc.NetworkAverage([network, turned])
    rows = network.sample(20, random_state=0)
    np.testing.assert_allclose(average.log_likelihood(rows), network.log_likelihood(rows))
    frame = average.sample(200, random_state=0)
    assert all(set(frame[x]) <= set(network.domain[x]) for x in network)


def test_the_network_that_is_returned_has_the_best_score(learned):
    best = [network == ebnc.Network(learned.values()) for network in learned.average.networks]
    assert any(best)
    one = ebnc.Network.learn(overdispersed(0, 300, 6), regime="dense", n_orders=1)
    assert len(one.average.networks) == 1
    assert learned.learned_score >= one.learned_score


def test_an_average_predicts_new_rows_better_than_its_best_network():
    train, test = overdispersed(0, 400, 20), overdispersed(1, 4000, 20)
    network = ebnc.Network.learn(train, regime="dense", local="naive", n_orders=4)
    gain = network.average.log_likelihood(test) - network.log_likelihood(test)
    assert gain.mean() > 3 * gain.std() / np.sqrt(len(gain))


def test_a_sparse_network_is_its_own_average():
    data = overdispersed(0, 200, 4)
    network = ebnc.Network.learn(data, regime="sparse", local="table")
    np.testing.assert_array_equal(
        network.average.log_likelihood(data), network.log_likelihood(data)
    )


def test_numbers_and_labels():
    data = mixed_data()
    average = ebnc.Network.learn(data, regime="dense", numbers="smooth", n_orders=2).average
    each = [np.exp(network.log_likelihood(data)) for network in average.networks]
    np.testing.assert_allclose(np.exp(average.log_likelihood(data)), np.mean(each, axis=0))
    assert average.sample(50, random_state=0)["size"].std() > 0.5
    assert set(average.predict("colour", data)) <= {"red", "green", "blue"}
    assert np.corrcoef(average.predict("size", data), data["size"])[0, 1] > 0.5


@pytest.mark.parametrize("n_orders", [1, 2, 5, 8])
def test_orders_are_distinct_and_respect_constraints(n_orders):
    data = overdispersed(0, 100, 8)
    cases = cases_of({x: data[x].to_numpy() for x in data})
    names = list(data)
    limits = Constraints.of(names, required=[("V5", "V2")], tiers=[["V7", "V3"], ["V0"]])
    orders = candidate_orders(cases, names, limits, n_orders)
    assert len(orders) == len({tuple(order) for order in orders}) <= n_orders
    assert len(orders) >= min(n_orders, 4)
    for order in orders:
        place = {x: i for i, x in enumerate(order)}
        assert sorted(order) == sorted(names)
        assert place["V5"] < place["V2"]
        assert max(place["V7"], place["V3"]) < place["V0"]
    assert len(candidate_orders(cases, names, Constraints.of(names))) == FEW_ORDERS


def test_files_keep_the_average(learned, tmp_path):
    path = tmp_path / "average.json"
    learned.average.save(path)
    jsonschema.Draft202012Validator(schema()).validate(json.loads(path.read_text()))
    again = ebnc.load(path)
    assert again == learned.average
    data = overdispersed(5, 40, 6)
    np.testing.assert_array_equal(again.log_likelihood(data), learned.average.log_likelihood(data))
    refused("network", "query", path, "V0", words="average of networks")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.update(networks=[]), "at least one"),
        (lambda model: model.pop("networks"), "networks"),
        (lambda model: model["networks"][1]["nodes"].pop(), "is not a node|same states"),
        (lambda model: model["networks"][0]["domain"][0]["states"].append(9), "theta|phi|φ|states"),
    ],
)
def test_damaged_files_are_refused(learned, change, message, tmp_path):
    content = document(learned.average)
    change(content["model"])
    (tmp_path / "average.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match=message):
        ebnc.load(tmp_path / "average.json")


def test_what_is_refused(learned):
    with pytest.raises(NetworkError, match="at least one"):
        ebnc.NetworkAverage([])
    with pytest.raises(NetworkError, match="same states"):
        ebnc.NetworkAverage([learned, random_network(0)])
    with pytest.raises(DataError, match="at least 0"):
        learned.average.sample(-1)
    with pytest.raises(NetworkError, match="no node"):
        learned.average.predict_proba("missing", overdispersed(0, 5, 6))


TWO = {"V0": ["a", "b", None], "V1": [1, 0, 0]}


@pytest.mark.parametrize("n_orders", [0, -1, 2.5, "two", True])
def test_numbers_of_orders_are_whole(n_orders):
    with pytest.raises(ParameterError, match="n_orders must be a whole number of at least 1, got"):
        ebnc.Network.learn(TWO, n_orders=n_orders)


def test_several_orders_contradict_one_order_and_sparse_networks():
    for other in ({"order": ["V0", "V1"]}, {"regime": "sparse"}):
        with pytest.raises(ParameterError, match="needs order=None, and a regime other than"):
            ebnc.Network.learn(TWO, n_orders=2, **other)
    with pytest.raises(ParameterError, match="learns sparse networks only"):
        ebnc.Network.learn(TWO, n_orders=2, missing="em")


def test_orders_on_the_command_line(tmp_path):
    overdispersed(0, 200, 5).to_csv(tmp_path / "data.csv", index=False)
    model = tmp_path / "model.json"
    succeeded("network", "learn", tmp_path / "data.csv", "--out", model, "--orders", "3")
    learned = ebnc.Network.learn(tmp_path / "data.csv", n_orders=3)
    assert learned.regime == "dense"
    assert ebnc.load(model) == ebnc.Network(learned.values())
    refused("network", "learn", tmp_path / "data.csv", "-o", model, "--orders", "0", words="orders")
