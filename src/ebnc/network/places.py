"""Places that nodes have left lately: their states there, with the options that were seen.

A search that goes downhill often comes back to where it was. The node is then as it was, and need
not be looked at again.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ebnc.network.nodes import NodeState
from ebnc.network.options import Option

__all__ = ["Place", "Places"]

MOST_PLACES = 32  # a search that goes downhill has taken all back, or ended, before


class Place(NamedTuple):
    """A state, and the options there; none where they were not looked at."""

    state: NodeState
    options: Sequence[Option]


class Places:
    """The last ``MOST_PLACES`` that were left, by node, parents and embedded structure.

    They depend on the changes of the search alone, so one that repeats its changes finds the same.
    """

    def __init__(self) -> None:
        self._left: dict[Hashable, Place] = {}

    def leave(self, name: str, place: Place) -> None:
        """A node goes elsewhere."""
        key = _key(name, place.state)
        self._left.pop(key, None)
        self._left[key] = place
        if len(self._left) > MOST_PLACES:
            del self._left[next(iter(self._left))]

    def find(self, name: str, state: NodeState) -> Place | None:
        """Where the node has been before, if this state is that one but for rounding."""
        return self._left.get(_key(name, state))


def _key(name: str, state: NodeState) -> Hashable:
    structure = None if state.embedded is None else state.embedded.structure
    return name, frozenset(state.parents), structure
