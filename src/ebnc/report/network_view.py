"""Convert a ``NetworkSummary`` to the content of a page."""

import math
from collections import Counter
from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

from ebnc.network.local.kinds import words_of
from ebnc.report.charts import trace_chart
from ebnc.report.drawing import draw_structure
from ebnc.report.network_drawing import (
    MOST_NODES,
    StateBar,
    draw_matrix,
    draw_network,
    is_tangled,
    state_bars,
    with_most_arcs,
)
from ebnc.report.network_summary import NetworkSummary, NodeSummary
from ebnc.report.performance import Figure
from ebnc.report.view import escaped_json, node_texts
from ebnc.report.words import count_text, large_count_text, listed, number, shortened
from ebnc.structure.embedded import EmbeddedStructure


class NodeState(NamedTuple):
    """A state in the drawing: its place, and p(state) without evidence."""

    bar: StateBar
    label: str
    p: float
    share: float


class NodeView:
    """The panel of one node; ``drawing``: its embedded structure if inputs interact in it.

    ``is_additive``: whether it is an EBNC whose inputs do not interact.
    ``rows``: p(z | parents), the states of the parents before the probabilities.
    """

    def __init__(
        self,
        index: int,
        node: NodeSummary,
        children: list[str],
        states: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.index, self.node, self.children = index, node, children
        self.kind = words_of(node.kind)
        self.full_table = large_count_text(node.full_table, node.log10_full_table)
        self.drawing, self.texts = None, {}
        self.is_additive = False
        if node.families and node.parents:
            structure = EmbeddedStructure(node.name, node.families)
            self.is_additive = max(map(len, structure.clusters)) == 1
            if not self.is_additive:
                self.drawing = draw_structure(structure)
                self.texts = node_texts(structure, node.name)
        parents_states = product(*(states[x] for x in node.parents))
        self.rows = list(zip(parents_states, node.table, strict=False))  # the table may be empty

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Ranks nodes by the arcs of their embedded structure, then by the number of parents."""
        n_arcs = sum(len(parents) for _, parents in self.node.families)
        return self.drawing is not None, n_arcs, len(self.node.parents)


class NetworkView:
    """The content of a network's page; ``chosen``: the node whose panel is open at first.

    ``matrix`` replaces ``drawing`` if the network has too many arcs to draw.
    """

    def __init__(self, summary: NetworkSummary) -> None:
        nodes = {node.name: node for node in summary.nodes}
        parents = {name: node.parents for name, node in nodes.items()}
        children: dict[str, list[str]] = {name: [] for name in nodes}
        for name, given in parents.items():
            for parent in given:
                children[parent].append(name)
        counted = Counter(node.kind for node in summary.nodes).most_common()
        self.kinds = [(kind, words_of(kind), n) for kind, n in counted]
        self.sentences = (_about_arcs(summary), _about_nodes(summary, counted), _about_fit(summary))
        self.figures = _figures(summary)
        kinds = {name: node.kind for name, node in nodes.items()}
        tangled = is_tangled(parents)
        sizes = {name: len(node.states) for name, node in nodes.items()}
        self.drawing = None if tangled else draw_network(parents, kinds, sizes)
        marginals = dict(zip(nodes, summary.asking.marginals, strict=True))
        self.states = {
            drawn.name: [
                NodeState(bar, label, p, p / max(marginals[drawn.name]) if bar.upright else p)
                for bar, label, p in zip(
                    state_bars(drawn, sizes[drawn.name]),
                    nodes[drawn.name].states,
                    marginals[drawn.name],
                    strict=False,  # too many states are not drawn
                )
            ]
            for drawn in (self.drawing.nodes if self.drawing else ())
        }
        self.matrix = draw_matrix(parents, kinds) if tangled else None
        self.n_not_drawn = sum(part.n_hidden for part in (self.drawing, self.matrix) if part)
        self.texts = {
            name: f"{shortened(name)}: {words_of(node.kind)}, "
            f"{count_text(len(node.parents))} parents, {count_text(node.dimension)} parameters"
            for name, node in nodes.items()
        }
        states = {name: node.states for name, node in nodes.items()}
        shown = with_most_arcs(parents, MOST_NODES)
        self.nodes = [
            NodeView(i, node, children[node.name], states)
            for i, node in enumerate(summary.nodes)
            if node.name in shown
        ]
        self.places = {view.node.name: view.index for view in self.nodes}
        self.n_nodes_hidden = len(nodes) - len(self.nodes)
        self.chosen = max(self.nodes, key=lambda view: view.rank).index
        self.trace = trace_chart(summary.trace)


def network_data(summary: NetworkSummary) -> str:
    """JSON for the page's script."""
    asking = summary.asking
    return escaped_json(
        {
            "nodes": [
                {
                    "name": shortened(node.name, 60),
                    "states": [shortened(state, 80) for state in node.states],
                    "p": p,
                }
                for node, p in zip(summary.nodes, asking.marginals, strict=True)
            ],
            "program": asking.program,
        }
    )


def _n_arcs(summary: NetworkSummary) -> int:
    return sum(len(node.parents) for node in summary.nodes)


def _full_tables(summary: NetworkSummary) -> str:
    return large_count_text(None, summary.log10_full_tables)


def _about_arcs(summary: NetworkSummary) -> str:
    n_arcs = _n_arcs(summary)
    most = max(summary.nodes, key=lambda node: len(node.parents))
    end = "all variables are independent."
    if n_arcs:
        end = f"{shortened(most.name)} has the most parents, {count_text(len(most.parents))}."
    return (
        f"The network describes the joint probability of {count_text(len(summary.nodes))} "
        f"variables, with {count_text(n_arcs)} arcs; {end}"
    )


def _about_nodes(summary: NetworkSummary, kinds: list[tuple[str, int]]) -> str:
    words = [f"{count_text(n)} {words_of(kind)}{'s' if n > 1 else ''}" for kind, n in kinds]
    dimension, full = count_text(summary.dimension), _full_tables(summary)
    against = f"where full tables of the same parents would have {full}"
    if full == dimension:
        against = "as many as full tables would have"
    return f"Its nodes are {listed(words)}, {dimension} parameters together, {against}."


def _about_fit(summary: NetworkSummary) -> str:
    findings = summary.findings
    if not findings.n_measured:
        return "Its fit is not reported: no data were given."
    which = "it was learned from" if findings.learned_from else "given"
    start = f"On the {count_text(findings.n_measured)} rows {which}, the mean log p is"
    if findings.loss is None:
        return f"{start} −∞: one row has probability 0."
    return f"{start} {number(-findings.loss)} nats per row."


def _figures(summary: NetworkSummary) -> list[Figure]:
    n_variables, n_arcs = len(summary.nodes), count_text(_n_arcs(summary))
    full = f"full tables: {_full_tables(summary)}"
    figures = [
        Figure("variables", count_text(n_variables), f"{n_arcs} arcs"),
        Figure("parameters", count_text(summary.dimension), full),
    ]
    known = summary.findings
    if summary.score is not None:
        rows = "" if known.n_cases is None else f"; {count_text(known.n_cases)} rows"
        figures.append(Figure("score", number(summary.score, 1), f"nats{rows}"))
    if known.loss is not None:
        error = "" if known.loss_error is None else f"; ±\u00a0{known.loss_error:.3f}"
        figures.append(Figure("mean log p", number(-known.loss), f"nats per row{error}"))
        bits = known.loss / math.log(2) / n_variables
        figures.append(Figure("bits per variable", number(bits), "same rows"))
    return figures
