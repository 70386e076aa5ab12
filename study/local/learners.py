"""Ways to learn a network whose nodes are of one kind, or of the best of several.

Everything is scored by evidence with the same priors on structures. With the truth's arcs *given*
only the nodes are learned; an EBNC still searches the interactions of its parents, and a tree or
graph asks for those it needs. Otherwise arcs are *searched*, by the same tabu search for all kinds.
"""

import warnings
from collections.abc import Callable, Mapping

import pandas as pd

import ebnc
from ebnc.data.cases import Cases
from ebnc.data.read import learn_joint_cases
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.sparse import SparseSearch
from ebnc.network.local.node import Settings

__all__ = ["KINDS", "PEERS", "STRUCTURES", "learn"]

KINDS: Mapping[str, tuple[str, ...]] = {
    "table": ("table",),
    "tree": ("tree",),
    "graph": ("graph",),
    "noisy-max": ("noisy-max",),
    "naive": ("naive",),
    "ebnc": ("ebnc",),
    "default": ("ebnc", "table", "tree"),
    "mixed": ("ebnc", "table", "tree", "graph", "noisy-max"),
}
"""What nodes may be; ``naive``: EBNCs without interactions, ``ebnc``: with those that are found."""

STRUCTURES = ("given", "searched")


def learn(data: pd.DataFrame, truth: ebnc.Network, structure: str, kind: str) -> ebnc.Network:
    if kind in PEERS:
        return PEERS[kind](data, truth)
    if structure == "given":
        return learn_nodes(data, truth, KINDS[kind])
    return ebnc.Network.learn(
        data, categories=truth.domain, local=KINDS[kind], regime="sparse", n_jobs=1
    )


def learn_nodes(data: pd.DataFrame, truth: ebnc.Network, kinds: tuple[str, ...]) -> ebnc.Network:
    """The nodes of a network whose arcs are known."""
    names = truth.variables
    cases, _ = learn_joint_cases(data[list(names)], truth.domain, "state", None)
    known = set(truth.arcs)
    others = [(x, y) for x in names for y in names if x != y and (x, y) not in known]
    constraints = Constraints.of(names, required=known, forbidden=others)
    search = SparseSearch(cases, Settings(kinds=kinds), constraints)
    search.run()
    return ebnc.Network(search.locals())


def hill_climbing(data: pd.DataFrame, truth: ebnc.Network) -> ebnc.Network:
    """pyAgrum's greedy hill climbing with BDeu; its tables smoothed like ours, by evidence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pyagrum as gum

        learner = gum.BNLearner(data, truth.to_pyagrum())
        learner.useGreedyHillClimbing()
        learner.useScoreBDeu()
        found = learner.learnBN()
    name = {node: found.variable(node).name() for node in found.nodes()}
    parents = {name[i]: [name[p] for p in found.parents(i)] for i in found.nodes()}
    cases, _ = learn_joint_cases(data, truth.domain, "state", None)
    return ebnc.Network(ebnc.Table.learn(_of(cases, x), parents[x]) for x in truth)


PEERS: Mapping[str, Callable[[pd.DataFrame, ebnc.Network], ebnc.Network]] = {
    "pyagrum": hill_climbing
}
"""Other people's searches, all of full tables; they find their own arcs."""


def _of(cases: Cases, target: str) -> Cases:
    return Cases(cases.domain, target, cases.rows, cases.rows.column(target), cases.weights)
