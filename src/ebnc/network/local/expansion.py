"""Local distributions written out as full tables: for libraries and formats that know no other."""

from collections.abc import Iterable
from math import prod

from ebnc.data.rows import all_configurations
from ebnc.errors import TooLargeError
from ebnc.network.local.local import Local
from ebnc.network.local.table import Table

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


def refuse_expansion(locals_: Iterable[Local]) -> None:
    """Raise ``TooLargeError`` where the tables of these distributions together would not fit."""
    total = 0
    for local in locals_:
        total += prod(local.domain.n_states(x) for x in (*local.parents, local.target))
        if total > MOST_CELLS:
            # Python does not print integers of many thousand digits.
            size = f"{total}" if total < 10**12 else f"more than 2^{total.bit_length() - 1}"
            raise TooLargeError(
                f"written out as tables the network has {size} cells; {MOST_CELLS} are allowed. "
                f"{local.target!r} alone has {len(local.parents)} parents. Save it in the native "
                "format, or query by sampling"
            )
