"""The outer DAG as plain mappings from a node to its parents: order, ancestors, cycles."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from ebnc.errors import NetworkError

__all__ = ["Parents", "ancestral_set", "children", "descendants", "topological_order"]

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


def descendants(parents: Parents, name: str) -> set[str]:
    """``name`` and all nodes that can be reached from it."""
    return ancestral_set(children(parents), [name])
