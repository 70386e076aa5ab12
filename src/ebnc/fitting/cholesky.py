"""Cholesky factors of A, the negative Hessian: of the whole matrix, or of one block per bag."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri

from ebnc.errors import SingularHessianError
from ebnc.likelihood.posterior import Posterior
from ebnc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Cholesky:
    """The Cholesky factor of A (or of an estimate of it): A = L Lᵀ, L lower triangular."""

    lower: FloatArray

    @classmethod
    def of(cls, upper: FloatArray) -> "Cholesky":
        """Factor A, given by its upper triangle, which is overwritten."""
        # The upper triangle of a C-ordered array is the lower one of its transpose: no copy.
        lower, failed = dpotrf(upper.T, lower=1, overwrite_a=1, clean=0)
        if failed:
            raise SingularHessianError(
                f"the negative Hessian of size {len(upper)} is not positive definite; use a proper "
                "prior (finite prior_scale)"
            )
        return cls(lower)

    def solve(self, vector: FloatArray) -> FloatArray:
        """A⁻¹ v."""
        solved, _ = dpotrs(self.lower, vector.reshape(len(self.lower), -1), lower=1)
        return np.asarray(solved).reshape(vector.shape)

    def inverse_root(self) -> FloatArray:
        """L⁻ᵀ, shape (d, d): A⁻¹ = L⁻ᵀ L⁻¹, so the squares of row i sum to (A⁻¹)_ii."""
        inverse, _ = dtrtri(self.lower, lower=1)
        return np.asarray(np.tril(inverse).T)

    def inverse(self) -> FloatArray:
        """A⁻¹, shape (d, d)."""
        lower, _ = dpotri(self.lower, lower=1)
        return np.asarray(np.tril(lower) + np.tril(lower, -1).T)

    @property
    def log_determinant(self) -> float:
        """log |A|."""
        return 2.0 * float(np.log(np.diagonal(self.lower)).sum())


@dataclass(frozen=True, eq=False)
class BagCholesky:
    """Cholesky factors of the diagonal blocks of A, one per bag, for A too large to factor."""

    blocks: tuple[Cholesky, ...]
    columns: tuple[slice, ...]

    @classmethod
    def at(cls, posterior: Posterior, phi: FloatArray) -> "BagCholesky":
        """Factor the blocks of A at φ."""
        blocks = tuple(Cholesky.of(block) for block in posterior.diagonal_blocks(phi))
        return cls(blocks, tuple(posterior.design.columns))

    def solve(self, vector: FloatArray) -> FloatArray:
        """B⁻¹ v, where B has only the diagonal blocks of A."""
        pairs = zip(self.blocks, self.columns, strict=True)
        return np.concatenate([block.solve(vector[where]) for block, where in pairs])
