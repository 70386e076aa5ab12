"""How the negative Hessian A couples the classes: all with all, or each class on its own.

With scores f_k = w_kᵀ z of the classes, w = φ E_Yᵀ, a row has the information
n (diag p − p pᵀ). In the coordinates of φ this couples all classes, so A has columns · t_Y rows.

*Separate* classes keep only the diagonal, and A becomes one block for each class:

    A ≈ (E_Yᵀ ⊗ I) (⊕_k V_k) (E_Y ⊗ I),     V_k = Σ_l c n_l p_lk (1 − p_lk) z_l z_lᵀ + (τ/K) I

c = K/(K − 1). This is exact for two classes, and where all classes are equally probable. Elsewhere
its determinant was larger: ½ log |A| − ½ log |prior precision| by 4 to 11 % (nine data sets, 3 to
19 classes), so evidences are a little too low. It needs K blocks of columns² numbers instead
of (K − 1)² columns², which makes models of many classes possible.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ebnc.domain import Levels
from ebnc.likelihood.design import Design
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.typing import FloatArray

MOST_JOINT = 1000
"""Largest dimension of a model at which more than two classes are coupled."""


@dataclass(frozen=True, eq=False)
class ClassForm:
    """The blocks of A: one that couples all outputs, or one for each class.

    ``separate``: whether each class has a block of its own.
    """

    design: Design
    separate: bool

    @property
    def n_blocks(self) -> int:
        """The number of blocks on the diagonal of A."""
        return self.design.n_others + 1 if self.separate else 1

    @property
    def n_coupled(self) -> int:
        """The number of coordinates of the class in a block."""
        return 1 if self.separate else self.design.n_outputs

    @property
    def n_weights(self) -> int:
        """The number of weights of a row: coordinates s ≤ t of the class in a block, or classes."""
        return self.n_blocks if self.separate else self.design.n_output_pairs

    @property
    def row_floats(self) -> int:
        """The numbers that a row needs while its weights are computed."""
        return 2 * self.n_blocks if self.separate else self.design.n_class_pairs

    @property
    def gradient_map(self) -> FloatArray:
        """Residuals of all classes but the first → gradients of the blocks, (K − 1, outputs)."""
        if not self.separate:
            return self.design.class_map
        return np.hstack([-np.ones((self.design.n_others, 1)), np.eye(self.design.n_others)])

    def gradients(self, of_classes: FloatArray) -> FloatArray:
        """(columns, K − 1) → gradients of the blocks, shape (blocks, columns · coupled)."""
        gradient = of_classes @ self.gradient_map
        return gradient.T if self.separate else gradient.reshape(1, -1)

    def blocks(self, weighted: FloatArray) -> FloatArray:
        """(d_b, d_c, weights) → (blocks, d_b, coupled, d_c, coupled)."""
        if self.separate:
            return weighted.transpose(2, 0, 1)[:, :, None, :, None]
        design, shape = self.design, weighted.shape[:2]
        whole = weighted if design.n_outputs == 1 else weighted[:, :, design.symmetric]
        whole = whole.reshape(*shape, design.n_outputs, -1).transpose(0, 2, 1, 3)
        return whole[None]

    def precisions(self, precision: FloatArray) -> FloatArray:
        """1/σ² by column → the prior's part of a block's diagonal, (columns · coupled,)."""
        if self.separate:
            return precision / self.n_blocks
        return np.repeat(precision, self.design.n_outputs)

    def of_blocks(self, phi: FloatArray) -> FloatArray:
        """φ (columns, t_Y) → the parameters of the blocks, shape (blocks, columns · coupled)."""
        return self.class_coding @ phi.T if self.separate else phi.reshape(1, -1)

    def log_determinant(self, of_blocks: Sequence[float], n_columns: int) -> float:
        """log |A| of columns in the coordinates of φ, from those of its blocks.

        With separate classes it is (K − 1) (columns · log K + mean_k log |V_k|).
        """
        if not self.separate:
            return of_blocks[0]
        mean = math.fsum(of_blocks) / self.n_blocks
        return self.design.n_others * (n_columns * math.log(self.n_blocks) + mean)

    @property
    def class_coding(self) -> FloatArray:
        """E_Y, shape (K, t_Y)."""
        return ORTHONORMAL.matrix(self.design.basis.levels[self.design.basis.structure.target])


def separates_classes(of_target: Levels, dimension: int) -> bool:
    """Whether models of about this dimension use separate classes, which must be nominal."""
    n_outputs = of_target.n_columns
    is_nominal = n_outputs == of_target.n_states - 1
    return n_outputs > 1 and is_nominal and dimension > MOST_JOINT


def factor_size(of_target: Levels, dimension: int) -> float:
    """Return the size of a matrix whose factor takes the work of the factors of A.

    It is d if A is factored as a whole, and K^⅓ columns for separate classes.
    """
    if not separates_classes(of_target, dimension):
        return float(dimension)
    n_columns = dimension / of_target.n_columns
    return n_columns * math.cbrt(of_target.n_states)
