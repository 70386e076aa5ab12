"""Networks as JSON: one domain, and the kind and parameters of every node, without expansion.

    {"domain": […], "nodes": [{"kind": "ebnc", "target": 3, "naive": [0, 1, 2], "phi": […]}, …],
     "densities": [{"variable": 3, "means": […]}, …]}

A variable is written as its place in the domain: otherwise a network of 1 500 nodes with 1 500
parents each would be mostly names. The ``Kind`` of a node lists its fields; ``FORMS`` defines how
each type of field is written and read. φ is in the node's own coding, which the field "coding"
names if it is not orthonormal; its terms are sorted by size, then by the order of the inputs.
"densities" has the ``BinDensity`` of numeric nodes, without the cuts that their states have; it is
absent if there are none.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ebnc.domain import Domain
from ebnc.errors import FormatError
from ebnc.field import Field
from ebnc.formats.domain_json import domain_from_json, domain_to_json
from ebnc.formats.phi_json import LARGEST_PARAMETER
from ebnc.network.inference.average import NetworkAverage
from ebnc.network.inference.distribution import Distribution
from ebnc.network.local.kinds import KINDS
from ebnc.network.local.local import Local
from ebnc.network.local.plain import FieldType
from ebnc.network.model.joint import interval_cuts
from ebnc.network.network import Network
from ebnc.parameters.bin_density import BinDensity


def network_to_json(network: Distribution) -> dict[str, Any]:
    """Convert a network to plain data: domain and nodes, in the network's order."""
    places = {name: i for i, name in enumerate(network)}
    plain: dict[str, Any] = {
        "domain": domain_to_json(network.domain),
        "nodes": [local_to_json(local, places) for local in network.values()],
    }
    if network.densities:
        plain["densities"] = [
            {
                "variable": places[name],
                "means": density.means.tolist(),
                "atoms": list(density.atoms),
                "whole": density.whole,
            }
            for name, density in network.densities.items()
        ]
    return plain


def network_from_json(field: Field) -> Network:
    """Invert ``network_to_json``."""
    parts = field.object(["domain", "nodes"], ["densities"])
    domain = domain_from_json(parts["domain"])
    locals_ = [local_from_json(item, domain) for item in parts["nodes"].items()]
    densities = {}
    for item in parts["densities"].items() if "densities" in parts else []:
        name, density = _density_from_json(item, domain)
        if name in densities:
            raise item.error(f"{name!r} has two densities")
        densities[name] = density
    return field.built(lambda: Network(locals_, densities))


def average_to_json(average: NetworkAverage) -> dict[str, Any]:
    """Convert the networks of an average to plain data."""
    return {"networks": [network_to_json(network) for network in average.networks]}


def average_from_json(field: Field) -> NetworkAverage:
    """Invert ``average_to_json``."""
    items = field.object(["networks"])["networks"].items()
    return field.built(lambda: NetworkAverage(map(network_from_json, items)))


def _density_from_json(field: Field, domain: Domain) -> tuple[str, BinDensity]:
    """Read the density of a variable; its cuts are those of its states."""
    parts = field.object(["variable", "means", "atoms"], ["whole"])
    name = _variable(parts["variable"], list(domain))
    means = parts["means"].numbers(LARGEST_PARAMETER)
    atoms = tuple(item.integer(0, len(means)) for item in parts["atoms"].items())
    whole = "whole" in parts and parts["whole"].boolean()
    return name, field.built(lambda: BinDensity(interval_cuts(domain, name), means, atoms, whole))


def local_to_json(local: Local, places: Mapping[str, int]) -> dict[str, Any]:
    """Convert one node; ``places`` maps every variable to its place in the domain."""
    if local.kind not in KINDS:
        raise FormatError(
            f"{local.target!r} is a {local.kind}, which the native format cannot hold; "
            "write BIF, where every node is a table"
        )
    kind = KINDS[local.kind]
    return {"kind": kind.name, "target": places[local.target]} | {
        name: FORMS[kind.fields[name]].write(value, places)
        for name, value in kind.to_plain(local).items()
    }


def local_from_json(field: Field, domain: Domain) -> Local:
    """Invert ``local_to_json``."""
    value = field.value
    name = Field(value.get("kind") if isinstance(value, dict) else None, f"{field.place}.kind")
    kind = KINDS[name.choice(KINDS)]
    required = [key for key in kind.fields if key not in kind.optional]
    parts = field.object(["kind", "target", *required], kind.optional)
    names = list(domain)
    target = _variable(parts["target"], names)
    plain = {
        key: FORMS[kind.fields[key]].read(parts[key], names) for key in kind.fields.keys() & parts
    }
    return field.built(lambda: kind.from_plain(target, domain, plain))


def _variable(field: Field, names: list[str]) -> str:
    place = field.integer(0)
    if place >= len(names):
        raise field.error(f"no variable has number {place}; the domain has {len(names)}")
    return names[place]


def _variables(field: Field, names: list[str]) -> tuple[str, ...]:
    return tuple(_variable(item, names) for item in field.items())


def _families(field: Field, names: list[str]) -> list[tuple[str, tuple[str, ...]]]:
    pairs = [item.pair() for item in field.items()]
    return [(_variable(head, names), _variables(parents, names)) for head, parents in pairs]


class Form(NamedTuple):
    """The two conversions of one type of field.

    ``write`` gets the value and the places of variables; ``read`` gets the field and the names.
    """

    write: Callable[[Any, Mapping[str, int]], Any]
    read: Callable[[Field, list[str]], Any]


FORMS: Mapping[FieldType, Form] = {
    FieldType.VARIABLES: Form(
        lambda value, places: [places[x] for x in value],
        _variables,
    ),
    FieldType.VARIABLES_OR_NONE: Form(
        lambda value, places: [None if x is None else places[x] for x in value],
        lambda field, names: [
            None if item.is_null() else _variable(item, names) for item in field.items()
        ],
    ),
    FieldType.FAMILIES: Form(
        lambda value, places: [[places[x], [places[p] for p in parents]] for x, parents in value],
        _families,
    ),
    FieldType.WHOLE_NUMBERS: Form(
        lambda value, _: np.asarray(value).tolist(),
        lambda field, _: [item.integer(0) for item in field.items()],
    ),
    FieldType.PROBABILITIES: Form(
        lambda value, _: value.tolist(),
        lambda field, _: field.numbers(1.0),
    ),
    FieldType.SEVERAL_PROBABILITIES: Form(
        lambda value, _: [table.tolist() for table in value],
        lambda field, _: [item.numbers(1.0) for item in field.items()],
    ),
    FieldType.PARAMETERS: Form(
        lambda value, _: value.tolist(),
        lambda field, _: field.numbers(LARGEST_PARAMETER),
    ),
    FieldType.FLAG: Form(lambda value, _: value, lambda field, _: field.boolean()),
    FieldType.WORD: Form(lambda value, _: value, lambda field, _: field.text()),
}
