"""The learner of one node: it finds the best kind of local distribution for given parents.

A state depends only on the previous state and the change, so a search can be repeated exactly from
the list of its changes.
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
from ebnc.network.local.table import Table, TableLearner
from ebnc.structure.embedded import EmbeddedStructure


def refuse_unused_parent(target: str, local: Local, required: Collection[str]) -> NoReturn:
    """Raise an error: the only admissible kind does not depend on a required parent."""
    unused = min(set(required) - set(local.parents))
    raise SearchError(
        f"the arc {unused!r} → {target!r} is required, but the {local.kind} of {target!r} does not "
        f"use {unused!r}; allow another kind too, for example local=('ebnc', 'table', 'tree')"
    )


class NodeLearner:
    """Fits all kinds in ``settings`` to the parents of a node.

    A tree that does not use the ``required`` parents is not admissible.
    """

    def __init__(
        self, cases: Cases, target: str, settings: Settings, required: Sequence[str] = ()
    ) -> None:
        self.node = Node(cases.with_target(target), settings, required)
        self.tables = TableLearner(self.node)
        self.embedded = EmbeddedLearner(self.node)
        made: dict[str, LocalLearner] = {"ebnc": self.embedded, "table": self.tables}
        self.learners: dict[str, LocalLearner] = {
            kind.name: made.get(kind.name) or kind.learner(self.node)
            for kind in chosen_kinds(settings.kinds)
        }

    @property
    def has_exact_gains(self) -> bool:
        """Whether tables, whose gains need no fit, are the only kind."""
        return list(self.learners) == ["table"]

    def learn(self, parents: Sequence[str], near: NodeState | None = None) -> NodeState:
        """Fit the node to these parents; ``near``: a state with one parent more or less."""
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
            fits["table"] = self._fallback_table(chosen, fits)
        return NodeState(chosen, fits)

    def refine(self, state: NodeState, structure: EmbeddedStructure) -> NodeState:
        """Return the state with the same parents and another embedded structure."""
        refined = self.embedded.learn_structure(structure, state.fits.get("ebnc"))
        return NodeState(state.parents, {**state.fits, "ebnc": refined})

    def local(self, state: NodeState) -> Local:
        """Return the local distribution of the best kind."""
        if self.node.is_constant:
            return Table(self.node.target, [], self.node.cases.domain, [1.0])
        return self.learners.get(state.kind, self.tables).local(state.fits[state.kind])

    def _fallback_table(self, parents: tuple[str, ...], fits: dict[str, LocalFit]) -> LocalFit:
        """Return a table, because no allowed kind fits, or depends on all required parents."""
        if "table" in self.learners:  # the table is too large
            return LocalFit(-math.inf, parents)
        table = self.tables.learn(parents)
        if table is None and not fits:
            return LocalFit(-math.inf, parents)
        if table is None:
            kind, fit = next(iter(fits.items()))
            refuse_unused_parent(
                self.node.target, self.learners[kind].local(fit), self.node.required
            )
        return table
