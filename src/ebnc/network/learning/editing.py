"""Change the parents of one node of a network and fit it again; all other nodes stay."""

from collections.abc import Sequence

from ebnc.data.cases import Cases
from ebnc.errors import NetworkError
from ebnc.network.learning.fit_network import FIT_KINDS, check_kind, fit_node
from ebnc.network.local.embedded import with_parents
from ebnc.network.local.local import Local
from ebnc.network.model.graph import topological_order
from ebnc.network.model.joint import Joint
from ebnc.parameters.ebnc import EBNC


def with_more(network: Joint, parent: str, child: str) -> tuple[str, ...]:
    """Return the parents of a node with one more; raise if the arc exists, or closes a cycle."""
    parents = {x: network.parents(x) for x in network}
    network[parent]  # raises an error if the network has no such node
    if parent in network.parents(child):
        raise NetworkError(f"the network has the arc {parent!r} → {child!r} already")
    parents[child] = (*parents[child], parent)
    topological_order(parents)
    return parents[child]


def with_fewer(network: Joint, parent: str, child: str) -> tuple[str, ...]:
    """Return the parents of a node without one; raise if there is no such arc."""
    if parent not in network.parents(child):
        raise NetworkError(
            f"the network has no arc {parent!r} → {child!r}; the parents of {child!r} are "
            f"{list(network.parents(child))}"
        )
    return tuple(x for x in network.parents(child) if x != parent)


def refitted(
    network: Joint,
    name: str,
    parents: Sequence[str],
    cases: Cases,
    kind: str | None,
    prior_scale: object,
    sample_size: float | None,
) -> list[Local]:
    """Return all nodes, one of them fitted to cases with other parents.

    ``kind``: as for ``Network.fit``; None keeps the kind of an EBNC or a table, whose embedded
    structure follows the parents, and chooses the best kind otherwise.
    """
    local = network[name]
    if kind is None:
        kind = local.kind if local.kind in FIT_KINDS else "auto"
    check_kind(kind)
    structure = with_parents(local.structure, parents) if isinstance(local, EBNC) else None
    fitted = fit_node(
        cases.with_target(name),
        tuple(parents),
        structure,
        kind,
        prior_scale,
        sample_size,
    )
    return [fitted if x == name else network[x] for x in network]
