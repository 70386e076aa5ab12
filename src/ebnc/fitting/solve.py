"""A⁻¹ v with the exact A, also where only its blocks by classes are factored."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from ebnc.fitting.cholesky import Cholesky, Factor
from ebnc.likelihood.posterior import Posterior
from ebnc.typing import FloatArray

STEP = 1e-5  # between two gradients, in the largest coordinate of φ


def solve_exactly(
    posterior: Posterior, phi: FloatArray, factor: Factor, vector: FloatArray, tolerance: float
) -> FloatArray:
    """Return A⁻¹ v at φ, of the shape of v.

    If ``factor`` is that of the whole A, it is exact. Otherwise conjugate gradients solve the
    equations up to a relative ``tolerance``, with the factor as preconditioner; products A u are
    differences of gradients.
    """
    if isinstance(factor, Cholesky):
        return factor.solve(vector)
    shape = vector.shape
    _, here = posterior.value_and_gradient(phi)

    def times(direction: FloatArray) -> FloatArray:
        length = STEP / max(float(np.abs(direction).max()), 1e-300)
        _, ahead = posterior.value_and_gradient(phi + length * direction.reshape(shape))
        return ((here - ahead) / length).ravel()

    def preconditioned(direction: FloatArray) -> FloatArray:
        return factor.solve(direction.reshape(shape)).ravel()

    size = 2 * (vector.size,)
    solution, _ = cg(
        LinearOperator(size, matvec=times),
        vector.ravel(),
        M=LinearOperator(size, matvec=preconditioned),
        rtol=tolerance,
    )
    return np.asarray(solution).reshape(shape)
