"""What notebooks show: the same numbers as the text, escaped, in the colours of the page."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import ebnc
from ebnc.markup import MOST_ROWS, Bar, html_table
from ebnc.network.local.counting import CountingEBNC
from ebnc.parameters.blocks import dimension_by_blocks
from report_problems import HOSTILE, hostile, network, two_classes


class Reader(HTMLParser):
    """Collects tags, attributes and text, and insists that tags are closed in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.attributes, self.cells = [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data

    def is_harmless(self):
        return not {"script", "img", "b", "i"} & set(self.tags) and not any(
            name.startswith("on") for name in self.attributes
        )


def hostile_network():
    return network(names=[*HOSTILE[:7], HOSTILE[8]])


def everything():
    """Objects that a person looks at in a notebook, with scripts for names wherever possible."""
    net, problem = hostile_network(), hostile()
    data = net.sample(80, 0)
    names = list(net)
    learned = ebnc.Network.learn(data, regime="sparse", local=["table", "tree"])
    inputs = list(problem.x.columns[:3])
    columns = {x: problem.x[x].to_numpy() for x in inputs} | {"<i>y</i>": problem.y}
    fitted = ebnc.fit(ebnc.EmbeddedStructure.naive("<i>y</i>", inputs), columns)
    yield "network", net
    yield "learned network", learned
    yield "trace", learned.trace
    yield "fitted network", ebnc.Network.fit(net.arcs, data, local="table")
    yield "query", net.query([names[0], names[1]], {names[2]: 0})
    yield "sampled query", net.query(names[0], method="weighting", n_samples=500)
    yield "marginals", net.marginals({names[2]: 0})
    yield "most probable", net.most_probable()
    yield "comparison", net.compare(learned, data)
    yield "score", net.score(data)
    yield "arc strength", ebnc.Network.arc_strength(data[names[:3]], n=3, local="table")
    yield "average", ebnc.NetworkAverage([net, net])
    two = dict.fromkeys(HOSTILE[:3], 2)
    yield "counting", CountingEBNC(HOSTILE[2], HOSTILE[:2], two, [0, 0], [1], [0, 0, 0, 1])
    yield "table", net[names[0]]
    yield "EBNC", net[names[3]]
    yield "structure", net[names[3]].structure
    yield "fitted EBNC", fitted
    yield "fit", fitted.fit
    yield "φ", fitted.phi_table()
    yield "contributions", fitted.contributions(problem.x.iloc[:3, :3])
    yield "one contribution", fitted.contributions(problem.x.iloc[:1, :3])
    yield "dimension", dimension_by_blocks(net[names[3]].structure, net[names[3]].domain)


def test_notebooks_show_everything_and_no_name_can_run_a_script():
    for which, shown in everything():
        html = shown._repr_html_()
        assert Reader(html).is_harmless(), which
        assert 0 < len(html) < 60_000, which


def test_classifiers_show_facts_importances_and_structure():
    """Behind scikit-learn's own diagram; without a fit there is nothing more."""
    for problem in (two_classes(), hostile()):
        html = problem.model._repr_html_()
        own = html[html.index('<div class="ebnc-facts">') :]
        assert Reader(own.removesuffix("</div>") + "</div>").is_harmless()
        worth = max(each.worth for each in problem.model.feature_worths_)
        assert f"{worth:.3f}" in own
        assert "<svg" in own


def test_the_numbers_are_those_of_the_answer():
    net = network()
    answer = net.query("node 3", {"node 1": 1})
    cells = Reader(answer._repr_html_()).cells
    assert cells[:2] == ["node 3", "p"]
    assert cells[2:] == ["0", f"{answer[0]:.4f}", "1", f"{answer[1]:.4f}"]
    every = Reader(net.marginals()._repr_html_()).cells[3:]
    assert [float(cell) for cell in every[2::3]] == pytest.approx(
        np.concatenate([each.probabilities for each in net.marginals().values()]), abs=1e-4
    )
    table = Reader(net["node 0"]._repr_html_()).cells
    assert table == ["0", "1", "0.3000", "0.7000"]


def test_a_drawing_has_every_node_and_arc():
    net = network(12, 2)
    html = net._repr_html_()
    assert re.findall(r"<text[^>]*>(node \d+)</text>", html) == list(net)
    assert html.count("marker-end") == len(net.arcs)
    assert "currentColor" in html
    dense = network(30, 10)._repr_html_()  # too many arcs to follow
    assert "<svg" not in dense
    assert "node 29" in dense


def test_long_tables_are_cut_and_say_so():
    html = html_table(("n",), [(i,) for i in range(MOST_ROWS + 7)])
    assert len(re.findall("<tr>", html)) == MOST_ROWS + 1  # and the head
    assert "7 more rows" in html
    assert "100.0%" in html_table((), [(Bar("2", 2.0),)])
