"""A joint distribution as a product of local ones: nodes, graph and states (§2).

    p(z) = Π_i p(z_i | pa_i)

The states of a numeric node are intervals. Where its ``BinDensity`` is known, a number z has the
density p(interval of z | pa) · p(z | interval of z).

``ebnc.network.inference.distribution.Distribution`` answers questions about it, and
``ebnc.network.network.Network`` learns and saves it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ebnc.data.summaries import Values
from ebnc.domain import Domain, Interval, State
from ebnc.errors import NetworkError, NoSuchKeyError, alternatives
from ebnc.markup import html_facts, html_table
from ebnc.network.local.kinds import equal_locals, words_of
from ebnc.network.local.local import Local
from ebnc.network.model.graph import ancestral_set, moral_graph, topological_order
from ebnc.parameters.bin_density import BinDensity
from ebnc.storage import provided
from ebnc.structure.model_string import format_model_string
from ebnc.typing import FloatArray

if TYPE_CHECKING:
    import networkx as nx


class Joint(Mapping[str, Local]):
    """A mapping from every node to its local distribution."""

    def __init__(
        self, locals_: Iterable[Local], densities: Mapping[str, BinDensity] | None = None
    ) -> None:
        self._locals: dict[str, Local] = {}
        states: dict[str, tuple[State, ...]] = {}
        ordered: set[str] = set()
        for local in locals_:
            if local.target in self._locals:
                raise NetworkError(f"{local.target!r} has two local distributions; give one")
            self._locals[local.target] = local
            ordered |= local.domain.ordered
            for name, declared in local.domain.items():
                if states.setdefault(name, declared) != declared:
                    raise NetworkError(
                        f"the states of {name!r} differ between nodes: {list(states[name])} and, "
                        f"for {local.target!r}, {list(declared)}"
                    )
        if not self._locals:
            raise NetworkError("a network needs at least one node")
        self.order = topological_order({x: local.parents for x, local in self._locals.items()})
        self.domain = Domain({name: states[name] for name in self._locals}, ordered)
        self.densities: Mapping[str, BinDensity] = MappingProxyType(dict(densities or {}))
        for name, density in self.densities.items():
            self._check_density(name, density)

    def __getitem__(self, name: str) -> Local:
        try:
            return self._locals[name]
        except KeyError:
            others = alternatives(name, list(self._locals), "it has")
            raise NoSuchKeyError(f"the network has no node {name!r}; {others}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._locals)

    def __len__(self) -> int:
        return len(self._locals)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same nodes, in the same order, with equal distributions."""
        if not isinstance(other, Joint):
            return NotImplemented
        return (
            self.variables == other.variables
            and self.densities == other.densities
            and all(equal_locals(self[x], other[x]) for x in self)
        )

    def __hash__(self) -> int:
        return hash((self.variables, self.arcs))

    def __repr__(self) -> str:
        n_arcs = len(self.arcs)
        return f"Network({len(self)} nodes, {n_arcs} arcs, dimension={self.dimension})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the facts, and the graph or a table of its nodes."""
        drawing = provided("draw_html")(self)
        if not drawing:
            rows = [(x, words_of(self[x].kind), len(self.parents(x))) for x in self]
            drawing = html_table(("node", "kind", "parents"), rows)
        return f"<div>{html_facts(self._facts())}{drawing}</div>"

    def _facts(self) -> list[tuple[str, object]]:
        """Names and values of what a notebook shows of the network."""
        kinds = Counter(words_of(local.kind) for local in self.values())
        counted = ", ".join(f"{n} {kind}{'s' if n > 1 else ''}" for kind, n in kinds.most_common())
        return [("nodes", counted), ("arcs", len(self.arcs)), ("parameters", self.dimension)]

    def local(self, name: str) -> Local:
        """Return the local distribution of one node.

        Parameters
        ----------
        name : str
            The node.
        """
        return self[name]

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of one node.

        Parameters
        ----------
        name : str
            The node.
        """
        return self[name].parents

    def children(self, name: str) -> tuple[str, ...]:
        """Return the children of one node.

        Parameters
        ----------
        name : str
            The node.
        """
        self[name]  # raises an error if the network has no such node
        return self._children[name]

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Return the parents and children of a node, and the other parents of its children.

        Given these, the node is independent of all other variables.

        Parameters
        ----------
        name : str
            The node.
        """
        children = self.children(name)
        blanket = {*self.parents(name), *children, *(x for c in children for x in self.parents(c))}
        return tuple(x for x in self if x in blanket - {name})

    def moral(self) -> "nx.Graph[str]":
        """Return the moral graph: neighbours are nodes with an arc, or with a common child."""
        return moral_graph({x: self.parents(x) for x in self})

    def ancestral(self, names: Iterable[str]) -> list[str]:
        """Return some nodes and all their ancestors, parents first: all that a query depends on.

        Parameters
        ----------
        names : iterable of str
            The nodes.
        """
        ancestors = ancestral_set({x: self.parents(x) for x in self}, names)
        return [x for x in self.order if x in ancestors]

    def _check_density(self, name: str, density: BinDensity) -> None:
        """Raise if the bins of a density are not the states of a numeric node."""
        self[name]  # raises an error if the network has no such node
        if self.domain.kind(name) != "numeric":
            raise NetworkError(f"{name!r} has a density, but it is {self.domain.kind(name)}")
        if not np.array_equal(density.cuts, interval_cuts(self.domain, name)):
            raise NetworkError(
                f"the cuts of the density of {name!r} are not those of its states "
                f"{', '.join(map(str, self.domain[name][:4]))}, …"
            )

    @property
    def variables(self) -> tuple[str, ...]:
        """All nodes, in the order given."""
        return tuple(self._locals)

    @cached_property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """Every arc (parent, child)."""
        return tuple((tail, head) for head in self for tail in self.parents(head))

    @property
    def model_string(self) -> str:
        """The graph in the notation of R's bnlearn, ``[A][B|A]``, which ``Network.fit`` reads."""
        return format_model_string((x, self.parents(x)) for x in self)

    @cached_property
    def _children(self) -> dict[str, tuple[str, ...]]:
        children: dict[str, list[str]] = {name: [] for name in self}
        for tail, head in self.arcs:
            children[tail].append(head)
        return {name: tuple(heads) for name, heads in children.items()}

    @cached_property
    def dimension(self) -> int:
        """The number of free parameters of all nodes."""
        return sum(local.dimension for local in self._locals.values())


def interval_cuts(domain: Domain, name: str) -> FloatArray:
    """Return the boundaries between the states of a variable that are intervals."""
    return np.array([state.high for state in domain[name] if isinstance(state, Interval)][:-1])


def bin_densities(domain: Domain, values: Mapping[str, Values]) -> dict[str, BinDensity]:
    """Return the densities of numeric variables, from training values."""
    densities = {}
    for name, rows in values.items():
        numbers = np.asarray(rows.values, dtype=np.float64)
        density = BinDensity.of(numbers, interval_cuts(domain, name), rows.weights)
        densities[name] = replace(density, whole=bool((numbers == np.round(numbers)).all()))
    return densities
