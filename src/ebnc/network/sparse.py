"""Sparse networks: greedy search over arcs and over the structures inside the nodes (§5, eq. 8–9).

The score of a network is the sum of its nodes', so a change concerns one node, or two where an arc
is turned round. All changes of a node are estimated at once; the most promising ones are fitted,
best first, until none that is only estimated could still be the best. After a change only the nodes
it touched are looked at again.

At a local maximum the search goes on for a few changes that lower the score least, without taking
back the latest ones (tabu search, Glover 1989), and returns to the best network if that leads
nowhere.

With several workers (joblib) the sides of those nodes are looked at side by side, and so are other
nodes after the changes that will probably come next.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ebnc.data.cases import Cases
from ebnc.network.ahead import Next, that_go_together
from ebnc.network.changes import Change, NetworkStep, NetworkTrace
from ebnc.network.constraints import Constraints
from ebnc.network.graph import ancestral_set, children
from ebnc.network.nodes import NodeLearner, NodeState, Settings
from ebnc.network.options import Option
from ebnc.network.outlook import Outlook
from ebnc.search.side_by_side import SideBySide

__all__ = ["SparseSearch"]

ENOUGH = 1e-6  # nats by which a change must raise the score
SLACK = 2.0  # a change is fitted where its estimate is above minus this
PATIENCE = 15  # changes that do not lead to a new best network before the search ends
MOST_LIKELY = 8  # changes that may come after the best
TABU = 6  # latest changes that are not taken back at once


@dataclass
class _Node:
    learner: NodeLearner
    state: NodeState
    arcs: dict[tuple[str, str], Option] = field(default_factory=dict)
    """Options by verb and tail."""
    ranked: list[Option] = field(default_factory=list)

    def move(self, state: NodeState, options: Sequence[Option]) -> None:
        """Another state, with the options there."""
        self.state = state
        self.arcs = {(option.change.verb, option.change.tail): option for option in options}
        self.ranked = list(options)
        self.rank()

    def rank(self) -> None:
        """Sort the options again, the best first; those with the same gain stay in their order."""
        self.ranked.sort(key=lambda option: -option.gain)

    def allowed(
        self, latest: Collection[frozenset[str]], below: Collection[str]
    ) -> Iterator[tuple[Option]]:
        """Options, the best first, that close no cycle and are none of the latest changes.

        ``below``: the nodes that this one leads to.
        """
        for option in self.ranked:
            change = option.change
            if change.verb == "add" and change.tail in below:
                continue
            if not latest or change.concerned not in latest:
                yield (option,)


class SparseSearch:
    """The state of a search; ``run`` climbs to a local maximum, ``apply`` repeats a known change.

    ``start``: the parents to begin with, the required ones unless given. ``team``: those who help.
    ``report`` is called with every accepted step, ``record`` with every accepted change.
    """

    def __init__(
        self,
        cases: Cases,
        settings: Settings,
        constraints: Constraints,
        *,
        start: Mapping[str, Sequence[str]] | None = None,
        team: SideBySide | None = None,
        report: Callable[[NetworkStep], None] | None = None,
        record: Callable[[Change], None] | None = None,
    ) -> None:
        self.report, self.record = report, record
        self.trace = NetworkTrace()
        self._began = time.perf_counter()
        self._latest: deque[frozenset[str]] = deque(maxlen=TABU)
        self._ranked: list[tuple[Option, ...]] = []  # what was next best
        self.nodes: dict[str, _Node] = {}
        self._outlook = Outlook(cases, settings, constraints, team)
        names = cases.rows.names
        first = start or {name: constraints.required_parents(name) for name in names}
        for name, state in self._outlook.starts(first).items():
            learner = NodeLearner.of(cases, name, settings, constraints)
            self.nodes[name] = _Node(learner, state)
            self.trace.n_fits += 1
        if start is not None:
            arcs = sum(len(node.state.parents) for node in self.nodes.values())
            self.trace.steps.append(NetworkStep(f"begin with {arcs} arcs", self.score, 0.0))
        self._keep_as_best()

    @property
    def score(self) -> float:
        """The score of the whole network."""
        return math.fsum(node.state.score for node in self.nodes.values())

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The arcs so far."""
        return {name: node.state.parents for name, node in self.nodes.items()}

    def run(self, max_steps: int = 100_000) -> None:
        """Climb, and end at the best network that was met; Ctrl-C ends it too."""
        try:
            self._move({name: node.state for name, node in self.nodes.items()})
            while self._since_best() < PATIENCE and len(self.trace.steps) < max_steps:
                best = self._best()
                if best is None:
                    break
                self._accept(best)
        except KeyboardInterrupt:
            self.trace.interrupted = True
        self._move(self._best_states, look=False)
        del self.trace.steps[self._best_step :]

    def apply(self, change: Change) -> None:
        """Repeat a change that an earlier run accepted."""
        self._move(self._states_after(change), look=False)
        self._note(change)

    # -- accepting ----------------------------------------------------------------------------

    def _accept(self, options: tuple[Option, ...]) -> None:
        go_together = that_go_together(self.parents, [options, *self._ranked])
        likely = (o for others in islice(go_together, 1, MOST_LIKELY) for o in others)
        found = self._outlook.options_after(
            [self._next(option) for option in options], map(self._next, likely)
        )
        for option, seen in zip(options, found, strict=True):
            assert option.state is not None
            self._show(self.nodes[option.change.head], option.state, seen)
        self._outlook.forget(option.change.head for option in options)
        change = options[0].change
        if len(options) == 2:  # the arc that goes, and the one that comes instead
            change = Change("turn", options[0].change.head, options[0].change.tail)
        self._note(change)
        if self.record is not None:
            self.record(change)

    def _next(self, option: Option) -> Next:
        node = self.nodes[option.change.head]
        return Next(node.learner, node.state, option)

    def _move(self, states: Mapping[str, NodeState], *, look: bool = True) -> None:
        """Nodes in other states; ``look``: with their options there."""
        pairs = [(self.nodes[name].learner, state) for name, state in states.items()]
        seen = self._outlook.options(pairs) if look else [[] for _ in pairs]
        for (name, state), found in zip(states.items(), seen, strict=True):
            self._show(self.nodes[name], state, found)
        self._outlook.forget(states)

    def _show(self, node: _Node, state: NodeState, options: Sequence[Option]) -> None:
        self.trace.n_fits += sum(option.state is not None for option in options)
        node.move(state, options)

    def _note(self, change: Change) -> None:
        seconds = time.perf_counter() - self._began
        step = NetworkStep(str(change), self.score, seconds)
        self.trace.steps.append(step)
        self._latest.append(change.concerned)
        if step.score > self._best_score + ENOUGH:
            self._keep_as_best()
        if self.report is not None:
            self.report(step)

    def _keep_as_best(self) -> None:
        self._best_score = self.score
        self._best_step = len(self.trace.steps)
        self._best_states = {name: node.state for name, node in self.nodes.items()}

    def _since_best(self) -> int:
        return len(self.trace.steps) - self._best_step

    def _states_after(self, change: Change) -> dict[str, NodeState]:
        if change.verb == "turn":
            away = Change("remove", change.head, change.tail)
            back = Change("add", change.tail, change.head)
            return {**self._states_after(away), **self._states_after(back)}
        return {change.head: self._fit(change)}

    def _fit(self, change: Change) -> NodeState:
        self.trace.n_fits += 1
        node = self.nodes[change.head]
        return self._outlook.state(node.learner, node.state, change)

    # -- looking ------------------------------------------------------------------------------

    def _best(self) -> tuple[Option, ...] | None:
        """The best change, fitted; one that lowers the score where none raises it."""
        latest = set(self._latest) if self._since_best() else set()
        reach = _Reach(self.parents)
        while True:
            ranked = self._best_of_nodes(latest, reach)
            if not ranked:
                return None
            if _gain(ranked[0]) <= ENOUGH:
                # Estimates can be too low: those that are not hopeless are fitted too.
                hopeful = self._possible(latest, reach, above=-SLACK)
                waiting = [options for options in hopeful if not _is_fitted(options)]
                ranked = sorted(waiting, key=_gain, reverse=True) or ranked
            best = ranked[0]
            if _is_fitted(best):
                self._ranked = ranked[1:]
                return best
            for option in _unfitted(best):
                self._settle(option)

    def _settle(self, option: Option) -> None:
        node = self.nodes[option.change.head]
        option.state = self._fit(option.change)
        option.gain = option.state.score - node.state.score
        node.rank()

    def _best_of_nodes(
        self, latest: Collection[frozenset[str]], reach: "_Reach"
    ) -> list[tuple[Option, ...]]:
        """The best change of every node, and all arcs turned round, the best first."""
        found: list[tuple[Option, ...]] = []
        for head, node in self.nodes.items():
            found += islice(node.allowed(latest, reach.below(head)), 1)
            found += self._turns(head, latest, reach)
        found.sort(key=_gain, reverse=True)
        return found

    def _possible(
        self, latest: Collection[frozenset[str]], reach: "_Reach", above: float
    ) -> Iterator[tuple[Option, ...]]:
        """Changes with higher gains than ``above``, none of the latest ones, in a fixed order."""
        for head, node in self.nodes.items():
            for options in (
                *node.allowed(latest, reach.below(head)),
                *self._turns(head, latest, reach),
            ):
                if _gain(options) > above:
                    yield options

    def _turns(
        self, head: str, latest: Collection[frozenset[str]], reach: "_Reach"
    ) -> Iterator[tuple[Option, ...]]:
        """Arcs to a node that may be turned round."""
        node = self.nodes[head]
        for tail in node.state.parents:
            away = node.arcs.get(("remove", tail))
            back = self.nodes[tail].arcs.get(("add", head))
            if away is None or back is None or (latest and away.change.concerned in latest):
                continue
            if not reach.leads_round(tail, head):
                yield (away, back)


def _gain(options: tuple[Option, ...]) -> float:
    return options[0].gain if len(options) == 1 else options[0].gain + options[1].gain


def _is_fitted(options: tuple[Option, ...]) -> bool:
    return not _unfitted(options)


def _unfitted(options: tuple[Option, ...]) -> list[Option]:
    return [option for option in options if option.state is None]


class _Reach:
    """Which nodes lead to which, for one set of arcs."""

    def __init__(self, parents: Mapping[str, Sequence[str]]) -> None:
        self.parents, self._children = parents, children(parents)
        self._below: dict[str, set[str]] = {}

    def below(self, name: str) -> set[str]:
        """``name`` and all nodes that it leads to: the ancestors against the arcs."""
        if name not in self._below:
            self._below[name] = ancestral_set(self._children, [name])
        return self._below[name]

    def leads_round(self, start: str, end: str) -> bool:
        """Whether there is a path other than the arc itself."""
        below = self.below(start)
        return any(parent in below for parent in self.parents[end] if parent != start)
