"""Summaries of networks: against the network's own numbers; to JSON and back; drawn."""

import json
from itertools import combinations, product

import numpy as np
import pytest

from ebnc import Network
from ebnc.errors import EBNCError
from ebnc.network.local.table import Table
from ebnc.report import NetworkFindings, render_html, summarise_network
from ebnc.report.layers import in_layers
from ebnc.report.network_drawing import draw_matrix, draw_network, is_tangled, state_bars
from report_problems import network


def test_numbers_are_those_of_the_network():
    """Parameters, parents, and the mean of log p(z) node by node and together."""
    net = network()
    data = net.sample(200, 0)
    summary = summarise_network(net, data)
    log_p = net.log_likelihood(data)
    found = summary.findings
    assert found.loss == pytest.approx(-log_p.mean())
    assert found.loss_error == pytest.approx(log_p.std() / np.sqrt(200))
    assert sum(node.loss for node in summary.nodes) == pytest.approx(found.loss)
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
    assert summary.score == pytest.approx(learned.learned_score)
    assert summary.findings.n_cases == 300
    assert [step.score for step in summary.trace.steps] == [s.score for s in learned.trace.steps]
    html = render_html(summary)
    assert "nodes fitted" in html
    assert "the mean log p is" in html


def test_json_and_back_is_the_same_report():
    """What a file keeps besides the network is all that the report needs."""
    data = network(4, 2, seed=1).sample(60, 1)
    learned = Network.learn(data)
    summary = summarise_network(learned, data, learned_from=True)
    plain = json.loads(json.dumps(summary.findings.to_json(), allow_nan=False))
    findings = NetworkFindings.from_json(plain)
    assert summarise_network(Network(learned.values()), findings=findings) == summary
    assert "rows it was learned from" in render_html(summary)


def test_weights_are_numbers_of_cases():
    net = network()
    data = net.sample(50, 0)
    counts = np.arange(50) % 4
    weighted = summarise_network(net, data, weights=counts)
    repeated = summarise_network(net, data.loc[data.index.repeat(counts)])
    assert weighted.findings.n_measured == counts.sum()
    assert weighted.findings.loss == pytest.approx(repeated.findings.loss)
    assert weighted.findings.loss_error == pytest.approx(repeated.findings.loss_error)
    assert weighted.findings.losses == pytest.approx(repeated.findings.losses)


def test_small_nodes_show_their_probabilities():
    """Whatever their kind; nodes of many parents do not."""
    net = network(8, 6)
    summary = summarise_network(net)
    for node in summary.nodes:
        n_rows = 2 ** len(node.parents)
        assert len(node.table) == (n_rows if n_rows <= 16 else 0)
        configurations = product([0, 1], repeat=len(node.parents))
        for states, found in zip(configurations, node.table, strict=False):
            given = dict(zip(node.parents, ([s] for s in states), strict=True))
            wanted = net[node.name].probabilities(given or {node.name: [0]})
            np.testing.assert_allclose(found, wanted[0])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("version", 9, "version 9 is not 1"),
        ("scores", [1.0], "one for each of 8 nodes"),
        ("losses", [None] * 9, "one for each of 8 nodes"),
        ("loss", "3", "must be a number"),
        ("trace", 3, "must be an object"),
        ("harm", 3, "unknown field 'harm'"),
    ],
)
def test_findings_that_are_wrong_are_refused_by_name(name, value, message):
    net = network()
    damaged = json.loads(json.dumps(summarise_network(net).findings.to_json()))
    damaged[name] = value
    with pytest.raises(EBNCError, match=message):
        summarise_network(net, findings=NetworkFindings.from_json(damaged))


def test_impossible_data_are_said_to_be_impossible():
    net = Network([Table("a", [], {"a": 2}, [1.0, 0.0])])
    summary = summarise_network(net, {"a": [0, 1]})
    assert summary.findings.loss is None
    assert "one row has probability 0" in render_html(summary)
    assert "Its fit is not reported" in render_html(summarise_network(net))


@pytest.mark.parametrize("with_states", [False, True])
@pytest.mark.parametrize(
    ("n_nodes", "most"), [(1, 1), (2, 1), (12, 2), (30, 2), (150, 1), (400, 2)]
)
def test_networks_are_drawn_with_arcs_that_lead_down_and_pass_no_node(n_nodes, most, with_states):
    """Also where nodes have bars for 2 to 8 states, so that their heights differ."""
    net = network(n_nodes, most)
    sizes = {x: 2 + i % 7 for i, x in enumerate(net)} if with_states else None
    drawing = draw_network({x: net.parents(x) for x in net}, {x: net[x].kind for x in net}, sizes)
    at = {node.name: node for node in drawing.nodes}
    assert len(at) == min(n_nodes, 300)
    assert drawing.n_hidden == n_nodes - len(at)
    wanted = {(p, x) for x in at for p in net.parents(x) if p in at}
    assert {(arc.tail, arc.head) for arc in drawing.arcs} == wanted
    for node in drawing.nodes:
        assert node.width / 2 <= node.x <= drawing.width - node.width / 2
        assert node.y + node.height / 2 <= drawing.height
        for bar in state_bars(node, sizes[node.name]) if sizes else ():
            assert -node.width / 2 < bar.x < bar.x + bar.width < node.width / 2
            assert -node.height / 2 < bar.y < bar.y + bar.height < node.height / 2
    for a, b in combinations(drawing.nodes, 2):
        apart = abs(a.y - b.y) >= (a.height + b.height) / 2
        assert apart or abs(a.x - b.x) >= (a.width + b.width) / 2
    t = np.linspace(0, 1, 9)[:, None]
    basis = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    for arc in drawing.arcs:
        assert at[arc.tail].y < at[arc.head].y
        points = np.array(arc.curve).reshape(-1, 2)
        assert (np.diff(points[:, 1]) >= 0).all()
        way = np.vstack([basis @ points[i : i + 4] for i in range(0, len(points) - 1, 3)])
        for node in drawing.nodes:
            if node.name not in (arc.tail, arc.head):
                outside = (abs(way[:, 0] - node.x) > node.width / 2) | (
                    abs(way[:, 1] - node.y) > node.height / 2 - 1e-6
                )
                assert outside.all(), (arc.tail, arc.head, node.name)


def test_layers_cross_as_little_as_they_must():
    """Two crossed pairs are turned round; a tree has no crossing at all."""
    crossed = {"a": [], "b": [], "c": ["b"], "d": ["a"]}
    found = in_layers(crossed, dict.fromkeys(crossed, 40.0), 500.0)
    assert (found.x["a"] < found.x["b"]) == (found.x["d"] < found.x["c"])
    far = {"a": [], "b": ["a"], "c": ["b"], "d": ["c", "a"]}
    bent = in_layers(far, dict.fromkeys(far, 40.0), 500.0)
    assert [len(layer) for layer in bent.layers] == [1, 1, 1, 1]
    assert len(bent.bends["a", "d"]) == 2
    assert all(abs(x - bent.x[y]) >= 20 for x, y in zip(bent.bends["a", "d"], "bc", strict=True))
    many = {f"v{i}": [] for i in range(30)}
    rows = in_layers(many, dict.fromkeys(many, 100.0), 500.0).layers
    assert max(map(len, rows)) <= 5


def test_many_arcs_are_a_matrix_with_parents_to_the_left():
    full = {f"v{i}": [f"v{j}" for j in range(i)] for i in range(40)}
    assert is_tangled(full)
    assert not is_tangled({f"v{i}": [f"v{i - 1}"] if i else [] for i in range(400)})
    matrix = draw_matrix(full, dict.fromkeys(full, "table"))
    assert [node.name for node in matrix.nodes] == list(full)
    assert {(tail, head) for tail, head, _, _ in matrix.cells} == {
        (p, x) for x in full for p in full[x]
    }
    column = {tail: x for tail, _, x, _ in matrix.cells}
    assert sorted(column, key=column.get) == list(full)[:-1]
    rows = {node.name: node.y for node in matrix.nodes}
    assert all(abs(y + matrix.cell / 2 - rows[head]) < 1e-9 for _, head, _, y in matrix.cells)
    assert (
        draw_matrix(
            {**full, **{f"w{i}": [] for i in range(80)}},
            dict.fromkeys([*full, *(f"w{i}" for i in range(80))], "table"),
        ).n_hidden
        == 20
    )
