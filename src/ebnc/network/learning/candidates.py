"""What may be done with one node next: changes, each with its gain, and the node after it.

Gains of one more parent are estimated by kind of local distribution (those of tables are exact),
the node without each parent is fitted, and refinements of its embedded structure are estimated.
These tasks do not depend on each other: they run on several threads.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ebnc.kernels.parallel import in_parallel, one_blas_thread
from ebnc.network.learning.changes import Change
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.node_learner import RIVALS, NodeLearner, NodeState
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["Option", "all_options", "fit_change"]

FITTED_AT_ONCE = 4  # refinements of a node that are looked at; others wait for its next change


@dataclass
class Option:
    """A change of one node: its gain, estimated until ``state`` is fitted."""

    change: Change
    gain: float
    state: NodeState | None = None


@one_blas_thread()
def fit_change(learner: NodeLearner, state: NodeState, change: Change) -> NodeState:
    """The node after a change."""
    if change.verb == "add":
        return learner.with_parent(state, change.tail)
    if change.verb == "remove":
        return learner.without_parent(state, change.tail)
    return learner.refined(state, EmbeddedStructure(change.head, change.families))


@one_blas_thread()
def all_options(learner: NodeLearner, state: NodeState, constraints: Constraints) -> list[Option]:
    """The changes of a node in one state: removals fitted, everything else estimated."""
    if learner.is_constant:
        return []
    names = _possible_parents(learner, state, constraints)
    tasks = [*_gains(learner, state, names), *_others(learner, state, constraints)]
    found = in_parallel(lambda task: task(), tasks)
    gains = [some for some in found if isinstance(some, dict)]
    others = [option for some in found if isinstance(some, list) for option in some]
    return _additions(learner, state, names, gains) + others


def _possible_parents(
    learner: NodeLearner, state: NodeState, constraints: Constraints
) -> list[str]:
    if len(state.parents) >= constraints.max_parents:
        return []
    return [
        x
        for x in learner.candidates
        if x not in state.parents and constraints.allows(x, learner.target)
    ]


def _gains(
    learner: NodeLearner, state: NodeState, names: Sequence[str]
) -> list[Callable[[], dict[str, float]]]:
    """Tasks, one for each kind, that return gains of one more parent by name."""
    tasks: list[Callable[[], dict[str, float]]] = []
    if not names:
        return tasks
    kinds = learner.settings.kinds
    # With one parent an EBNC spans what a table does, so its table is a fair estimate.
    if "table" in kinds or not state.parents:
        tasks.append(partial(learner.table_gains, state, names))
    tasks += [partial(learner.rival_gains, state, kind, names) for kind in RIVALS if kind in kinds]
    if state.embedded is not None and state.parents:
        tasks.append(partial(learner.embedded_gains, state, names))
    return tasks


def _additions(
    learner: NodeLearner,
    state: NodeState,
    names: Sequence[str],
    gains: Sequence[Mapping[str, float]],
) -> list[Option]:
    """Options of one more parent, each with the gain of the best kind.

    Gains of tables are exact, so a node that can be nothing else is known without a fit.
    """
    options = []
    for x in names if gains else ():
        gain = max(some.get(x, -math.inf) for some in gains)
        there = None
        if learner.settings.has_tables_only:
            there = learner.as_table((*state.parents, x), state.score + gain)
        options.append(Option(Change("add", learner.target, x), gain, there))
    return options


def _others(
    learner: NodeLearner, state: NodeState, constraints: Constraints
) -> list[Callable[[], list[Option]]]:
    """Tasks that return removals, fitted, and refinements, estimated."""
    required = constraints.required_parents(learner.target)
    removable = [x for x in state.parents if x not in required]
    # Tables without each parent are counted together.
    groups = [removable] if learner.settings.has_tables_only else [[x] for x in removable]
    tasks: list[Callable[[], list[Option]]]
    tasks = [partial(_removals, learner, state, names) for names in groups if names]
    if state.embedded is not None and len(state.parents) > 1:
        tasks.append(partial(_refinements, learner, state))
    return tasks


def _removals(learner: NodeLearner, state: NodeState, names: Sequence[str]) -> list[Option]:
    there = learner.without_each(state, names)
    return [
        Option(Change("remove", learner.target, x), after.score - state.score, after)
        for x, after in zip(names, there, strict=True)
    ]


def _refinements(learner: NodeLearner, state: NodeState) -> list[Option]:
    return [
        Option(Change("refine", learner.target, families=move.structure.families), gain)
        for gain, move in learner.refinements(state)[:FITTED_AT_ONCE]
    ]
