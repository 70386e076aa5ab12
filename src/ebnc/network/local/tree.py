"""A decision tree as local distribution: splits x = s or not, and a distribution in each leaf.

One of the rivals that the paper's introduction names. Grown greedily by the same score as the
others: leaves have exact Dirichlet evidence, and every split pays the logarithm of the number of
splits there were to choose from, and log 4 for being one (see ``network.local.tree_growth``).
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
    """p(z | x): node i asks x = s, goes on at ``equal[i]`` or ``other[i]``; leaves hold θ.

    ``variables[i]`` is the name asked for, None in a leaf; ``states[i]`` the code of s; ``theta``
    has a row for every node, used in leaves only. Node 0 is the root.
    """

    kind = "tree"

    def _check(self) -> None:
        super()._check()
        if (self.times_led_to[1:] > 1).any():
            raise ParameterError(f"the nodes of {self.target!r} are not one tree")


def grow_tree(cases: Cases, parents: Sequence[str], most_leaves: int = 4096) -> LearnedLocal[Tree]:
    """Grow from the root, the most profitable split first, while splits raise the score."""
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
