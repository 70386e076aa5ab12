"""Where the nodes and arcs of an embedded structure go on paper.

From above: the inputs that point at Y or only at its children, Y, its children. Few children stand
side by side, each with its own arc from Y and arcs among them below. Many are gathered in a plate,
to which Y points once; inside they are listed like a tree of folders, in columns, a child of a
child under its parent. So 60 inputs stay readable, and thousands are cut off with a count. Arcs
that cancel in p(y|x) are not drawn. Units are pixels; y grows downwards.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ebnc.report.words import shortened
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["Arc", "Drawing", "Node", "Plate", "draw_structure", "node_at"]

MOST_NODES = 120
MOST_SIDE_BY_SIDE = 7
LONGEST_LABEL = 20
CHARACTER, PADDING, HEIGHT = 7.4, 22.0, 30.0
GAP, ROW, INDENT, COLUMN_GAP = 18.0, 48.0, 26.0, 46.0
MARGIN, LEVEL = 12.0, 74.0
MOST_WIDTH = 960.0


@dataclass(frozen=True, slots=True)
class Node:
    """A variable: centre, width, what it is ("target", "parent", "child", "other")."""

    name: str
    label: str
    kind: str
    x: float
    y: float
    width: float
    height: float = HEIGHT


@dataclass(frozen=True, slots=True)
class Arc:
    """An arrow as cubic Bézier curves (x0, y0, …, x3, y3, …); ``head`` is "" for a whole plate.

    ``is_far``: from one column of a tree to another.
    """

    tail: str
    head: str
    curve: tuple[float, ...]
    is_far: bool = False


@dataclass(frozen=True, slots=True)
class Plate:
    """A frame around many children of Y."""

    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """All of it; ``n_hidden``: selected inputs that are not drawn."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    arcs: tuple[Arc, ...]
    plates: tuple[Plate, ...]
    n_hidden: int


def draw_structure(
    structure: EmbeddedStructure,
    importance: Mapping[str, float] | None = None,
    target_label: str | None = None,
) -> Drawing:
    """Lay the Markov blanket out; of very many inputs the most important ones are drawn."""
    target = structure.target
    shown = _shown(structure, importance or {})
    parents = [x for x in structure.parents(target) if x in shown]
    all_children = set(structure.children(target))
    children = [x for x in structure.markov_blanket if x in all_children and x in shown]
    spouses = [x for x in shown if x not in all_children and x not in set(parents)]
    inner = {x: [p for p in structure.parents(x) if p in shown] for x in children}
    n_hidden = len(structure.markov_blanket) - len(shown)

    top = [*parents, *spouses]
    kinds = dict.fromkeys(parents, "parent") | dict.fromkeys(spouses, "other")
    nodes: list[Node] = []
    y = MARGIN + HEIGHT / 2
    above, width_above = _rows(top, kinds, y)
    if above:
        y = above[-1].y + LEVEL
    among = {x: [p for p in inner[x] if p in inner] for x in children}
    order = _tree_order(children, among)
    plates: list[Plate] = []
    below_y = y + LEVEL
    if len(children) <= MOST_SIDE_BY_SIDE and not n_hidden:
        below, width_below = _rows([x for x, _ in order], dict.fromkeys(children, "child"), below_y)
        side_by_side = len({node.y for node in below}) <= 1
    else:
        side_by_side = False
    if not side_by_side:
        below, width_below, height_below = _columns(order, below_y + GAP)
        name = shortened(target_label or target, LONGEST_LABEL)
        label = f"{len(all_children)} inputs that {name} points at"
        width_below = max(width_below + 2 * GAP, CHARACTER * len(label) + 2 * GAP)
        plates.append(Plate(MARGIN, below_y - HEIGHT / 2, width_below, height_below + 46, label))
    width = max(width_above, width_below, 220.0) + 2 * MARGIN
    y_node = node_at(target, "target", width / 2, y, target_label)
    nodes = [*_centred(above, width), y_node, *_centred(below, width)]
    plates = [Plate((width - p.width) / 2, p.y, p.width, p.height, p.label) for p in plates]
    at = {node.name: node for node in nodes}
    arcs = [_down(at[p], y_node) for p in parents]
    if plates:
        plate = plates[0]
        arcs.append(Arc(target, "", _line(y_node.x, y_node.y + HEIGHT / 2, y_node.x, plate.y)))
    else:
        arcs += [_down(y_node, at[x]) for x in children]
    for x in children:
        for parent in inner[x]:
            if parent in inner:
                arcs.append(_between(at[parent], at[x], side_by_side))
            else:
                arcs.append(_past(at[parent], at[x], y_node))
    arched = [arc.curve[3] for arc in arcs]
    bottom = max(
        [node.y + HEIGHT / 2 for node in nodes] + [p.y + p.height for p in plates] + arched
    )
    return Drawing(width, bottom + MARGIN, tuple(nodes), tuple(arcs), tuple(plates), n_hidden)


def _shown(structure: EmbeddedStructure, importance: Mapping[str, float]) -> tuple[str, ...]:
    """The inputs to draw, in the structure's order: all, or the most important ones."""
    blanket = structure.markov_blanket
    if len(blanket) <= MOST_NODES:
        return blanket
    place = {x: i for i, x in enumerate(blanket)}
    ranked = sorted(blanket, key=lambda x: (-importance.get(x, 0.0), place[x]))[:MOST_NODES]
    return tuple(sorted(ranked, key=place.__getitem__))


def _tree_order(
    children: Sequence[str], among: Mapping[str, Sequence[str]]
) -> list[tuple[str, int]]:
    """Children of Y with their depth, each under its first parent; the largest groups first.

    A single child stays at its parent's depth: a chain does not drift to the right.
    """
    below: dict[str, list[str]] = {x: [] for x in children}
    for x in children:
        if among[x]:
            below[among[x][0]].append(x)
    roots = [x for x in children if not among[x]]

    groups: list[list[tuple[str, int]]] = []
    for root in roots:
        group: list[tuple[str, int]] = []
        waiting = [(root, 0)]
        while waiting:
            x, depth = waiting.pop()
            group.append((x, depth))
            step = 1 if len(below[x]) > 1 else 0
            waiting += [(child, depth + step) for child in reversed(below[x])]
        groups.append(group)
    groups.sort(key=lambda group: -len(group))
    return [entry for group in groups for entry in group]


def _rows(names: Sequence[str], kinds: Mapping[str, str], y: float) -> tuple[list[Node], float]:
    """Nodes side by side, from x = 0, in as many rows as they need; and the widest row."""
    nodes: list[Node] = []
    x, widest = 0.0, 0.0
    for name in names:
        node = node_at(name, kinds[name], 0.0, y)
        if x and x + node.width > MOST_WIDTH:
            x, y = 0.0, y + ROW
        nodes.append(node_at(name, kinds[name], x + node.width / 2, y))
        x += node.width + GAP
        widest = max(widest, x - GAP)
    return nodes, widest


def _columns(order: Sequence[tuple[str, int]], top: float) -> tuple[list[Node], float, float]:
    """The tree in columns: nodes from x = 0, width and height."""
    length = max(4, math.ceil(math.sqrt(1.3 * len(order))))
    length = math.ceil(len(order) / math.ceil(len(order) / length))  # columns of about one length
    nodes: list[Node] = []
    left = 0.0
    for start in range(0, len(order), length):
        column = order[start : start + length]
        least = min(depth for _, depth in column)
        right = left
        for i, (name, depth) in enumerate(column):
            node = node_at(name, "child", 0.0, top + HEIGHT + i * ROW)
            begin = left + min(depth - least, 6) * INDENT
            nodes.append(node_at(name, "child", begin + node.width / 2, node.y))
            right = max(right, begin + node.width)
        left = right + COLUMN_GAP
    height = min(length, len(order)) * ROW
    return nodes, max(0.0, left - COLUMN_GAP), height


def _centred(nodes: Sequence[Node], width: float) -> list[Node]:
    """Every row, or the whole of a tree, moved to the middle."""
    if not nodes:
        return []
    rows: dict[float, list[Node]] = {}
    for node in nodes:
        rows.setdefault(node.y, []).append(node)
    is_tree = len(rows) > 1 and any(node.kind == "child" for node in nodes)
    groups = [list(nodes)] if is_tree else list(rows.values())
    moved: dict[str, Node] = {}
    for group in groups:
        low = min(node.x - node.width / 2 for node in group)
        high = max(node.x + node.width / 2 for node in group)
        shift = width / 2 - (low + high) / 2
        for node in group:
            moved[node.name] = Node(
                node.name, node.label, node.kind, node.x + shift, node.y, node.width
            )
    return [moved[node.name] for node in nodes]


def node_at(name: str, kind: str, x: float, y: float, label: str | None = None) -> Node:
    """A node as wide as its label."""
    text = shortened(label or name, LONGEST_LABEL)
    wide = sum(2 if ord(letter) > 0x2E7F else 1 for letter in text)  # East Asian letters, pictures
    return Node(name, text, kind, x, y, max(44.0, CHARACTER * wide + PADDING))


Curve = tuple[float, float, float, float, float, float, float, float]


def _line(x0: float, y0: float, x1: float, y1: float) -> Curve:
    third, two_thirds = 1 / 3, 2 / 3
    return (
        x0,
        y0,
        x0 + third * (x1 - x0),
        y0 + third * (y1 - y0),
        x0 + two_thirds * (x1 - x0),
        y0 + two_thirds * (y1 - y0),
        x1,
        y1,
    )


def _down(tail: Node, head: Node) -> Arc:
    """From the lower side of one node to the upper side of another."""
    x0, y0, x1, y1 = tail.x, tail.y + tail.height / 2, head.x, head.y - head.height / 2
    middle = (y0 + y1) / 2
    return Arc(tail.name, head.name, (x0, y0, x0, middle, x1, middle, x1, y1))


def _past(tail: Node, head: Node, y_node: Node) -> Arc:
    """From an input above Y to a child of Y below, round the side of Y that is nearer."""
    x0, y0, x1, y1 = tail.x, tail.y + tail.height / 2, head.x, head.y - head.height / 2
    room = y_node.width / 2 + GAP
    middle = (x0 + x1) / 2
    if abs(middle - y_node.x) >= room:
        return _down(tail, head)
    passing = y_node.x + math.copysign(room, middle - y_node.x)
    # A cubic curve is at ⅛ of its ends and ¾ of its two middle points when it is half-way.
    x = (passing - (x0 + x1) / 8) / 0.75
    return Arc(tail.name, head.name, (x0, y0, x, (y0 + y1) / 2, x, (y0 + y1) / 2, x1, y1))


def _between(tail: Node, head: Node, side_by_side: bool) -> Arc:
    """An arc between children of Y: below a row, along a tree, or round its right side."""
    half = HEIGHT / 2
    if side_by_side:
        depth = 22 + 0.12 * abs(head.x - tail.x)
        y = tail.y + half
        side = 0.22 * math.copysign(1.0, head.x - tail.x)
        x0, x1 = tail.x + side * tail.width, head.x - side * head.width
        return Arc(tail.name, head.name, (x0, y, x0, y + depth, x1, y + depth, x1, y))
    if head.y > tail.y and abs(_left(head) - _left(tail)) < 1 and head.y - tail.y < 1.5 * ROW:
        x = _left(tail) + 16
        return Arc(tail.name, head.name, _line(x, tail.y + half, x, head.y - half))
    if head.y > tail.y and 0 < _left(head) - _left(tail) < 1.5 * INDENT:
        x = _left(tail) + 12
        start, end = tail.y + half, head.y
        return Arc(tail.name, head.name, (x, start, x, end - 4, x, end, _left(head), end))
    if _left(head) > tail.x + tail.width / 2:  # in a later column
        x0, x1 = tail.x + tail.width / 2, _left(head)
        reach = max(24.0, (x1 - x0) / 2)
        return Arc(
            tail.name,
            head.name,
            (x0, tail.y, x0 + reach, tail.y, x1 - reach, head.y, x1, head.y),
            True,
        )
    x0, x1 = tail.x + tail.width / 2, head.x + head.width / 2
    reach = max(x0, x1) + 20 + 0.06 * abs(head.y - tail.y)
    return Arc(tail.name, head.name, (x0, tail.y, reach, tail.y, reach, head.y, x1, head.y), True)


def _left(node: Node) -> float:
    return node.x - node.width / 2
