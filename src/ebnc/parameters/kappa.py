"""κ: log ratios of θ, the terms of the log odds (eq. 7), and λ as their sum.

    λ_k(x) = κ(y^k|pa_y) + Σ_i κ(x_i|pa_i^k)
    κ(y^k|pa_y) = log θ(y^k|pa_y) / θ(y^0|pa_y),   κ(x_i|pa_i^k) = log θ(x_i|a, y^k) / θ(x_i|a, y^0)

The sum is over the children X_i of Y: all other terms of eq. 4 cancel.
"""

from collections.abc import Mapping

import numpy as np

from ebnc.parameters.tables import TableSum
from ebnc.parameters.theta import Theta
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

Kappa = Mapping[str, FloatArray]
"""κ by the factor's head; shape (states of the factor's inputs …, K − 1)."""


def theta_to_kappa(structure: EmbeddedStructure, theta: Theta) -> dict[str, FloatArray]:
    """Return κ of every factor by the smooth map θ → κ of eq. 7; κ is also ω of eq. 20–23.

    Parameters
    ----------
    structure : EmbeddedStructure
        The embedded structure m′.
    theta : mapping from str to array
        θ by variable, positive: one axis for each parent, then one for the variable itself, as in
        ``EmbeddedNetwork.theta``.

    Returns
    -------
    dict
        κ by the factor's head: axes of ``structure.factors``, then k = 1 … K − 1.
    """
    logs = log_theta_of_factors(structure, theta)
    return {head: table[..., 1:] - table[..., :1] for head, table in logs.items()}


def log_theta_of_factors(structure: EmbeddedStructure, theta: Theta) -> dict[str, FloatArray]:
    """log θ by the factor's head, axes (inputs of the factor …, y)."""
    logs = {}
    for factor in structure.factors:
        table = np.log(theta[factor.head])
        if factor.head != structure.target:
            table = np.moveaxis(table, structure.parents(factor.head).index(structure.target), -1)
        logs[factor.head] = table
    return logs


def kappa_to_tables(structure: EmbeddedStructure, kappa: Kappa) -> TableSum:
    """Return λ as the sum of the factors' tables by the linear map κ → λ of eq. 7.

    Parameters
    ----------
    structure : EmbeddedStructure
        The embedded structure m′.
    kappa : mapping from str to array
        κ by factor, from ``theta_to_kappa``.

    Returns
    -------
    TableSum
        ``.log_odds(rows)`` are λ, shape (rows, K − 1); ``.probabilities(rows)`` are p(y|x).
    """
    tables = tuple(kappa[factor.head] for factor in structure.factors)
    return TableSum(tuple(f.inputs for f in structure.factors), tables, tables[0].shape[-1])
