"""Absorption of normalising constants: the condition under which an EBNC fills its span.

θ(x_i|a, y) must sum to 1 over x_i. In log-odds space the constant Z(a) of a child X_i of Y is a
function of its other parents A_i, and another factor must absorb it. That is possible (Roos,
Wettig, Grünwald, Myllymäki & Tirri 2005) if for every child X_i of Y

    A_i ⊆ Pa(Y),   or   A_i ⊆ {X_j} ∪ A_j for a child X_j ∈ A_i of Y.

Together these conditions are a running intersection. So a structure with the same clusters that
absorbs its constants exists if and only if the clusters are an acyclic hypergraph (decomposable).
"""

from collections.abc import Callable, Iterable, Sequence

from ebnc.structure.clusters import perfect_ordering


def absorbers(
    target: str, children: Iterable[str], parents: Callable[[str], Sequence[str]]
) -> dict[str, str | None]:
    """For every child X_i of Y the head of the factor that absorbs Z_i: Y, a child X_j, or None."""
    pa_y = set(parents(target))
    given = {child: set(parents(child)) - {target} for child in children}
    takers: dict[str, str | None] = {}
    for child, others in given.items():
        if others <= pa_y:
            takers[child] = target
            continue
        takers[child] = next(
            (
                parent
                for parent in parents(child)
                if parent in given and others <= given[parent] | {parent}
            ),
            None,
        )
    return takers


def absorbing_families(
    target: str, inputs: Sequence[str], clusters: Iterable[Iterable[str]]
) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """Families of a DAG with root Y and these clusters that absorbs its constants, or None.

    Along a perfect ordering every new variable of a cluster gets as parents Y, the separator and
    the new variables before it. Inputs outside the clusters are isolated.
    """
    ordering = perfect_ordering([frozenset(cluster) for cluster in clusters])
    if ordering is None:
        return None
    position = {name: place for place, name in enumerate(inputs)}
    families: dict[str, tuple[str, ...]] = {target: ()}
    for separator, new in ordering:
        before = sorted(separator, key=position.__getitem__)
        for variable in sorted(new, key=position.__getitem__):
            families[variable] = (*before, target)
            before.append(variable)
    families.update((name, ()) for name in inputs if name not in families)
    return tuple(families.items())
