"""Convert a ``NetworkSummary`` to the content of a page."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from ebnc.network.local.kinds import words_of
from ebnc.report.charts import LineChart, trace_chart
from ebnc.report.drawing import Drawing, draw_structure
from ebnc.report.network_drawing import Matrix, draw_matrix, draw_network, is_tangled
from ebnc.report.network_summary import NetworkSummary, NodeSummary
from ebnc.report.view import Figure, node_texts
from ebnc.report.words import count_text, large_count_text, listed, number, shortened
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["NetworkView", "NodeView", "network_view"]

MOST_NODES = 300


@dataclass(frozen=True, slots=True)
class NodeView:
    """The panel of one node; ``drawing``: its embedded structure, or None.

    ``rows``: p(z | parents), the states of the parents before the probabilities.
    """

    index: int
    node: NodeSummary
    kind: str
    children: tuple[str, ...]
    full_table: str
    drawing: Drawing | None
    texts: dict[str, str]
    rows: tuple[tuple[tuple[str, ...], tuple[float, ...]], ...]


@dataclass(frozen=True, slots=True)
class NetworkView:
    """The content of a network's page; ``chosen``: the node whose panel is open at first.

    ``matrix`` replaces ``drawing`` if the network has too many arcs to draw.
    """

    sentences: tuple[str, str, str]
    figures: tuple[Figure, ...]
    drawing: Drawing | None
    matrix: Matrix | None
    n_not_drawn: int
    texts: dict[str, str]
    places: dict[str, int]
    nodes: tuple[NodeView, ...]
    n_nodes_hidden: int
    chosen: int
    kinds: tuple[tuple[str, str, int], ...]
    trace: LineChart | None


def network_view(summary: NetworkSummary) -> NetworkView:
    """Return the content of a network's page."""
    parents = {node.name: node.parents for node in summary.nodes}
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, given in parents.items():
        for parent in given:
            children[parent].append(name)
    kinds = {node.name: node.kind for node in summary.nodes}
    tangled = is_tangled(parents)
    drawing = None if tangled else draw_network(parents, kinds)
    matrix = draw_matrix(parents, kinds) if tangled else None
    states = {node.name: node.states for node in summary.nodes}
    views = tuple(
        _node_view(i, node, tuple(children[node.name]), states)
        for i, node in enumerate(summary.nodes[:MOST_NODES])
    )
    counted = Counter(node.kind for node in summary.nodes)
    return NetworkView(
        sentences=_sentences(summary, counted),
        figures=_figures(summary),
        drawing=drawing,
        matrix=matrix,
        n_not_drawn=max(drawing.n_hidden if drawing else 0, matrix.n_hidden if matrix else 0),
        texts={
            node.name: f"{shortened(node.name)}: {words_of(node.kind)}, "
            f"{count_text(len(node.parents))} parents, {count_text(node.dimension)} parameters"
            for node in summary.nodes
        },
        places={view.node.name: view.index for view in views},
        nodes=views,
        n_nodes_hidden=len(summary.nodes) - len(views),
        chosen=max(
            range(len(views)), key=lambda i: (views[i].drawing is not None, _rank(views[i]))
        ),
        kinds=tuple((kind, words_of(kind), n) for kind, n in counted.most_common()),
        trace=None if summary.trace is None else trace_chart(summary.trace),
    )


def _rank(view: NodeView) -> tuple[int, int]:
    """Rank nodes by the arcs of their embedded structure, then by the number of parents."""
    among = sum(len(parents) for _, parents in view.node.families)
    return among, len(view.node.parents)


def _node_view(
    index: int, node: NodeSummary, children: tuple[str, ...], states: Mapping[str, tuple[str, ...]]
) -> NodeView:
    drawing, texts = None, {}
    if node.families and node.parents:
        structure = EmbeddedStructure(node.name, node.families)
        drawing, texts = draw_structure(structure), node_texts(structure, node.name)
    return NodeView(
        index=index,
        node=node,
        kind=words_of(node.kind),
        children=children,
        full_table=large_count_text(node.full_table, node.log10_full_table),
        drawing=drawing,
        texts=texts,
        rows=tuple(zip(product(*(states[x] for x in node.parents)), node.table, strict=False)),
    )


def _sentences(summary: NetworkSummary, kinds: Counter[str]) -> tuple[str, str, str]:
    n_arcs = sum(len(node.parents) for node in summary.nodes)
    most = max(summary.nodes, key=lambda node: len(node.parents))
    first = (
        f"The network describes the joint probability of {count_text(len(summary.nodes))} "
        f"variables, with {count_text(n_arcs)} arcs; "
        + (
            f"{shortened(most.name)} has the most parents, {count_text(len(most.parents))}."
            if n_arcs
            else "all variables are independent."
        )
    )
    words = [
        f"{count_text(n)} {words_of(kind)}{'s' if n > 1 else ''}" for kind, n in kinds.most_common()
    ]
    dimension, full = count_text(summary.dimension), _full_tables(summary)
    against = (
        "as many as full tables would have"
        if full == dimension
        else f"where full tables of the same parents would have {full}"
    )
    second = f"Its nodes are {listed(words)}, {dimension} parameters together, {against}."
    findings = summary.findings
    which = "it was learned from" if findings.learned_from else "given"
    rows = f"the {count_text(findings.n_measured)} rows {which}"
    if findings.loss is None and findings.n_measured:
        third = f"On {rows}, the mean log p is −∞: one row has probability 0."
    elif findings.loss is None:
        third = "Its fit is not reported: no data were given."
    else:
        third = f"On {rows}, the mean log p is {number(-findings.loss)} nats per row."
    return first, second, third


def _full_tables(summary: NetworkSummary) -> str:
    return large_count_text(None, summary.log10_full_tables)


def _figures(summary: NetworkSummary) -> tuple[Figure, ...]:
    n_arcs = sum(len(node.parents) for node in summary.nodes)
    figures = [
        Figure("variables", count_text(len(summary.nodes)), f"{count_text(n_arcs)} arcs"),
        Figure(
            "parameters",
            count_text(summary.dimension),
            f"full tables: {_full_tables(summary)}",
        ),
    ]
    known = summary.findings
    if summary.score is not None:
        rows = "" if known.n_cases is None else f"; {count_text(known.n_cases)} rows"
        figures.append(Figure("score", number(summary.score, 1), f"nats{rows}"))
    if known.loss is not None:
        error = "" if known.loss_error is None else f"; ±\u00a0{known.loss_error:.3f}"
        figures.append(Figure("mean log p", number(-known.loss), f"nats per row{error}"))
        bits = known.loss / math.log(2) / len(summary.nodes)
        figures.append(Figure("bits per variable", number(bits), "same rows"))
    return tuple(figures)
