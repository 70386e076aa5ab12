"""Sparse networks: greedy search over arcs and over the structures inside the nodes (§5, eq. 8–9).

The score of a network is the sum of its nodes', so a change concerns one node, or two where an arc
is turned round. All changes of a node are estimated at once; the most promising ones are fitted,
best first, until none that is only estimated could still be the best. After a change only the nodes
it touched are looked at again.

At a local maximum the search goes on for a few changes that lower the score least, without taking
back the latest ones (tabu search, Glover 1989), and returns to the best network if that leads
nowhere. Such a search often takes changes back, so the last node states that it left are kept with
their options, and need not be estimated again.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import islice, takewhile
from typing import NamedTuple

from ebnc.data.cases import Cases
from ebnc.kernels.parallel import in_parallel, one_blas_thread
from ebnc.network.learning.candidates import Option, all_options, fit_change
from ebnc.network.learning.changes import Change, NetworkStep, NetworkTrace
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.node_learner import NodeLearner, NodeState, Settings
from ebnc.network.model.graph import children

__all__ = ["SparseSearch"]

ENOUGH = 1e-6  # nats by which a change must raise the score
SLACK = 2.0  # a change is fitted where its estimate is above minus this
PATIENCE = 15  # changes that do not lead to a new best network before the search ends
TABU = 6  # latest changes that are not taken back at once
MOST_VISITED = 32  # node states that were left and are kept: about two for each step of PATIENCE


class _Visit(NamedTuple):
    """A state of a node, and its options there; none where they are not known yet."""

    state: NodeState
    options: Sequence[Option]


@dataclass
class _Node:
    learner: NodeLearner
    state: NodeState
    score: float = field(init=False)
    arcs: dict[tuple[str, str], Option] = field(default_factory=dict)
    """Options by verb and tail."""
    ranked: list[Option] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.score = self.state.score

    def move(self, visit: _Visit) -> None:
        """Another state, with the options there."""
        self.state, self.score = visit.state, visit.state.score
        self.arcs = {(option.change.verb, option.change.tail): option for option in visit.options}
        self.ranked = list(visit.options)
        self.rank()

    def rank(self) -> None:
        """Sort the options again, the best first; those with the same gain stay in their order."""
        self.ranked.sort(key=lambda option: -option.gain)

    def allowed(
        self, latest: Collection[frozenset[str]], reach: "_Reach", options: Sequence[Option]
    ) -> Iterator[tuple[Option]]:
        """Those of its options that close no cycle and are none of the latest changes."""
        leads_to = reach.below(self.learner.target)
        for option in options:
            change = option.change
            if change.verb == "add" and leads_to & reach.bits[change.tail]:
                continue
            if not latest or change.concerned not in latest:
                yield (option,)


class SparseSearch:
    """The state of a search; ``run`` climbs to a local maximum, ``apply`` repeats a known change.

    ``start``: the parents to begin with, the required ones unless given.
    ``report`` is called with every accepted step, ``record`` with every accepted change.
    """

    def __init__(
        self,
        cases: Cases,
        settings: Settings,
        constraints: Constraints,
        *,
        start: Mapping[str, Sequence[str]] | None = None,
        report: Callable[[NetworkStep], None] | None = None,
        record: Callable[[Change], None] | None = None,
    ) -> None:
        self.report, self.record = report, record
        self.trace = NetworkTrace()
        self._began = time.perf_counter()
        self._latest: deque[frozenset[str]] = deque(maxlen=TABU)
        self._visited: dict[Hashable, _Visit] = {}  # the latest is the last
        self._turned: dict[str, list[tuple[Option, ...]]] = {}
        self._constraints = constraints

        def begin(name: str) -> _Node:
            learner = NodeLearner.of(cases, name, settings, constraints)
            parents = constraints.required_parents(name) if start is None else start[name]
            return _Node(learner, learner.start([x for x in parents if x in learner.candidates]))

        names = cases.rows.names
        self.nodes = dict(zip(names, in_parallel(begin, names), strict=True))
        self.trace.n_fits += len(names)
        if start is not None:
            arcs = sum(len(node.state.parents) for node in self.nodes.values())
            self.trace.steps.append(NetworkStep(f"begin with {arcs} arcs", self.score, 0.0))
        self._keep_as_best()

    @property
    def score(self) -> float:
        """The score of the whole network."""
        return math.fsum(node.score for node in self.nodes.values())

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The arcs so far."""
        return {name: node.state.parents for name, node in self.nodes.items()}

    @one_blas_thread()
    def run(self, max_steps: int = 100_000) -> None:
        """Climb, and end at the best network that was met; Ctrl-C ends it too."""
        try:
            self._look()
            while self._since_best() < PATIENCE and len(self.trace.steps) < max_steps:
                best = self._best()
                if best is None:
                    break
                self._accept(best)
        except KeyboardInterrupt:
            self.trace.interrupted = True
        for name, state in self._best_states.items():
            self.nodes[name].move(_Visit(state, ()))
        del self.trace.steps[self._best_step :]

    def apply(self, change: Change) -> None:
        """Repeat a change that an earlier run accepted."""
        visits = {name: self._visit(name, x) for name, x in self._states_after(change).items()}
        for name, visit in visits.items():
            self._go_to(name, visit)
        self._note(change)

    # -- accepting ----------------------------------------------------------------------------

    def _accept(self, options: tuple[Option, ...]) -> None:
        visits = {}
        for option in options:
            assert option.state is not None
            head = option.change.head
            visits[head] = self._visit(head, option.state)
        if not self._would_end(visits):
            new = [name for name, visit in visits.items() if not visit.options]
            found = self._options([(name, visits[name].state) for name in new])
            visits |= {
                name: _Visit(visits[name].state, seen)
                for name, seen in zip(new, found, strict=True)
            }
        for name, visit in visits.items():
            self._go_to(name, visit)
        change = options[0].change
        if len(options) == 2:  # the arc that goes, and the one that comes instead
            change = Change("turn", options[0].change.head, options[0].change.tail)
        self._note(change)
        if self.record is not None:
            self.record(change)

    def _options(self, asked: Sequence[tuple[str, NodeState]]) -> list[list[Option]]:
        """The options of nodes in given states, on several threads."""

        def ask(one: tuple[str, NodeState]) -> list[Option]:
            name, state = one
            return all_options(self.nodes[name].learner, state, self._constraints)

        found = in_parallel(ask, asked)
        self.trace.n_fits += sum(option.state is not None for some in found for option in some)
        return found

    def _visit(self, name: str, state: NodeState) -> _Visit:
        """The same state as it was left, if it was visited lately: equal but for rounding."""
        return self._visited.get(_key(name, state)) or _Visit(state, ())

    def _would_end(self, visits: Mapping[str, _Visit]) -> bool:
        """Whether the search ends there, so that nobody asks what might come next."""
        scores = {name: node.score for name, node in self.nodes.items()}
        scores |= {name: visit.state.score for name, visit in visits.items()}
        is_best = math.fsum(scores.values()) > self._best_score + ENOUGH
        return self._since_best() + 1 >= PATIENCE and not is_best

    def _look(self) -> None:
        """See the options of all nodes."""
        found = self._options([(name, node.state) for name, node in self.nodes.items()])
        for node, options in zip(self.nodes.values(), found, strict=True):
            node.move(_Visit(node.state, options))

    def _go_to(self, head: str, visit: _Visit) -> None:
        node = self.nodes[head]
        key = _key(head, node.state)
        self._visited.pop(key, None)
        self._visited[key] = _Visit(node.state, node.ranked)
        if len(self._visited) > MOST_VISITED:
            del self._visited[next(iter(self._visited))]
        node.move(visit)
        for name, other in self.nodes.items():
            if name == head or head in other.state.parents:
                self._turned.pop(name, None)

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
        return fit_change(node.learner, node.state, change)

    # -- looking ------------------------------------------------------------------------------

    def _best(self) -> tuple[Option, ...] | None:
        """The best change, fitted; one that lowers the score where none raises it."""
        latest = set(self._latest) if self._since_best() else set()
        reach = _Reach(self.parents)
        while True:
            best = next(self._best_of_nodes(latest, reach), None)
            if best is None:
                return None
            if _gain(best) <= ENOUGH:
                # Estimates can be too low: those that are not hopeless are fitted too.
                best = max(self._hopeful(latest, reach), key=_gain, default=best)
            if _is_fitted(best):
                return best
            for option in _unfitted(best):
                self._settle(option)

    def _settle(self, option: Option) -> None:
        node = self.nodes[option.change.head]
        option.state = self._fit(option.change)
        option.gain = option.state.score - node.score
        node.rank()

    def _best_of_nodes(
        self, latest: Collection[frozenset[str]], reach: "_Reach"
    ) -> Iterator[tuple[Option, ...]]:
        """The best change of every node, and all arcs turned round, the best first.

        What is allowed is asked of a node only once no other change has a higher gain than all of
        its own.
        """
        waiting: list[tuple[float, int, int, _Node | tuple[Option, ...]]] = []
        for place, (head, node) in enumerate(self.nodes.items()):
            if node.ranked:
                waiting.append((-node.ranked[0].gain, place, 0, node))
            waiting += (
                (-_gain(turn), place, i, turn) for i, turn in enumerate(self._turns(head), 1)
            )
        heapify(waiting)
        while waiting:
            _, place, i, best = heappop(waiting)
            if isinstance(best, _Node):
                for options in islice(best.allowed(latest, reach, best.ranked), 1):
                    heappush(waiting, (-_gain(options), place, i, options))
            elif _may_turn(best, latest, reach):
                yield best

    def _hopeful(
        self, latest: Collection[frozenset[str]], reach: "_Reach"
    ) -> Iterator[tuple[Option, ...]]:
        """Changes that are not fitted and might raise the score, in a fixed order."""
        for head, node in self.nodes.items():
            estimated = takewhile(lambda option: option.gain > -SLACK, node.ranked)
            waiting = [option for option in estimated if option.state is None]
            yield from node.allowed(latest, reach, waiting)
            for options in self._turns(head):
                might_pay = _gain(options) > -SLACK and not _is_fitted(options)
                if might_pay and _may_turn(options, latest, reach):
                    yield options

    def _turns(self, head: str) -> list[tuple[Option, ...]]:
        """Arcs to a node turned round, whether that closes a cycle or not."""
        if head not in self._turned:
            node = self.nodes[head]
            found = self._turned[head] = []
            for tail in node.state.parents:
                away = node.arcs.get(("remove", tail))
                back = self.nodes[tail].arcs.get(("add", head))
                if away is not None and back is not None:
                    found.append((away, back))
        return self._turned[head]


def _key(name: str, state: NodeState) -> Hashable:
    structure = None if state.embedded is None else state.embedded.structure
    return name, frozenset(state.parents), structure


def _gain(options: tuple[Option, ...]) -> float:
    return options[0].gain if len(options) == 1 else options[0].gain + options[1].gain


def _may_turn(
    options: tuple[Option, ...], latest: Collection[frozenset[str]], reach: "_Reach"
) -> bool:
    """Whether an arc that is turned round closes no cycle and is none of the latest changes."""
    if len(options) == 1:
        return True
    change = options[0].change
    return change.concerned not in latest and not reach.leads_round(change.tail, change.head)


def _is_fitted(options: tuple[Option, ...]) -> bool:
    return not _unfitted(options)


def _unfitted(options: tuple[Option, ...]) -> list[Option]:
    return [option for option in options if option.state is None]


class _Reach:
    """Which nodes lead to which, for one set of arcs; sets of nodes are the bits of integers."""

    def __init__(self, parents: Mapping[str, Sequence[str]]) -> None:
        self.parents = parents
        self.bits = {name: 1 << i for i, name in enumerate(parents)}
        self._children = children(parents)
        self._below: dict[str, int] = {}

    def below(self, name: str) -> int:
        """``name`` and all nodes that it leads to."""
        waiting = [name]
        while waiting:
            last = waiting[-1]
            unknown = [child for child in self._children[last] if child not in self._below]
            waiting += unknown
            if not unknown:
                found = self.bits[waiting.pop()]
                for child in self._children[last]:
                    found |= self._below[child]
                self._below[last] = found
        return self._below[name]

    def leads_round(self, start: str, end: str) -> bool:
        """Whether there is a path other than the arc itself."""
        below = self.below(start)
        return any(below & self.bits[parent] for parent in self.parents[end] if parent != start)
