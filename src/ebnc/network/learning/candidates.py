"""Candidate changes of one node, each with its gain.

Every kind of local distribution estimates the gain of each extra parent (gains of tables are
exact). The node is fitted without each of its parents. Gains of refinements of its embedded
structure are estimated. These tasks are independent, so they run on several threads.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import NamedTuple

from ebnc.network.learning.changes import Change
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.node_learner import NodeLearner
from ebnc.network.local.node import NodeState
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.threads import in_parallel, one_blas_thread

FITTED_AT_ONCE = 4  # refinements of a node to consider before its next change


class Candidate(NamedTuple):
    """A change of one node and its gain, in nats; ``state``: the node after it, if fitted."""

    change: Change
    gain: float
    is_estimate: bool
    state: NodeState | None = None


@one_blas_thread()
def fit_change(learner: NodeLearner, state: NodeState, change: Change) -> NodeState:
    """Fit the node as it is after a change."""
    if change.verb == "add":
        return learner.learn((*state.parents, change.tail), state)
    if change.verb == "remove":
        return learner.learn([x for x in state.parents if x != change.tail], state)
    return learner.refine(state, EmbeddedStructure(change.head, change.families))


def fit_candidate(learner: NodeLearner, state: NodeState, candidate: Candidate) -> Candidate:
    """Return the candidate with its fit and its exact gain."""
    after = fit_change(learner, state, candidate.change)
    return Candidate(candidate.change, after.score - state.score, is_estimate=False, state=after)


@one_blas_thread()
def all_candidates(
    learner: NodeLearner, state: NodeState, constraints: Constraints
) -> list[Candidate]:
    """Return all changes of a node: removals are fitted, other gains are estimated."""
    node = learner.node
    if node.is_constant:
        return []
    required = constraints.required_parents(node.target)
    tasks: list[Callable[[], list[Candidate]]]
    tasks = [partial(additions, learner, state, constraints)]
    tasks += [partial(_removal, learner, state, x) for x in state.parents if x not in required]
    if "ebnc" in state.fits:
        tasks.append(partial(_refinements, learner, state))
    return list(chain.from_iterable(in_parallel(lambda task: task(), tasks)))


def additions(learner: NodeLearner, state: NodeState, constraints: Constraints) -> list[Candidate]:
    """Return each possible parent, with the gain of the best kind."""
    node = learner.node
    if len(state.parents) >= constraints.max_parents:
        return []
    names = [
        x for x in node.candidates if x not in state.parents and constraints.allows(x, node.target)
    ]
    if not names:
        return []
    kinds = dict(learner.learners)
    if not state.parents:  # with one parent an EBNC equals a table
        kinds["table"] = learner.tables
    gains = in_parallel(lambda kind: kind.gains(state, names), list(kinds.values()))
    return [
        Candidate(
            Change("add", node.target, x),
            max(some.get(x, -math.inf) for some in gains),
            is_estimate=not learner.has_exact_gains,
        )
        for x in names
    ]


def _removal(learner: NodeLearner, state: NodeState, name: str) -> list[Candidate]:
    change = Change("remove", learner.node.target, name)
    return [fit_candidate(learner, state, Candidate(change, 0.0, is_estimate=True))]


def _refinements(learner: NodeLearner, state: NodeState) -> list[Candidate]:
    refinements = learner.embedded.refinements(state)[:FITTED_AT_ONCE]
    return [
        Candidate(
            Change("refine", learner.node.target, families=move.structure.families),
            gain,
            is_estimate=True,
        )
        for gain, move in refinements
    ]
