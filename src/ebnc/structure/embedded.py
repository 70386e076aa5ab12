"""The embedded structure m′: a DAG over the target Y and its inputs X (§2), without numbers.

Only factors that mention Y remain in the ratio of eq. 4, so p(y|x) depends on m′ only through its
``factors`` (the terms of eq. 4), their maximal sets, the ``clusters``, and their union, the
``markov_blanket``. Two structures with equal ``cluster_key`` span the same functions p(y|x).
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from ebnc.errors import StructureError
from ebnc.storage import provided
from ebnc.structure.absorption import absorbers, absorbing_families
from ebnc.structure.clusters import maximal_sets
from ebnc.structure.model_string import format_model_string, parse_model_string

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, slots=True)
class Factor:
    """One term of eq. 4: the local distribution of ``head``, a function of ``inputs`` and Y.

    For Y itself the inputs are Pa(Y); for a child X_i of Y they are A_i = Pa(X_i) \\ {Y}, then X_i.
    """

    head: str
    inputs: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddedStructure:
    """A DAG m′ over a target Y and inputs X; prints as, and is parsed from, its model string.

    Two structures are equal if they are the same DAG with the same target; the order of variables
    and parents does not matter.

    Parameters
    ----------
    target : str
        The name of Y.
    families : tuple of (str, tuple of str)
        Every variable with its parents. Their order is that of inputs, of the axes of θ, and of
        the model string.

    Examples
    --------
    >>> worked = EmbeddedStructure.from_string(
    ...     "[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]", target="Y"
    ... )
    >>> worked.clusters
    (('X1', 'X2'), ('X1', 'X3', 'X4'), ('X2', 'X3', 'X5'))
    """

    target: str
    families: tuple[tuple[str, tuple[str, ...]], ...]

    def __post_init__(self) -> None:
        known: dict[str, tuple[str, ...]] = {}
        for name, parents in self.families:
            _check_name(name)
            if name in known:
                raise StructureError(f"variable {name!r} is given twice; give each one once")
            if len(set(parents)) < len(parents):
                twice = next(p for p in parents if parents.count(p) > 1)
                raise StructureError(f"parent {twice!r} of {name!r} is given twice")
            known[name] = parents
        if not isinstance(self.target, str) or self.target not in known:
            raise StructureError(f"target {self.target!r} is not a variable of {_listed(known)}")
        for name, parents in self.families:
            for parent in parents:
                if parent not in known:
                    raise StructureError(
                        f"parent {parent!r} of {name!r} is not in the graph {_listed(known)}; "
                        "give every input a bracket of its own, as in '[X1][Y|X1]'"
                    )
        self._topological  # noqa: B018  (raises on a cycle)

    @classmethod
    def from_string(cls, text: str, target: str) -> "EmbeddedStructure":
        """Parse a model string.

        Parameters
        ----------
        text : str
            bnlearn's notation, ``"[X1][Y|X1][X2|X1:Y]"``.
        target : str
            The name of Y.
        """
        return cls(target, parse_model_string(text))

    @classmethod
    def from_edges(
        cls, edges: Iterable[tuple[str, str]], target: str, inputs: Iterable[str] | None = None
    ) -> "EmbeddedStructure":
        """Build a structure from arcs.

        Parameters
        ----------
        edges : iterable of (str, str)
            Arcs (parent, child).
        target : str
            The name of Y.
        inputs : iterable of str, optional
            All inputs; needed if some have no arc.
        """
        parents: dict[str, dict[str, None]] = {}
        declared = None if inputs is None else list(_names(inputs, "inputs"))
        if declared is not None:
            for name in declared:
                if name in parents or name == target:
                    raise StructureError(f"variable {name!r} is given twice; give each one once")
                parents[name] = {}
            parents[target] = {}
        for tail, head in _arcs(edges):
            for name in (tail, head):
                if declared is not None and name not in parents:
                    raise StructureError(
                        f"arc {tail!r} → {head!r}: {name!r} is neither the target nor an input"
                    )
                parents.setdefault(name, {})
            if tail in parents[head]:
                raise StructureError(f"arc {tail!r} → {head!r} is given twice")
            parents[head][tail] = None
        if not parents:
            parents[target] = {}
        return cls(target, tuple((name, tuple(own)) for name, own in parents.items()))

    @classmethod
    def from_networkx(cls, graph: "networkx.DiGraph[str]", target: str) -> "EmbeddedStructure":
        """Convert a networkx graph.

        Parameters
        ----------
        graph : networkx.DiGraph
            A graph whose nodes are variable names.
        target : str
            The name of Y.
        """
        if not hasattr(graph, "is_directed"):
            raise StructureError(f"the graph must be a networkx DiGraph, got {graph!r}")
        if not graph.is_directed():
            raise StructureError("the graph is undirected; an embedded structure needs a DiGraph")
        parents: dict[str, list[str]] = {name: [] for name in graph.nodes}
        for tail, head in dict.fromkeys(edge[:2] for edge in graph.edges):
            parents[head].append(tail)
        return cls(target, tuple((name, tuple(own)) for name, own in parents.items()))

    @classmethod
    def naive(cls, target: str, inputs: Iterable[str]) -> "EmbeddedStructure":
        """Naive Bayes: Y is the only parent of every input (Figure 1b).

        Parameters
        ----------
        target : str
            The name of Y.
        inputs : iterable of str
            The inputs.
        """
        return cls(target, ((target, ()), *((x, (target,)) for x in _names(inputs, "inputs"))))

    @classmethod
    def chain(cls, target: str, inputs: Iterable[str]) -> "EmbeddedStructure":
        """Markov chain: given Y, each input depends on the one before it (end of §6).

        Parameters
        ----------
        target : str
            The name of Y.
        inputs : iterable of str
            The inputs in the order of the chain.
        """
        names = _names(inputs, "inputs")
        pairs = zip(names[1:], names, strict=False)
        links = ((x, (previous, target)) for x, previous in pairs)
        return cls(target, ((target, ()), *((x, (target,)) for x in names[:1]), *links))

    @classmethod
    def tree(
        cls, target: str, edges: Iterable[tuple[str, str]], inputs: Iterable[str] = ()
    ) -> "EmbeddedStructure":
        """Tree-augmented naive Bayes: each input has Y and at most one other input as parents.

        Parameters
        ----------
        target : str
            The name of Y.
        edges : iterable of (str, str)
            Arcs (parent, child) between inputs.
        inputs : iterable of str
            Inputs that come first, in this order; inputs without arcs must be listed here.
        """
        parent: dict[str, str] = {}
        names = list(_names(inputs, "inputs"))
        for tail, head in _arcs(edges):
            if head in parent:
                raise StructureError(
                    f"{head!r} has two parents, {parent[head]!r} and {tail!r}; in a tree it has one"
                )
            parent[head] = tail
        ends = dict.fromkeys(name for head, tail in parent.items() for name in (tail, head))
        names += [name for name in ends if name not in set(names)]
        branches = (((parent[x], target) if x in parent else (target,)) for x in names)
        return cls(target, ((target, ()), *zip(names, branches, strict=True)))

    @classmethod
    def table(cls, target: str, inputs: Iterable[str]) -> "EmbeddedStructure":
        """Full conditional table: all inputs are parents of Y (Figure 1a).

        Parameters
        ----------
        target : str
            The name of Y.
        inputs : iterable of str
            The inputs.
        """
        names = _names(inputs, "inputs")
        return cls(target, (*((x, ()) for x in names), (target, names)))

    def __str__(self) -> str:
        return format_model_string(self.families)

    def __repr__(self) -> str:
        return f"EmbeddedStructure.from_string({str(self)!r}, target={self.target!r})"

    def _repr_html_(self) -> str:
        drawing: str = provided("draw_html")(self)
        return drawing

    def to_networkx(self) -> "networkx.DiGraph[str]":
        """Convert the DAG to a networkx ``DiGraph``."""
        import networkx

        graph: networkx.DiGraph[str] = networkx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.edges)
        return graph

    @cached_property
    def _identity(self) -> Hashable:
        return self.target, frozenset((name, frozenset(own)) for name, own in self.families)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EmbeddedStructure):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @cached_property
    def _parents(self) -> Mapping[str, tuple[str, ...]]:
        return dict(self.families)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All variables including the target, in the order of ``families``."""
        return tuple(name for name, _ in self.families)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """All variables except the target, in the order of ``families``."""
        return tuple(name for name in self.names if name != self.target)

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All arcs (parent, child)."""
        return tuple((parent, name) for name, parents in self.families for parent in parents)

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a variable, in the order of ``families``.

        Parameters
        ----------
        name : str
            The variable.
        """
        try:
            return self._parents[name]
        except KeyError:
            raise StructureError(f"no variable {name!r} in {_listed(self._parents)}") from None

    def children(self, name: str) -> tuple[str, ...]:
        """Return the children of a variable, in topological order.

        Parameters
        ----------
        name : str
            The variable.
        """
        self.parents(name)
        return self._children.get(name, ())

    @cached_property
    def _children(self) -> Mapping[str, tuple[str, ...]]:
        children: dict[str, list[str]] = {}
        for name in self._topological:
            for parent in self._parents[name]:
                children.setdefault(parent, []).append(name)
        return {parent: tuple(own) for parent, own in children.items()}

    @cached_property
    def _topological(self) -> tuple[str, ...]:
        try:
            return tuple(TopologicalSorter(self._parents).static_order())
        except CycleError as error:
            cycle = " → ".join(error.args[1])
            raise StructureError(f"the graph has a cycle: {cycle}; remove one arc of it") from None

    @cached_property
    def total_order(self) -> tuple[str, ...]:
        """A total order consistent with m′ in which Y comes as late as possible (§3).

        All variables after Y are its descendants; n_h is the position of Y.
        """
        descendants = {self.target}
        for name in self._topological:
            if not descendants.isdisjoint(self._parents[name]):
                descendants.add(name)
        before = (name for name in self._topological if name not in descendants)
        behind = (n for n in self._topological if n in descendants and n != self.target)
        return (*before, self.target, *behind)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The terms of eq. 4 that do not cancel: Y's own, then one for each child of Y."""
        own = Factor(self.target, self._parents[self.target])
        others = (
            Factor(x, (*(p for p in self._parents[x] if p != self.target), x))
            for x in self.children(self.target)
        )
        return (own, *others)

    @cached_property
    def clusters(self) -> tuple[tuple[str, ...], ...]:
        """The maximal sets among the factors' inputs; ``((),)`` if Y is isolated.

        Inputs inside a cluster, and the clusters themselves, have the structure's order.
        """
        position = {name: place for place, name in enumerate(self.inputs)}
        maximal = maximal_sets(frozenset(factor.inputs) for factor in self.factors)
        ordered = (sorted(cluster, key=position.__getitem__) for cluster in maximal)
        return tuple(
            sorted(map(tuple, ordered), key=lambda cluster: [position[x] for x in cluster])
        )

    @cached_property
    def cluster_key(self) -> frozenset[frozenset[str]]:
        """A key that is equal for structures that span the same functions p(y|x)."""
        return frozenset(frozenset(cluster) for cluster in self.clusters)

    @cached_property
    def markov_blanket(self) -> tuple[str, ...]:
        """The selected inputs (§5), on which p(y|x) depends, in the structure's order."""
        reached = frozenset().union(*self.clusters)
        return tuple(name for name in self.inputs if name in reached)

    @cached_property
    def absorbers(self) -> Mapping[str, str | None]:
        """For each child of Y the head of the factor that absorbs its normalising constant."""
        return absorbers(self.target, self.children(self.target), self.parents)

    @property
    def fills_span(self) -> bool:
        """Whether every φ of the span comes from some θ, by the condition in ``absorption``."""
        return None not in self.absorbers.values()

    def without(self, names: Iterable[str]) -> "EmbeddedStructure":
        """Return the structure without some inputs and their arcs.

        Parameters
        ----------
        names : iterable of str
            The inputs to remove. The target and unknown names are ignored.
        """
        gone = frozenset(names) - {self.target}
        if gone.isdisjoint(self.names):
            return self
        families = (
            (name, tuple(parent for parent in parents if parent not in gone))
            for name, parents in self.families
            if name not in gone
        )
        return EmbeddedStructure(self.target, tuple(families))

    def equivalent_that_fills_span(self) -> "EmbeddedStructure | None":
        """Return a structure with the same clusters that fills its span, or None.

        The result is the structure itself if it fills its span.
        """
        if self.fills_span:
            return self
        families = absorbing_families(self.target, self.inputs, self.clusters)
        return None if families is None else EmbeddedStructure(self.target, families)


def check_structure(structure: object) -> None:
    """Raise ``StructureError`` if the argument is not a structure, for example a model string."""
    if not isinstance(structure, EmbeddedStructure):
        raise StructureError(
            f"a structure must be an EmbeddedStructure, got {type(structure).__name__}; "
            "make one with EmbeddedStructure.from_string(text, target=...)"
        )


def _names(names: Iterable[str], what: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise StructureError(f"{what} must be a list of names, got the string {names!r}")
    if not isinstance(names, Iterable):
        raise StructureError(f"{what} must be a list of names, got {names!r}")
    listed = tuple(names)
    for name in listed:
        _check_name(name)
    return listed


def _arcs(edges: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the arcs after checking that each is a pair of names."""
    if not isinstance(edges, Iterable):
        raise StructureError(f"arcs must be a list of pairs (parent, child), got {edges!r}")
    for edge in edges:
        try:
            if isinstance(edge, str):
                raise TypeError
            tail, head = edge
        except (TypeError, ValueError):
            raise StructureError(f"an arc must be a pair (parent, child), got {edge!r}") from None
        _check_name(tail)
        _check_name(head)
        yield tail, head


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise StructureError(f"variable names must be non-empty strings, got {name!r}")


def _listed(known: Mapping[str, Sequence[str]]) -> str:
    shown = ", ".join(map(repr, list(known)[:8]))
    return f"{{{shown}{', …' if len(known) > 8 else ''}}}"
