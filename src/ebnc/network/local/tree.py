"""Local distributions as decision trees and graphs: questions x = s, a distribution in each leaf.

The introduction of the paper names trees as an alternative. A tree repeats a distribution in every
leaf that has it; a graph stores it once and may split a merged leaf again:

    Chickering, Heckerman & Meek, A Bayesian approach to learning Bayesian networks with local
    structure, UAI 1997.

Both are grown greedily by the same score as other kinds (see ``network.local.tree_growth``).
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ebnc.data.cases import Cases
from ebnc.domain import Domain
from ebnc.errors import ParameterError
from ebnc.network.local.decision_nodes import FIELDS, DecisionNodes
from ebnc.network.local.local import LearnedLocal
from ebnc.network.local.node import FromScratchLearner, Kind
from ebnc.network.local.plain import shaped
from ebnc.network.local.tree_growth import Growth, split_gains


class Tree(DecisionNodes):
    """p(z | x): node i asks x = s and continues at ``equal[i]`` or ``other[i]``; leaves hold θ.

    Node 0 is the root. Questions lead to later nodes.

    Parameters
    ----------
    target : str
        The node z.
    domain : Domain or mapping
        The states of the node and of its parents.
    variables : sequence of str or None
        The variable x of each question; None in a leaf.
    states : array of int
        The number of the state s in each question; 0 in a leaf.
    equal : array of int
        The next node if x = s; 0 in a leaf.
    other : array of int
        The next node if x ≠ s; 0 in a leaf.
    theta : array
        A distribution for each node, shape (nodes, K); only those of leaves are used.

    Attributes
    ----------
    target, domain, variables, states, equal, other, theta
        As above; ``domain`` has only the node and its parents, arrays are read-only.
    parents : tuple of str
        The variables of the questions.
    """

    kind = "tree"

    def _check(self) -> None:
        super()._check()
        if (self.times_led_to[1:] > 1).any():
            raise ParameterError(
                f"the nodes of {self.target!r} are not one tree: two questions lead to one node"
            )


class DecisionGraph(DecisionNodes):
    """p(z | x) by questions as in a ``Tree``; several questions may lead to the same node.

    Parameters
    ----------
    target, domain, variables, states, equal, other, theta
        As for ``Tree``, and so are the attributes.

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


def _grow(
    make: type[DecisionNodes], most_leaves: int, cases: Cases, parents: Sequence[str]
) -> LearnedLocal:
    """Apply the best split or merge while one raises the score; a tree has no merges."""
    growth = Growth(cases, parents, merging=make is DecisionGraph)
    while True:
        split = growth.best_split() if len(growth.leaves) < most_leaves else None
        merge = growth.best_merge()
        if merge is not None and (split is None or merge.gain > split.gain):
            growth.merge(merge)
        elif split is not None:
            growth.split(split)
        else:
            return growth.finished(make)


grow_tree = partial(_grow, Tree, 4096)
grow_graph = partial(_grow, DecisionGraph, 1024)  # all pairs of leaves are compared


def _from_plain(
    make: type[DecisionNodes], target: str, domain: Domain, plain: Mapping[str, Any]
) -> DecisionNodes:
    shape = (len(plain["variables"]), domain.n_states(target))
    theta = shaped("theta", plain["theta"], shape)
    return make(target, domain, **{**plain, "theta": theta})


TREE, GRAPH = (
    Kind(
        name=made.kind,
        words=words,
        fields=FIELDS,
        to_plain=made.to_plain,
        from_plain=partial(_from_plain, made),
        learner=partial(FromScratchLearner, made.kind, grow, split_gains),
        is_readable=True,
    )
    for made, words, grow in (
        (Tree, "decision tree", grow_tree),
        (DecisionGraph, "decision graph", grow_graph),
    )
)
