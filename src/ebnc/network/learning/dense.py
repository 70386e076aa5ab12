"""Dense networks: every node depends on all variables before it in an order (mathematics of §5).

The score of a node chooses between a naive EBNC on all predecessors with σ by evidence, that EBNC
with interactions (searched in small networks), a tree, and a full table if it is small. Weak
parents are shrunk instead of dropped; on data with many weak dependences this predicts better than
a sparse network. Nodes are independent, so each is one task for a thread.

The naive EBNCs of a network count (``network.local.counting``) if that lowers the leave-one-out
log-loss of the nodes that are fitted first. The scale of the count is by evidence for each node, so
that a count that says nothing vanishes. For the first decision evidence is too cautious: on
validation rows of cr52, bbc and c20ng counts gain 0.1 to 1.4 nats a row where it prefers none.

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
from ebnc.network.local.counting import COUNTING, Counter, CountingEBNC
from ebnc.network.local.kinds import NAIVE
from ebnc.network.local.local import Local
from ebnc.network.local.node import LocalLearner, Node, Settings
from ebnc.network.local.tree import TREE, grow_tree
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.phi import Basis
from ebnc.score.leave_one_out import chosen_rows, losses_of_rows
from ebnc.score.scales import maximise_evidence
from ebnc.search.greedy import greedy_search
from ebnc.search.limits import Limits
from ebnc.search.scorer import Scored, Scorer
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.threads import OutOfTimeError, in_parallel, is_time_limited, one_blas_thread
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


class MainEffects(NamedTuple):
    """φ of the main effects of all parents, orthonormal, and its evidence with the hyperprior."""

    phi: FloatArray
    score: float


@one_blas_thread()
def learn_dense_nodes(
    cases: Cases,
    order: Sequence[str],
    settings: Settings,
    constraints: Constraints,
    *,
    known: Mapping[str, MainEffects],
    record: Callable[[dict[str, Any]], None],
) -> dict[str, DenseNode]:
    """Learn all nodes for one order of the variables.

    ``known``: fits of an earlier run, which are not repeated. ``record`` is called with every newly
    fitted EBNC, from several threads. When the time of ``limit_time`` is up, the other nodes become
    tables of their required parents.
    """
    nodes = replace(settings, chooses_parents=False)
    has_effects = not {"ebnc", NAIVE, COUNTING.name}.isdisjoint(settings.kinds)
    counts, start = _counts_and_scales(cases, order, settings) if has_effects else (False, None)

    def learn(d: int) -> DenseNode:
        name = order[d]
        learner = NodeLearner(cases, name, nodes, constraints.required_parents(name))
        parents = _parents(learner, order[:d], constraints)
        counter = None
        if counts and len(parents) > 1:
            counter = Counter.of(learner.node.cases, parents)
        effects = known.get(name)
        if effects is None and has_effects:
            fitted = _fit_effects(cases, name, parents, start, counter)
            if fitted is not None:
                effects = MainEffects(fitted.phi, settings.criterion.value(fitted))
                record({"node": name, "phi": effects.phi.tolist(), "score": effects.score})
        searches = len(order) <= SEARCHED and "ebnc" in settings.kinds
        return _best_kind(learner, parents, effects, counter, searches=searches)

    def learn_in_time(d: int) -> DenseNode:
        try:
            return learn(d)
        except OutOfTimeError:
            required = constraints.required_parents(order[d])
            tables = NodeLearner(cases, order[d], nodes, required).tables
            fit = tables.learn(tuple(required))
            if fit is None or fit.score is None:
                raise
            return DenseNode(tables.local(fit), fit.score)

    # The last nodes are the most expensive; starting with them keeps all cores busy to the end. If
    # time is limited, the first nodes come first, because more of them can be learned.
    places = list(range(len(order)))
    if not is_time_limited():
        places.reverse()
    learned = dict(zip(places, in_parallel(learn_in_time, places), strict=True))
    return {name: learned[d] for d, name in enumerate(order)}


def _counts_and_scales(
    cases: Cases, order: Sequence[str], settings: Settings
) -> tuple[bool, NormalPrior | None]:
    """Fit a few nodes; return whether nodes count, and the scales at which the others start."""
    n, kinds = len(order), settings.kinds
    first = (
        range(n)
        if n <= FIRST_NODES
        else [n * (i + 1) // (FIRST_NODES + 1) for i in range(FIRST_NODES)]
    )
    ways = [False] * ("ebnc" in kinds or NAIVE in kinds)
    ways += [True] * ("ebnc" in kinds or COUNTING.name in kinds)
    if n <= FIRST_NODES and len(ways) == 1:
        return ways[0], None

    def fitted(d: int, way: bool) -> Fit | None:
        own, parents = cases.with_target(order[d]), order[:d]
        return _fit_effects(
            cases, order[d], parents, None, Counter.of(own, parents) if way else None
        )

    fits = {way: in_parallel(partial(fitted, way=way), first) for way in ways}
    counts = ways[-1]
    if len(ways) > 1:
        each = zip(first, fits[False], fits[True], strict=True)
        counts = sum(_gain_of_count(cases, order[: d + 1], *both) for d, *both in each) > 0.0
    priors = [fit.prior for fit in fits[counts] if fit is not None]
    if n <= FIRST_NODES or not priors:
        return counts, None
    scales = (statistics.median(prior.scales[0] for prior in priors),)
    return counts, NormalPrior(
        scales, weak_scale=statistics.median(prior.weak_scale for prior in priors)
    )


def _gain_of_count(
    cases: Cases, order: Sequence[str], plain: Fit | None, counting: Fit | None
) -> float:
    """Return how much a count gains in leave-one-out log-loss of the last variable of an order."""
    if plain is None or counting is None:
        return 0.0
    own = cases.with_target(order[-1])
    rows = chosen_rows(Counter.of(own, order[:-1]).likelihood(own)[0])
    losses = [losses_of_rows(rows, fit) for fit in (plain, counting)]
    return float(rows.weights @ (losses[0] - losses[1]))


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


def _fit_effects(
    cases: Cases,
    target: str,
    parents: Sequence[str],
    near: NormalPrior | None,
    counter: Counter | None,
) -> Fit | None:
    """Fit the main effects of all parents, σ at MacKay's fixed point; None if they are too many.

    ``counter``: what counts their unusual states for one more input.
    """
    own = cases.with_target(target)
    basis = Basis(EmbeddedStructure.naive(target, parents), cases.domain)
    if basis.dimension > LARGEST_FACTOR:
        return None
    if counter is not None:
        likelihood, _ = counter.likelihood(own)
    else:
        likelihood = likelihood_of(basis, own.projected(parents))
    return maximise_evidence(likelihood, TOLERANCE, near=near, fixed_curvature=True)


def _best_kind(
    learner: NodeLearner,
    before: tuple[str, ...],
    effects: MainEffects | None,
    counter: Counter | None,
    *,
    searches: bool,
) -> DenseNode:
    """Return the best of all kinds for all predecessors.

    ``effects``: the fit of the main effects; None if EBNCs are not allowed. ``counter``: what
    counts in it. ``searches``: whether to search for interactions.
    """
    node, target = learner.node, learner.node.target
    scores: dict[str, float] = {}
    makers: dict[str, Callable[[], Local]] = {}

    def compete(kind: str, other: LocalLearner) -> None:
        fit = other.learn(before)
        if fit is not None and fit.score is not None:
            scores[kind], makers[kind] = fit.score, partial(other.local, fit)

    if effects is not None:
        kind = "ebnc" if counter is None else COUNTING.name
        scores[kind] = effects.score + learner.embedded.intercept_correction
        makers[kind] = partial(_local_of, effects.phi, node, before, counter)
        if searches and len(before) > 1:
            searched = _searched(node, before)
            if searched.score > effects.score:
                scores["ebnc"] = searched.score + learner.embedded.intercept_correction
                own = searched.fit.design.basis.domain
                makers["ebnc"] = partial(
                    EBNC, searched.structure, own, searched.fit.phi, ORTHONORMAL.name
                )
    for kind, other in learner.learners.items():
        if kind not in ("ebnc", COUNTING.name):
            compete(kind, other)
    if not scores:  # a table is too large
        compete(TREE.name, TREE.learner(node))
    if not scores:  # the tree does not use all required parents
        compete("table", learner.tables)
    if not scores:
        refuse_unused_parent(target, grow_tree(node.cases, before).local, node.required)
    best = max(scores, key=lambda kind: scores[kind])
    return DenseNode(makers[best](), scores[best])


def _local_of(
    phi: FloatArray, node: Node, parents: tuple[str, ...], counter: Counter | None
) -> Local:
    """Return the distribution of fitted main effects."""
    target, domain = node.target, node.cases.domain
    if counter is not None:
        return CountingEBNC(target, parents, domain, counter.usual, counter.cuts, phi)
    return EBNC(EmbeddedStructure.naive(target, parents), domain, phi, ORTHONORMAL.name)


def _searched(node: Node, before: tuple[str, ...]) -> Scored:
    """Search greedily for interactions between predecessors, from the naive structure."""
    naive = EmbeddedStructure.naive(node.target, before)
    prior = node.settings.structure_prior
    scorer = Scorer(node.cases.projected(before), structure_prior=prior)
    return greedy_search(scorer, naive, Limits(required_features=node.required)).best
