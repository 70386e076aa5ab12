"""One node of a network that is being learned: the best kind of local distribution for its parents.

A state is a function of the one before it and the change alone, so a search can be repeated exactly
from the list of its changes.
"""

import math
from collections.abc import Collection, Sequence
from typing import NoReturn

from ebnc.data.cases import Cases
from ebnc.errors import SearchError
from ebnc.network.local.embedded import EmbeddedLearner
from ebnc.network.local.kinds import chosen_kinds
from ebnc.network.local.local import Local
from ebnc.network.local.node import LocalFit, LocalLearner, Node, NodeState, Settings
from ebnc.network.local.table import Table
from ebnc.network.local.table_learner import TableLearner
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["NodeLearner", "refuse_unused_parent"]


def refuse_unused_parent(target: str, local: Local, required: Collection[str]) -> NoReturn:
    """Raise where the only kind that a node may be does not depend on a required parent."""
    unused = min(set(required) - set(local.parents))
    raise SearchError(
        f"the arc {unused!r} → {target!r} is required, but the {local.kind} of {target!r} does not "
        "ask for it; allow another kind too, for example local=('ebnc', 'table', 'tree')"
    )


class NodeLearner:
    """Fits all kinds that a node may be to its parents.

    Parameters
    ----------
    cases
        All variables as rows, whatever their target.
    target
        The node.
    settings
        How nodes are fitted, and what kinds they may be.
    required
        Parents that the node must depend on; a tree that does not ask for them is no candidate.
    """

    def __init__(
        self, cases: Cases, target: str, settings: Settings, required: Sequence[str] = ()
    ) -> None:
        mine = Cases(cases.domain, target, cases.rows, cases.rows.column(target), cases.weights)
        self.node = Node(mine, settings, required)
        self.tables = TableLearner(self.node)
        self.embedded = EmbeddedLearner(self.node)
        own: dict[str, LocalLearner] = {"ebnc": self.embedded, "table": self.tables}
        self.learners: dict[str, LocalLearner] = {
            kind.name: own.get(kind.name) or kind.learner(self.node)
            for kind in chosen_kinds(settings.kinds)
        }

    @property
    def has_exact_gains(self) -> bool:
        """Whether nodes can be nothing but tables, whose gains need no fit."""
        return list(self.learners) == ["table"]

    def learn(self, parents: Sequence[str], near: NodeState | None = None) -> NodeState:
        """The node with these parents; ``near``: with one parent more or less, to start from."""
        if self.node.is_constant:
            return NodeState((), {"table": LocalFit(0.0, ())})
        fits: dict[str, LocalFit] = {}
        chosen = tuple(parents)
        for name, learner in self.learners.items():
            if chosen or not (learner.is_table_without_parents and fits):
                fit = learner.learn(chosen, None if near is None else near.fits.get(name))
                if fit is not None:
                    fits[name] = fit
        if all(fit.score is None for fit in fits.values()):
            fits["table"] = self._stand_in(chosen, fits)
        return NodeState(chosen, fits)

    def refine(self, state: NodeState, structure: EmbeddedStructure) -> NodeState:
        """The same parents with another embedded structure."""
        refined = self.embedded.learn_structure(structure, state.fits.get("ebnc"))
        return NodeState(state.parents, {**state.fits, "ebnc": refined})

    def local(self, state: NodeState) -> Local:
        """The best kind as a local distribution."""
        if self.node.is_constant:
            return Table(self.node.target, [], self.node.cases.domain, [1.0])
        return self.learners.get(state.kind, self.tables).local(state.fits[state.kind])

    def _stand_in(self, parents: tuple[str, ...], fits: dict[str, LocalFit]) -> LocalFit:
        """A table, where no kind that is allowed depends on all required parents."""
        if "table" in self.learners:  # it is too large
            return LocalFit(-math.inf, parents)
        table = self.tables.learn(parents)
        if table is None:
            kind, fit = next(iter(fits.items()))
            refuse_unused_parent(
                self.node.target, self.learners[kind].local(fit), self.node.required
            )
        return table
