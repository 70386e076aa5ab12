"""The noise of the widths of bins: log densities of bins as a smooth curve and noise.

A bin with n training rows begins and ends at two of them, so that the logarithm of its density
n/(N·width) has a variance of about 1/n. In a density of steps, that costs about ½/n nats a row.
"""

import numpy as np

from ebnc.parameters.bin_density import BinDensity
from ebnc.typing import FloatArray, IntArray

TAU_SQUARED = np.exp(np.arange(-14.0, 3.5, 0.5))


def inner_bins(bins: BinDensity) -> IntArray:
    """Return the bins that are neither atoms nor at an end of the range."""
    return np.setdiff1d(np.arange(1, bins.n_bins - 1), bins.atoms)


def smooth_corrections(
    bins: BinDensity, values: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Return f_b − u_b of every bin, shape (B,), from the training values.

    The log densities u_b of inner bins are taken as a smooth curve and noise,

        u_b = f_b + ε_b,     ε_b ~ N(0, 1/n_b),     f_{b−1} − 2 f_b + f_{b+1} ~ N(0, τ²)

    Evidence chooses τ. With D the second differences and V = diag(1/n),

        D u ~ N(0, τ²I + D V Dᵀ),     u − f = E[ε | D u] = V Dᵀ (τ²I + D V Dᵀ)⁻¹ D u

    A straight line in u does not matter; so neither do the unit and the sign of the number.
    """
    result = np.zeros(bins.n_bins)
    inner = inner_bins(bins)
    if len(inner) < 4:  # there is no second difference, or τ has a single one to follow
        return result
    n_rows = np.bincount(np.searchsorted(bins.cuts, values), weights, bins.n_bins)[inner]
    u = np.log(n_rows / bins.widths[inner])
    differences = np.diff(np.eye(len(inner)), 2, axis=0)
    spread = differences / n_rows  # D V
    noise, rough = spread @ differences.T, differences @ u
    best, pull = -np.inf, rough
    for tau_squared in TAU_SQUARED:
        covariance = noise + tau_squared * np.eye(len(rough))
        solved = np.linalg.solve(covariance, rough)
        evidence = -0.5 * (float(rough @ solved) + float(np.linalg.slogdet(covariance)[1]))
        if evidence > best:
            best, pull = evidence, solved
    result[inner] = -(pull @ spread)
    return result
