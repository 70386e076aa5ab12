"""Inputs with one state, which an EBNC omits because they carry no information.

θ(x_i|a, y) = 1 if X_i has one state, so its factor of eq. 4 is 1 for every class, whatever its
parents are; and a parent with one state has one context. Removing such inputs from m′, with all
their arcs, does not change p(y|x) or its parameters.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ebnc.domain import DomainLike, as_domain, count_levels, count_states
from ebnc.structure.embedded import EmbeddedStructure, check_structure


def without_constants(structure: EmbeddedStructure, n_states: DomainLike) -> EmbeddedStructure:
    """The structure without its inputs of one state; the same object if it has none.

    ``n_states``: states by input, as counts, labels or a ``Domain``; inputs that are missing from
    it remain.
    """
    if not isinstance(n_states, Mapping):
        n_states = as_domain(n_states)  # raises a helpful error
    declared = [x for x in structure.inputs if x in n_states]
    counts = count_states(n_states, declared)
    return structure.without([x for x, count in zip(declared, counts, strict=True) if count == 1])


class Sizes(NamedTuple):
    """A structure without constants, and t + 1 of its target and of its Markov blanket.

    For nominal variables, t + 1 is the number of states.
    """

    structure: EmbeddedStructure
    n_classes: int
    n_states: dict[str, int]


def sizes_of(structure: EmbeddedStructure, n_states: DomainLike) -> Sizes:
    """The sizes that a dimension depends on; ``n_states`` must have the target and the blanket."""
    check_structure(structure)
    varying = without_constants(structure, n_states)
    blanket = varying.markov_blanket
    n_classes, *counts = count_levels(n_states, (varying.target, *blanket))
    return Sizes(varying, n_classes, dict(zip(blanket, counts, strict=True)))
