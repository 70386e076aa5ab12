"""Codings: bases for the functions of one variable and, by Kronecker products, of several.

A coding of r states is a matrix E of shape (r, r − 1); [1 | E] is invertible. ⊗_{i∈S} E_i is a
basis of the interactions of the variables in S; classes have a coding of their own:

    f_k(x) = Σ_{S ∈ Δ} E_Y[k] · Φ_S · ⊗_{i∈S} E_i[x_i],        λ_k = f_k − f_0
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ebnc.errors import ParameterError
from ebnc.memory import refuse_if_too_large
from ebnc.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Coding:
    """A name and the matrix E for each number of states."""

    name: str
    matrix: Callable[[int], FloatArray]

    def full(self, n_states: int) -> FloatArray:
        """[1 | E], shape (r, r), invertible: maps a constant and coefficients to values."""
        return np.column_stack([np.ones(n_states), self.matrix(n_states)])

    def classes(self, n_classes: int) -> FloatArray:
        """Rows E_Y[k] − E_Y[0], k ≥ 1, shape (K − 1, K − 1): maps Φ to log odds."""
        matrix = self.matrix(n_classes)
        return matrix[1:] - matrix[:1]


def _indicator(n_states: int) -> FloatArray:
    _refuse_many_states(n_states)
    return np.eye(n_states)[:, 1:]


def _helmert(n_states: int) -> FloatArray:
    """Column j compares state j + 1 with the mean of states 0 … j; EᵀE = r · I."""
    _refuse_many_states(n_states)
    matrix = -np.triu(np.ones((n_states, n_states - 1)))
    column = np.arange(n_states - 1)
    matrix[column + 1, column] = column + 1.0
    return matrix * np.sqrt(n_states / ((column + 1.0) * (column + 2.0)))


def _refuse_many_states(n_states: int) -> None:
    # A fit holds the coding, the variable's block of the Hessian, and its factor.
    refuse_if_too_large(
        4 * 8 * n_states**2,
        f"a variable with {n_states} states",
        "merge similar states, or leave the variable out",
    )


INDICATOR = Coding("indicator", _indicator)
"""The paper's coding, products of indicators I(x_i^s), s ≥ 1; for reading."""

ORTHONORMAL = Coding("orthonormal", _helmert)
"""Scaled Helmert contrasts, orthogonal to 1 and to each other, EᵀE = r·I; for computing.

A normal prior on Φ with one scale is then a prior on functions: it depends neither on the order of
states nor on the choice of the baseline class.
"""


def coding_named(name: str) -> Coding:
    """Return the coding with this name."""
    for coding in (INDICATOR, ORTHONORMAL):
        if coding.name == name:
            return coding
    raise ParameterError(f"no coding {name!r}; choose 'indicator' or 'orthonormal'")
