"""Where the nodes and arcs of a network's outer DAG go on paper: in layers, arcs leading down.

A node stands one layer below its lowest parent; wide layers take several rows. Within a layer nodes
stand near the middle of their parents. Of very many nodes the best connected ones are drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter

from ebnc.report.drawing import GAP, MARGIN, Arc, Drawing, Node, down, node_at

__all__ = ["draw_network"]

MOST_NODES = 150
NARROWEST, WIDEST, ROW, LAYER = 480.0, 900.0, 44.0, 78.0


def draw_network(parents: Mapping[str, Sequence[str]], kinds: Mapping[str, str]) -> Drawing:
    """``parents`` of every node, and the kind of its local distribution."""
    shown = _shown(parents)
    among = {x: [p for p in parents[x] if p in shown] for x in shown}
    rows, breaks = _rows(_layers(among), among, kinds)
    width = max(NARROWEST, *(sum(node.width + GAP for node in row) for row in rows)) + 2 * MARGIN
    nodes: list[Node] = []
    y = MARGIN + 15
    for row, is_layer in zip(rows, breaks, strict=True):
        if nodes:
            y += LAYER if is_layer else ROW
        room = (width - 2 * MARGIN - sum(node.width for node in row)) / len(row)
        x = MARGIN + room / 2
        if len(row) <= 2:  # nodes straight below each other would hide the arcs that pass them
            x += (-0.3 if len(nodes) % 2 else 0.3) * room
        for node in row:
            nodes.append(replace(node, x=x + node.width / 2, y=y))
            x += node.width + room
    at = {node.name: node for node in nodes}
    arcs: list[Arc] = [down(at[p], at[x]) for x in shown for p in among[x]]
    return Drawing(width, y + 15 + MARGIN, tuple(nodes), tuple(arcs), (), len(parents) - len(shown))


def _shown(parents: Mapping[str, Sequence[str]]) -> dict[str, None]:
    if len(parents) <= MOST_NODES:
        return dict.fromkeys(parents)
    degree = dict.fromkeys(parents, 0)
    for x, given in parents.items():
        degree[x] += len(given)
        for p in given:
            degree[p] += 1
    best = set(sorted(parents, key=lambda x: -degree[x])[:MOST_NODES])
    return dict.fromkeys(x for x in parents if x in best)


def _layers(among: Mapping[str, Sequence[str]]) -> list[list[str]]:
    depth: dict[str, int] = {}
    for x in TopologicalSorter(among).static_order():
        depth[x] = 1 + max((depth[p] for p in among[x]), default=-1)
    layers: list[list[str]] = [[] for _ in range(1 + max(depth.values()))]
    for x in among:  # in the order given
        layers[depth[x]].append(x)
    return layers


def _rows(
    layers: Sequence[Sequence[str]], among: Mapping[str, Sequence[str]], kinds: Mapping[str, str]
) -> tuple[list[list[Node]], list[bool]]:
    """Nodes row by row, and whether a row begins a layer; by the mean place of their parents."""
    place: dict[str, float] = {}
    rows: list[list[Node]] = []
    breaks: list[bool] = []
    for layer in layers:
        middle = {x: _mean([place[p] for p in among[x]]) for x in layer}
        ordered = sorted(layer, key=middle.__getitem__)
        for i, x in enumerate(ordered):
            place[x] = (i + 0.5) / len(ordered)
        nodes = [node_at(x, kinds[x], 0.0, 0.0) for x in ordered]
        n_rows = max(1, round(sum(node.width + GAP for node in nodes) / WIDEST + 0.49))
        for r in range(n_rows):  # every n-th node, so that places from left to right stay
            row = nodes[r::n_rows]
            if row:
                rows.append(row)
                breaks.append(r == 0)
    return rows, breaks


def _mean(places: Sequence[float]) -> float:
    return sum(places) / len(places) if places else 0.5
