"""Moves between embedded structures (mathematics of §5: select models and input features).

Take X in as a child of Y; let X_j be a parent of a child X_i of Y; make X a parent of Y; remove an
arc; drop X. Only moves that change the clusters are kept, and of those that lead to the same
clusters only the first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ebnc.errors import StructureError
from ebnc.search.limits import Limits
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["Move", "moves"]

EVERY_PAIR = 64  # with more inputs, pairs are tried only among those taken in


@dataclass(frozen=True, slots=True)
class Move:
    """A change in words, and the structure it leads to."""

    description: str
    structure: EmbeddedStructure
    grows: bool


def moves(structure: EmbeddedStructure, n_states: Mapping[str, int], limits: Limits) -> list[Move]:
    """All allowed moves, in a fixed order, one for each set of clusters they lead to."""
    found: dict[frozenset[frozenset[str]], Move] = {}
    here = structure.cluster_key
    for description, families, grows in _changes(structure):
        if not _sizes_fit(families, structure.target, n_states, limits):
            continue
        try:
            there = EmbeddedStructure(structure.target, tuple(families.items()))
        except StructureError:  # a cycle
            continue
        key = there.cluster_key
        if key != here and key not in found and limits.allow(there, n_states):
            found[key] = Move(description, there, grows)
    return list(found.values())


Families = dict[str, tuple[str, ...]]


def _changes(structure: EmbeddedStructure) -> Iterator[tuple[str, Families, bool]]:
    target = structure.target
    families = dict(structure.families)
    children = set(structure.children(target))
    own = families[target]
    used = set(structure.markov_blanket)
    for x in structure.inputs:
        if x not in used:
            yield f"take in {x}", families | {x: (target,)}, True
    few = len(structure.inputs) <= EVERY_PAIR
    for head in structure.inputs:
        given = tuple(p for p in families[head] if p != target) if head in children else ()
        if head in own or not (few or head in used):
            continue
        for tail in structure.inputs:
            if tail != head and tail not in given and (few or tail in used):
                # A tail outside of the blanket comes in with the arc.
                yield f"{tail} → {head}", families | {head: (*given, tail, target)}, True
    for x in structure.inputs:
        if x not in own and x not in children:
            yield f"{x} → {target}", families | {target: (*own, x)}, True
    for head in structure.inputs:
        if head in children:
            for tail in families[head]:
                if tail != target:
                    rest = tuple(p for p in families[head] if p != tail)
                    without = families | {head: rest}
                    if tail not in children and tail not in own:
                        without |= {tail: (target,)}  # its main effect stays
                    yield f"remove {tail} → {head}", without, False
    for x in own:
        rest = tuple(p for p in own if p != x)
        yield f"remove {x} → {target}", families | {target: rest}, False
    for x in structure.inputs:
        if x in used:
            without = {
                name: tuple(p for p in parents if p != x) for name, parents in families.items()
            }
            yield f"drop {x}", without | {x: ()}, False


def _sizes_fit(
    families: Families, target: str, n_states: Mapping[str, int], limits: Limits
) -> bool:
    """Cluster sizes alone, before a structure is made of the families."""
    for head, parents in families.items():
        if head != target and target not in parents:
            continue
        cells = 1 if head == target else n_states[head]
        for parent in parents:
            cells *= 1 if parent == target else n_states[parent]
        if cells > limits.max_cluster_cells:
            return False
        if head != target and len(parents) - 1 > limits.max_parents:
            return False
    return True
