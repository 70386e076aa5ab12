"""What may be done with one node next: changes, each with its gain, and the node after it.

A node is looked at from several sides, which do not depend on each other: the gains of one parent
more by kind of local distribution, what it would be without each parent, and refinements of its
embedded structure. All are functions of the node's state alone, so it does not matter who works
them out.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ebnc.data.cases import Cases
from ebnc.kernels.parallel import one_blas_thread
from ebnc.network.changes import Change
from ebnc.network.constraints import Constraints
from ebnc.network.nodes import RIVALS, NodeLearner, NodeState, Settings
from ebnc.search.screening import is_expensive
from ebnc.structure.embedded import EmbeddedStructure

__all__ = [
    "Found",
    "Option",
    "Side",
    "all_options",
    "fit_change",
    "join_sides",
    "look",
    "look_ahead",
    "look_at_sides",
    "sides",
    "start_nodes",
    "work_of_fit",
]

FITTED_AT_ONCE = 4  # refinements of a node that are looked at; others wait for its next change


@dataclass
class Option:
    """A change of one node: its gain, estimated until ``state`` is fitted."""

    change: Change
    gain: float
    state: NodeState | None = None


class Side(NamedTuple):
    """One side of a node: "table", "embedded" or a rival kind with ``names`` that may become
    parents; "remove" with parents; or "refine". ``work``: about its nanoseconds."""

    what: str
    names: tuple[str, ...]
    work: float


Found = dict[str, float] | list[Option]
"""What one side shows: gains by name, or options."""


@one_blas_thread()
def fit_change(learner: NodeLearner, state: NodeState, change: Change) -> NodeState:
    """The node after a change."""
    if change.verb == "add":
        return learner.with_parent(state, change.tail)
    if change.verb == "remove":
        return learner.without_parent(state, change.tail)
    return learner.refined(state, EmbeddedStructure(change.head, change.families))


def sides(
    learner: NodeLearner, state: NodeState, constraints: Constraints, n_pieces: int = 1
) -> Iterator[Side]:
    """All sides of a node, the longest ones in pieces; their work as measured, roughly."""
    if learner.is_constant:
        return
    n_rows, n_parents = len(learner.cases), len(state.parents)
    open_to = tuple(
        x
        for x in learner.candidates
        if x not in state.parents and constraints.allows(x, learner.target)
    )
    if open_to and n_parents < constraints.max_parents:
        yield from _additions(learner, state, open_to, n_pieces)
    required = constraints.required_parents(learner.target)
    removable = tuple(x for x in state.parents if x not in required)
    for names in _pieces(removable, 1 if learner.settings.has_tables_only else n_parents):
        yield Side("remove", names, work_of_fit(learner.settings, n_rows, n_parents))
    if state.embedded is not None and n_parents > 1:
        n_pairs = n_parents * (n_parents - 1) / 2
        yield Side("refine", (), 1e6 + n_pairs * (6e5 + 30 * n_rows))


def _additions(
    learner: NodeLearner, state: NodeState, open_to: tuple[str, ...], n_pieces: int
) -> Iterator[Side]:
    """The sides from which one parent more is seen."""
    kinds, n_rows, n_parents = learner.settings.kinds, len(learner.cases), len(state.parents)
    # With one parent an EBNC spans what a table does, so its table is a fair estimate.
    if "table" in kinds or not state.parents:
        n_cells = prod(learner.n_states[x] for x in (*state.parents, learner.target))
        each = 1e4 + 1.2 * n_rows + 150 * n_cells
        for names in _pieces(open_to, n_pieces):
            yield Side("table", names, len(names) * each)
    for kind in RIVALS:
        if kind in kinds:
            yield Side(kind, open_to, len(open_to) * n_rows * (2.8 + n_parents))
    if state.embedded is not None and state.parents:
        # A first rough ranking would not be the same in pieces.
        widths = [learner.n_states[x] for x in open_to]
        whole = is_expensive(state.embedded.design, n_rows, widths)
        for names in _pieces(open_to, 1 if whole else n_pieces):
            yield Side("embedded", names, 1e6 + len(names) * (1e5 + 15 * n_rows))


def work_of_fit(settings: Settings, n_rows: int, n_parents: int) -> float:
    """About the nanoseconds of fitting a node with about so many parents."""
    if settings.has_tables_only:
        return 2e5 + 5 * n_rows
    return 1e6 + n_parents * (2e6 + 45 * n_rows)


def _pieces(names: Sequence[str], n_pieces: int) -> Iterator[tuple[str, ...]]:
    size = max(1, math.ceil(len(names) / max(1, n_pieces)))
    for i in range(0, len(names), size):
        yield tuple(names[i : i + size])


@one_blas_thread()
def look(learner: NodeLearner, state: NodeState, side: Side) -> Found:
    """A node from one side: removals fitted, everything else estimated."""
    if side.what == "table":
        return learner.table_gains(state, side.names)
    if side.what in RIVALS:
        return learner.rival_gains(state, side.what, side.names)
    if side.what == "embedded":
        return learner.embedded_gains(state, side.names)
    if side.what == "remove":
        there = learner.without_each(state, side.names)
        return [
            Option(Change("remove", learner.target, x), after.score - state.score, after)
            for x, after in zip(side.names, there, strict=True)
        ]
    refinements = learner.refinements(state)[:FITTED_AT_ONCE]
    return [
        Option(Change("refine", learner.target, families=move.structure.families), gain)
        for gain, move in refinements
    ]


def join_sides(
    learner: NodeLearner, state: NodeState, seen: Sequence[tuple[Side, Found]]
) -> list[Option]:
    """The options of a node from all its sides: of one parent more, the gain of the best kind.

    Gains of tables are exact, so a node that can be nothing else is known without a fit.
    """
    target = learner.target
    gains: dict[str, float] = {}
    others: list[Option] = []
    for side, found in seen:
        if isinstance(found, list):
            others += found
        else:
            for x in side.names:
                gains[x] = max(gains.get(x, -math.inf), found.get(x, -math.inf))
    additions = [Option(Change("add", target, x), gain) for x, gain in gains.items()]
    if learner.settings.has_tables_only:
        parents, score = state.parents, state.score
        for option in additions:
            option.state = learner.as_table((*parents, option.change.tail), score + option.gain)
    return [*additions, *others]


def all_options(learner: NodeLearner, state: NodeState, constraints: Constraints) -> list[Option]:
    """The options of a node in one state."""
    seen = [(side, look(learner, state, side)) for side in sides(learner, state, constraints)]
    return join_sides(learner, state, seen)


# -- jobs for other processes; ``cases``: of the whole network, whatever their target -------------


def look_at_sides(
    cases: Cases,
    settings: Settings,
    constraints: Constraints,
    asked: Sequence[tuple[str, NodeState, Side]],
) -> list[Found]:
    """Several sides of several nodes."""
    learners = {
        target: NodeLearner.of(cases, target, settings, constraints)
        for target in {target for target, _, _ in asked}
    }
    return [look(learners[target], state, side) for target, state, side in asked]


def look_ahead(
    cases: Cases,
    settings: Settings,
    constraints: Constraints,
    state: NodeState,
    change: Change,
    after: NodeState | None,
) -> tuple[NodeState, list[Option]]:
    """The node after a change, fitted unless it is given, and its options there."""
    learner = NodeLearner.of(cases, change.head, settings, constraints)
    there = fit_change(learner, state, change) if after is None else after
    return there, all_options(learner, there, constraints)


def start_nodes(
    cases: Cases,
    settings: Settings,
    constraints: Constraints,
    asked: Sequence[tuple[str, Sequence[str]]],
) -> list[NodeState]:
    """Nodes with the parents that a search begins with."""
    found = []
    for target, parents in asked:
        learner = NodeLearner.of(cases, target, settings, constraints)
        found.append(learner.start([x for x in parents if x in learner.candidates]))
    return found
