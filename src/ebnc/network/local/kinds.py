"""The table of the kinds of local distributions, the only place that lists them."""

from collections.abc import Sequence

from ebnc.network.local.decision_graph import GRAPH
from ebnc.network.local.embedded import EMBEDDED
from ebnc.network.local.kind import Kind
from ebnc.network.local.local import Local
from ebnc.network.local.noisy_max_learning import NOISY_MAX
from ebnc.network.local.plain import equal_by_value
from ebnc.network.local.table_learner import TABLE
from ebnc.network.local.tree import TREE

__all__ = ["DEFAULT_KINDS", "KINDS", "chosen_kinds", "equal_locals", "learnable_kinds", "words_of"]

KINDS: dict[str, Kind] = {kind.name: kind for kind in (EMBEDDED, TABLE, TREE, GRAPH, NOISY_MAX)}
"""Every kind by its name; equal scores go to the first. Another kind is entered here."""

DEFAULT_KINDS = (EMBEDDED.name, TABLE.name, TREE.name)
"""What a node may be unless something else is asked for."""

NAIVE = "naive"
"""What ``Network.learn`` calls EBNCs that stay naive, without interactions."""


def learnable_kinds() -> tuple[str, ...]:
    """The words that ``Network.learn`` takes for kinds of nodes."""
    return (EMBEDDED.name, NAIVE, *(name for name in KINDS if name != EMBEDDED.name))


def chosen_kinds(words: Sequence[str]) -> list[Kind]:
    """The kinds that these words name, in the order of the table."""
    names = {EMBEDDED.name if word == NAIVE else word for word in words}
    return [kind for name, kind in KINDS.items() if name in names]


def words_of(name: str) -> str:
    """What reports call a kind; its name where it is not in the table."""
    return KINDS[name].words if name in KINDS else name


def equal_locals(one: Local, other: Local) -> bool:
    """Whether two local distributions have the same kind, states and parameters."""
    if one.kind != other.kind:
        return False
    if one.kind not in KINDS:
        return one == other
    return equal_by_value(one, other, KINDS[one.kind].to_plain)
