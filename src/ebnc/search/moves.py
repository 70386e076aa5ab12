"""Moves between embedded structures (§5: select models and input features).

The moves are: add X as a child of Y; make X_j a parent of a child X_i of Y; make X a parent of Y;
remove an arc; drop X. Moves that do not change the clusters are left out, and only the first of
several moves to the same clusters is kept. A growing move adds one cluster, which describes it
completely, so its structure is built only on demand.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ebnc.search.limits import Limits
from ebnc.structure.clusters import Cluster
from ebnc.structure.embedded import EmbeddedStructure

EVERY_PAIR = 64  # with more inputs, only pairs of selected inputs are tried

Families = dict[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Move:
    """A move with its description.

    ``new_cluster``: the cluster that a growing move adds; None for a shrinking move. ``dropped``:
    the input that a move drops, if any.
    """

    description: str
    target: str
    families: Families
    new_cluster: Cluster | None
    dropped: str | None = None

    @property
    def grows(self) -> bool:
        """Whether the structure becomes larger."""
        return self.new_cluster is not None

    @cached_property
    def structure(self) -> EmbeddedStructure:
        """The structure after the move."""
        return EmbeddedStructure(self.target, tuple(self.families.items()))


def moves(structure: EmbeddedStructure, n_states: Mapping[str, int], limits: Limits) -> list[Move]:
    """Return all allowed moves in a fixed order, one for each resulting set of clusters."""
    clusters = structure.cluster_key
    by_clusters: dict[object, Move] = {}
    for move in _growing(structure, limits):
        new = move.new_cluster
        assert new is not None
        is_covered = any(new <= cluster for cluster in clusters)
        is_small = prod(n_states[x] for x in new) <= limits.max_cluster_cells
        if is_small and not is_covered:
            by_clusters.setdefault(new, move)
    for move in _shrinking(structure):
        key = move.structure.cluster_key
        if key != clusters and key not in by_clusters and limits.allow(move.structure, n_states):
            by_clusters[key] = move
    return list(by_clusters.values())


def _growing(structure: EmbeddedStructure, limits: Limits) -> Iterator[Move]:
    # Sorted by name, so that the first move to some clusters does not depend on the column order.
    target, inputs = structure.target, sorted(structure.inputs)
    families = dict(structure.families)
    children = set(structure.children(target))
    own = families[target]
    used = set(structure.markov_blanket)
    allowed = [x for x in inputs if x not in limits.forbidden_features]
    for x in allowed:
        if x not in used:
            yield Move(f"take in {x}", target, families | {x: (target,)}, frozenset([x]))
    few = len(inputs) <= EVERY_PAIR
    ancestors = _ancestors(structure)
    for head in allowed:
        above = tuple(p for p in families[head] if p != target) if head in children else ()
        if head in own or len(above) >= limits.max_parents or not (few or head in used):
            continue
        if target in ancestors and head in ancestors[target]:
            continue  # Y would become its own ancestor
        for tail in allowed:
            if tail in (head, *above) or head in ancestors[tail] or not (few or tail in used):
                continue
            if (tail, head) not in limits.forbidden_arcs:
                # The arc also adds a tail that is outside of the blanket.
                new = families | {head: (*above, tail, target)}
                yield Move(f"{tail} → {head}", target, new, frozenset([head, *above, tail]))
    for x in allowed:
        if x not in own and x not in children and target not in ancestors[x]:
            new = families | {target: (*own, x)}
            yield Move(f"{x} → {target}", target, new, frozenset([*own, x]))


def _shrinking(structure: EmbeddedStructure) -> Iterator[Move]:
    target = structure.target
    families = dict(structure.families)
    children = set(structure.children(target))
    own = families[target]
    for head in sorted(structure.inputs):
        if head in children:
            for tail in sorted(families[head]):
                if tail != target:
                    rest = tuple(p for p in families[head] if p != tail)
                    without = families | {head: rest}
                    if tail not in children and tail not in own:
                        without |= {tail: (*families[tail], target)}  # its main effect stays
                    yield Move(f"remove {tail} → {head}", target, without, None)
    for x in sorted(own):
        rest = tuple(p for p in own if p != x)
        yield Move(f"remove {x} → {target}", target, families | {target: rest}, None)
    for x in sorted(structure.markov_blanket):
        yield Move(f"drop {x}", target, isolated(families, [x]), None, dropped=x)


def isolated(families: Families, names: Collection[str]) -> Families:
    """Return the families without the arcs to and from these inputs."""
    return {
        x: () if x in names else tuple(p for p in parents if p not in names)
        for x, parents in families.items()
    }


def _ancestors(structure: EmbeddedStructure) -> dict[str, set[str]]:
    """Return all ancestors of every variable."""
    ancestors: dict[str, set[str]] = {}
    for name in structure.total_order:
        parents = structure.parents(name)
        ancestors[name] = set(parents).union(*(ancestors[p] for p in parents))
    return ancestors
