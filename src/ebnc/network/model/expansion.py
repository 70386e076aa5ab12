"""Local distributions written out as full tables: for libraries and formats that know no other."""

from math import prod

from ebnc.data.rows import all_configurations
from ebnc.errors import TooLargeError
from ebnc.network.local.local import Local
from ebnc.network.local.table import Table
from ebnc.network.model.joint import Joint

__all__ = ["MOST_CELLS", "expand", "refuse_expansion"]

MOST_CELLS = 2**24
"""Cells of all expanded tables together; 128 MiB."""


def expand(local: Local) -> Table:
    """The same distribution as a full table."""
    if isinstance(local, Table):
        return local
    shape = [local.domain.n_states(x) for x in (*local.parents, local.target)]
    rows = all_configurations(local.domain, local.parents)
    theta = local.probabilities(rows).reshape(shape)
    return Table(local.target, local.parents, local.domain, theta)


def refuse_expansion(network: Joint, names: set[str] | None = None) -> None:
    """Raise ``TooLargeError`` where the tables of ``names`` (all nodes) would not fit."""
    total = 0
    for name in network:
        if names is None or name in names:
            local = network[name]
            total += prod(local.domain.n_states(x) for x in (*local.parents, name))
            if total > MOST_CELLS:
                # Python does not print integers of many thousand digits.
                size = f"{total}" if total < 10**12 else f"more than 2^{total.bit_length() - 1}"
                raise TooLargeError(
                    f"written out as tables the network has {size} cells; {MOST_CELLS} are "
                    f"allowed. {name!r} alone has {len(local.parents)} parents. Save it in the "
                    "native format, or query by sampling"
                )
