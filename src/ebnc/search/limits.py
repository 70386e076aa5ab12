"""Limits of a search: sizes, and required or forbidden arcs and features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ebnc.errors import SearchError
from ebnc.structure.embedded import EmbeddedStructure

Arc = tuple[str, str]


@dataclass(frozen=True)
class Limits:
    """Limits of a search over embedded structures.

    ``max_cluster_cells``: maximum configurations of a cluster. ``max_parents``: maximum parents of
    an input besides Y. Arcs are pairs (parent, child) of inputs. Contradictions raise an error.
    """

    max_cluster_cells: int = 1024
    max_parents: int = 8
    required_features: frozenset[str] = frozenset()
    forbidden_features: frozenset[str] = frozenset()
    required_arcs: frozenset[Arc] = frozenset()
    forbidden_arcs: frozenset[Arc] = frozenset()

    def __post_init__(self) -> None:
        both = self.required_arcs & self.forbidden_arcs
        if both:
            tail, head = min(both)
            raise SearchError(f"arc {tail!r} → {head!r} is both required and forbidden")
        needed = self.required_features | {x for arc in self.required_arcs for x in arc}
        if needed & self.forbidden_features:
            name = min(needed & self.forbidden_features)
            raise SearchError(f"feature {name!r} is both required and forbidden")

    def check_names(self, inputs: Sequence[str]) -> None:
        """Raise an error if a feature or arc names something that is not an input."""
        named = self.required_features | self.forbidden_features
        named |= {x for arc in self.required_arcs | self.forbidden_arcs for x in arc}
        unknown = sorted(named - set(inputs))
        if unknown:
            raise SearchError(f"{unknown[0]!r} is not an input; inputs are {list(inputs)[:8]}")

    def allow(self, structure: EmbeddedStructure, n_states: Mapping[str, int]) -> bool:
        """Return True if a structure respects all limits."""
        if not self.forbidden_features.isdisjoint(structure.markov_blanket):
            return False
        if not self.required_features <= set(structure.markov_blanket):
            return False
        arcs = {arc for arc in structure.edges if structure.target not in arc}
        if arcs & self.forbidden_arcs or not self.required_arcs <= arcs:
            return False
        for factor in structure.factors:
            own = factor.head == structure.target
            if not own and len(factor.inputs) - 1 > self.max_parents:
                return False
            if prod(n_states[x] for x in factor.inputs) > self.max_cluster_cells:
                return False
        return True
