"""Networks as JSON: one domain, and for every node its kind and parameters; never expanded tables.

    {"domain": […], "nodes": [{"kind": "ebnc", "target": 3, "naive": [0, 1, 2], "phi": […]}, …]}

Variables are numbers of places in the domain: a network of 1 500 nodes with 1 500 parents each
would otherwise be mostly names. φ is in the node's own coding, which "coding" names where it is not
the orthonormal one; its terms are by size, then by the order of the inputs.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ebnc.domain import Domain
from ebnc.errors import FormatError
from ebnc.formats.domain_json import domain_from_json, domain_to_json
from ebnc.formats.field import Field
from ebnc.formats.phi_json import CODINGS, LARGEST_PARAMETER
from ebnc.network.local.decision_graph import DecisionGraph
from ebnc.network.local.decision_nodes import DecisionNodes
from ebnc.network.local.local import Local
from ebnc.network.local.noisy_max import NoisyMax
from ebnc.network.local.table import Table
from ebnc.network.local.tree import Tree
from ebnc.network.network import Network
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.constants import without_constants
from ebnc.parameters.dimension import count_terms
from ebnc.parameters.ebnc import EBNC
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

__all__ = ["local_from_json", "local_to_json", "network_from_json", "network_to_json"]


def network_to_json(network: Network) -> dict[str, Any]:
    """All of a network: domain and nodes, in the network's order."""
    places = {name: i for i, name in enumerate(network)}
    return {
        "domain": domain_to_json(network.domain),
        "nodes": [local_to_json(local, places) for local in network.values()],
    }


def network_from_json(field: Field) -> Network:
    """The inverse of ``network_to_json``."""
    parts = field.object(["domain", "nodes"])
    domain = domain_from_json(parts["domain"])
    locals_ = [local_from_json(item, domain) for item in parts["nodes"].items()]
    return field.built(lambda: Network(locals_))


def local_to_json(local: Local, places: Mapping[str, int]) -> dict[str, Any]:
    """One node; ``places``: the number of every variable."""
    found = {"kind": local.kind, "target": places[local.target]}
    if isinstance(local, EBNC):
        return found | _ebnc_to_json(local, places)
    if isinstance(local, Table):
        parents = [places[x] for x in local.parents]
        return found | {"parents": parents, "theta": local.theta.ravel().tolist()}
    if isinstance(local, NoisyMax):
        return found | {
            "parents": [places[x] for x in local.parents],
            "descending": local.descending,
            "leak": local.leak.tolist(),
            "effects": [table.ravel().tolist() for table in local.effects.values()],
        }
    if not isinstance(local, DecisionNodes):
        raise FormatError(
            f"{local.target!r} is a {local.kind}, which the native format has no place for; "
            "write BIF, where every node is a table"
        )
    return found | {
        "variables": [None if x is None else places[x] for x in local.variables],
        "states": local.states.tolist(),
        "equal": local.equal.tolist(),
        "other": local.other.tolist(),
        "theta": local.theta.ravel().tolist(),
    }


def local_from_json(field: Field, domain: Domain) -> Local:
    """The inverse of ``local_to_json``."""
    value = field.value
    kind = Field(value.get("kind") if isinstance(value, dict) else None, f"{field.place}.kind")
    return KINDS[kind.choice(KINDS)](field, domain)


def _ebnc_to_json(local: EBNC, places: Mapping[str, int]) -> dict[str, Any]:
    structure = local.structure
    phi: dict[str, Any] = {"phi": local.phi.tolist()}
    if local.coding != ORTHONORMAL:
        phi["coding"] = local.coding.name
    if all(
        given == ((structure.target,) if x != structure.target else ())
        for x, given in structure.families
    ):
        return {"naive": [places[x] for x in structure.inputs]} | phi
    families = [[places[x], [places[p] for p in given]] for x, given in structure.families]
    return {"families": families} | phi


def _ebnc(field: Field, domain: Domain) -> Local:
    parts = field.object(["kind", "target", "phi"], ["naive", "families", "coding"])
    names = list(domain)
    target = _name(parts["target"], names)
    if ("naive" in parts) == ("families" in parts):
        raise field.error("must have one of 'naive' and 'families'")
    if "naive" in parts:
        inputs = [_name(item, names) for item in parts["naive"].items()]
        structure = field.built(lambda: EmbeddedStructure.naive(target, inputs))
    else:
        families = []
        for item in parts["families"].items():
            head, given = item.pair()
            families.append((_name(head, names), tuple(_name(p, names) for p in given.items())))
        structure = field.built(lambda: EmbeddedStructure(target, tuple(families)))
    phi = parts["phi"].numbers(LARGEST_PARAMETER)
    counts = {x: domain.n_states(x) for x in structure.inputs}
    clusters = without_constants(structure, domain).clusters
    expected = count_terms(clusters, counts) * (domain.n_states(target) - 1)
    if expected != phi.size:  # before any term is made
        raise parts["phi"].error(f"has {phi.size} numbers; the structure has {expected}")
    coding = parts["coding"].choice(CODINGS) if "coding" in parts else ORTHONORMAL.name
    return field.built(lambda: EBNC(structure, domain, phi, coding))


def _table(field: Field, domain: Domain) -> Local:
    parts = field.object(["kind", "target", "parents", "theta"])
    names = list(domain)
    target = _name(parts["target"], names)
    parents = [_name(item, names) for item in parts["parents"].items()]
    theta = _shaped(parts["theta"], [domain.n_states(x) for x in (*parents, target)])
    return field.built(lambda: Table(target, parents, domain, theta))


def _tree(field: Field, domain: Domain) -> Local:
    return _questions(field, domain, Tree)


def _graph(field: Field, domain: Domain) -> Local:
    return _questions(field, domain, DecisionGraph)


def _questions(field: Field, domain: Domain, make: type[DecisionNodes]) -> Local:
    parts = field.object(["kind", "target", "variables", "states", "equal", "other", "theta"])
    names = list(domain)
    target = _name(parts["target"], names)
    asked = [None if v.is_null() else _name(v, names) for v in parts["variables"].items()]
    states, equal, other = (
        [item.integer(0) for item in parts[key].items()] for key in ("states", "equal", "other")
    )
    theta = _shaped(parts["theta"], [len(asked), domain.n_states(target)])
    return field.built(lambda: make(target, domain, asked, states, equal, other, theta))


def _noisy_max(field: Field, domain: Domain) -> Local:
    parts = field.object(["kind", "target", "parents", "descending", "leak", "effects"])
    names = list(domain)
    target = _name(parts["target"], names)
    parents = [_name(item, names) for item in parts["parents"].items()]
    tables = list(parts["effects"].items())
    if len(tables) != len(parents) or len(set(parents)) != len(parents):
        raise parts["effects"].error(f"must be one for each of {len(parents)} different parents")
    n_levels = domain.n_states(target)
    effects = {
        name: _shaped(table, [domain.n_states(name), n_levels])
        for name, table in zip(parents, tables, strict=True)
    }
    leak, descending = _shaped(parts["leak"], [n_levels]), parts["descending"].boolean()
    return field.built(lambda: NoisyMax(target, domain, leak, effects, descending=descending))


KINDS: Mapping[str, Callable[[Field, Domain], Local]] = {
    "ebnc": _ebnc,
    "table": _table,
    "tree": _tree,
    "graph": _graph,
    "noisy-max": _noisy_max,
}


def _name(field: Field, names: list[str]) -> str:
    place = field.integer(0)
    if place >= len(names):
        raise field.error(f"there is no variable number {place}; there are {len(names)}")
    return names[place]


def _shaped(field: Field, shape: list[int]) -> FloatArray:
    numbers = field.numbers(1.0)
    size = 1
    for length in shape:
        size *= length
    if numbers.size != size:
        raise field.error(f"has {numbers.size} numbers where {shape} need {size}")
    return np.asarray(numbers.reshape(shape))
