"""θ: the conditional probability tables of m′, the ordinary parameters of a Bayesian network.

The table of a variable has one axis per parent, in the structure's order of parents, and a last
axis for the variable itself, over which it sums to 1: θ(x_4|x_1, x_3, y) is
``theta["X4"][x1, x3, y, x4]``.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ebnc.domain import Domain
from ebnc.errors import ParameterError
from ebnc.parameters.numbers import as_numbers
from ebnc.parameters.tables import refuse_large_table
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

Theta = Mapping[str, FloatArray]

SUM_TOLERANCE = 1e-8


def theta_shape(structure: EmbeddedStructure, domain: Domain, name: str) -> tuple[int, ...]:
    """Shape of one variable's table: its parents' states, then its own; raises if too large."""
    axes = (*structure.parents(name), name)
    shape = tuple(domain.n_states(axis) for axis in axes)
    refuse_large_table(shape, f"the table θ of {name!r} with {len(axes) - 1} parents")
    return shape


def check_theta(
    structure: EmbeddedStructure, domain: Domain, theta: Mapping[str, ArrayLike]
) -> dict[str, FloatArray]:
    """Return θ as arrays after checking shapes, positive entries, and sums of 1.

    Zeros raise an error because they have no log odds; the paper excludes them (§4).
    """
    if not isinstance(theta, Mapping):
        raise ParameterError(
            f"θ must be a mapping from variable names to tables, got {type(theta).__name__}"
        )
    for name in theta:
        if name not in structure.names:
            raise ParameterError(f"θ has a table for {name!r}, which is not in {structure}")
    checked = {}
    for name in structure.names:
        if name not in theta:
            raise ParameterError(f"θ has no table for {name!r}; give one for every variable")
        checked[name] = _check_table(structure, domain, name, theta[name])
    return checked


def _check_table(
    structure: EmbeddedStructure, domain: Domain, name: str, values: ArrayLike
) -> FloatArray:
    shape = theta_shape(structure, domain, name)
    table = as_numbers(values, f"θ of {name!r}")
    if table.shape != shape:
        axes = ", ".join((*structure.parents(name), name))
        raise ParameterError(f"θ of {name!r} must have shape {shape} ({axes}), got {table.shape}")
    wrong = ~(table > 0) | ~np.isfinite(table)  # NaN fails every comparison
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        raise ParameterError(
            f"θ of {name!r} has {table[place]} at {place}; probabilities must be positive numbers"
        )
    sums = table.sum(axis=-1)
    off = np.abs(sums - 1) > SUM_TOLERANCE
    if off.any():
        place = tuple(map(int, np.argwhere(off)[0]))
        raise ParameterError(
            f"θ of {name!r} sums to {sums[place]} over its last axis at {place}, not to 1"
        )
    table.flags.writeable = False  # log odds computed from it are cached
    return table


def random_theta(
    structure: EmbeddedStructure, domain: Domain, generator: "np.random.Generator"
) -> dict[str, FloatArray]:
    """Draw θ uniformly from the product of simplices; entries are never exactly zero."""
    theta = {}
    for name in structure.names:
        draws = generator.standard_exponential(theta_shape(structure, domain, name)) + 1e-12
        theta[name] = draws / draws.sum(axis=-1, keepdims=True)
    return theta


def uniform_theta(structure: EmbeddedStructure, domain: Domain, name: str) -> FloatArray:
    """The uniform table of one variable."""
    return np.full(theta_shape(structure, domain, name), 1.0 / domain.n_states(name))
