"""Conversion of local distributions to full tables, for libraries and formats that need them."""

from collections.abc import Iterable
from math import prod

from ebnc.data.rows import all_configurations
from ebnc.errors import TooLargeError
from ebnc.network.local.local import Local
from ebnc.network.local.table import Table

MOST_CELLS = 2**24
"""Maximum cells of all expanded tables together: 128 MiB."""


def expand(local: Local) -> Table:
    """Return the same distribution as a full table."""
    if isinstance(local, Table):
        return local
    shape = [local.domain.n_states(x) for x in (*local.parents, local.target)]
    rows = all_configurations(local.domain, local.parents)
    theta = local.probabilities(rows).reshape(shape)
    return Table(local.target, local.parents, local.domain, theta)


def refuse_expansion(locals_: Iterable[Local]) -> None:
    """Raise ``TooLargeError`` if the tables of these distributions exceed ``MOST_CELLS``."""
    total = 0
    for local in locals_:
        total += prod(local.domain.n_states(x) for x in (*local.parents, local.target))
        if total > MOST_CELLS:
            # Python refuses to print integers with many thousand digits.
            size = f"{total}" if total < 10**12 else f"more than 2^{total.bit_length() - 1}"
            raise TooLargeError(
                f"as full tables the network has {size} cells; the limit is {MOST_CELLS}. "
                f"{local.target!r} alone has {len(local.parents)} parents. Save it in the native "
                "format, or query by sampling"
            )
