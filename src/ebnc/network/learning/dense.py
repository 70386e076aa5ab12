"""Dense networks: every node depends on all variables before it in an order (mathematics of §5).

The score of a node chooses between a naive EBNC on all predecessors with σ by evidence, that EBNC
with interactions (searched in small networks), a tree, and a full table if it is small. Weak
parents are shrunk instead of dropped; on data with many weak dependences this predicts better than
a sparse network. Nodes are independent, so each is one task for a thread.

Arcs that are forbidden are left out. A node with more predecessors than ``max_parents`` keeps those
that gain most as its only parent.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ebnc.data.cases import Cases
from ebnc.fitting.fit import Fit
from ebnc.fitting.newton import LARGEST_FACTOR
from ebnc.fitting.optimum import likelihood_of
from ebnc.likelihood.prior import NormalPrior
from ebnc.network.learning.candidates import additions
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.node_learner import NodeLearner, refuse_unused_parent
from ebnc.network.local.local import Local
from ebnc.network.local.node import LocalLearner, Node, Settings
from ebnc.network.local.tree import TREE, grow_tree
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.phi import Basis
from ebnc.score.scales import maximise_evidence
from ebnc.search.greedy import greedy_search
from ebnc.search.limits import Limits
from ebnc.search.scorer import Scored, Scorer
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.threads import in_parallel, one_blas_thread
from ebnc.typing import FloatArray

SEARCHED = 32
"""Maximum number of variables for which interactions inside nodes are searched."""

FIRST_NODES = 8
"""Number of evenly spaced nodes that are fitted first; the others start at their median σ."""

TOLERANCE = 0.02
"""Predicted gain in evidence, in nats, below which the scales of a node are final."""


class DenseNode(NamedTuple):
    """The local distribution of a node, and its score."""

    local: Local
    score: float


class NaiveFit(NamedTuple):
    """φ of the naive EBNC of a node, orthonormal, and its log evidence with the hyperprior."""

    phi: FloatArray
    score: float


@one_blas_thread()
def learn_dense_nodes(
    cases: Cases,
    order: Sequence[str],
    settings: Settings,
    constraints: Constraints,
    *,
    known: Mapping[str, NaiveFit],
    record: Callable[[dict[str, Any]], None],
) -> dict[str, DenseNode]:
    """Learn all nodes for one order of the variables.

    ``known``: fits of an earlier run, which are not repeated. ``record`` is called with every newly
    fitted EBNC, from several threads.
    """
    nodes = replace(settings, chooses_parents=False)
    start = None
    if "ebnc" in settings.kinds and len(order) > FIRST_NODES:
        first = [len(order) * (i + 1) // (FIRST_NODES + 1) for i in range(FIRST_NODES)]
        fits = in_parallel(lambda d: _fit_naive(cases, order[d], order[:d], None), first)
        scales = [fit.prior.scales[0] for fit in fits if fit is not None]
        start = NormalPrior((statistics.median(scales),)) if scales else None

    def learn(d: int) -> DenseNode:
        name = order[d]
        learner = NodeLearner(cases, name, nodes, constraints.required_parents(name))
        parents = _parents(learner, order[:d], constraints)
        fit = known.get(name)
        if fit is None and "ebnc" in learner.learners:
            fitted = _fit_naive(cases, name, parents, start)
            if fitted is not None:
                fit = NaiveFit(fitted.phi, settings.criterion.value(fitted))
                record({"node": name, "phi": fit.phi.tolist(), "score": fit.score})
        return _best_kind(learner, parents, fit, searches=len(order) <= SEARCHED)

    # The last nodes are the most expensive; starting with them keeps all cores busy to the end.
    places = list(reversed(range(len(order))))
    learned = in_parallel(learn, places)
    return dict(zip(order, reversed(learned), strict=True))


def _parents(
    learner: NodeLearner, before: Sequence[str], constraints: Constraints
) -> tuple[str, ...]:
    """Return the predecessors that may be parents; the best of them if they are too many."""
    allowed = [x for x in before if constraints.allows(x, learner.node.target)]
    if len(allowed) <= constraints.max_parents:
        return tuple(allowed)
    required = learner.node.required
    others = [x for x in allowed if x not in required]
    n_free = constraints.max_parents - len(required)
    if n_free:
        first = additions(learner, learner.learn(()), constraints)
        gains = {each.change.tail: each.gain for each in first}
        others.sort(key=lambda x: -gains[x])
    kept = {*required, *others[:n_free]}
    return tuple(x for x in allowed if x in kept)


def _fit_naive(
    cases: Cases, target: str, parents: Sequence[str], near: NormalPrior | None
) -> Fit | None:
    """Fit the main effects of all parents, σ at MacKay's fixed point; None if they are too many."""
    basis = Basis(EmbeddedStructure.naive(target, parents), cases.domain)
    if basis.dimension > LARGEST_FACTOR:
        return None
    likelihood = likelihood_of(basis, cases.with_target(target).projected(parents))
    return maximise_evidence(likelihood, TOLERANCE, near=near, fixed_curvature=True)


def _best_kind(
    learner: NodeLearner, before: tuple[str, ...], naive: NaiveFit | None, *, searches: bool
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
        domain = node.cases.domain
        makers["ebnc"] = partial(EBNC, structure, domain, naive.phi, ORTHONORMAL.name)
        if searches and len(before) > 1:
            searched = _searched(node, before)
            if searched.score > naive.score:
                scores["ebnc"] = searched.score + learner.embedded.intercept_correction
                own = searched.fit.design.basis.domain
                makers["ebnc"] = partial(
                    EBNC, searched.structure, own, searched.fit.phi, ORTHONORMAL.name
                )
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


def _searched(node: Node, before: tuple[str, ...]) -> Scored:
    """Search greedily for interactions between predecessors, from the naive structure."""
    naive = EmbeddedStructure.naive(node.target, before)
    prior = node.settings.structure_prior
    scorer = Scorer(node.cases.projected(before), structure_prior=prior)
    return greedy_search(scorer, naive, Limits(required_features=node.required)).best
