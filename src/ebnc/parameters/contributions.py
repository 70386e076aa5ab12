"""Contributions: log odds as a sum of terms that average to zero, whichever state is the baseline.

The log odds of class k against the geometric mean of the other classes (for two classes: the
ordinary log odds) are

    g_k(x) = log p(y^k|x) − 1/(K − 1) Σ_{j≠k} log p(y^j|x) = Σ_{S ∈ Δ} c_k(S, x_S)
    c_k(S, ·) = K/(K − 1) · H_Y[k] · Φ_S · ⊗_{i∈S} H_i

with Φ and H of the orthonormal coding. Its columns sum to zero, so every c_k(S, ·), S ≠ ∅, averages
to zero over the states of each of its inputs, and c(S, ·) sums to zero over the classes: no other
decomposition over Δ does. A state never seen before contributes nothing, in any term.
"""

from typing import NamedTuple

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.errors import refuse_if_too_large
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.phi import Basis, Term
from ebnc.parameters.tables import refuse_large_table
from ebnc.typing import FloatArray

__all__ = ["Contributions", "block_to_table", "contributions", "term_table"]


class Contributions(NamedTuple):
    """``values[row, t, k]``: what term t adds to g_k; their sum over t is g_k itself.

    ``terms``: the inputs of every term; the first is (), the intercept.
    """

    terms: tuple[tuple[str, ...], ...]
    values: FloatArray

    @property
    def log_odds(self) -> FloatArray:
        """g, shape (rows, K): log odds of every class against the mean of the others."""
        return np.asarray(self.values.sum(axis=1))


def block_to_table(basis: Basis, term: Term, block: FloatArray) -> FloatArray:
    """Blocks Φ_S, as columns, to tables: (Π (r_i − 1) · (K − 1), B) → (r_i …, K, B)."""
    n_classes = basis.n_classes
    sizes = [basis.domain.n_states(x) for x in term.inputs]
    refuse_large_table((*sizes, n_classes, block.shape[1]), f"the table of term {term.inputs}")
    table = block.reshape(*term.shape, block.shape[1])
    scale = n_classes / max(1, n_classes - 1)
    for axis, size in enumerate([*sizes, n_classes]):
        matrix = ORTHONORMAL.matrix(size) * (scale if axis == len(sizes) else 1.0)
        table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
    return table


def term_table(basis: Basis, phi: FloatArray, term: Term) -> FloatArray:
    """c(S, ·), shape (r_i …, K), of one term; ``phi`` is in the orthonormal coding."""
    return block_to_table(basis, term, phi[term.start : term.stop, None])[..., 0]


def contributions(basis: Basis, phi: FloatArray, rows: CodedRows) -> Contributions:
    """c_k(S, x_S) of every row, term and class; ``phi`` is in the orthonormal coding.

    The rows may have one more state than the domain, for entries never seen before.
    """
    shape = (len(rows), len(basis.terms), basis.n_classes)
    refuse_if_too_large(
        8 * shape[0] * shape[1] * shape[2],
        f"the contributions of {shape[1]} terms to {shape[0]} rows",
        "ask for fewer rows",
    )
    values = np.empty(shape)
    for t, term in enumerate(basis.terms):
        table = term_table(basis, phi, term)
        with_unseen = np.pad(table, [*[(0, 1)] * len(term.inputs), (0, 0)])
        values[:, t] = with_unseen[tuple(rows.column(x) for x in term.inputs)]
    return Contributions(tuple(term.inputs for term in basis.terms), values)
