"""Sparse networks: greedy search over arcs and over the structures inside the nodes (§5, eq. 8–9).

The score of a network is the sum of its nodes', so a change concerns one node, or two where an arc
is turned round. All changes of a node are estimated at once; the most promising ones are fitted,
best first, until none that is only estimated could still be the best. After a change only the nodes
it touched are looked at again.

At a local maximum the search goes on for a few changes that lower the score least, without taking
back the latest ones (tabu search, Glover 1989), and returns to the best network if that leads
nowhere.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from joblib import Parallel, delayed

from ebnc.network.changes import Change, NetworkStep, NetworkTrace
from ebnc.network.constraints import Constraints
from ebnc.network.graph import ancestral_set
from ebnc.network.nodes import NodeLearner, NodeState
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["SparseSearch"]

ENOUGH = 1e-6  # nats by which a change must raise the score
SLACK = 2.0  # a change is fitted where its estimate is above minus this
FITTED_AT_ONCE = 4  # refinements of a node that are looked at; others wait for its next change
PATIENCE = 15  # changes that do not lead to a new best network before the search ends
TABU = 6  # latest changes that are not taken back at once


@dataclass
class _Option:
    """A change of one node: its gain, estimated until ``state`` is fitted."""

    change: Change
    gain: float
    state: NodeState | None = None


@dataclass
class _Node:
    learner: NodeLearner
    state: NodeState
    options: dict[str, _Option] = field(default_factory=dict)


class SparseSearch:
    """The state of a search; ``run`` climbs to a local maximum, ``apply`` repeats a known change.

    ``report`` is called with every accepted step, ``record`` with every accepted change.
    """

    def __init__(
        self,
        learners: Mapping[str, NodeLearner],
        constraints: Constraints,
        *,
        n_jobs: int | None = None,
        report: Callable[[NetworkStep], None] | None = None,
        record: Callable[[Change], None] | None = None,
    ) -> None:
        self.constraints, self.n_jobs = constraints, n_jobs
        self.report, self.record = report, record
        self.trace = NetworkTrace()
        self._began = time.perf_counter()
        self._latest: deque[frozenset[str]] = deque(maxlen=TABU)
        self.nodes: dict[str, _Node] = {}
        for name, learner in learners.items():
            parents = [x for x in constraints.required_parents(name) if x in learner.candidates]
            self.nodes[name] = _Node(learner, learner.start(parents))
            self.trace.n_fits += 1
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
            self._look(list(self.nodes))
            while self._since_best() < PATIENCE and len(self.trace.steps) < max_steps:
                found = self._best()
                if found is None:
                    break
                self._accept(found)
        except KeyboardInterrupt:
            self.trace.interrupted = True
        for name, state in self._best_states.items():
            self.nodes[name].state = state
        del self.trace.steps[self._best_step :]

    def apply(self, change: Change) -> None:
        """Repeat a change that an earlier run accepted."""
        for name, state in self._states_after(change).items():
            self.nodes[name].state = state
        self._note(change)

    # -- accepting ----------------------------------------------------------------------------

    def _accept(self, options: Sequence[_Option]) -> None:
        touched = []
        for option in options:
            assert option.state is not None
            self.nodes[option.change.head].state = option.state
            touched.append(option.change.head)
        change = options[0].change
        if len(options) == 2:  # the arc that goes, and the one that comes instead
            change = Change("turn", options[0].change.head, options[0].change.tail)
        self._note(change)
        if self.record is not None:
            self.record(change)
        self._look(touched)

    def _note(self, change: Change) -> None:
        seconds = time.perf_counter() - self._began
        step = NetworkStep(str(change), self.score, seconds)
        self.trace.steps.append(step)
        self._latest.append(_concerned(change))
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
        node = self.nodes[change.head]
        self.trace.n_fits += 1
        if change.verb == "add":
            return node.learner.with_parent(node.state, change.tail)
        if change.verb == "remove":
            return node.learner.without_parent(node.state, change.tail)
        structure = EmbeddedStructure(change.head, change.families)
        return node.learner.refined(node.state, structure)

    # -- looking ------------------------------------------------------------------------------

    def _look(self, names: Sequence[str]) -> None:
        """Estimate all changes of these nodes anew."""
        found = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._estimates)(self.nodes[name]) for name in names
        )
        for name, options in zip(names, found, strict=True):
            self.nodes[name].options = {_key(option.change): option for option in options}

    def _estimates(self, node: _Node) -> list[_Option]:
        learner, state, target = node.learner, node.state, node.learner.target
        if learner.is_constant:
            return []
        options = []
        if len(state.parents) < self.constraints.max_parents:
            open_to = [
                x
                for x in learner.candidates
                if x not in state.parents and self.constraints.allows(x, target)
            ]
            gains = learner.addition_gains(state, open_to)
            options += [_Option(Change("add", target, x), gain) for x, gain in gains.items()]
        required = self.constraints.required_parents(target)
        for x in state.parents:
            if x not in required:
                change = Change("remove", target, x)
                there = self._fit(change)
                options.append(_Option(change, there.score - state.score, there))
        refinements = learner.refinements(state)
        for i, (gain, move) in enumerate(refinements[:FITTED_AT_ONCE]):
            change = Change("refine", target, str(i), move.structure.families)
            options.append(_Option(change, gain))
        return options

    def _best(self) -> tuple[_Option, ...] | None:
        """The best change, fitted; one that lowers the score where none raises it."""
        reach = _Reach(self.parents)
        while True:
            possible = list(self._possible(reach))
            if not possible:
                return None
            best = max(possible, key=_gain)
            if _gain(best) <= ENOUGH:
                # Estimates can be too low: those that are not hopeless are fitted too.
                waiting = [options for options in possible if _gain(options) > -SLACK]
                best = max((o for o in waiting if not _is_fitted(o)), key=_gain, default=best)
            if _is_fitted(best):
                return best
            for option in best:
                if option.state is None:
                    self._settle(option)

    def _settle(self, option: _Option) -> None:
        option.state = self._fit(option.change)
        option.gain = option.state.score - self.nodes[option.change.head].state.score

    def _possible(self, reach: "_Reach") -> Iterator[tuple[_Option, ...]]:
        """Changes that keep the network acyclic, none of the latest ones, in a fixed order."""
        latest = set(self._latest) if self._since_best() else set()
        for head, node in self.nodes.items():
            for option in node.options.values():
                tail = option.change.tail
                if _concerned(option.change) in latest:
                    continue
                if option.change.verb != "add" or not reach.leads(head, tail):
                    yield (option,)
            for tail in node.state.parents:
                away = node.options.get(f"remove {tail} → {head}")
                back = self.nodes[tail].options.get(f"add {head} → {tail}")
                if away is None or back is None or _concerned(away.change) in latest:
                    continue
                if not reach.leads_round(tail, head):
                    yield (away, back)


def _gain(options: tuple[_Option, ...]) -> float:
    return sum(option.gain for option in options)


def _is_fitted(options: tuple[_Option, ...]) -> bool:
    return all(option.state is not None for option in options)


def _key(change: Change) -> str:
    """Different for all changes of a node; refinements print alike."""
    return f"{change} {change.tail}" if change.verb == "refine" else str(change)


def _concerned(change: Change) -> frozenset[str]:
    """The nodes of an arc, whichever way it points, or the node that is refined."""
    return frozenset([change.head] if change.verb == "refine" else [change.head, change.tail])


class _Reach:
    """Which nodes lead to which, for one set of arcs."""

    def __init__(self, parents: Mapping[str, Sequence[str]]) -> None:
        self.parents = parents
        self._above: dict[str, set[str]] = {}

    def leads(self, start: str, end: str) -> bool:
        """Whether there is a path from ``start`` to ``end``."""
        return start in self._ancestors(end)

    def leads_round(self, start: str, end: str) -> bool:
        """Whether there is a path other than the arc itself."""
        return any(
            start in self._ancestors(parent) for parent in self.parents[end] if parent != start
        )

    def _ancestors(self, name: str) -> set[str]:
        if name not in self._above:
            self._above[name] = ancestral_set(self.parents, [name])
        return self._above[name]
