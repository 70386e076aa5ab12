"""The outer DAG as plain mappings from a node to its parents: order, ancestors, cycles."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import TYPE_CHECKING

from ebnc.errors import NetworkError

if TYPE_CHECKING:
    import networkx as nx

Parents = Mapping[str, Sequence[str]]


def topological_order(parents: Parents) -> tuple[str, ...]:
    """Return all nodes, each after its parents; raise ``NetworkError`` if the arcs have a cycle."""
    for name, own_parents in parents.items():
        for parent in own_parents:
            if parent not in parents:
                raise NetworkError(f"{parent!r}, a parent of {name!r}, is not a node")
    try:
        return tuple(TopologicalSorter(parents).static_order())
    except CycleError as error:
        cycle = " → ".join(reversed(error.args[1]))
        raise NetworkError(f"the arcs have a cycle: {cycle}; a network must be acyclic") from None


def ancestral_set(parents: Parents, names: Iterable[str]) -> set[str]:
    """Return ``names`` and all their ancestors: all nodes that a query of them depends on."""
    ancestors: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in ancestors:
            ancestors.add(name)
            waiting += parents[name]
    return ancestors


def moral_graph(parents: Parents) -> "nx.Graph[str]":
    """Return the graph without directions, in which parents of a node are neighbours, too."""
    import networkx

    graph: nx.Graph[str] = networkx.Graph()
    graph.add_nodes_from(parents)
    for name, own_parents in parents.items():
        graph.add_edges_from(combinations((name, *own_parents), 2))
    return graph


class Reachability:
    """Paths between nodes for one set of arcs. A set of nodes is an integer, one bit per node."""

    def __init__(self, parents: Parents) -> None:
        self.parents = parents
        self._bits = {name: 1 << i for i, name in enumerate(parents)}
        self._children: dict[str, list[str]] = {node: [] for node in parents}
        for node, own_parents in parents.items():
            for parent in own_parents:
                self._children[parent].append(node)
        self._below: dict[str, int] = {}

    def leads_to(self, start: str, end: str) -> bool:
        """Return True if a path leads from ``start`` to ``end``, or if they are equal."""
        return bool(self._reached(start) & self._bits[end])

    def leads_round(self, start: str, end: str) -> bool:
        """Return True if a path other than the arc leads from ``start`` to ``end``."""
        below = self._reached(start)
        return any(below & self._bits[parent] for parent in self.parents[end] if parent != start)

    def _reached(self, name: str) -> int:
        """Return ``name`` and its descendants. Iterative, because paths may be long."""
        waiting = [name]
        while waiting:
            last = waiting[-1]
            unknown = [child for child in self._children[last] if child not in self._below]
            waiting += unknown
            if not unknown:
                reached = self._bits[waiting.pop()]
                for child in self._children[last]:
                    reached |= self._below[child]
                self._below[last] = reached
        return self._below[name]
