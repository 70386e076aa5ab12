"""Local distributions as decision trees: questions x = s, and a distribution in each leaf.

The introduction of the paper names trees as an alternative. They are grown greedily by the same
score as other kinds: leaves have exact Dirichlet evidence, and every split costs log 4 plus the
logarithm of the number of possible splits (see ``network.local.tree_growth``).
"""

from collections.abc import Sequence
from functools import partial

from ebnc.data.cases import Cases
from ebnc.errors import ParameterError
from ebnc.network.local.decision_nodes import FIELDS, DecisionNodes
from ebnc.network.local.kind import Kind
from ebnc.network.local.local import LearnedLocal
from ebnc.network.local.node import LearnedAnew
from ebnc.network.local.tree_growth import Growth, split_gains

__all__ = ["TREE", "Tree", "grow_tree"]


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


def grow_tree(cases: Cases, parents: Sequence[str], most_leaves: int = 4096) -> LearnedLocal:
    """Grow a tree: apply the best split while one raises the score."""
    growth = Growth(cases, parents)
    while len(growth.leaves) < most_leaves:
        best = growth.best_split()
        if best is None:
            break
        growth.split(best)
    return growth.finished(Tree)


TREE = Kind(
    name="tree",
    words="decision tree",
    fields=FIELDS,
    to_plain=Tree.to_plain,
    from_plain=Tree.from_plain,
    learner=partial(LearnedAnew, "tree", grow_tree, split_gains),
    is_readable=True,
)
