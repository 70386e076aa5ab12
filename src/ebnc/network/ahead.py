"""What changes of nodes lead to, by a team; also of changes that have not been made yet.

The next changes of a search are mostly those that were the next best before, of other nodes. The
node after a change and its options there depend on that node alone, so others work them out
meanwhile, and so does the caller where it would wait. What is not asked for is forgotten: the
search takes the same steps whatever the number of workers.
"""

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from itertools import islice
from threading import RLock
from typing import Any, NamedTuple

from ebnc.network.changes import Change
from ebnc.network.constraints import Constraints
from ebnc.network.graph import Parents, ancestral_set
from ebnc.network.nodes import NodeLearner, NodeState, Settings
from ebnc.network.options import (
    Option,
    Side,
    join_sides,
    look_ahead,
    look_at_sides,
    sides,
    work_of_fit,
)
from ebnc.search.side_by_side import SideBySide

__all__ = ["Ahead", "Next", "that_go_together"]

ENOUGH = 4e6  # nanoseconds of work that each of the others has at hand: it need not wait for more
SHORT = 2e6  # nanoseconds of sides that are not looked at apart
LIKELY = 3  # changes for every worker that may be looked at before they are made


class Next(NamedTuple):
    """A change that is made, or may be: of a node in a state, and what is known of it."""

    learner: NodeLearner
    state: NodeState
    option: Option


class _Job:
    """A function of the cases, done by whoever comes first; ``work``: about its nanoseconds."""

    def __init__(
        self, team: SideBySide, work: float, function: Callable[..., Any], *given: Any
    ) -> None:
        self._team, self.work, self._what = team, work, (function, *given)
        self._prepared = team.prepared(function, *given)
        self._future: Future[bytes] | None = None
        self._result: Any = None
        self._error: Exception | None = None

    @property
    def is_on_its_way(self) -> bool:
        """Whether another is still busy with it."""
        return self._future is not None and not self._future.done()

    @property
    def has_failed(self) -> bool:
        """Whether it could not be done, once it is not on its way any more."""
        future = self._future  # the caller may fetch the result meanwhile
        if future is None or future.cancelled():
            return self._error is not None
        return future.exception() is not None

    def begin(self, when_done: Callable[["_Job"], None]) -> None:
        """By another."""
        self._future = self._team.begin(self._prepared)
        self._future.add_done_callback(lambda _: when_done(self))

    def do(self, others_rest: Callable[[], bool] = lambda: False) -> None:
        """By the caller, who need not hear of an error: perhaps nobody wants the result."""
        try:
            self._result = self._team.here(others_rest, *self._what)
        except Exception as error:
            self._error = error

    def result(self) -> Any:
        """Of a job that was done or begun."""
        if self._error is not None:
            raise self._error
        if self._future is not None:
            self._result, self._future = pickle.loads(self._future.result()), None
        return self._result

    def cancel(self) -> None:
        if self._future is not None:
            self._future.cancel()


class Ahead:
    """Jobs by change, done or begun; each holds as long as its node does not change."""

    def __init__(self, team: SideBySide, settings: Settings, constraints: Constraints) -> None:
        self._team, self._how, self._constraints = team, (settings, constraints), constraints
        self._n_others = team.n_workers - team.takes_part
        self._jobs: dict[Change, _Job] = {}
        self._lock = RLock()  # those who are done take the next job on a thread of their own
        self._urgent: deque[_Job] = deque()
        self._likely: deque[tuple[Change, _Job]] = deque()
        self._at_hand = 0.0  # nanoseconds
        self._n_begun = 0

    def state(self, change: Change) -> NodeState | None:
        """The node after a change, where it is known by now."""
        job = self._jobs.get(change)
        if job is None or job.is_on_its_way or job.has_failed:
            return None
        state: NodeState = job.result()[0]
        return state

    def options(self, wanted: Sequence[Next], likely: Iterable[Next]) -> list[list[Option]]:
        """The options after changes that are made; ``likely``: what may come next, best first."""
        with self._lock:
            self._likely.clear()
        new = [each for each in wanted if each.option.change not in self._jobs]
        looks = {each.option.change: self._look(each) for each in new}
        unknown = (each for each in likely if each.option.change not in self._jobs)
        soon = islice(unknown, LIKELY * self._n_others)
        self._likely = deque((each.option.change, self._whole(each)) for each in soon)
        pieces = [job for look in looks.values() for _, job in look]
        pieces.sort(key=lambda job: -job.work)
        changes = [each.option.change for each in wanted]
        self._share(pieces, [self._jobs[change] for change in changes if change not in looks])
        found = []
        for learner, _, option in wanted:
            change = option.change
            if change in looks:
                parts = [zip(piece, job.result(), strict=True) for piece, job in looks[change]]
                seen = [each for part in parts for each in part]
                assert option.state is not None
                found.append(join_sides(learner, option.state, seen))
            else:
                found.append(self._jobs[change].result()[1])
        return found

    def forget(self, names: Iterable[str]) -> None:
        """Nodes that have changed."""
        gone = set(names)
        with self._lock:
            for change in [change for change in self._jobs if change.head in gone]:
                self._jobs.pop(change).cancel()
            self._urgent.clear()  # left over if the caller was interrupted
            self._likely = deque(each for each in self._likely if each[0].head not in gone)

    def end(self) -> None:
        """Nothing more is wanted: what others have not begun they leave."""
        with self._lock:
            self._urgent.clear()
            self._likely.clear()
            for job in self._jobs.values():
                job.cancel()
            self._jobs.clear()

    # -- jobs -----------------------------------------------------------------------------------

    def _look(self, each: Next) -> list[tuple[list[Side], _Job]]:
        """Jobs for all sides of a node after a change, short ones together."""
        learner, _, option = each
        assert option.state is not None
        pieces: list[list[Side]] = [[]]
        for side in sides(learner, option.state, self._constraints):
            if _work(pieces[-1]) > SHORT:
                pieces.append([])
            pieces[-1].append(side)
        return [
            (
                piece,
                self._job(
                    _work(piece),
                    look_at_sides,
                    [(learner.target, option.state, side) for side in piece],
                ),
            )
            for piece in pieces
        ]

    def _whole(self, each: Next) -> _Job:
        """One job for all sides, and for fitting the change if that is not done."""
        learner, state, option = each
        work = _work(sides(learner, option.state or state, self._constraints))
        if option.state is None:
            work += work_of_fit(learner.settings, len(learner.cases), len(state.parents))
        return self._job(work, look_ahead, state, option.change, option.state)

    def _job(self, work: float, function: Callable[..., Any], *given: Any) -> _Job:
        return _Job(self._team, work, function, *self._how, *given)

    # -- who does them --------------------------------------------------------------------------

    def _share(self, jobs: Sequence[_Job], begun: Sequence[_Job]) -> None:
        """All jobs, and what is likely while others are busy with these or with ``begun``."""
        with self._lock:
            self._urgent.extend(jobs[1:])
            self._hand_out()
        if jobs:
            jobs[0].do(self._others_rest)
        while True:
            busy = [job.work for job in (*jobs, *begun) if job.is_on_its_way]
            change = None
            with self._lock:
                if self._urgent:
                    job = self._urgent.popleft()
                elif self._likely and self._likely[0][1].work < 2 * max(busy, default=0.0):
                    change, job = self._likely.popleft()
                else:
                    return
            job.do(self._others_rest)
            if change is not None:
                self._jobs[change] = job

    def _others_rest(self) -> bool:
        return self._n_begun == 0

    def _hand_out(self) -> None:
        """To others what they can do soon."""
        if not self._team.is_ready:
            return
        while self._at_hand < ENOUGH * self._n_others and (self._urgent or self._likely):
            change, job = (None, self._urgent.popleft()) if self._urgent else self._likely.popleft()
            self._at_hand += job.work
            self._n_begun += 1
            job.begin(self._go_on)
            if change is not None:  # not before: whoever finds it may ask for its result
                self._jobs[change] = job

    def _go_on(self, job: _Job) -> None:
        with self._lock:
            self._at_hand -= job.work
            self._n_begun -= 1
            if not job.has_failed:  # the caller will hear of it
                self._hand_out()


def _work(some: Iterable[Side]) -> float:
    return sum(side.work for side in some)


def that_go_together(
    parents: Parents, ranked: Iterable[tuple[Option, ...]]
) -> Iterator[tuple[Option, ...]]:
    """Changes, the best first, that can all be made: no node twice, and no cycle."""
    now = {name: tuple(given) for name, given in parents.items()}
    touched: set[str] = set()
    for options in ranked:
        changes = [option.change for option in options]
        if not touched.isdisjoint(change.head for change in changes):
            continue
        after = dict(now)
        for change in changes:
            rest = tuple(x for x in after[change.head] if x != change.tail)
            if change.verb != "refine":
                after[change.head] = (*rest, change.tail) if change.verb == "add" else rest
        added = [change for change in changes if change.verb == "add"]
        if any(change.head in ancestral_set(after, [change.tail]) for change in added):
            continue
        now = after
        touched.update(change.head for change in changes)
        yield options
