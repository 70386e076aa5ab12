"""Dimension by Gaussian elimination on κ → λ, the procedure of §4 (proof of Theorem 1)."""

from ebnc.domain import DomainLike
from ebnc.parameters.constants import sizes_of
from ebnc.parameters.incidence import independent_configurations
from ebnc.structure.embedded import EmbeddedStructure


def dimension_by_elimination(structure: EmbeddedStructure, n_states: DomainLike) -> int:
    """Return the rank of the linear map κ → λ of eq. 7, exact.

    The matrix has one row per configuration of the Markov blanket.
    λ_k(x) = κ(y^k|pa_y) + Σ_i κ(x_i|pa_i^k) has the same coefficients, on different κ, for every
    class k: the matrix is block diagonal with K − 1 equal blocks, and one block is eliminated.
    A variable whose statistic has dimension t counts as one with t + 1 states: its columns take the
    place of the indicators (docs/theory/numbers.md). The time is exponential in the number of
    inputs; ``dimension`` returns the same number in closed form.

    Parameters
    ----------
    structure : EmbeddedStructure
        The structure.
    n_states : Domain or mapping
        The states of all variables including the target, as counts, labels or a ``Domain``. Only a
        ``Domain`` has ordered and numeric variables, which count with the columns of their curves.
    """
    structure, n_classes, counts = sizes_of(structure, n_states)
    scopes = [factor.inputs for factor in structure.factors]
    independent = independent_configurations(counts, scopes, "the matrix κ → λ of §4")
    return (n_classes - 1) * len(independent)
