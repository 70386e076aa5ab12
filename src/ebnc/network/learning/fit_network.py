"""Fit a network whose arcs are known: read the graph, then fit every node to data (§5).

Each node gets a local distribution of exactly its given parents. Nodes do not share parameters, so
they are fitted one by one (Theorem 2).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ebnc.data.cases import Cases
from ebnc.errors import NetworkError, NoMaximumError, ParameterError
from ebnc.learn import fit_cases
from ebnc.network.learning.node_learner import NodeLearner
from ebnc.network.learning.node_scores import NodeScore, node_score
from ebnc.network.local.kinds import DEFAULT_KINDS
from ebnc.network.local.local import Local
from ebnc.network.local.node import Settings
from ebnc.network.local.table import Table
from ebnc.network.model.graph import topological_order
from ebnc.parameters.phi import Basis
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.structure.model_string import parse_model_string

__all__ = ["FIT_KINDS", "Given", "GivenGraph", "fit_network", "read_graph"]

FIT_KINDS = ("ebnc", "table", "auto")
"""Kinds of nodes that ``Network.fit`` accepts; ``auto`` is the best of the default kinds."""

Given: TypeAlias = (
    str
    | Iterable[tuple[str, str]]
    | Mapping[str, Local]
    | Mapping[str, EmbeddedStructure | Iterable[str]]
)
"""A model string, arcs (parent, child), a network, or for each node its structure or parents."""


@dataclass(frozen=True, eq=False)
class GivenGraph:
    """The parents of every node, and the embedded structures that were given."""

    parents: Mapping[str, tuple[str, ...]]
    structures: Mapping[str, EmbeddedStructure]

    def structure(self, name: str) -> EmbeddedStructure:
        """Return the given embedded structure of a node, otherwise the naive one."""
        own = self.structures.get(name)
        return EmbeddedStructure.naive(name, self.parents[name]) if own is None else own


def read_graph(given: Given, names: Sequence[str]) -> GivenGraph:
    """Read a graph over the columns ``names``; a column without arcs is a root."""
    parents: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    structures: dict[str, EmbeddedStructure] = {}
    for name, of_node in _families(given):
        if name not in parents:
            raise NetworkError(f"{name!r} is not a column of the data; columns are {_few(names)}")
        if isinstance(of_node, EmbeddedStructure):
            if of_node.target != name:
                raise NetworkError(
                    f"the structure given for {name!r} has the target {of_node.target!r}; the "
                    "target of an embedded structure must be the node itself"
                )
            structures[name] = of_node
            parents[name] = of_node.markov_blanket
        else:
            parents[name] = tuple(of_node)
            if len({name, *parents[name]}) <= len(parents[name]):
                raise NetworkError(f"{name!r} and its parents {list(parents[name])} repeat a name")
        for parent in parents[name]:
            if parent not in parents:
                raise NetworkError(
                    f"{parent!r}, a parent of {name!r}, is not a column of the data; columns are "
                    f"{_few(names)}"
                )
    topological_order(parents)
    return GivenGraph(parents, structures)


def fit_network(
    given: Given,
    cases: Cases,
    local: str | Mapping[str, str],
    prior_scale: object,
    sample_size: float | None,
) -> tuple[list[Local], dict[str, NodeScore]]:
    """Fit every node and score it; see ``Network.fit``."""
    names = cases.rows.names
    graph = read_graph(given, names)
    kinds = _kinds(local, names)
    locals_, scores = [], {}
    for name in names:
        own = Cases(cases.domain, name, cases.rows, cases.rows.column(name), cases.weights)
        fitted = _fit_node(graph, own, kinds[name], prior_scale, sample_size)
        locals_.append(fitted)
        scores[name] = node_score(fitted, own, sample_size=sample_size)
    return locals_, scores


def _fit_node(
    graph: GivenGraph, cases: Cases, kind: str, prior_scale: object, sample_size: float | None
) -> Local:
    name, domain = cases.target, cases.domain
    parents = graph.parents[name]
    if kind == "table" or domain.n_states(name) < 2:
        return Table.learn(cases, parents, sample_size)
    structure = graph.structure(name)
    if kind == "auto":
        # A tree that does not use all parents would not have the arcs of the graph.
        settings = Settings(kinds=DEFAULT_KINDS, structure_prior=False, sample_size=sample_size)
        learner = NodeLearner(cases, name, settings, parents)
        state = learner.learn(parents)
        if name in graph.structures:
            state = learner.refine(state, structure)
        if state.kind != "ebnc":
            return learner.local(state)
    try:
        projected = cases.projected(structure.markov_blanket)
        return fit_cases(Basis(structure, domain), projected, prior_scale)
    except NoMaximumError as error:
        raise NoMaximumError(f"node {name!r}: {error}") from None


def _families(
    given: Given,
) -> Iterable[tuple[str, EmbeddedStructure | Iterable[str]]]:
    """Return each node with its structure or its parents."""
    if isinstance(given, str):
        families = parse_model_string(given)
        _refuse_twice([name for name, _ in families])
        return families
    if isinstance(given, Mapping):
        return [(name, _of_node(name, value)) for name, value in given.items()]
    if not isinstance(given, Iterable):
        raise NetworkError(
            "a graph must be a list of arcs (parent, child), a model string, a network, or a "
            f"mapping from nodes to parents, got {given!r}"
        )
    parents: dict[str, list[str]] = {}
    for arc in given:
        if isinstance(arc, str) or not isinstance(arc, Sequence) or len(arc) != 2:
            raise NetworkError(f"an arc must be a pair (parent, child), got {arc!r}")
        tail, head = arc
        parents.setdefault(tail, [])
        parents.setdefault(head, []).append(tail)
    return list(parents.items())


def _of_node(name: str, value: object) -> EmbeddedStructure | Iterable[str]:
    if isinstance(value, EmbeddedStructure):
        return value
    structure = getattr(value, "structure", None)
    if isinstance(structure, EmbeddedStructure):  # the EBNC of a network
        return structure
    parents = getattr(value, "parents", value)
    if isinstance(parents, str) or not isinstance(parents, Iterable):
        raise NetworkError(
            f"give {name!r} an EmbeddedStructure or a list of its parents, got {value!r}"
        )
    return [str(parent) for parent in parents]


def _refuse_twice(names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise NetworkError(f"{twice!r} has two brackets in the model string; write one")


def _kinds(local: str | Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    if not isinstance(local, Mapping):
        kinds = dict.fromkeys(names, local)
    else:
        odd = next((name for name in local if name not in names), None)
        if odd is not None:
            raise NetworkError(f"local names {odd!r}, which is not a column of the data")
        kinds = {name: local.get(name, FIT_KINDS[0]) for name in names}
    for kind in kinds.values():
        if kind not in FIT_KINDS:
            raise ParameterError(f"local must be one of {', '.join(FIT_KINDS)}, got {kind!r}")
    return kinds


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
