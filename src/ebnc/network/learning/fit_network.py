"""Fit a network whose arcs are known: read the graph, then fit every node to data (§5).

Each node gets a local distribution of exactly its given parents. Nodes do not share parameters, so
they are fitted one by one (Theorem 2).
"""

from collections.abc import Iterable, Mapping, Sequence
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

FIT_KINDS = ("ebnc", "table", "auto")
"""Kinds of nodes that ``Network.fit`` accepts; ``auto`` is the best of the default kinds."""

GivenGraph: TypeAlias = (
    str
    | Iterable[tuple[str, str]]
    | Mapping[str, Local]
    | Mapping[str, EmbeddedStructure | Iterable[str]]
)
"""A model string, arcs (parent, child), a network, or for each node its structure or parents."""


def read_graph(
    given: GivenGraph, names: Sequence[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, EmbeddedStructure]]:
    """Return the parents of every column, and the embedded structures that were given.

    A column without arcs is a root.
    """
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
    return parents, structures


def fit_network(
    given: GivenGraph,
    cases: Cases,
    local: str | Mapping[str, str],
    prior_scale: object,
    sample_size: float | None,
) -> tuple[list[Local], dict[str, NodeScore]]:
    """Fit every node and score it; see ``Network.fit``."""
    names = cases.rows.names
    parents, structures = read_graph(given, names)
    kinds = kinds_of(local, names)
    locals_, scores = [], {}
    for name in names:
        own = cases.with_target(name)
        structure = structures.get(name)
        fitted = fit_node(own, parents[name], structure, kinds[name], prior_scale, sample_size)
        locals_.append(fitted)
        scores[name] = node_score(fitted, own, sample_size=sample_size)
    return locals_, scores


def fit_node(
    cases: Cases,
    parents: tuple[str, ...],
    given: EmbeddedStructure | None,
    kind: str,
    prior_scale: object,
    sample_size: float | None,
) -> Local:
    """Fit the target of some cases to exactly these parents; see ``Network.fit``."""
    name, domain = cases.target, cases.domain
    if kind == "table" or domain.n_states(name) < 2:
        return Table.learn(cases, parents, sample_size)
    structure = EmbeddedStructure.naive(name, parents) if given is None else given
    if kind == "auto":
        # A tree that does not use all parents would not have the arcs of the graph.
        settings = Settings(kinds=DEFAULT_KINDS, structure_prior=False, sample_size=sample_size)
        learner = NodeLearner(cases, name, settings, parents)
        state = learner.learn(parents)
        if given is not None:
            state = learner.refine(state, given)
        if state.kind != "ebnc":
            return learner.local(state)
    try:
        projected = cases.projected(structure.markov_blanket)
        return fit_cases(Basis(structure, domain), projected, prior_scale)
    except NoMaximumError as error:
        raise NoMaximumError(f"node {name!r}: {error}") from None


def _families(
    given: GivenGraph,
) -> Iterable[tuple[str, EmbeddedStructure | Iterable[str]]]:
    """Return each node with its structure or its parents."""
    if isinstance(given, str):
        families = parse_model_string(given)
        names = [name for name, _ in families]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise NetworkError(f"{twice!r} has two brackets in the model string; write one")
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


def kinds_of(local: str | Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the kind of every node; raise if nodes of given parents cannot be of it."""
    if not isinstance(local, Mapping):
        kinds = dict.fromkeys(names, local)
    else:
        odd = next((name for name in local if name not in names), None)
        if odd is not None:
            raise NetworkError(f"local names {odd!r}, which is not a column of the data")
        kinds = {name: local.get(name, FIT_KINDS[0]) for name in names}
    for kind in kinds.values():
        check_kind(kind)
    return kinds


def check_kind(kind: str) -> None:
    """Raise if nodes of given parents cannot be of this kind."""
    if kind not in FIT_KINDS:
        raise ParameterError(f"local must be one of {', '.join(FIT_KINDS)}, got {kind!r}")


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
