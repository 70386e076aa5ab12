"""Summaries of networks: against the network's own numbers; to JSON and back; drawn."""

import copy
import json
from itertools import combinations

import numpy as np
import pytest

from ebnc import Network
from ebnc.errors import EBNCError
from ebnc.network.table import Table
from ebnc.report import NetworkSummary, render_html, summarise_network
from ebnc.report.network_drawing import draw_network
from report_problems import network


def test_numbers_are_those_of_the_network():
    """Parameters, parents, and the mean of log p(z) node by node and together."""
    net = network()
    data = net.sample(200, 0)
    summary = summarise_network(net, data)
    log_p = net.log_likelihood(data)
    assert summary.loss == pytest.approx(-log_p.mean())
    assert summary.loss_error == pytest.approx(log_p.std() / np.sqrt(200))
    assert sum(node.loss for node in summary.nodes) == pytest.approx(summary.loss)
    assert summary.dimension == net.dimension
    for node in summary.nodes:
        assert node.parents == net.parents(node.name)
        assert node.full_table == 2 ** len(node.parents)
        assert node.kind == net.local(node.name).kind
    wanted = sum(2 ** len(net.parents(x)) for x in net)
    assert 10**summary.log10_full_tables == pytest.approx(wanted)


def test_a_learned_network_tells_its_search():
    data = network(5, 2, seed=1).sample(300, 1)
    learned = Network.learn(data)
    summary = summarise_network(learned, data)
    assert summary.score == pytest.approx(learned.score)
    assert summary.n_cases == 300
    assert [step.score for step in summary.trace.steps] == [s.score for s in learned.trace.steps]
    html = render_html(summary)
    assert "nodes fitted" in html
    assert "the mean log p is" in html


def test_json_and_back_is_the_same_report():
    net = network()
    summary = summarise_network(net, net.sample(20, 0))
    plain = json.loads(json.dumps(summary.to_json(), allow_nan=False))
    assert NetworkSummary.from_json(plain) == summary


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("version",), 9, "version 9 is not 1"),
        (("nodes",), [], "at least one node"),
        (("nodes", 1, "parents"), ["nowhere"], "'nowhere', a parent of 'node 1', is no node"),
        (("nodes", 1, "families"), [["other", []]], "target 'node 1' is not a variable"),
        (("nodes", 1, "dimension"), "3", "must be of type int"),
    ],
)
def test_findings_that_are_wrong_are_refused_by_name(place, value, message):
    damaged = copy.deepcopy(json.loads(json.dumps(summarise_network(network()).to_json())))
    at = damaged
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    with pytest.raises(EBNCError, match=message):
        NetworkSummary.from_json(damaged)


def test_findings_with_a_cycle_are_refused():
    damaged = json.loads(json.dumps(summarise_network(network()).to_json()))
    damaged["nodes"][0]["parents"] = ["node 7"]
    damaged["nodes"][7]["parents"] = ["node 0"]
    with pytest.raises(EBNCError, match="cycle"):
        NetworkSummary.from_json(damaged)


def test_impossible_data_are_said_to_be_impossible():
    net = Network([Table("a", [], {"a": 2}, [1.0, 0.0])])
    summary = summarise_network(net, {"a": [0, 1]})
    assert summary.loss is None
    assert "one of them is impossible" in render_html(summary)
    assert "How probable it makes data is not known" in render_html(summarise_network(net))


@pytest.mark.parametrize(("n_nodes", "most"), [(1, 1), (2, 1), (30, 10), (150, 3), (400, 3)])
def test_networks_are_drawn_with_arcs_that_lead_down(n_nodes, most):
    net = network(n_nodes, most)
    drawing = draw_network({x: net.parents(x) for x in net}, {x: net[x].kind for x in net})
    at = {node.name: node for node in drawing.nodes}
    assert len(at) == min(n_nodes, 150)
    assert drawing.n_hidden == n_nodes - len(at)
    wanted = {(p, x) for x in at for p in net.parents(x) if p in at}
    assert {(arc.tail, arc.head) for arc in drawing.arcs} == wanted
    assert all(at[arc.tail].y < at[arc.head].y for arc in drawing.arcs)
    for node in drawing.nodes:
        assert node.width / 2 <= node.x <= drawing.width - node.width / 2
        assert node.y + node.height / 2 <= drawing.height
    for a, b in combinations(drawing.nodes, 2):
        assert a.y != b.y or abs(a.x - b.x) >= (a.width + b.width) / 2
