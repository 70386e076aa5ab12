"""Layout of an embedded structure: coordinates of its nodes and arcs.

From top to bottom: the inputs that point at Y or only at its children, then Y, then its children.
Up to ``MOST_SIDE_BY_SIDE`` children form one row, each with its own arc from Y. More children are
listed in a plate, in columns, like a tree of folders; a single arc leads from Y to the plate. At
most ``MOST_NODES`` inputs are drawn; the drawing counts the others. Arcs that cancel in p(y|x) are
not drawn. Units are pixels; y grows downwards.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from ebnc.report.words import shortened
from ebnc.structure.embedded import EmbeddedStructure

MOST_NODES = 120
MOST_SIDE_BY_SIDE = 7
LONGEST_LABEL = 20
CHARACTER, PADDING, HEIGHT = 7.4, 22.0, 30.0
GAP, ROW, INDENT, COLUMN_GAP = 18.0, 48.0, 26.0, 46.0
MARGIN, LEVEL = 12.0, 74.0
MOST_WIDTH = 960.0


@dataclass(frozen=True, slots=True)
class Node:
    """A variable; (x, y) is its centre, ``kind`` "target", "parent", "child" or "other"."""

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

    ``is_far``: whether it leads from one column of a tree to another.
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
    """The whole drawing; ``n_hidden``: number of selected inputs that are not drawn."""

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
    """Lay out the Markov blanket, or its ``MOST_NODES`` most important inputs."""
    shown = _shown(structure, importance or {})
    kinds = dict.fromkeys(shown.parents, "parent") | dict.fromkeys(shown.spouses, "other")
    above, width_above = _rows(kinds, MARGIN + HEIGHT / 2)
    y = above[-1].y + LEVEL if above else MARGIN + HEIGHT / 2
    y_node = node_at(structure.target, "target", 0.0, y, target_label)
    order, top = _tree_order(shown.inner), y + LEVEL
    below, width_below = _rows({x: "child" for x, _ in order}, top)
    plates: list[Plate] = []
    if len(order) > MOST_SIDE_BY_SIDE or shown.n_hidden or any(node.y != top for node in below):
        below, width_below, height = _columns(order, top + GAP)
        label = f"{shown.n_children} inputs that {y_node.label} points at"
        width_below = max(width_below, CHARACTER * len(label)) + 2 * GAP
        plates = [Plate(0.0, top - HEIGHT / 2, width_below, height + 46, label)]

    width = max(width_above, width_below, 220.0) + 2 * MARGIN
    y_node = replace(y_node, x=width / 2)
    rows = [list(row) for _, row in groupby(above, key=lambda node: node.y)]
    nodes = [*(node for row in rows for node in _centred(row, width)), y_node]
    nodes += _centred(below, width)
    plates = [replace(plate, x=(width - plate.width) / 2) for plate in plates]
    arcs = _arcs(shown, {node.name: node for node in nodes}, y_node, plates)
    bottoms = [node.y + HEIGHT / 2 for node in nodes]
    bottoms += [plate.y + plate.height for plate in plates]
    bottoms += [arc.curve[3] for arc in arcs]
    return Drawing(width, max(bottoms) + MARGIN, tuple(nodes), arcs, tuple(plates), shown.n_hidden)


class _DrawnInputs(NamedTuple):
    """The inputs that are drawn: parents of Y, parents of its children only, and its children.

    ``inner``: the parents of every child, without Y. ``n_children``: counts hidden children too.
    """

    parents: tuple[str, ...]
    spouses: tuple[str, ...]
    inner: Mapping[str, tuple[str, ...]]
    n_children: int
    n_hidden: int


def _shown(structure: EmbeddedStructure, importance: Mapping[str, float]) -> _DrawnInputs:
    """All inputs of the Markov blanket, or the most important ones."""
    blanket = structure.markov_blanket
    ranked = sorted(blanket, key=lambda x: -importance.get(x, 0.0))
    chosen = set(ranked[:MOST_NODES])
    children = set(structure.children(structure.target))
    parents = tuple(x for x in structure.parents(structure.target) if x in chosen)
    spouses = tuple(x for x in blanket if x in chosen - children and x not in parents)
    inner = {
        x: tuple(parent for parent in structure.parents(x) if parent in chosen)
        for x in blanket
        if x in children & chosen
    }
    return _DrawnInputs(parents, spouses, inner, len(children), len(blanket) - len(chosen))


def _arcs(
    shown: _DrawnInputs, at: Mapping[str, Node], y_node: Node, plates: Sequence[Plate]
) -> tuple[Arc, ...]:
    """All arcs: into Y, from Y to its children or their plate, and between inputs."""
    arcs = [_down(at[parent], y_node) for parent in shown.parents]
    if plates:
        line = _line(y_node.x, y_node.y + HEIGHT / 2, y_node.x, plates[0].y)
        arcs.append(Arc(y_node.name, "", line))
    else:
        arcs += [_down(y_node, at[x]) for x in shown.inner]
    between = _along_tree if plates else _under_row
    for x, parents in shown.inner.items():
        for parent in parents:
            if parent in shown.inner:
                arcs.append(between(at[parent], at[x]))
            else:
                arcs.append(_past(at[parent], at[x], y_node))
    return tuple(arcs)


def _tree_order(inner: Mapping[str, Sequence[str]]) -> list[tuple[str, int]]:
    """Children of Y with their depth, each under its first parent; the largest groups first.

    An only child has its parent's depth, so that a chain does not drift to the right.
    """
    below: dict[str | None, list[str]] = {x: [] for x in (None, *inner)}
    for x, parents in inner.items():
        below[next((parent for parent in parents if parent in inner), None)].append(x)

    def group(x: str, depth: int) -> Iterator[tuple[str, int]]:
        yield x, depth
        for child in below[x]:
            yield from group(child, depth + (len(below[x]) > 1))

    groups = [list(group(root, 0)) for root in below[None]]
    return [entry for entries in sorted(groups, key=len, reverse=True) for entry in entries]


def _rows(kinds: Mapping[str, str], y: float) -> tuple[list[Node], float]:
    """Place nodes side by side, from x = 0, in rows. Returns them and the width of the widest."""
    nodes: list[Node] = []
    x, widest = 0.0, 0.0
    for name, kind in kinds.items():
        node = node_at(name, kind, 0.0, y)
        if x and x + node.width > MOST_WIDTH:
            x, y = 0.0, y + ROW
        nodes.append(replace(node, x=x + node.width / 2, y=y))
        x += node.width + GAP
        widest = max(widest, x - GAP)
    return nodes, widest


def _columns(order: Sequence[tuple[str, int]], top: float) -> tuple[list[Node], float, float]:
    """Place the tree in columns, from x = 0. Returns nodes, width and height."""
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
            nodes.append(replace(node, x=begin + node.width / 2))
            right = max(right, begin + node.width)
        left = right + COLUMN_GAP
    height = min(length, len(order)) * ROW
    return nodes, max(0.0, left - COLUMN_GAP), height


def _centred(nodes: Sequence[Node], width: float) -> list[Node]:
    """Shift the nodes by one distance, so that they are centred."""
    low = min((node.x - node.width / 2 for node in nodes), default=0.0)
    high = max((node.x + node.width / 2 for node in nodes), default=0.0)
    shift = (width - low - high) / 2
    return [replace(node, x=node.x + shift) for node in nodes]


def node_at(name: str, kind: str, x: float, y: float, label: str | None = None) -> Node:
    """A node as wide as its label."""
    text = shortened(label or name, LONGEST_LABEL)
    wide = sum(2 if ord(letter) > 0x2E7F else 1 for letter in text)  # East Asian letters, pictures
    return Node(name, text, kind, x, y, max(44.0, CHARACTER * wide + PADDING))


def _line(x0: float, y0: float, x1: float, y1: float) -> tuple[float, ...]:
    dx, dy = (x1 - x0) / 3, (y1 - y0) / 3
    return (x0, y0, x0 + dx, y0 + dy, x1 - dx, y1 - dy, x1, y1)


def _down(tail: Node, head: Node) -> Arc:
    """An arc from the lower side of one node to the upper side of another."""
    x0, y0, x1, y1 = tail.x, tail.y + tail.height / 2, head.x, head.y - head.height / 2
    middle = (y0 + y1) / 2
    return Arc(tail.name, head.name, (x0, y0, x0, middle, x1, middle, x1, y1))


def _past(tail: Node, head: Node, y_node: Node) -> Arc:
    """An arc from an input above Y to a child of Y, round the nearer side of Y."""
    down = _down(tail, head)
    x0, y0, _, middle, _, _, x1, y1 = down.curve
    room, offset = y_node.width / 2 + GAP, (x0 + x1) / 2 - y_node.x
    if abs(offset) >= room:
        return down
    # Half-way, a cubic curve is ⅛ of each end plus ⅜ of each of its two middle points.
    x = (y_node.x + math.copysign(room, offset) - (x0 + x1) / 8) / 0.75
    return replace(down, curve=(x0, y0, x, middle, x, middle, x1, y1))


def _under_row(tail: Node, head: Node) -> Arc:
    """An arc below the row, between children of Y in one row."""
    depth = 22 + 0.12 * abs(head.x - tail.x)
    y = tail.y + HEIGHT / 2
    side = 0.22 * math.copysign(1.0, head.x - tail.x)
    x0, x1 = tail.x + side * tail.width, head.x - side * head.width
    return Arc(tail.name, head.name, (x0, y, x0, y + depth, x1, y + depth, x1, y))


def _along_tree(tail: Node, head: Node) -> Arc:
    """An arc between children of Y in a plate: down the tree, to a later column, or round it."""
    half = HEIGHT / 2
    indent = _left(head) - _left(tail)
    if head.y > tail.y and abs(indent) < 1 and head.y - tail.y < 1.5 * ROW:
        x = _left(tail) + 16
        return Arc(tail.name, head.name, _line(x, tail.y + half, x, head.y - half))
    if head.y > tail.y and 0 < indent < 1.5 * INDENT:
        x = _left(tail) + 12
        start, end = tail.y + half, head.y
        return Arc(tail.name, head.name, (x, start, x, end - 4, x, end, _left(head), end))
    x0 = tail.x + tail.width / 2
    if _left(head) > x0:  # in a later column
        x1 = _left(head)
        reach = max(24.0, (x1 - x0) / 2)
        curve = (x0, tail.y, x0 + reach, tail.y, x1 - reach, head.y, x1, head.y)
    else:
        x1 = head.x + head.width / 2
        reach = max(x0, x1) + 20 + 0.06 * abs(head.y - tail.y)
        curve = (x0, tail.y, reach, tail.y, reach, head.y, x1, head.y)
    return Arc(tail.name, head.name, curve, is_far=True)


def _left(node: Node) -> float:
    return node.x - node.width / 2
