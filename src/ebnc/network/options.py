"""What may be done with one node next: changes, each with its gain, and the node after it.

All functions of the node's state alone, so they can be worked out anywhere, and ahead of time.
"""

from dataclasses import dataclass

from ebnc.data.cases import Cases
from ebnc.kernels.parallel import one_blas_thread
from ebnc.network.changes import Change
from ebnc.network.constraints import Constraints
from ebnc.network.nodes import NodeLearner, NodeState, Settings
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["ALL", "HALVES", "Option", "fit_change", "look", "work_out"]

FITTED_AT_ONCE = 4  # refinements of a node that are looked at; others wait for its next change
ALL = ("add", "remove", "refine")
HALVES = (("add",), ("remove", "refine"))  # about the same work, joined in the order of ``ALL``


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
def look(
    learner: NodeLearner,
    state: NodeState,
    constraints: Constraints,
    verbs: tuple[str, ...] = ALL,
) -> list[Option]:
    """The changes of a node: removals fitted, everything else estimated."""
    if learner.is_constant:
        return []
    target, options = learner.target, []
    if "add" in verbs and len(state.parents) < constraints.max_parents:
        open_to = [
            x
            for x in learner.candidates
            if x not in state.parents and constraints.allows(x, target)
        ]
        gains = learner.addition_gains(state, open_to)
        options += [Option(Change("add", target, x), gain) for x, gain in gains.items()]
    if "remove" in verbs:
        required = constraints.required_parents(target)
        for change in (Change("remove", target, x) for x in state.parents if x not in required):
            there = fit_change(learner, state, change)
            options.append(Option(change, there.score - state.score, there))
    if "refine" in verbs:
        for gain, move in learner.refinements(state)[:FITTED_AT_ONCE]:
            change = Change("refine", target, families=move.structure.families)
            options.append(Option(change, gain))
    return options


def work_out(
    cases: Cases,
    target: str,
    settings: Settings,
    constraints: Constraints,
    state: NodeState,
    change: Change | None,
    verbs: tuple[str, ...],
) -> tuple[NodeState, list[Option]]:
    """A node after a change, or as it is, and its options there: a job for another process.

    ``cases``: of the whole network, whatever their target.
    """
    learner = NodeLearner.of(cases, target, settings, constraints)
    if change is not None:
        state = fit_change(learner, state, change)
    return state, look(learner, state, constraints, verbs)
