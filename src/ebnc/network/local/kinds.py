"""The table of all kinds of local distributions."""

from collections.abc import Sequence

from ebnc.network.local.counting import COUNTING
from ebnc.network.local.embedded import EMBEDDED
from ebnc.network.local.local import Local
from ebnc.network.local.node import Kind
from ebnc.network.local.noisy_max_learning import NOISY_MAX
from ebnc.network.local.plain import equal_by_value
from ebnc.network.local.table import TABLE
from ebnc.network.local.tree import GRAPH, TREE

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (EMBEDDED, COUNTING, TABLE, TREE, GRAPH, NOISY_MAX)
}
"""Every kind by its name; the first wins if scores are equal. Add new kinds here."""

DEFAULT_KINDS = (EMBEDDED.name, TABLE.name, TREE.name)
"""The kinds that ``Network.learn`` considers by default."""

NAIVE = "naive"
"""The name in ``Network.learn`` of EBNCs without interactions."""

DENSE_KINDS = (*DEFAULT_KINDS, NAIVE, COUNTING.name)
"""The kinds of nodes in dense networks, where nodes of the kind "ebnc" may also count."""


def learnable_kinds() -> tuple[str, ...]:
    """Return the names of kinds that ``Network.learn`` accepts."""
    return (EMBEDDED.name, NAIVE, *(name for name in KINDS if name != EMBEDDED.name))


def chosen_kinds(words: Sequence[str]) -> list[Kind]:
    """Return the kinds with these names, in the order of the table."""
    names = {EMBEDDED.name if word == NAIVE else word for word in words}
    return [kind for name, kind in KINDS.items() if name in names]


def words_of(name: str) -> str:
    """Return the name of a kind in reports; ``name`` itself if the table does not have it."""
    return KINDS[name].words if name in KINDS else name


def equal_locals(one: Local, other: Local) -> bool:
    """Return True if two local distributions have the same kind, states and parameters."""
    if one.kind != other.kind:
        return False
    if one.kind not in KINDS:
        return one == other
    return equal_by_value(one, other, KINDS[one.kind].to_plain)
