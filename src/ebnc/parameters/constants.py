"""Inputs with one state: they carry no information, so for an EBNC they do not exist.

θ(x_i|a, y) = 1 where X_i has one state, so its factor of eq. 4 is 1 for every class, whatever its
parents are; and a parent with one state has one context. Removing such inputs from m′, with all
their arcs, leaves p(y|x) and its parameters as they are.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ebnc.domain import DomainLike, as_domain, count_states
from ebnc.structure.embedded import EmbeddedStructure, check_structure

__all__ = ["Sizes", "sizes_of", "without_constants"]


def without_constants(structure: EmbeddedStructure, n_states: DomainLike) -> EmbeddedStructure:
    """The structure without its inputs of one state; the same object where there is none.

    ``n_states``: states by input, as counts, labels or a ``Domain``; inputs that it does not
    declare stay.
    """
    if not isinstance(n_states, Mapping):
        n_states = as_domain(n_states)  # says what would be right
    declared = [x for x in structure.inputs if x in n_states]
    counts = count_states(n_states, declared)
    return structure.without([x for x, count in zip(declared, counts, strict=True) if count == 1])


class Sizes(NamedTuple):
    """A structure without constants, K, and the numbers of states of its Markov blanket."""

    structure: EmbeddedStructure
    n_classes: int
    n_states: dict[str, int]


def sizes_of(structure: EmbeddedStructure, n_states: DomainLike) -> Sizes:
    """What a dimension depends on; ``n_states`` must declare the target and the blanket."""
    check_structure(structure)
    varying = without_constants(structure, n_states)
    blanket = varying.markov_blanket
    n_classes, *counts = count_states(n_states, (varying.target, *blanket))
    return Sizes(varying, n_classes, dict(zip(blanket, counts, strict=True)))
