"""Layout layout of a DAG (Sugiyama, Tagawa & Toda 1981): arcs lead down and cross no node.

Depths → bends where an arc passes a layer → an order in each layer with few crossings → horizontal
positions close to the neighbours in the layers above and below.
"""

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise

import numpy as np

SWEEPS = 12
GAP, BEND_GAP = 18.0, 9.0
STRAIGHT = 4.0
"""Weight of a segment inside a long arc, against 1 at a node: it makes long arcs straight."""

Layers = list[list[int]]


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout: the nodes of each layer from left to right, and ``x``, the centre of each node.

    ``bends``: for every arc (parent, child), its positions in the layers between the two.
    """

    layers: tuple[tuple[str, ...], ...]
    x: Mapping[str, float]
    bends: Mapping[tuple[str, str], tuple[float, ...]]


def in_layers(
    parents: Mapping[str, Sequence[str]], widths: Mapping[str, float], widest: float
) -> Layout:
    """Lay out a DAG whose nodes have ``widths``; layers are about ``widest`` at most."""
    names = list(parents)
    place = {x: i for i, x in enumerate(names)}
    depth = _depths(parents, widths, widest)
    layers: Layers = [[] for _ in range(1 + max(depth.values()))]
    for x in names:
        layers[depth[x]].append(place[x])
    width = [widths[x] for x in names]
    segments: list[tuple[int, int]] = []  # arcs cut where they bend
    chains: dict[tuple[str, str], list[int]] = {}
    for x in names:
        for parent in parents[x]:
            chain = list(range(len(width), len(width) + depth[x] - depth[parent] - 1))
            width += [0.0] * len(chain)
            for layer, bend in enumerate(chain, start=depth[parent] + 1):
                layers[layer].append(bend)
            chains[parent, x] = chain
            segments += pairwise([place[parent], *chain, place[x]])
    above: list[list[int]] = [[] for _ in width]
    below: list[list[int]] = [[] for _ in width]
    for upper, lower in segments:
        above[lower].append(upper)
        below[upper].append(lower)
    layers = _ordered(layers, above, below)
    x_of = _placed(layers, above, below, width, len(names))
    return Layout(
        tuple(tuple(names[v] for v in layer if v < len(names)) for layer in layers),
        {x: x_of[place[x]] for x in names},
        {arc: tuple(x_of[v] for v in chain) for arc, chain in chains.items()},
    )


def _depths(
    parents: Mapping[str, Sequence[str]], widths: Mapping[str, float], widest: float
) -> dict[str, int]:
    """Depth of each node: below its lowest parent, in a layer with room; sources near a child."""
    children: dict[str, list[str]] = {x: [] for x in parents}
    filled: dict[int, float] = {}
    depth: dict[str, int] = {}
    for x in TopologicalSorter(parents).static_order():
        for parent in parents[x]:
            children[parent].append(x)
        level = 1 + max((depth[p] for p in parents[x]), default=-1)
        while filled.get(level, 0.0) and filled[level] + widths[x] > widest:
            level += 1
        depth[x] = level
        filled[level] = filled.get(level, 0.0) + widths[x] + GAP
    for x in parents:
        if children[x] and not parents[x]:
            depth[x] = max(depth[x], min(depth[c] for c in children[x]) - 1)
    used = {level: i for i, level in enumerate(sorted(set(depth.values())))}
    return {x: used[level] for x, level in depth.items()}


def _ordered(layers: Layers, above: Layers, below: Layers) -> Layers:
    """Sort layers by the mean place of neighbours, down and up; return the best order."""
    best, fewest = layers, _crossings(layers, below)
    current = [list(layer) for layer in layers]
    for sweep in range(SWEEPS):
        if not fewest:
            break
        near, order = (above, current) if sweep % 2 == 0 else (below, current[::-1])
        for fixed, layer in pairwise(order):
            at = {v: i for i, v in enumerate(fixed)}
            own = {v: i for i, v in enumerate(layer)}
            layer.sort(key=lambda v: _mean([at[u] for u in near[v]], own[v]))
        crossings = _crossings(current, below)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in current], crossings
    return best


def _mean(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _crossings(layers: Layers, below: Layers) -> int:
    """Number of crossings of segments between neighbouring layers."""
    n_crossings = 0
    for upper, lower in pairwise(layers):
        at = {v: i for i, v in enumerate(lower)}
        seen: list[int] = []
        for v in upper:
            ends = sorted(at[u] for u in below[v])
            n_crossings += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return n_crossings


def _placed(
    layers: Layers, above: Layers, below: Layers, width: Sequence[float], n_nodes: int
) -> list[float]:
    """Positions by least squares to the neighbours' means, subject to order and distance."""
    from scipy.optimize import isotonic_regression

    offsets = []
    for layer in layers:
        gaps = [
            (width[a] + width[b]) / 2 + (GAP if a < n_nodes and b < n_nodes else BEND_GAP)
            for a, b in pairwise(layer)
        ]
        offsets.append(np.concatenate([[0.0], np.cumsum(gaps)]))
    x = np.zeros(len(width))
    for layer, offset in zip(layers, offsets, strict=True):
        x[layer] = offset - offset[-1] / 2
    for sweep in range(2 * SWEEPS):
        down = sweep % 2 == 0
        for k in range(len(layers)) if down else reversed(range(len(layers))):
            layer, offset = layers[k], offsets[k]
            wanted, weights = np.empty(len(layer)), np.empty(len(layer))
            for i, v in enumerate(layer):
                near = above[v] if down else below[v]
                if sweep >= 2 * SWEEPS - 2:
                    near = above[v] + below[v]
                pull = [STRAIGHT if v >= n_nodes and u >= n_nodes else 1.0 for u in near]
                weights[i] = sum(pull) or 0.1
                wanted[i] = np.average(x[near], weights=pull) if near else x[v]
            x[layer] = isotonic_regression(wanted - offset, weights=weights).x + offset
    left = min(x[v] - width[v] / 2 for v in range(len(width)))
    return [float(value - left) for value in x]
