"""Networks in the native format: equal to the bit, within the schema, refused where damaged."""

import json

import jsonschema
import numpy as np
import pytest

import ebnc
from ebnc.errors import FormatError
from ebnc.formats.native import document, load, schema
from network.networks import everything, random_network

VALIDATOR = jsonschema.Draft202012Validator(schema())


def assert_equal_to_the_bit(network, path):
    network.save(path)
    VALIDATOR.validate(json.loads(path.read_text()))
    back = load(path)
    rows = everything(network)
    np.testing.assert_array_equal(back.log_likelihood(rows), network.log_likelihood(rows))
    assert back.arcs == network.arcs
    for name, local in network.items():
        assert back[name].kind == local.kind
        np.testing.assert_array_equal(
            back[name].probabilities(rows), local.probabilities(rows), err_msg=name
        )
        if isinstance(local, ebnc.EBNC):
            assert back[name].coding == local.coding
            np.testing.assert_array_equal(back[name].phi, local.phi)


def test_150_networks_of_all_kinds_round_trip_to_the_bit(tmp_path):
    for seed in range(150):
        assert_equal_to_the_bit(random_network(seed), tmp_path / "network.json")


@pytest.mark.parametrize("regime", ["sparse", "dense"])
def test_learned_networks_round_trip_to_the_bit(regime, tmp_path):
    rows = random_network(4, n_nodes=10, max_states=2).sample(300, random_state=1)
    learned = ebnc.Network.learn(rows, regime=regime, local="ebnc", n_jobs=1)
    assert learned.regime == regime
    assert any(local.kind == "ebnc" and local.parents for local in learned.values())
    assert_equal_to_the_bit(learned, tmp_path / "network.json")


@pytest.mark.slow
def test_many_parents_take_no_more_than_their_parameters(tmp_path):
    names = [f"a variable with a long name {i}" for i in range(200)]
    domain = dict.fromkeys(names, 2)
    locals_ = [
        ebnc.EBNC(ebnc.EmbeddedStructure.naive(x, names[:i]), domain, np.ones(i + 1) / 3)
        for i, x in enumerate(names)
    ]
    network = ebnc.Network(locals_)
    path = tmp_path / "network.json"
    network.save(path)
    assert path.stat().st_size < 40 * network.dimension
    assert ebnc.load(path).dimension == network.dimension


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("table", lambda node: node.update(target=99), "no variable has number 99"),
        ("table", lambda node: node.update(kind="forest"), "must be one of"),
        ("table", lambda node: node["theta"].pop(), "numbers; shape"),
        ("table", lambda node: node.update(theta=[2.0] * len(node["theta"])), "too large"),
        ("table", lambda node: node.update(extra=1), "unknown field"),
        ("noisy-max", lambda node: node["effects"].pop(), "one table for each of"),
        ("noisy-max", lambda node: node["leak"].append(0.0), "numbers; shape"),
        ("noisy-max", lambda node: node.update(descending=1), "true or false"),
        ("noisy-max", lambda node: node.update(leak=[0.9] * len(node["leak"])), "not to 1"),
        ("graph", lambda node: node.update(other=[0] * len(node["other"])), "later nodes"),
        ("graph", lambda node: node["states"].__setitem__(0, 9), "no state number 9"),
        ("graph", lambda node: node["equal"].pop(), "of length"),
    ],
)
def test_damaged_nodes(kind, change, message, tmp_path):
    content = document(random_network(2, n_nodes=8, kinds=(kind,)))
    nodes = content["model"]["nodes"]
    change(next(n for n in nodes if n["kind"] == kind and (n.get("parents") or n.get("variables"))))
    path = tmp_path / "network.json"
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=message):
        load(path)


def test_a_kind_without_a_place_in_the_file_is_refused(tmp_path):
    class Coin:
        kind, target, parents, dimension = "coin", "Z", (), 1
        domain = ebnc.Domain({"Z": 2})

    with pytest.raises(FormatError, match="'Z' is a coin"):
        ebnc.Network([Coin()]).save(tmp_path / "network.json")
    assert not list(tmp_path.iterdir())


def test_a_small_file_cannot_ask_for_a_huge_table(tmp_path):
    names = [f"X{i}" for i in range(80)]
    domain = [{"name": x, "states": ["a", "b"]} for x in names]
    families = [[0, list(range(1, 80))], *([i, []] for i in range(1, 80))]
    node = {"kind": "ebnc", "target": 0, "families": families, "phi": [0.0]}
    content = document(random_network(0))
    content["model"] = {"domain": domain, "nodes": [node]}
    path = tmp_path / "network.json"
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match="the structure has"):
        load(path)
