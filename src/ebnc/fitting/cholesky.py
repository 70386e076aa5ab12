"""Cholesky factors of A, the negative Hessian: whole, by classes, or by bags.

A ``Factor`` is of the whole matrix or of one block for each class (``likelihood.class_form``);
evidence, intervals and screening need no more than its methods.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri

from ebnc.errors import SingularHessianError
from ebnc.likelihood.class_form import ClassForm
from ebnc.likelihood.posterior import Posterior
from ebnc.threads import in_parallel
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

    def inverse_forms(self, rows: FloatArray) -> FloatArray:
        """z A⁻¹ zᵀ = |L⁻¹ zᵀ|² of every row z, by a triangular solve: half the work of L⁻¹."""
        solved = dtrsm(1.0, self.lower, rows.T, lower=1)
        return np.asarray(np.einsum("ij,ij->j", solved, solved))

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

    @property
    def blocks(self) -> tuple["Cholesky", ...]:
        """The factor itself: the only block of A."""
        return (self,)

    def variances(self) -> FloatArray:
        """The diagonal of A⁻¹, shape (d,)."""
        return np.asarray((self.inverse_root() ** 2).sum(axis=1))


@dataclass(frozen=True, eq=False)
class ClassCholesky:
    """Cholesky factors of the blocks V_k of separate classes: A ≈ (E ⊗ I)ᵀ (⊕_k V_k) (E ⊗ I).

    As EᵀE = K I, A⁻¹ ≈ (E ⊗ I)ᵀ (⊕_k V_k⁻¹) (E ⊗ I) / K².
    """

    form: ClassForm
    blocks: tuple[Cholesky, ...]

    @cached_property
    def _coding(self) -> FloatArray:
        return self.form.class_coding / self.form.n_blocks

    def solve(self, vector: FloatArray) -> FloatArray:
        """A⁻¹ v, of the shape of v."""
        of_classes = vector.reshape(-1, self.form.design.n_outputs) @ self._coding.T
        solved = in_parallel(
            lambda k: self.blocks[k].solve(of_classes[:, k]), range(len(self.blocks))
        )
        return np.asarray(np.column_stack(solved) @ self._coding).reshape(vector.shape)

    def inverse_root(self) -> FloatArray:
        """R, shape (d, K · columns): A⁻¹ = R Rᵀ."""
        parts = [
            (root[:, None, :] * self._coding[k][:, None]).reshape(-1, root.shape[1])
            for k, root in enumerate(self.roots())
        ]
        return np.concatenate(parts, axis=1)

    def roots(self) -> Iterator[FloatArray]:
        """Yield R_k of V_k⁻¹ = R_k R_kᵀ."""
        for block in self.blocks:
            yield block.inverse_root()

    def variances(self) -> FloatArray:
        """The diagonal of A⁻¹, shape (d,): those of V_k⁻¹, averaged over the classes."""
        n, n_outputs = self.form.n_blocks, self.form.design.n_outputs
        of_blocks = in_parallel(lambda block: block.variances(), self.blocks)
        mean = np.mean(of_blocks, axis=0) / n
        return np.repeat(mean, n_outputs)

    @property
    def log_determinant(self) -> float:
        """log |A|."""
        of_blocks = [block.log_determinant for block in self.blocks]
        return self.form.log_determinant(of_blocks, self.form.design.n_columns)


Factor: TypeAlias = Cholesky | ClassCholesky


def factor_at(posterior: Posterior, phi: FloatArray) -> Factor:
    """Factor A at φ, whole or by classes."""
    blocks = posterior.upper_blocks(phi)
    if not posterior.separate:
        return Cholesky.of(blocks[0])
    return ClassCholesky(posterior.form, tuple(in_parallel(Cholesky.of, list(blocks))))


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
