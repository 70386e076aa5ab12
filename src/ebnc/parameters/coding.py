"""Codings: bases for the functions of one variable and, by Kronecker products, of several.

A coding of a variable with r states is a matrix E of shape (r, t); the columns of [1 | E] are
linearly independent. Nominal variables have t = r − 1, so every function of the states is a sum of
columns. ⊗_{i∈S} E_i spans the interactions of the variables in S; classes have a coding of their
own:

    f_k(x) = Σ_{S ∈ Δ} E_Y[k] · Φ_S · ⊗_{i∈S} E_i[x_i],        λ_k = f_k − f_0

Ordered and numeric variables have curves: cosines of the number b of a state among B in order,

    E[b, j] = j^{−s} √2 cos(π j (b + ½) / B),        j = 1 … t ≤ B − 1

A normal prior with one scale σ on the coefficients is then a prior on curves: the waves are
orthogonal to 1 and to each other, and wave j has the scale σ j^{−s}, so that fast waves are small.
With s = 1 a curve is a random walk over the states. Nothing else in the package treats numbers in a
special way: a smooth prior is a matrix E whose columns shrink.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ebnc.domain import Domain, Levels, State
from ebnc.errors import ParameterError
from ebnc.memory import refuse_if_too_large
from ebnc.typing import FloatArray

SMOOTHNESS = 1.0
"""s: a random walk. Other values were tried on a few data sets; none was better on all of them."""


@dataclass(frozen=True, slots=True)
class Coding:
    """A name and the matrix E for the levels of a variable."""

    name: str
    of_levels: Callable[[Levels], FloatArray]

    def matrix(self, levels: Levels | int) -> FloatArray:
        """E, shape (r, t); a number means that many nominal states."""
        return self.of_levels(Levels(levels) if isinstance(levels, int) else levels)

    def full(self, levels: Levels | int) -> FloatArray:
        """[1 | E], shape (r, t + 1): maps a constant and coefficients to values."""
        matrix = self.matrix(levels)
        return np.column_stack([np.ones(len(matrix)), matrix])

    def classes(self, levels: Levels | int) -> FloatArray:
        """Rows E_Y[k] − E_Y[0], k ≥ 1, shape (K − 1, t_Y): maps Φ to log odds."""
        matrix = self.matrix(levels)
        return np.asarray(matrix[1:] - matrix[:1])


def _indicator(levels: Levels) -> FloatArray:
    _refuse_many_states(levels)
    if levels.n_ordered:
        curve = _curve(levels)
        return np.asarray(curve - curve[0])
    return np.eye(levels.n_states)[:, 1:]


def _orthogonal(levels: Levels) -> FloatArray:
    _refuse_many_states(levels)
    return _curve(levels) if levels.n_ordered else _helmert(levels.n_states)


def _helmert(n_states: int) -> FloatArray:
    """Column j compares state j + 1 with the mean of states 0 … j; EᵀE = r · I."""
    matrix = -np.triu(np.ones((n_states, n_states - 1)))
    column = np.arange(n_states - 1)
    matrix[column + 1, column] = column + 1.0
    return np.asarray(matrix * np.sqrt(n_states / ((column + 1.0) * (column + 2.0))))


def _curve(levels: Levels) -> FloatArray:
    """Waves over the ordered states, and a column that compares a missing entry with all others.

    Like the column of a binary variable, the last one has a difference of 2.
    """
    n, n_waves = levels.n_ordered, levels.n_waves
    wave = np.arange(1, n_waves + 1)
    angles = np.pi * np.outer(np.arange(n) + 0.5, wave) / n
    matrix = np.zeros((levels.n_states, levels.n_columns))
    matrix[:n, :n_waves] = np.sqrt(2.0) * np.cos(angles) / wave**SMOOTHNESS
    if levels.n_states > n:
        matrix[:, n_waves] = -2.0 / levels.n_states
        matrix[n, n_waves] += 2.0
    return matrix


def column_labels(domain: Domain, name: str) -> tuple[State, ...]:
    """What each column of the indicator coding is about: a state, or a wave of a curve."""
    levels, states = domain.levels(name), domain[name]
    if not levels.n_ordered:
        return states[1:]
    waves = (f"wave {j}" for j in range(1, levels.n_waves + 1))
    return (*waves, *states[levels.n_ordered :])


def wave_numbers(levels: Levels) -> tuple[int, ...]:
    """j of every column of the coding; 1 for columns that are not waves."""
    waves = range(1, levels.n_waves + 1)
    return (*waves, *[1] * (levels.n_columns - levels.n_waves))


def _refuse_many_states(levels: Levels) -> None:
    # A fit holds the coding, the variable's block of the Hessian, and its factor.
    refuse_if_too_large(
        4 * 8 * levels.n_states**2,
        f"a variable with {levels.n_states} states",
        "merge similar states, or leave the variable out",
    )


INDICATOR = Coding("indicator", _indicator)
"""The paper's coding, products of indicators I(x_i^s), s ≥ 1; for reading.

A curve is shifted so that, like an indicator, it is 0 in state 0.
"""

ORTHONORMAL = Coding("orthonormal", _orthogonal)
"""Scaled Helmert contrasts, orthogonal to 1 and to each other, EᵀE = r·I; for computing.

A normal prior on Φ with one scale is then a prior on functions: for nominal variables it depends
neither on the order of states nor on the choice of the baseline class.
"""


def coding_named(name: str) -> Coding:
    """Return the coding with this name."""
    for coding in (INDICATOR, ORTHONORMAL):
        if coding.name == name:
            return coding
    raise ParameterError(f"no coding {name!r}; choose 'indicator' or 'orthonormal'")
