"""Dimension by Gaussian elimination on κ → λ, the procedure of §4 (proof of Theorem 1)."""

from ebnc.domain import DomainLike, count_states
from ebnc.parameters.constants import without_constants
from ebnc.parameters.incidence import independent_configurations
from ebnc.structure.embedded import EmbeddedStructure, check_structure

__all__ = ["dimension_by_elimination"]


def dimension_by_elimination(structure: EmbeddedStructure, n_states: DomainLike) -> int:
    """Rank of the linear map κ → λ of eq. 7, exact; a row per configuration of the blanket.

    λ_k(x) = κ(y^k|pa_y) + Σ_i κ(x_i|pa_i^k) has the same coefficients, on different κ, for every
    class k: the matrix is block diagonal with K − 1 equal blocks, and one block is eliminated.
    Exponential in the number of inputs; ``dimension`` gives the same number in closed form.
    """
    check_structure(structure)
    structure = without_constants(structure, n_states)
    (n_classes,) = count_states(n_states, [structure.target])
    blanket = structure.markov_blanket
    counts = dict(zip(blanket, count_states(n_states, blanket), strict=True))
    scopes = [factor.inputs for factor in structure.factors]
    independent = independent_configurations(blanket, scopes, counts, "the matrix κ → λ of §4")
    return (n_classes - 1) * len(independent)
