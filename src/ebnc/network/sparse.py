"""Sparse networks: greedy search over arcs and over the structures inside the nodes (§5, eq. 8–9).

The score of a network is the sum of its nodes', so a change concerns one node, or two where an arc
is turned round. All changes of a node are estimated at once; the most promising ones are fitted,
best first, until none that is only estimated could still be the best. After a change only the nodes
it touched are looked at again.

At a local maximum the search goes on for a few changes that lower the score least, without taking
back the latest ones (tabu search, Glover 1989), and returns to the best network if that leads
nowhere.

With several workers (joblib) what will probably be needed next is worked out side by side.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ebnc.data.cases import Cases
from ebnc.network.ahead import Ahead, that_go_together
from ebnc.network.changes import Change, NetworkStep, NetworkTrace
from ebnc.network.constraints import Constraints
from ebnc.network.graph import ancestral_set, children
from ebnc.network.nodes import NodeLearner, NodeState, Settings
from ebnc.network.options import Option
from ebnc.search.side_by_side import SideBySide

__all__ = ["SparseSearch"]

ENOUGH = 1e-6  # nats by which a change must raise the score
SLACK = 2.0  # a change is fitted where its estimate is above minus this
PATIENCE = 15  # changes that do not lead to a new best network before the search ends
TABU = 6  # latest changes that are not taken back at once


@dataclass
class _Node:
    learner: NodeLearner
    state: NodeState
    options: dict[Change, Option] = field(default_factory=dict)


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
        self.nodes: dict[str, _Node] = {}
        for name in cases.rows.names:
            learner = NodeLearner.of(cases, name, settings, constraints)
            parents = constraints.required_parents(name) if start is None else start[name]
            there = [x for x in parents if x in learner.candidates]
            self.nodes[name] = _Node(learner, learner.start(there))
            self.trace.n_fits += 1
        if start is not None:
            arcs = sum(len(node.state.parents) for node in self.nodes.values())
            self.trace.steps.append(NetworkStep(f"begin with {arcs} arcs", self.score, 0.0))
        self._states = {name: node.state for name, node in self.nodes.items()}
        self._ahead = Ahead(settings, constraints, self._states, team)
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
            learners = [node.learner for node in self.nodes.values()]
            found = self._ahead.all_options(learners)
            self._move(self._states, dict(zip(self.nodes, found, strict=True)))
            while self._since_best() < PATIENCE and len(self.trace.steps) < max_steps:
                best = self._best()
                if best is None:
                    break
                self._accept(best)
        except KeyboardInterrupt:
            self.trace.interrupted = True
        self._move(self._best_states, {})
        del self.trace.steps[self._best_step :]

    def apply(self, change: Change) -> None:
        """Repeat a change that an earlier run accepted."""
        self._move(self._states_after(change), {})
        self._note(change)

    # -- accepting ----------------------------------------------------------------------------

    def _accept(self, options: tuple[Option, ...]) -> None:
        self._ahead.prepare_options(options, self._likely_after(options))
        states, found = {}, {}
        for option in options:
            assert option.state is not None
            head = option.change.head
            states[head] = option.state
            found[head] = self._ahead.options(self.nodes[head].learner, option)
        self._move(states, found)
        change = options[0].change
        if len(options) == 2:  # the arc that goes, and the one that comes instead
            change = Change("turn", options[0].change.head, options[0].change.tail)
        self._note(change)
        if self.record is not None:
            self.record(change)

    def _move(
        self, states: Mapping[str, NodeState], options: Mapping[str, Sequence[Option]]
    ) -> None:
        """Nodes in other states, with their options there."""
        for name, state in states.items():
            found = options.get(name, ())
            self.trace.n_fits += sum(option.state is not None for option in found)
            node = self.nodes[name]
            node.state, node.options = state, {option.change: option for option in found}
        self._states.update(states)
        self._ahead.forget(states)

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
        return self._ahead.state(self.nodes[change.head].learner, change)

    # -- looking ------------------------------------------------------------------------------

    def _best(self) -> tuple[Option, ...] | None:
        """The best change, fitted; one that lowers the score where none raises it."""
        possible = list(self._possible())
        if not possible:
            return None
        while True:
            best = max(possible, key=_gain)
            if _gain(best) <= ENOUGH:
                # Estimates can be too low: those that are not hopeless are fitted too.
                waiting = [o for o in possible if _gain(o) > -SLACK and not _is_fitted(o)]
                waiting.sort(key=_gain, reverse=True)
                self._ahead.prepare_fits([o for options in waiting for o in _unfitted(options)])
                best = waiting[0] if waiting else best
            elif not _is_fitted(best):
                self._ahead.prepare_options(best, self._likely_after(best))
            if _is_fitted(best):
                return best
            for option in _unfitted(best):
                self._settle(option)

    def _likely_after(self, options: tuple[Option, ...]) -> Iterator[Option]:
        """What may be accepted after these: the best changes that can be made beside them."""
        rising = [o for o in self._possible() if _gain(o) > ENOUGH]
        ranked = sorted(rising, key=_gain, reverse=True)
        for more in that_go_together(self.parents, (options, *ranked)):
            yield from more

    def _settle(self, option: Option) -> None:
        option.state = self._fit(option.change)
        option.gain = option.state.score - self.nodes[option.change.head].state.score

    def _possible(self) -> Iterator[tuple[Option, ...]]:
        """Changes that keep the network acyclic, none of the latest ones, in a fixed order."""
        latest = set(self._latest) if self._since_best() else set()
        reach = _Reach(self.parents)
        for head, node in self.nodes.items():
            below = reach.below(head)
            for change, option in node.options.items():
                if latest and change.concerned in latest:
                    continue
                if change.verb != "add" or change.tail not in below:
                    yield (option,)
            for tail in node.state.parents:
                away = node.options.get(Change("remove", head, tail))
                back = self.nodes[tail].options.get(Change("add", tail, head))
                if away is None or back is None or away.change.concerned in latest:
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
