"""Layout of a network's outer DAG: a drawing in layers, or a matrix.

A network with few arcs is drawn in layers, with arcs that lead down and round other nodes. A
network with many arcs is shown as a matrix: one row per node, one column per parent, parents first,
a dark cell for each arc. If the network has very many nodes, those with the most arcs are shown.

A node that shows its probabilities has a row for each state: label, bar, share. A node with many
states has a column for each of them.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from ebnc.report.drawing import HEIGHT, MARGIN, Arc, Drawing, Node, node_at
from ebnc.report.layers import in_layers

MOST_NODES = 300
MOST_ROWS = 100
NARROWEST, WIDEST = 480.0, 780.0
SHAPE = 1.6
"""Width over height of the drawing of a large network, about."""
ROW, LAYER = 44.0, 96.0
PORT = 7.0
TANGLED_ARCS, TANGLED_SHARE = 60, 2.5
CELL, SMALLEST_CELL, SIDE, BETWEEN = 16.0, 12.0, 540.0, 2.0
MOST_LABELLED, MOST_COLUMNS = 6, 64
BOX, HEAD, FOOT, INSET = 184.0, 26.0, 6.0, 8.0
STATE_ROW, LABEL, SHARE = 16.0, 82.0, 46.0
COLUMNS = 40.0


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of arcs.

    ``nodes``: labels at the left. ``cells``: (parent, child, left, top), squares of side ``cell``.
    """

    width: float
    height: float
    cell: float
    nodes: tuple[Node, ...]
    cells: tuple[tuple[str, str, float, float], ...]
    stripes: tuple[tuple[float, float, float], ...]
    n_hidden: int


@dataclass(frozen=True, slots=True)
class StateBar:
    """Place of one state in its node, from the node's centre: a row, or a column if ``upright``.

    (``x``, ``y``): upper left corner of the row or column. (``bar_x``, ``bar_y``): where the bar
    begins, at the left or below; ``length``: its length for probability 1 (upright: for the largest
    probability of the node).
    """

    x: float
    y: float
    width: float
    height: float
    bar_x: float
    bar_y: float
    length: float
    upright: bool


def state_bars(node: Node, n_states: int) -> list[StateBar]:
    """Place the states of a node inside it; none if they are too many to show."""
    left, top, inside = INSET - node.width / 2, HEAD - node.height / 2, node.width - 2 * INSET
    if n_states > MOST_COLUMNS:
        return []
    if n_states > MOST_LABELLED:
        wide = inside / n_states
        xs = [left + wide * k for k in range(n_states)]
        return [StateBar(x, top, wide, COLUMNS, x, top + COLUMNS, COLUMNS, True) for x in xs]
    start, length = left + LABEL, inside - LABEL - SHARE
    ys = [top + STATE_ROW * k for k in range(n_states)]
    return [StateBar(left, y, inside, STATE_ROW, start, y, length, False) for y in ys]


def _box(name: str, kind: str, n_states: int) -> Node:
    """A node with room for the bars of its states."""
    node = node_at(name, kind, 0.0, 0.0)
    if not 0 < n_states <= MOST_COLUMNS:
        return node
    room = STATE_ROW * n_states if n_states <= MOST_LABELLED else COLUMNS
    return replace(node, width=max(BOX, node.width), height=HEAD + room + FOOT)


def is_tangled(parents: Mapping[str, Sequence[str]]) -> bool:
    """Whether the network has too many arcs to follow in a drawing."""
    n_arcs = sum(map(len, parents.values()))
    return n_arcs > TANGLED_ARCS and n_arcs > TANGLED_SHARE * len(parents)


def draw_network(
    parents: Mapping[str, Sequence[str]],
    kinds: Mapping[str, str],
    n_states: Mapping[str, int] | None = None,
) -> Drawing:
    """Draw a network in layers; ``kinds``: of the nodes' local distributions.

    ``n_states``: nodes get room for ``state_bars`` of that many states.
    """
    among = with_most_arcs(parents, MOST_NODES)
    nodes = {x: _box(x, kinds[x], n_states[x] if n_states else 0) for x in among}
    area = sum((node.width + LAYER - HEIGHT) * (node.height + LAYER) for node in nodes.values())
    widest = max(WIDEST, math.sqrt(SHAPE * area)) if n_states else WIDEST
    layout = in_layers(among, {x: node.width for x, node in nodes.items()}, widest)
    right = [layout.x[x] + node.width / 2 for x, node in nodes.items()]
    right += [x for bends in layout.bends.values() for x in bends]
    width = max(NARROWEST, max(right) + 2 * MARGIN)
    left = (width - max(right)) / 2
    y, bands = MARGIN, []
    for k, layer in enumerate(layout.layers):
        if k:
            y += (LAYER if any(among[x] for x in layer) else ROW) - HEIGHT
        for x in layer:
            nodes[x] = replace(nodes[x], x=left + layout.x[x], y=y + nodes[x].height / 2)
        bands.append((y, y + max(nodes[x].height for x in layer)))
        y = bands[-1][1]
    bends = {arc: [left + x for x in places] for arc, places in layout.bends.items()}
    return Drawing(
        width,
        y + MARGIN,
        tuple(nodes[x] for x in among),
        _arcs(among, nodes, layout.layers, bends, bands),
        (),
        len(parents) - len(among),
    )


def draw_matrix(parents: Mapping[str, Sequence[str]], kinds: Mapping[str, str]) -> Matrix:
    """Draw the arcs as cells; parents are above and to the left of their children."""
    among = with_most_arcs(parents, MOST_ROWS)
    place = {x: i for i, x in enumerate(_in_order(among))}
    labels = {x: node_at(x, kinds[x], 0.0, 0.0) for x in place}
    step = min(CELL, max(SMALLEST_CELL, SIDE / len(place)))
    widest = max(node.width for node in labels.values())
    left = MARGIN + widest + 8
    nodes = tuple(
        replace(
            node, x=MARGIN + widest - node.width / 2, y=MARGIN + (i + 0.5) * step, height=step - 1.5
        )
        for (x, i), node in zip(place.items(), labels.values(), strict=True)
    )
    cells = tuple(
        (parent, x, left + place[parent] * step, MARGIN + i * step + BETWEEN / 2)
        for x, i in place.items()
        for parent in among[x]
    )
    stripes = tuple((left, MARGIN + i * step + BETWEEN / 2, i * step) for i in range(1, len(place)))
    size = len(place) * step + MARGIN
    return Matrix(
        left + size, MARGIN + size, step - BETWEEN, nodes, cells, stripes, len(parents) - len(among)
    )


def _in_order(parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Nodes with parents before children, otherwise in the order given."""
    import networkx

    place = {x: i for i, x in enumerate(parents)}
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    graph.add_nodes_from(parents)
    graph.add_edges_from((parent, x) for x, given in parents.items() for parent in given)
    return list(networkx.lexicographical_topological_sort(graph, place.__getitem__))


def with_most_arcs(parents: Mapping[str, Sequence[str]], most: int) -> dict[str, list[str]]:
    """Return the graph of the nodes that are shown: all, or those with the most arcs."""
    n_children = Counter(chain.from_iterable(parents.values()))
    ranked = sorted(parents, key=lambda x: -len(parents[x]) - n_children[x])
    best = set(ranked[:most])
    return {x: [p for p in given if p in best] for x, given in parents.items() if x in best}


def _arcs(
    parents: Mapping[str, Sequence[str]],
    nodes: Mapping[str, Node],
    layers: Sequence[Sequence[str]],
    bends: Mapping[tuple[str, str], Sequence[float]],
    bands: Sequence[tuple[float, float]],
) -> tuple[Arc, ...]:
    """Smooth curves through the bends; at a node they end side by side, without crossing.

    ``bands``: top and bottom of each layer, whose nodes hang from its top.
    """
    level = {x: k for k, layer in enumerate(layers) for x in layer}
    routes = {(p, x): [nodes[p].x, *given, nodes[x].x] for (p, x), given in bends.items()}
    starts: dict[str, list[tuple[float, tuple[str, str]]]] = {x: [] for x in parents}
    ends: dict[str, list[tuple[float, tuple[str, str]]]] = {x: [] for x in parents}
    for arc, route in routes.items():
        starts[arc[0]].append((route[1], arc))
        ends[arc[1]].append((route[-2], arc))
    for side, place in ((starts, 0), (ends, -1)):
        for x, waiting in side.items():
            room = min(PORT, (nodes[x].width - 16) / max(1, len(waiting)))
            for i, (_, arc) in enumerate(sorted(waiting)):
                routes[arc][place] += room * (i - (len(waiting) - 1) / 2)
    arcs = []
    for x, given in parents.items():
        for parent in given:
            route = routes[parent, x]
            points = [(route[0], nodes[parent].y + nodes[parent].height / 2)]
            if points[0][1] < bands[level[parent]][1]:
                points.append((route[0], bands[level[parent]][1]))
            for k, at in enumerate(route[1:-1], start=level[parent] + 1):
                points += [(at, bands[k][0]), (at, bands[k][1])]
            points.append((route[-1], bands[level[x]][0]))
            curve = [*points[0]]
            for (x0, y0), (x1, y1) in pairwise(points):
                middle = (y0 + y1) / 2
                curve += [x0, middle, x1, middle, x1, y1]
            arcs.append(Arc(parent, x, tuple(curve)))
    return tuple(arcs)
