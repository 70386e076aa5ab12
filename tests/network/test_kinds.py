"""A kind of node entered in one table works wherever kinds do; models are equal by value."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

import ebnc
from cli.command import succeeded
from ebnc.data.coder import encode
from ebnc.formats.native import schema
from ebnc.network.local.configurations import largest_log_likelihood
from ebnc.network.local.kinds import KINDS, learnable_kinds
from ebnc.network.local.local import LearnedLocal
from ebnc.network.local.node import FromScratchLearner, Kind
from ebnc.network.local.plain import FieldType, shaped
from ebnc.report import render_html, summarise_network
from ebnc.score.dirichlet import dirichlet_log_evidence
from network.networks import everything, random_network


class Parity:
    """p(z | x) by whether the sum of the parents' codes is odd; θ: (2, K)."""

    kind = "parity"

    def __init__(self, target, parents, domain, theta):
        self.target, self.parents, self.theta = target, tuple(parents), np.array(theta)
        self.domain = ebnc.Domain({x: domain[x] for x in (*parents, target)})
        self.dimension = self.theta.size - 2

    def __str__(self):
        return f"{self.target} by the parity of {', '.join(self.parents)}"

    def probabilities(self, data):
        return self.theta[parity(encode(data, self.domain, self.parents), self.parents)]

    def log_probability(self, data):
        rows = encode(data, self.domain, tuple(self.domain))
        return np.log(self.probabilities(rows)[np.arange(len(rows)), rows.column(self.target)])


def parity(rows, parents):
    return sum((rows.column(x).astype(int) for x in parents), np.zeros(len(rows), int)) % 2


def learn(cases, parents):
    n_classes = cases.domain.n_states(cases.target)
    cells = parity(cases.rows, parents) * n_classes + cases.classes
    counts = np.bincount(cells, cases.weights, 2 * n_classes).reshape(2, -1).astype(float)
    theta = (counts + 0.5) / (counts + 0.5).sum(axis=1, keepdims=True)
    local = Parity(cases.target, parents, cases.domain, theta)
    evidence = dirichlet_log_evidence(counts, 0.5)
    return LearnedLocal(local, evidence, 0.0, largest_log_likelihood(counts))


def gains(cases, present, names):
    parents = () if present is None else present.parents
    now = learn(cases, parents).log_evidence
    return {x: learn(cases, (*parents, x)).log_evidence - now for x in names}


def from_plain(target, domain, plain):
    theta = shaped("theta", plain["theta"], (2, domain.n_states(target)))
    return Parity(target, plain["parents"], domain, theta)


PARITY = Kind(
    name="parity",
    words="parity check",
    fields={"parents": FieldType.VARIABLES, "theta": FieldType.PROBABILITIES},
    to_plain=lambda local: {"parents": local.parents, "theta": local.theta.ravel()},
    from_plain=from_plain,
    learner=partial(FromScratchLearner, "parity", learn, gains),
    is_readable=True,
)


@pytest.fixture
def data(monkeypatch):
    monkeypatch.setitem(KINDS, "parity", PARITY)
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 500))
    c = (a + b + (rng.random(500) < 0.1)) % 2
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": rng.integers(0, 3, 500)})


OPTIONS = {"required": [("a", "c")], "tiers": [["a", "b"], ["c"]]}


@pytest.mark.parametrize("score", ["laplace", "bic"])
def test_a_kind_in_the_table_is_learned_saved_and_reported(data, score, tmp_path):
    learned = ebnc.Network.learn(data, local=("table", "parity"), score=score, **OPTIONS)
    assert learned.local("c").kind == "parity"
    assert set(learned.parents("c")) == {"a", "b"}
    learned.save(tmp_path / "model.json")
    assert ebnc.load(tmp_path / "model.json") == learned
    page = render_html(summarise_network(learned, data))
    assert "1 parity check" in page
    assert "c by the parity of" in page


def test_a_kind_in_the_table_works_in_commands(data, tmp_path):
    data.to_csv(tmp_path / "data.csv", index=False)
    model, kinds = tmp_path / "model.json", ["--local", "parity", "--local", "ebnc"]
    said = succeeded("network", "learn", tmp_path / "data.csv", "--out", model, "--json", *kinds)
    assert "parity" in {node["kind"] for node in json.loads(said.text)["nodes"]}
    succeeded("network", "query", model, "c")
    succeeded("network", "export", model, "--out", tmp_path / "model.bif")


def test_the_schema_and_the_help_name_every_kind():
    shipped = set(KINDS)
    defined = [node["properties"]["kind"] for node in schema()["$defs"].values() if _is_node(node)]
    named = {name for kind in defined for name in kind.get("enum", [kind.get("const")])}
    assert named == shipped
    shown = " ".join(succeeded("network", "learn", "--help").text.split())
    for name in learnable_kinds():
        assert name in shown


def _is_node(definition):
    return {"kind", "target"} <= definition.get("properties", {}).keys()


@pytest.mark.parametrize("seed", range(20))
def test_networks_and_their_nodes_are_equal_by_value(seed, tmp_path):
    network = random_network(seed)
    network.save(tmp_path / "network.json")
    again = ebnc.load(tmp_path / "network.json")
    assert again == network
    assert hash(again) == hash(network)
    assert network != random_network(seed + 100)
    for name, local in network.items():
        if not isinstance(local, ebnc.EBNC):
            assert again[name] == local
            assert hash(again[name]) == hash(local)
    rows = everything(network)
    np.testing.assert_array_equal(again.log_likelihood(rows), network.log_likelihood(rows))


def test_nodes_cannot_be_written_to():
    network = random_network(3, n_nodes=20)
    for local in network.values():
        for array in KINDS[local.kind].to_plain(local).values():
            for values in array if isinstance(array, list) else [array]:
                if isinstance(values, np.ndarray):
                    with pytest.raises(ValueError, match="read-only"):
                        values[...] = 0
