"""Fits and options of nodes, worked out when they are asked for or, by a team, before.

What a change leads to depends on its node alone, not on when it is worked out. So workers that
would wait work out what will probably be asked for next; what is not asked for is forgotten, and
the search takes the same steps whatever the number of workers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from joblib import effective_n_jobs

from ebnc.data.cases import Cases
from ebnc.network.changes import Change
from ebnc.network.constraints import Constraints
from ebnc.network.graph import Parents, ancestral_set
from ebnc.network.nodes import NodeLearner, NodeState, Settings
from ebnc.network.options import ALL, HALVES, Option, fit_change, look, work_out
from ebnc.search.side_by_side import SideBySide

__all__ = ["Ahead", "gather_team", "that_go_together"]

FOR_EVERY_WORKER = 3  # jobs at once: several even out their lengths
FITS_FOR_EVERY_WORKER = 8  # fits alone are short

_Job = tuple[str, NodeState, Change | None, tuple[str, ...]]


@dataclass
class _Known:
    """What is known of a change: the node after it, and its options there."""

    state: NodeState
    options: list[Option] | None = None


def gather_team(cases: Cases, n_jobs: int | None) -> SideBySide | None:
    """Workers that hold the cases; None where one would work alone."""
    return None if effective_n_jobs(n_jobs) == 1 else SideBySide(cases, n_jobs)


class Ahead:
    """``states``: of all nodes, as they stand; the caller keeps them up to date."""

    def __init__(
        self,
        settings: Settings,
        constraints: Constraints,
        states: Mapping[str, NodeState],
        team: SideBySide | None,
    ) -> None:
        self.constraints, self.states = constraints, states
        self._how = (settings, constraints)
        self._team = team
        self._known: dict[Change, _Known] = {}

    def state(self, learner: NodeLearner, change: Change) -> NodeState:
        """The node after a change."""
        known = self._known.get(change)
        if known is not None:
            return known.state
        return fit_change(learner, self.states[change.head], change)

    def options(self, learner: NodeLearner, option: Option) -> list[Option]:
        """The options after a change that is fitted."""
        known = self._known.get(option.change)
        if known is not None and known.options is not None:
            return known.options
        assert option.state is not None
        return look(learner, option.state, self.constraints)

    def all_options(self, learners: Sequence[NodeLearner]) -> list[list[Option]]:
        """The options of nodes as they stand."""
        states = [self.states[learner.target] for learner in learners]
        if self._team is None:
            pairs = zip(learners, states, strict=True)
            return [look(learner, state, self.constraints) for learner, state in pairs]
        jobs = [(x.target, state, None, ALL) for x, state in zip(learners, states, strict=True)]
        return [options for _, options in self._work_out(jobs)]

    def forget(self, names: Iterable[str]) -> None:
        """Nodes that have changed."""
        gone = set(names)
        self._known = {c: known for c, known in self._known.items() if c.head not in gone}

    # -- before it is asked for -----------------------------------------------------------------

    def prepare_fits(self, wanted: Sequence[Option]) -> None:
        """Fits that will all be asked for, unless one of them leads on."""
        if self._team is None or not wanted or wanted[0].change in self._known:
            return
        new = [option.change for option in wanted if option.change not in self._known]
        new = new[: FITS_FOR_EVERY_WORKER * self._team.n_workers]
        jobs = [(change.head, self.states[change.head], change, ()) for change in new]
        for change, (state, _) in zip(new, self._work_out(jobs), strict=True):
            self._known[change] = _Known(state)

    def prepare_options(self, wanted: Sequence[Option], likely: Iterator[Option]) -> None:
        """Options after changes that are wanted, and after ``likely`` ones while there is room."""
        if self._team is None or all(map(self._has_options, wanted)):
            return
        room = FOR_EVERY_WORKER * self._team.n_workers
        chosen: dict[Change, _Job] = {}
        for i, option in enumerate((*wanted, *likely)):
            if i >= len(wanted) and len(chosen) >= room:
                break
            change = option.change
            known = self._known.get(change)
            fitted = option.state if known is None else known.state
            if fitted is not None and not self._has_options(option):
                chosen.setdefault(change, (change.head, fitted, None, ALL))
            elif fitted is None:
                chosen.setdefault(change, (change.head, self.states[change.head], change, ALL))
        # Few jobs are halved: a fit done twice costs less than a worker that waits.
        parts = (ALL,) if len(chosen) >= room else HALVES
        jobs = [(*job[:3], part) for job in chosen.values() for part in parts]
        found = iter(self._work_out(jobs))
        for change in chosen:
            pieces = [next(found) for _ in parts]
            options = [option for _, some in pieces for option in some]
            self._known[change] = _Known(pieces[0][0], options)

    def _has_options(self, option: Option) -> bool:
        known = self._known.get(option.change)
        return known is not None and known.options is not None

    def _work_out(self, jobs: Sequence[_Job]) -> list[tuple[NodeState, list[Option]]]:
        """Results in the order of the jobs, which are begun longest first to end together."""
        assert self._team is not None
        order = sorted(range(len(jobs)), key=lambda i: _work(jobs[i]), reverse=True)
        arguments = [(jobs[i][0], *self._how, *jobs[i][1:]) for i in order]
        found = dict(zip(order, self._team(work_out, arguments), strict=True))
        return [found[i] for i in range(len(jobs))]


def _work(job: _Job) -> float:
    """About how long a job takes: the more parents the longer, also to fit."""
    _, state, change, verbs = job
    return (2 + len(state.parents)) * ((change is not None) + len(verbs))


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
