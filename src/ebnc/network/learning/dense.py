"""Dense networks: every node depends on all variables before it in an order (mathematics of §5).

The score of a node chooses between a naive EBNC on all predecessors with σ by evidence, that EBNC
with interactions (searched in small networks), a tree, and a full table if it is small. Weak
parents are shrunk instead of dropped; on data with many weak dependences this predicts better than
a sparse network. Nodes are independent, so each is one task for a thread.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ebnc.data.cases import Cases
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.dense_node import DenseFit, fit_dense_node
from ebnc.network.learning.indicators import Indicators
from ebnc.network.learning.node_learner import NodeLearner, refuse_unused_parent
from ebnc.network.local.local import Local
from ebnc.network.local.node import LocalLearner, Settings
from ebnc.network.local.tree import TREE, grow_tree
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.ebnc import EBNC
from ebnc.score.scales import HYPER_MEAN
from ebnc.search.greedy import greedy_search
from ebnc.search.scorer import Scored, Scorer
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.threads import in_parallel, one_blas_thread

SEARCHED = 32
"""Maximum number of variables for which interactions inside nodes are searched."""

FIRST_NODES = 8
"""Number of evenly spaced nodes that are fitted first; the others start at their median σ."""


class DenseNode(NamedTuple):
    """The local distribution of a node, and its score."""

    local: Local
    score: float


@one_blas_thread()
def learn_dense_nodes(
    cases: Cases,
    order: Sequence[str],
    settings: Settings,
    constraints: Constraints,
    *,
    known: Mapping[str, DenseFit],
    record: Callable[[dict[str, Any]], None],
) -> dict[str, DenseNode]:
    """Learn all nodes for one order of variables with two states.

    ``known``: fits of an earlier run, which are not repeated. ``record`` is called with every newly
    fitted EBNC, from several threads.
    """
    data = Indicators.of(cases, order)
    nodes = replace(settings, chooses_parents=False)
    start = math.exp(HYPER_MEAN)
    if "ebnc" in settings.kinds and len(order) > FIRST_NODES:
        first = [len(order) * (i + 1) // (FIRST_NODES + 1) for i in range(FIRST_NODES)]
        start = statistics.median(
            in_parallel(lambda d: fit_dense_node(data, d, start).scale, first)
        )

    def learn(d: int) -> DenseNode:
        name = order[d]
        learner = NodeLearner(cases, name, nodes, constraints.required_parents(name))
        fit = known.get(name)
        if fit is None and "ebnc" in learner.learners:
            fit = fit_dense_node(data, d, start)
            numbers = [fit.scale, fit.log_evidence, fit.log_hyperprior]
            record({"node": name, "phi": fit.phi.tolist(), "numbers": numbers})
        return _best_kind(learner, tuple(order[:d]), fit, searches=len(order) <= SEARCHED)

    # The last nodes are the most expensive; starting with them keeps all cores busy to the end.
    places = list(reversed(range(len(order))))
    learned = in_parallel(learn, places)
    return dict(zip(order, reversed(learned), strict=True))


def _best_kind(
    learner: NodeLearner, before: tuple[str, ...], naive: DenseFit | None, *, searches: bool
) -> DenseNode:
    """Return the best of all kinds for all predecessors.

    ``naive``: the fit of the naive EBNC; None if EBNCs are not allowed. ``searches``: whether to
    search for interactions in it.
    """
    node, target = learner.node, learner.node.target
    scores: dict[str, float] = {}
    makers: dict[str, Callable[[], Local]] = {}

    def compete(kind: str, other: LocalLearner) -> None:
        fit = other.learn(before)
        if fit is not None and fit.score is not None:
            scores[kind], makers[kind] = fit.score, partial(other.local, fit)

    if naive is not None:
        structure = EmbeddedStructure.naive(target, before)
        scores["ebnc"] = naive.score + learner.embedded.intercept_correction
        makers["ebnc"] = partial(EBNC, structure, node.cases.domain, naive.phi)
        if searches and len(before) > 1:
            searched = _searched(node.cases, before, node.settings.structure_prior)
            if searched.score > naive.score:
                scores["ebnc"] = searched.score + learner.embedded.intercept_correction
                domain, phi = searched.fit.design.basis.domain, searched.fit.phi
                makers["ebnc"] = partial(EBNC, searched.structure, domain, phi, ORTHONORMAL.name)
    for kind, other in learner.learners.items():
        if kind != "ebnc":
            compete(kind, other)
    if not scores:  # a table is too large
        compete(TREE.name, TREE.learner(node))
    if not scores:  # the tree does not use all required parents
        compete("table", learner.tables)
    if not scores:
        refuse_unused_parent(target, grow_tree(node.cases, before).local, node.required)
    best = max(scores, key=lambda kind: scores[kind])
    return DenseNode(makers[best](), scores[best])


def _searched(cases: Cases, before: tuple[str, ...], structure_prior: bool) -> Scored:
    """Search greedily for interactions between predecessors, from the naive structure."""
    naive = EmbeddedStructure.naive(cases.target, before)
    scorer = Scorer(cases.projected(before), structure_prior=structure_prior)
    return greedy_search(scorer, naive).best
