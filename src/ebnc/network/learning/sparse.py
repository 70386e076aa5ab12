"""Sparse networks: greedy search over arcs and over the structures inside the nodes (§5, eq. 8–9).

The score of a network is the sum over its nodes, so a change affects one node, or two if an arc is
reversed. The gains of all changes of a node are estimated together. The most promising changes are
fitted, best first, until no estimate exceeds the best fitted gain. After a change, only the nodes
that it affected are estimated again.

At a local maximum the search continues with the changes that lower the score least, without undoing
the latest ones (tabu search, Glover 1989), and returns to the best network if it finds no better
one. Such a search often undoes changes, so a cache holds the last node states with their
candidates.
"""

import heapq
import math
import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import TypeAlias

from ebnc.data.cases import Cases
from ebnc.network.learning.candidates import (
    Candidate,
    all_candidates,
    fit_candidate,
    fit_change,
)
from ebnc.network.learning.changes import Change, NetworkStep, NetworkTrace
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.node_learner import NodeLearner
from ebnc.network.local.local import Local
from ebnc.network.local.node import NodeState, Settings
from ebnc.network.model.graph import Reachability
from ebnc.threads import OutOfTimeError, in_parallel, one_blas_thread

ENOUGH = 1e-6  # minimum rise of the score, in nats, for a change
SLACK = 2.0  # at a maximum, changes with an estimated gain above −SLACK are still fitted
PATIENCE = 15  # the search ends after so many changes without a new best network
TABU = 6  # number of latest changes that must not be undone
MOST_VISITED = 32  # size of the cache of node states: about two per step of PATIENCE

Move: TypeAlias = tuple[Candidate, ...]
"""One step: one change, or the two changes that reverse an arc."""


@dataclass(frozen=True, eq=False)
class Position:
    """A node in one state, with its candidates, best first (None until they are computed)."""

    state: NodeState
    candidates: tuple[Candidate, ...] | None = None

    def with_candidates(self, candidates: Sequence[Candidate]) -> "Position":
        """Return the position with these candidates, sorted by gain (stable)."""
        ranked = sorted(candidates, key=lambda candidate: -candidate.gain)
        return replace(self, candidates=tuple(ranked))

    @cached_property
    def arcs(self) -> dict[tuple[str, str], Candidate]:
        """Candidates by verb and tail."""
        return {(x.change.verb, x.change.tail): x for x in self.candidates or ()}


class SparseSearch:
    """The state of a search; ``run`` climbs to a local maximum, ``apply`` repeats a known change.

    ``start``: the first parents of each node; by default, the required ones.
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
        most_visited: int = MOST_VISITED,
    ) -> None:
        names = cases.rows.names
        self.report, self.record = report, record
        self.trace = NetworkTrace()
        self.learners = {
            x: NodeLearner(cases, x, settings, constraints.required_parents(x)) for x in names
        }
        self._constraints, self._most_visited = constraints, most_visited
        self._began = time.perf_counter()
        self._latest: deque[frozenset[str]] = deque(maxlen=TABU)
        self._visited: dict[Hashable, Position] = {}  # cache of positions, oldest first

        def begin(name: str) -> Position:
            learner = self.learners[name]
            parents = constraints.required_parents(name) if start is None else start[name]
            return Position(learner.learn([x for x in parents if x in learner.node.candidates]))

        self.positions = dict(zip(names, in_parallel(begin, names), strict=True))
        self.trace.n_fits += len(names)
        if start is not None:
            n_arcs = sum(map(len, self.parents.values()))
            self.trace.steps.append(NetworkStep(f"begin with {n_arcs} arcs", self.score, 0.0))
        self._keep_as_best()

    @property
    def score(self) -> float:
        """The score of the whole network."""
        return math.fsum(self.scores.values())

    @property
    def scores(self) -> dict[str, float]:
        """The score of every node."""
        return {name: position.state.score for name, position in self.positions.items()}

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The parents of every node."""
        return {name: position.state.parents for name, position in self.positions.items()}

    def locals(self) -> list[Local]:
        """Return the best local distribution of every node."""
        return [self.learners[x].local(position.state) for x, position in self.positions.items()]

    @one_blas_thread()
    def run(self) -> None:
        """Climb, and end at the best network that was visited.

        Ctrl-C and the end of the time of ``limit_time`` also end the search.
        """
        try:
            while self._n_since_best < PATIENCE:
                self._find_candidates()
                move = self._best_move()
                if move is None:
                    break
                self._accept(move)
        except (KeyboardInterrupt, OutOfTimeError):
            self.trace.interrupted = True
        self.positions = self._best
        del self.trace.steps[self._best_step :]

    def apply(self, change: Change) -> None:
        """Repeat a change that an earlier run accepted."""
        changes = [change]
        if change.verb == "turn":
            back = Change("add", change.tail, change.head)
            changes = [Change("remove", change.head, change.tail), back]
        after = {
            x.head: fit_change(self.learners[x.head], self.positions[x.head].state, x)
            for x in changes
        }
        self.trace.n_fits += len(changes)
        self._move_to(after, change)

    # -- one step -----------------------------------------------------------------------------

    def _find_candidates(self) -> None:
        """Compute the candidates of all nodes that have changed, on several threads."""
        new = [name for name, x in self.positions.items() if x.candidates is None]
        by_node = in_parallel(
            lambda name: all_candidates(
                self.learners[name], self.positions[name].state, self._constraints
            ),
            new,
        )
        for name, candidates in zip(new, by_node, strict=True):
            self.positions[name] = self.positions[name].with_candidates(candidates)
            self.trace.n_fits += sum(not candidate.is_estimate for candidate in candidates)

    def _best_move(self) -> Move | None:
        """Return the best move, fitted; it lowers the score if no move raises it."""
        tabu = set(self._latest) if self._n_since_best else set()
        reach = Reachability(self.parents)
        while True:
            allowed = (move for move in self._moves() if _is_allowed(move, tabu, reach))
            best = next(allowed, None)
            if best is None:
                return None
            if _gain(best) <= ENOUGH and not _is_estimate(best):
                # Estimates can be too low, so promising ones are fitted before the search stops.
                hopeful = takewhile(lambda move: _gain(move) > -SLACK, allowed)
                best = next(filter(_is_estimate, hopeful), best)
            if not _is_estimate(best):
                return best
            for candidate in best:
                if candidate.is_estimate:
                    self._fit(candidate)

    def _moves(self) -> Iterator[Move]:
        """Return all moves, allowed or not, best first; ties go to the first node."""
        ranked: list[Iterable[Move]] = []
        for head, position in self.positions.items():
            ranked.append((candidate,) for candidate in position.candidates or ())
            ranked += ((turn,) for turn in self._reversals(head))
        return heapq.merge(*ranked, key=lambda move: -_gain(move))

    def _reversals(self, head: str) -> Iterator[Move]:
        """Yield the reversals of the arcs to a node."""
        position = self.positions[head]
        for tail in position.state.parents:
            away = position.arcs.get(("remove", tail))
            back = self.positions[tail].arcs.get(("add", head))
            if away is not None and back is not None:
                yield away, back

    def _fit(self, candidate: Candidate) -> None:
        """Fit a candidate and replace its estimate."""
        head = candidate.change.head
        position = self.positions[head]
        fitted = fit_candidate(self.learners[head], position.state, candidate)
        self.trace.n_fits += 1
        self.positions[head] = position.with_candidates(
            [fitted if x is candidate else x for x in position.candidates or ()]
        )

    def _accept(self, move: Move) -> None:
        change = move[0].change
        if len(move) == 2:  # the removed arc, and the reversed one
            change = Change("turn", change.head, change.tail)
        self._move_to({x.change.head: self._state_after(x) for x in move}, change)
        if self.record is not None:
            self.record(change)

    def _state_after(self, candidate: Candidate) -> NodeState:
        head = candidate.change.head
        return candidate.state or fit_change(
            self.learners[head], self.positions[head].state, candidate.change
        )

    def _move_to(self, states: Mapping[str, NodeState], change: Change) -> None:
        """Move nodes to these states; positions that were visited lately come from the cache."""
        arrived = {x: self._visited.get(_key(x, s), Position(s)) for x, s in states.items()}
        for name, position in arrived.items():
            key = _key(name, self.positions[name].state)
            self._visited.pop(key, None)
            self._visited[key] = self.positions[name]
            if len(self._visited) > self._most_visited:
                del self._visited[next(iter(self._visited))]
            self.positions[name] = position
        step = NetworkStep(str(change), self.score, time.perf_counter() - self._began)
        self.trace.steps.append(step)
        self._latest.append(change.nodes)
        if step.score > self._best_score + ENOUGH:
            self._keep_as_best()
        if self.report is not None:
            self.report(step)

    def _keep_as_best(self) -> None:
        self._best, self._best_score = dict(self.positions), self.score
        self._best_step = len(self.trace.steps)

    @property
    def _n_since_best(self) -> int:
        return len(self.trace.steps) - self._best_step


def _key(name: str, state: NodeState) -> Hashable:
    fit = state.fits.get("ebnc")
    return name, frozenset(state.parents), None if fit is None else fit.model.structure


def _gain(move: Move) -> float:
    return move[0].gain if len(move) == 1 else move[0].gain + move[1].gain


def _is_estimate(move: Move) -> bool:
    return any(candidate.is_estimate for candidate in move)


def _is_allowed(move: Move, tabu: Collection[frozenset[str]], reach: Reachability) -> bool:
    """Return True if a move closes no cycle and does not undo one of the latest changes."""
    change = move[0].change
    if tabu and change.nodes in tabu:
        return False
    if len(move) == 2:
        return not reach.leads_round(change.tail, change.head)
    return change.verb != "add" or not reach.leads_to(change.head, change.tail)
