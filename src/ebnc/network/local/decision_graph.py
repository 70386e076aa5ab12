"""Local distributions as decision graphs: decision trees whose leaves may be merged.

    Chickering, Heckerman & Meek, A Bayesian approach to learning Bayesian networks with local
    structure, UAI 1997.

A tree repeats a distribution in every leaf that has it; a graph stores it once and may split a
merged leaf again. Graphs are grown greedily by the score of trees: leaves have exact Dirichlet
evidence, a split costs the logarithm of the number of possible questions, and a merge costs the
logarithm of the number of pairs of leaves.
"""

from collections.abc import Sequence
from functools import partial

from ebnc.data.cases import Cases
from ebnc.network.local.decision_nodes import FIELDS, DecisionNodes
from ebnc.network.local.kind import Kind
from ebnc.network.local.local import LearnedLocal
from ebnc.network.local.node import LearnedAnew
from ebnc.network.local.tree_growth import Growth, split_gains

__all__ = ["GRAPH", "DecisionGraph", "grow_graph"]

MOST_LEAVES = 1024
"""Lower than the limit of a tree, because all pairs of leaves are compared."""


class DecisionGraph(DecisionNodes):
    """p(z | x) by questions as in a ``Tree``; several questions may lead to the same node.

    Parameters and attributes are those of ``Tree``.

    Examples
    --------
    >>> two = {"A": ["off", "on"], "B": ["off", "on"], "same": ["no", "yes"]}
    >>> theta = [[0, 0], [0, 0], [0, 0], [0.1, 0.9], [0.8, 0.2]]
    >>> variables, on = ["A", "B", "B", None, None], [1, 1, 1, 0, 0]
    >>> same = DecisionGraph("same", two, variables, on, [1, 3, 4, 0, 0], [2, 4, 3, 0, 0], theta)
    >>> print(same)
    A = on:
      B = on: (1) no 0.100, yes 0.900
      B ≠ on: (2) no 0.800, yes 0.200
    A ≠ on:
      B = on: as (2)
      B ≠ on: as (1)
    >>> same.dimension
    2
    """

    kind = "graph"


def grow_graph(cases: Cases, parents: Sequence[str]) -> LearnedLocal:
    """Grow a graph: apply the best split or merge while one raises the score."""
    growth = Growth(cases, parents, merging=True)
    while True:
        split = growth.best_split() if len(growth.leaves) < MOST_LEAVES else None
        merge = growth.best_merge()
        if merge is not None and (split is None or merge.gain > split.gain):
            growth.merge(merge)
        elif split is not None:
            growth.split(split)
        else:
            return growth.finished(DecisionGraph)


GRAPH = Kind(
    name="graph",
    words="decision graph",
    fields=FIELDS,
    to_plain=DecisionGraph.to_plain,
    from_plain=DecisionGraph.from_plain,
    learner=partial(LearnedAnew, "graph", grow_graph, split_gains),
    is_readable=True,
)
