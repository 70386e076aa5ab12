"""Equivalent graphs: those that describe the same independences (Verma & Pearl 1990).

DAGs are equivalent if they have the same neighbours and the same arcs into nodes whose parents are
not neighbours. An arc is *compelled* if every equivalent DAG has it; the others are *reversible*.

    Chickering, A transformational characterization of equivalent Bayesian network structures,
    UAI 1995 (procedure Label-Edges): if a parent x of y comes after all others, then a parent of y
    that is no parent of x, or a compelled parent of x that is no parent of y, makes all arcs into y
    compelled; otherwise those from the compelled parents of x are.
"""

from ebnc.network.model.graph import Parents, topological_order


def compelled_arcs(parents: Parents) -> set[tuple[str, str]]:
    """Return the arcs (parent, child) that every equivalent DAG has."""
    order = topological_order(parents)
    place = {name: i for i, name in enumerate(order)}
    compelled: dict[str, set[str]] = {name: set() for name in order}  # tails of arcs into a node
    for head in order:
        above = set(parents[head])
        if above:
            last = max(above, key=place.__getitem__)
            others = above - {last} - set(parents[last])
            all_of_them = others or not compelled[last] <= above
            compelled[head] = above if all_of_them else compelled[last]
    return {(tail, head) for head, tails in compelled.items() for tail in tails}
