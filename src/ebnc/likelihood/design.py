"""The linear map φ → tables, and its transpose, without an explicit design matrix.

    T_B = Σ_{S → B} (⊗_{i∈S} H_i) Φ_S Qᵀ,        Q = H_Y[1:] − H_Y[0]

H: the orthonormal coding. Small clusters are packed into *bags*, so that one look-up serves
several of them; this does not change the terms. Every term S belongs to the first bag that
contains it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from math import prod

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.domain import Levels
from ebnc.memory import refuse_if_too_large
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.phi import WEAK, Basis, Term, places_of
from ebnc.parameters.tables import first_bags, pack_bags, recipe
from ebnc.threads import in_parallel, row_blocks
from ebnc.typing import CodeArray, FloatArray, IntArray

BAG_CELLS = 128  # larger bags save look-ups but make cross-tabulations of pairs slow to fill
FEW_STATES = 32  # up to this number of states, products of all columns are stored explicitly
DENSE_CELLS = 2**14  # matrices M up to this size are always stored explicitly


@dataclass(frozen=True, eq=False)
class Bag:
    """One look-up: the variables of a bag and the terms that belong to it.

    M = (⊗_{i ∈ bag} [1 | H_i])[:, keep], shape (cells, terms' columns); [1 | H_i] has shape
    (r_i, t_i + 1). M·φ and Mᵀ·t are computed axis by axis (Σ r_i operations per cell) if that is
    cheaper than the explicit product.
    """

    names: tuple[str, ...]
    factors: tuple[FloatArray, ...]
    keep: IntArray

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        levels: Mapping[str, Levels],
        terms: Iterable[Term],
        coding: Callable[[Levels], FloatArray] = ORTHONORMAL.full,
    ) -> "Bag":
        """A bag over ``names`` with these terms; ``coding``: [1 | H] of a variable."""
        sizes = [levels[x].n_columns + 1 for x in names]
        products = np.arange(prod(sizes)).reshape(sizes)
        keep = [np.empty(0, dtype=np.int64)]
        keep += [products[places_of(term, names)].ravel() for term in terms]
        return cls(tuple(names), tuple(coding(levels[x]) for x in names), np.concatenate(keep))

    @cached_property
    def n_cells(self) -> int:
        """Number of configurations of the bag."""
        return prod(factor.shape[0] for factor in self.factors)

    @property
    def _n_products(self) -> int:
        """Number of products of columns of the factors, of which ``keep`` are used."""
        return prod(factor.shape[1] for factor in self.factors)

    @cached_property
    def matrix(self) -> FloatArray | None:
        """M, or None if the computation axis by axis is cheaper."""
        if len(self.factors) == 1:
            return np.ascontiguousarray(self.factors[0][:, self.keep])
        n_columns = self.keep.size
        by_axis = 2 * sum(factor.shape[0] for factor in self.factors)
        if self.n_cells * n_columns > DENSE_CELLS and n_columns > by_axis:
            return None
        whole = np.zeros((self._n_products, n_columns))
        whole[self.keep, np.arange(n_columns)] = 1.0
        return np.ascontiguousarray(self._along_axes(whole, self.factors))

    def to_cells(self, coefficients: FloatArray) -> FloatArray:
        """M φ: (columns, q) → (cells, q)."""
        if self.matrix is not None:
            return self.matrix @ coefficients
        whole = np.zeros((self._n_products, coefficients.shape[1]))
        whole[self.keep] = coefficients
        return self._along_axes(whole, self.factors)

    def from_cells(self, table: FloatArray) -> FloatArray:
        """Mᵀ t: (cells, q) → (columns, q)."""
        if self.matrix is not None:
            return self.matrix.T @ table
        return self._along_axes(table, [factor.T for factor in self.factors])[self.keep]

    def rows_of(self, cells: CodeArray) -> FloatArray:
        """Explicit rows of M for the cells of rows, (rows, columns)."""
        return self._whole_matrix[cells]

    @cached_property
    def _whole_matrix(self) -> FloatArray:
        return self.to_cells(np.eye(self.keep.size)) if self.matrix is None else self.matrix

    def pull_back_squares(self, diagonal: FloatArray) -> FloatArray:
        """Mᵀ diag(t) M for every column t of (cells, q), shape (q, columns, columns).

        Each axis in turn is mapped from r_i to the c_i² products of two columns of its factor. Then
        columns are selected: columns (k_i) and (l_i) of M have their product at (k_i, l_i).
        """
        array = diagonal
        for factor in self.factors:
            r, c = factor.shape
            behind = array.reshape(r, -1).T  # moves the axis from the front to the end
            if c > FEW_STATES:  # r c² products would take too much memory
                array = factor.T @ (behind[:, :, None] * factor)
            else:  # one large matrix product instead of many small ones
                array = behind @ (factor[:, :, None] * factor[:, None, :]).reshape(r, c * c)
        left, right, rest, stride = np.zeros_like(self.keep), np.zeros_like(self.keep), self.keep, 1
        for factor in reversed(self.factors):
            c = factor.shape[1]
            rest, number = np.divmod(rest, c)
            left += number * c * stride
            right += number * stride
            stride *= c * c
        return np.take(array.reshape(diagonal.shape[1], -1), left[:, None] + right, axis=1)

    def _along_axes(self, array: FloatArray, factors: Sequence[FloatArray]) -> FloatArray:
        before, rest = 1, array.size
        for factor in factors:
            to, c = factor.shape
            rest //= c
            array = np.matmul(factor, array.reshape(before, c, rest))
            before *= to
        return array.reshape(before, -1)


@dataclass(frozen=True, eq=False)
class Design:
    """φ as an array (columns, t_Y) in the bags' order, and tables (K − 1, cells) of all bags.

    Attributes
    ----------
    basis : Basis
        The terms, in the order of the flat φ.
    bags : tuple of Bag
        The look-ups, each with its terms.
    order : array (columns,)
        The permutation from the basis to this order:
        φ_design = φ_basis.reshape(-1, t_Y)[order].
    groups : array (columns,)
        Group of each column's term, whose scale it has: its number of inputs, or ``WEAK``.
    """

    basis: Basis
    bags: tuple[Bag, ...]
    order: IntArray
    groups: IntArray

    @classmethod
    def of(cls, basis: Basis, most_cells: int = BAG_CELLS) -> "Design":
        """The design of a basis, with clusters packed into bags of at most ``most_cells`` cells."""
        n_states = {x: basis.levels[x].n_states for x in basis.structure.markov_blanket}
        scopes = pack_bags(basis.scopes, n_states, most_cells)
        carried = place_terms(basis.terms, scopes)
        coding = cache(ORTHONORMAL.full)
        bags = tuple(
            Bag.of(scope, basis.levels, terms, coding)
            for scope, terms in zip(scopes, carried, strict=True)
        )
        placed = [term for terms in carried for term in terms]
        widths = [len(term.columns) for term in placed]
        starts = [term.start // max(1, basis.n_outputs) for term in placed]
        order = [np.arange(a, a + width) for a, width in zip(starts, widths, strict=True)]
        groups = np.repeat([term.group for term in placed], widths)
        return cls(basis, bags, np.concatenate(order), groups)

    @property
    def n_others(self) -> int:
        """K − 1."""
        return self.basis.n_classes - 1

    @property
    def n_outputs(self) -> int:
        """t_Y, the numbers in φ for each column."""
        return self.basis.n_outputs

    @property
    def max_order(self) -> int:
        """The largest number of inputs of a term of a cluster."""
        return int(self.groups.max())

    @property
    def scale_groups(self) -> tuple[int, ...]:
        """The groups of terms with inputs, each of which has a scale of the prior."""
        weak = (WEAK,) if int(self.groups.min()) == WEAK else ()
        return (*range(1, self.max_order + 1), *weak)

    @cached_property
    def class_map(self) -> FloatArray:
        """Q, shape (K − 1, t_Y)."""
        return ORTHONORMAL.classes(self.basis.levels[self.basis.structure.target])

    @cached_property
    def columns(self) -> tuple[slice, ...]:
        """The rows of φ that belong to each bag."""
        edges = np.cumsum([0, *(bag.keep.size for bag in self.bags)]).tolist()
        return tuple(slice(start, stop) for start, stop in pairwise(edges))

    @cached_property
    def offsets(self) -> IntArray:
        """Offsets of the bags' cells in the tables, shape (bags + 1,)."""
        return np.cumsum([0, *(bag.n_cells for bag in self.bags)], dtype=np.int64)

    @property
    def n_columns(self) -> int:
        """d / t_Y."""
        return self.order.size

    @property
    def dimension(self) -> int:
        """d."""
        return self.n_columns * self.n_outputs

    @property
    def n_class_pairs(self) -> int:
        """Number of pairs a ≤ b of log odds."""
        return self.n_others * (self.n_others + 1) // 2

    @cached_property
    def output_pairs(self) -> FloatArray:
        """Pairs of log odds in pairs s ≤ t of the coordinates of φ, (K(K − 1)/2, t_Y(t_Y + 1)/2).

        Multiplied by it, the information of rows in log odds is that in the coordinates of φ.
        """
        upper = np.flatnonzero(np.triu(np.ones((self.n_outputs, self.n_outputs))).ravel())
        return np.ascontiguousarray(self.class_pairs[:, upper])

    @cached_property
    def symmetric(self) -> IntArray:
        """The number of each pair (s, t) of coordinates among the pairs s ≤ t, shape (t_Y²,)."""
        s, t = np.triu_indices(self.n_outputs)
        number = np.empty((self.n_outputs, self.n_outputs), dtype=np.int64)
        number[s, t] = number[t, s] = np.arange(s.size)
        return number.ravel()

    @property
    def n_output_pairs(self) -> int:
        """Number of pairs s ≤ t of the coordinates of φ."""
        return self.n_outputs * (self.n_outputs + 1) // 2

    @cached_property
    def class_pairs(self) -> FloatArray:
        """Pairs a ≤ b of log odds in the coordinates of φ: Qᵀ(e_a e_bᵀ + e_b e_aᵀ)Q, flattened."""
        q = self.class_map
        refuse_if_too_large(
            4 * 8 * q.size**2 // 2,
            f"the Hessian's map of pairs of {len(q) + 1} classes",
            "merge similar classes",
        )
        a, b = np.triu_indices(len(q))
        outer = q[a][:, :, None] * q[b][:, None, :]
        outer[a != b] += outer[a != b].transpose(0, 2, 1)
        return outer.reshape(a.size, -1)

    def term_of(self, inputs: Sequence[str]) -> Term:
        """The term of a set of inputs that the basis does not have."""
        levels = tuple(self.basis.domain.levels(x) for x in inputs)
        return Term(tuple(inputs), levels, self.n_outputs, 0)

    def bag_of(self, names: Sequence[str], terms: Sequence[Term]) -> Bag:
        """A bag over ``names`` with these terms, in this order."""
        return Bag.of(names, {x: self.basis.domain.levels(x) for x in names}, terms)

    def from_basis(self, phi: FloatArray) -> FloatArray:
        """Convert a flat φ (or gradient) of the basis to this order, shape (columns, t_Y)."""
        return phi.reshape(self.n_columns, self.n_outputs)[self.order]

    def to_basis(self, phi: FloatArray) -> FloatArray:
        """The inverse of ``from_basis``."""
        flat = np.empty((self.n_columns, self.n_outputs))
        flat[self.order] = phi
        return flat.ravel()

    def phi_to_tables(self, phi: FloatArray) -> FloatArray:
        """φ (columns, t_Y) → tables (K − 1, cells)."""
        values = phi @ self.class_map.T
        parts = [
            b.to_cells(values[where]) for b, where in zip(self.bags, self.columns, strict=True)
        ]
        return np.ascontiguousarray(np.concatenate(parts).T)

    def pull_back(self, tables: FloatArray) -> FloatArray:
        """The transpose: a gradient in tables (K − 1, cells) → one in φ (columns, t_Y)."""
        out = np.empty((self.n_columns, self.n_others))
        for bag, where, (start, stop) in zip(
            self.bags, self.columns, pairwise(self.offsets.tolist()), strict=True
        ):
            out[where] = bag.from_cells(tables[:, start:stop].T)
        return out @ self.class_map

    def rows_of(self, cells: CodeArray) -> FloatArray:
        """Explicit rows of the design matrix: cells (bags, rows) → (rows, columns)."""
        return np.concatenate(
            [bag.rows_of(own) for bag, own in zip(self.bags, cells, strict=True)], axis=1
        )

    def cells(self, rows: CodedRows) -> CodeArray:
        """Cell numbers of coded rows, shape (bags, rows), in the smaller possible unsigned type."""
        from ebnc.kernels.likelihood import mix_cells

        largest = max(bag.n_cells for bag in self.bags)
        out = np.empty((len(self.bags), len(rows)), np.uint16 if largest <= 2**16 else np.uint32)
        addresses = recipe([bag.names for bag in self.bags], rows)
        in_parallel(
            lambda block: mix_cells(rows.codes, *addresses, *block, out), row_blocks(len(rows))
        )
        return out


def place_terms(terms: Sequence[Term], scopes: Sequence[Sequence[str]]) -> list[list[Term]]:
    """The terms of each scope; every term belongs to the first scope that contains it."""
    carried: list[list[Term]] = [[] for _ in scopes]
    for term, scope in zip(terms, first_bags(scopes, [t.inputs for t in terms]), strict=True):
        carried[scope].append(term)
    return carried
