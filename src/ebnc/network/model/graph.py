"""The outer DAG as plain mappings from a node to its parents: order, ancestors, cycles."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from ebnc.errors import NetworkError

__all__ = [
    "Parents",
    "Reachability",
    "ancestral_set",
    "children",
    "topological_order",
]

Parents = Mapping[str, Sequence[str]]


def topological_order(parents: Parents) -> tuple[str, ...]:
    """Every node after its parents, otherwise as listed; raises where there is a cycle."""
    for name, given in parents.items():
        for parent in given:
            if parent not in parents:
                raise NetworkError(f"{parent!r}, a parent of {name!r}, is not a node")
    try:
        return tuple(TopologicalSorter(parents).static_order())
    except CycleError as error:
        cycle = " → ".join(reversed(error.args[1]))
        raise NetworkError(f"the arcs have a cycle: {cycle}; a network must be acyclic") from None


def ancestral_set(parents: Parents, names: Iterable[str]) -> set[str]:
    """``names`` and all their ancestors: all that a question about them depends on."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += parents[name]
    return found


def children(parents: Parents) -> dict[str, list[str]]:
    """The arcs the other way round."""
    found: dict[str, list[str]] = {node: [] for node in parents}
    for node, given in parents.items():
        for parent in given:
            found[parent].append(node)
    return found


class Reachability:
    """Which nodes lead to which, for one set of arcs; sets of nodes are the bits of integers."""

    def __init__(self, parents: Parents) -> None:
        self.parents = parents
        self._bits = {name: 1 << i for i, name in enumerate(parents)}
        self._children = children(parents)
        self._below: dict[str, int] = {}

    def leads_to(self, start: str, end: str) -> bool:
        """Whether there is a path from ``start`` to ``end``, or they are the same."""
        return bool(self._reached(start) & self._bits[end])

    def leads_round(self, start: str, end: str) -> bool:
        """Whether there is a path other than the arc itself."""
        below = self._reached(start)
        return any(below & self._bits[parent] for parent in self.parents[end] if parent != start)

    def _reached(self, name: str) -> int:
        """``name`` and all nodes that it leads to; not by recursion: paths may be long."""
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
