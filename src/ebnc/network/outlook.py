"""What the search of a sparse network has worked out: by itself, or shared with a team.

The first step needs the options of all nodes: the sides that they are looked at from are dealt out
into shares of about equal length. Every other step needs those of the one or two nodes that it
changed, which others may have looked at ahead. What is worked out does not depend on who does it,
so the search takes the same steps whatever the number of workers.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ebnc.data.cases import Cases
from ebnc.network.ahead import Ahead, Next
from ebnc.network.changes import Change
from ebnc.network.constraints import Constraints
from ebnc.network.nodes import NodeLearner, NodeState, Settings
from ebnc.network.options import (
    Option,
    all_options,
    fit_change,
    join_sides,
    look_at_sides,
    sides,
    start_nodes,
    work_of_fit,
)
from ebnc.search.side_by_side import SideBySide

__all__ = ["Outlook"]

SHORT = 2.5e6  # nanoseconds of a share; less is sooner done than sent
LONG = 2.5e7  # nanoseconds of a share where workers have several, so that they end together
SENDING = 1e6  # nanoseconds that a job is on its way
MOST = 12  # shares for every worker
PIECES = 4  # nodes, or pieces of them, for every worker at the first step
SMALL = 2e5  # entries of cases that are few

A = TypeVar("A")
R = TypeVar("R")


class Outlook:
    """``team``: those who help, if any."""

    def __init__(
        self, cases: Cases, settings: Settings, constraints: Constraints, team: SideBySide | None
    ) -> None:
        self.cases, self.constraints, self.team = cases, constraints, team
        self._settings, self._how = settings, (settings, constraints)
        # Nodes that are looked at in a few milliseconds are looked at sooner than sent: few rows,
        # or tables alone, whose counting has threads.
        is_short = len(cases) * len(cases.inputs) <= SMALL or settings.has_tables_only
        self._ahead = None if team is None or is_short else Ahead(team, settings, constraints)

    def starts(self, parents: Mapping[str, Sequence[str]]) -> dict[str, NodeState]:
        """Nodes with the parents that a search begins with."""
        n_rows = len(self.cases)
        works = [work_of_fit(self._settings, n_rows, len(given)) for given in parents.values()]
        states = self._shared(start_nodes, list(parents.items()), works)
        return dict(zip(parents, states, strict=True))

    def options(self, nodes: Sequence[tuple[NodeLearner, NodeState]]) -> list[list[Option]]:
        """The options of nodes in these states."""
        n_workers = 1 if self.team is None else self.team.n_workers
        n_pieces = math.ceil(PIECES * n_workers / len(nodes))
        asked = [
            (place, side)
            for place, (learner, state) in enumerate(nodes)
            for side in sides(learner, state, self.constraints, n_pieces)
        ]
        jobs = [(nodes[place][0].target, nodes[place][1], side) for place, side in asked]
        found = self._shared(look_at_sides, jobs, [side.work for _, side in asked])
        seen: list[list[Any]] = [[] for _ in nodes]
        for (place, side), what in zip(asked, found, strict=True):
            seen[place].append((side, what))
        return [
            join_sides(learner, state, some)
            for (learner, state), some in zip(nodes, seen, strict=True)
        ]

    def options_after(self, made: Sequence[Next], likely: Iterable[Next]) -> list[list[Option]]:
        """The options of nodes after changes that are fitted; ``likely``: what may come next."""
        if self._ahead is not None:
            return self._ahead.options(made, likely)
        return [
            all_options(learner, option.state, self.constraints)
            for learner, _, option in made
            if option.state is not None
        ]

    def state(self, learner: NodeLearner, state: NodeState, change: Change) -> NodeState:
        """The node after a change."""
        known = None if self._ahead is None else self._ahead.state(change)
        return fit_change(learner, state, change) if known is None else known

    def forget(self, names: Iterable[str]) -> None:
        """Nodes that have changed."""
        if self._ahead is not None:
            self._ahead.forget(names)

    def end(self) -> None:
        """The search has ended."""
        if self._ahead is not None:
            self._ahead.end()

    def _shared(
        self, job: Callable[..., list[R]], asked: Sequence[A], works: Sequence[float]
    ) -> list[R]:
        """job(cases, settings, constraints, some of what is asked), for all of it, in order."""
        shares = [] if self.team is None else _shares(works, self.team.n_workers)
        if self.team is None or len(shares) < 2:
            return job(self.cases, *self._how, asked)
        jobs = [(*self._how, [asked[i] for i in share]) for share in shares]
        found = {
            i: result
            for share, results in zip(shares, self.team(job, jobs), strict=True)
            for i, result in zip(share, results, strict=True)
        }
        return [found[i] for i in range(len(asked))]


def _shares(works: Sequence[float], n_workers: int) -> list[list[int]]:
    """Places dealt out, the longest first: little work in one share for each worker, of the same
    length; much of it in many, which the workers take one by one."""
    order = sorted(range(len(works)), key=lambda i: -works[i])
    total = sum(works)
    if total < 2 * LONG * n_workers:
        n_shares = max(1, min(n_workers, int(total / SHORT), len(works)))
        shares: list[list[int]] = [[] for _ in range(n_shares)]
        lengths = [SENDING] * (n_shares - 1) + [0.0]  # the caller takes the one that is not sent
        for i in order:
            least = lengths.index(min(lengths))
            shares[least].append(i)
            lengths[least] += works[i]
        return [share for share in shares if share]
    enough = max(LONG, total / (MOST * n_workers))
    shares, length = [[]], 0.0
    for i in order:
        if length >= enough:
            shares.append([])
            length = 0.0
        shares[-1].append(i)
        length += works[i]
    return shares
