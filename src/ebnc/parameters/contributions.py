"""Contributions: log odds as a sum of terms that average to zero over the training data.

The log odds of class k against the geometric mean of the other classes (for two classes: the
ordinary log odds) are

    g_k(x) = log p(y^k|x) − 1/(K − 1) Σ_{j≠k} log p(y^j|x) = Σ_{S ∈ Δ} c_k(S, x_S)

Let w_i be weights of the states of input i that sum to 1. The c_k(S, ·) are the functional
ANOVA of g_k for independent inputs with these distributions (Hoeffding's decomposition), the only
decomposition over Δ with these properties: c_k(S, ·), S ≠ ∅, has the weighted mean zero over the
states of each of its inputs, c_k(∅) is the weighted mean of g_k, and c(S, ·) sums to zero over the
classes. An unknown input contributes 0 in every term; the other terms sum to the weighted mean.

    c_k(S, ·) = K/(K − 1) · H_Y[k] · Φ_S · ⊗_{i∈S} E_i,        E_i = H_i − 1 w_iᵀH_i

H: the orthonormal coding; Φ: the parameters in the coding E, whose columns have the weighted mean
zero. [1 | H_i] = [1 | E_i] · [[1, w_iᵀH_i], [0, I]] is the change of coding. Equal weights give
E_i = H_i.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ebnc.data.frames import columns_to_frame
from ebnc.data.rows import CodedRows
from ebnc.domain import State
from ebnc.errors import ParameterError
from ebnc.markup import html_table
from ebnc.memory import refuse_if_too_large
from ebnc.parameters.background import Background
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.phi import Basis, Term, change_coding, term_text
from ebnc.parameters.tables import refuse_large_table
from ebnc.typing import FloatArray

MOST_SHOWN = 10  # rows of data that a notebook shows

Weights: TypeAlias = Literal["training", "uniform"]
StateWeights: TypeAlias = Mapping[str, FloatArray]


class Contributions(NamedTuple):
    """Contributions of terms to log odds.

    Attributes
    ----------
    terms : tuple of tuple of str
        The inputs of every term; the first is (), the intercept.
    values : array (rows, terms, K)
        ``values[row, t, k]``: contribution of term t to g_k; the sum over t is g_k.
    classes : tuple
        The K labels.
    """

    terms: tuple[tuple[str, ...], ...]
    values: FloatArray
    classes: tuple[State, ...]

    @property
    def log_odds(self) -> FloatArray:
        """g, shape (rows, K): log odds of every class against the mean of the others."""
        return np.asarray(self.values.sum(axis=1))

    def _repr_html_(self) -> str:
        classes = [1] if len(self.classes) == 2 else range(len(self.classes))
        names = [*map(term_text, self.terms), "log odds"]
        some = self.values[:MOST_SHOWN]
        whole = np.concatenate([some, some.sum(axis=1, keepdims=True)], axis=1)
        if len(whole) == 1:  # one row of the data reads best downwards
            columns = ("term", *(f"adds to {self.classes[k]}" for k in classes))
            return html_table(columns, zip(names, *whole[0].T[classes].tolist(), strict=True))
        rows = [
            (i, str(self.classes[k]), *whole[i, :, k].tolist())
            for i in range(len(whole))
            for k in classes
        ]
        n_more = len(self.values) - len(whole)
        note = f"… and {n_more} more rows" if n_more else ""
        return html_table(("row", "log odds of", *names), rows, note=note)

    def to_frame(self, of_class: State = None) -> Any:
        """A DataFrame with one row for each row of the data, and one column for each term.

        It is of the first of pandas, polars, pyarrow that is installed.

        Parameters
        ----------
        of_class : label, optional
            The class whose log odds the terms add up to. The default is the second of two classes;
            with more classes there is none.
        """
        if of_class is None and len(self.classes) == 2:
            of_class = self.classes[1]
        if of_class not in self.classes:
            raise ParameterError(
                f"of_class must be one of the classes {list(self.classes[:8])}, got {of_class!r}"
            )
        of_terms = self.values[:, :, self.classes.index(of_class)]
        return columns_to_frame(
            (term_text(term), of_terms[:, t]) for t, term in enumerate(self.terms)
        )


def weights_named(name: str, background: Background | None) -> StateWeights:
    """The weights of the states by input; an empty mapping means equal weights.

    It is empty for "uniform", and for "training" if the model has no background.
    """
    if name not in ("training", "uniform"):
        raise ParameterError(f"weights must be 'training' or 'uniform', got {name!r}")
    return {} if name == "uniform" or background is None else background.state_weights


def centred(basis: Basis, phi: FloatArray, weights: StateWeights) -> FloatArray:
    """Φ in the coding E from φ in the orthonormal coding, shape (d,) or (d, …)."""
    if not weights:
        return phi
    change = {}
    for x in basis.structure.markov_blanket:
        change[x] = np.eye(basis.levels[x].n_columns + 1)
        if x in weights:
            change[x][0, 1:] = weights[x] @ ORTHONORMAL.matrix(basis.levels[x])
    return change_coding(basis, phi, change, np.eye(basis.n_outputs))


def block_to_table(
    basis: Basis, term: Term, block: FloatArray, weights: StateWeights
) -> FloatArray:
    """Blocks Φ_S, one per column, to tables: (products · t_Y, B) → (r_i …, K, B)."""
    n_classes = basis.n_classes
    sizes = [basis.domain.n_states(x) for x in term.inputs]
    refuse_large_table((*sizes, n_classes, block.shape[1]), f"the table of term {term.inputs}")
    widths = [basis.levels[x].n_columns for x in term.inputs]
    table = np.zeros((*widths, basis.n_outputs, block.shape[1]))
    places = tuple(term.columns.T) or (None,)
    table[places] = block.reshape(len(term.columns), basis.n_outputs, block.shape[1])
    classes = ORTHONORMAL.matrix(basis.levels[basis.structure.target])
    classes = classes * (n_classes / max(1, n_classes - 1))
    for axis, matrix in enumerate([*(_coding(basis, x, weights) for x in term.inputs), classes]):
        table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
    return table


def _coding(basis: Basis, name: str, weights: StateWeights) -> FloatArray:
    """E, shape (r, t)."""
    matrix = ORTHONORMAL.matrix(basis.levels[name])
    return matrix - weights[name] @ matrix if name in weights else matrix


def contributions(
    basis: Basis, phi: FloatArray, rows: CodedRows, weights: StateWeights
) -> Contributions:
    """c_k(S, x_S) of every row, term and class; ``phi`` is in the orthonormal coding.

    The rows may have one more state than the domain, for unknown entries.
    """
    shape = (len(rows), len(basis.terms), basis.n_classes)
    refuse_if_too_large(
        8 * shape[0] * shape[1] * shape[2],
        f"the contributions of {shape[1]} terms to {shape[0]} rows",
        "pass fewer rows",
    )
    values = np.empty(shape)
    recoded = centred(basis, phi, weights)
    for t, term in enumerate(basis.terms):
        table = block_to_table(basis, term, recoded[term.start : term.stop, None], weights)[..., 0]
        with_unknown = np.pad(table, [*[(0, 1)] * len(term.inputs), (0, 0)])
        values[:, t] = with_unknown[tuple(rows.column(x) for x in term.inputs)]
    classes = basis.domain[basis.structure.target]
    return Contributions(tuple(term.inputs for term in basis.terms), values, classes)


def mean_square(term: Term, table: FloatArray, weights: StateWeights) -> float:
    """The mean of c² over the states, weighted, and over the classes; table: (r_i …, K)."""
    square = table**2
    for x in term.inputs:
        square = np.average(square, axis=0, weights=weights.get(x))
    return float(square.mean())
