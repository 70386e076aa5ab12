"""Families of sets: maximal sets, Graham reduction, perfect orderings.

The clusters of a structure are a hypergraph on its inputs. The functions find its maximal sets,
its core after the removal of private variables, and, if it is acyclic (decomposable), an order in
which the sets form a tree.
"""

from collections.abc import Iterable, Set
from typing import NamedTuple

Cluster = frozenset[str]


def maximal_sets(sets: Iterable[Set[str]]) -> list[Cluster]:
    """The sets that no other set contains, each once.

    >>> [sorted(cluster) for cluster in maximal_sets([{"a"}, {"a", "b"}, {"c"}, set()])]
    [['a', 'b'], ['c']]
    """
    family = _Family(sets)
    for key in list(family.members):
        if family.is_covered(key):
            family.remove(key)
    return list(family.members.values())


class Peeled(NamedTuple):
    """One step of Graham reduction: ``private`` variables were removed, ``rest`` remained."""

    private: Cluster
    rest: Cluster


def peel(clusters: Iterable[Set[str]]) -> tuple[list[Peeled], list[Cluster]]:
    """Graham reduction: remove variables private to one cluster, drop covered clusters, repeat.

    Returns the steps and the remaining core, which is [∅] if and only if the hypergraph is acyclic.
    Clusters are indexed by variable, so a chain or a tree takes linear time.
    """
    family = _Family(clusters)
    holders = family.holders
    steps: list[Peeled] = []
    waiting = dict.fromkeys(family.members)
    while waiting:
        key, _ = waiting.popitem()
        cluster = family.members[key]
        private = frozenset([v for v in cluster if len(holders[v]) == 1])
        if private:  # then no other cluster covers this one
            steps.append(Peeled(private, cluster - private))
            family.shrink(key, private)
            waiting[key] = None
        elif family.is_covered(key):
            waiting.update(dict.fromkeys(family.remove(key)))
    return steps, list(family.members.values())


def perfect_ordering(clusters: Iterable[Set[str]]) -> list[tuple[Cluster, Cluster]] | None:
    """(separator, new variables) of each cluster in a running-intersection order, or None.

    Every separator lies inside one earlier cluster; None if the hypergraph is cyclic. The steps of
    Graham reduction, in reverse, are such an order.
    """
    steps, core = peel(clusters)
    if core != [frozenset()]:
        return None
    return [(step.rest, step.private) for step in reversed(steps)]


class _Family:
    """Sets indexed by the variables they hold."""

    def __init__(self, sets: Iterable[Set[str]]) -> None:
        distinct = dict.fromkeys(frozenset(s) for s in sets)
        self.members: dict[int, Cluster] = dict(enumerate(distinct))
        self.holders: dict[str, dict[int, None]] = {}
        for key, cluster in self.members.items():
            for variable in cluster:
                self.holders.setdefault(variable, {})[key] = None

    def is_covered(self, key: int) -> bool:
        """Whether another set contains this one; checks the sets with its rarest variable."""
        cluster = self.members[key]
        if not cluster:
            return len(self.members) > 1
        candidates = min([self.holders[variable] for variable in cluster], key=len)
        return any(other != key and cluster <= self.members[other] for other in candidates)

    def remove(self, key: int) -> list[int]:
        """Remove a set; return the sets that gain a private variable."""
        return self._release(key, self.members.pop(key))

    def shrink(self, key: int, private: Cluster) -> None:
        """Remove variables from the only set that holds them."""
        self.members[key] -= private
        self._release(key, private)

    def _release(self, key: int, variables: Cluster) -> list[int]:
        alone: list[int] = []
        for variable in sorted(variables):  # sorted: the same steps in every run
            holders = self.holders[variable]
            del holders[key]
            if len(holders) == 1:
                alone.extend(holders)
        return alone
