"""φ: non-redundant coordinates of an EBNC (§6, eq. 19), one block per subset of a cluster.

    λ_k(x) = Σ_{S ∈ Δ} φ_k(S, x_S)

Read in order: ``Basis`` (which coordinates exist) → ``phi_to_tables`` (one table per cluster) and
its inverse, ``tables_to_phi``. φ is a flat vector; a ``Coding`` gives its numbers their meaning. In
``INDICATOR`` φ_k(S, s) is the coefficient of Π_{i∈S} I(x_i^s), all s ≥ 1: a polynomial in
indicators, so an EBNC is a softmax polynomial regression.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ebnc.domain import Domain
from ebnc.errors import ParameterError
from ebnc.memory import refuse_if_too_large
from ebnc.parameters.coding import Coding
from ebnc.parameters.constants import without_constants
from ebnc.parameters.dimension import count_terms
from ebnc.parameters.numbers import as_numbers
from ebnc.parameters.tables import TableSum, refuse_large_table
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

BYTES_PER_TERM = 512  # approximate size of a Term; guards against exponentially many


@dataclass(frozen=True, slots=True)
class Term:
    """One S ∈ Δ: its block of φ is ``phi[start:stop]``, shape (r_i − 1 for i in S …, K − 1)."""

    inputs: tuple[str, ...]
    shape: tuple[int, ...]
    start: int

    @property
    def stop(self) -> int:
        """End of the block."""
        return self.start + prod(self.shape)


def term_text(inputs: tuple[str, ...]) -> str:
    """The name of a term in tables and frames."""
    return " · ".join(inputs) or "(intercept)"


@dataclass(frozen=True)
class Basis:
    """The terms of Δ by size, then in the order of inputs; ∅, the intercept, is the first.

    ``structure`` has no inputs with one state: they are removed on construction.
    """

    structure: EmbeddedStructure
    domain: Domain

    def __post_init__(self) -> None:
        object.__setattr__(self, "structure", without_constants(self.structure, self.domain))

    @property
    def dimension(self) -> int:
        """d, the length of φ."""
        return self.terms[-1].stop

    @cached_property
    def n_classes(self) -> int:
        """K."""
        return self.domain.n_states(self.structure.target)

    @cached_property
    def sizes(self) -> frozenset[int]:
        """The distinct numbers of states, each of which needs a coding matrix."""
        return frozenset(self.domain.n_states(x) for x in self.structure.markov_blanket)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Every S ∈ Δ with its place in φ."""
        counts = {x: self.domain.n_states(x) for x in self.structure.markov_blanket}
        clusters = self.structure.clusters
        n_terms = count_terms(clusters, dict.fromkeys(counts, 2))
        length = max(1, self.n_classes - 1) * count_terms(clusters, counts)
        refuse_if_too_large(
            BYTES_PER_TERM * n_terms + 8 * length,
            f"φ, {length if length < 10**12 else 'over 10^12'} parameters in its terms,",
            "use a structure with smaller clusters",
        )
        position = self.position
        subsets = {
            subset
            for cluster in clusters
            for size in range(len(cluster) + 1)
            for subset in combinations(cluster, size)
        }
        terms: list[Term] = []
        start = 0
        for subset in sorted(subsets, key=lambda s: (len(s), [position[x] for x in s])):
            shape = (*(counts[x] - 1 for x in subset), self.n_classes - 1)
            terms.append(Term(subset, shape, start))
            start = terms[-1].stop
        return tuple(terms)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Place of every input in the structure's order, which terms follow."""
        return {x: i for i, x in enumerate(self.structure.inputs)}

    @cached_property
    def _by_inputs(self) -> dict[tuple[str, ...], Term]:
        return {term.inputs: term for term in self.terms}

    def term(self, inputs: Iterable[str]) -> Term:
        """The term of a set of inputs."""
        key = tuple(sorted(inputs, key=lambda x: self.position.get(x, -1)))
        try:
            return self._by_inputs[key]
        except KeyError:
            raise ParameterError(f"{key} is not inside a cluster of {self.structure}") from None

    def terms_inside(self, cluster: Sequence[str]) -> list[Term]:
        """All terms whose inputs lie in ``cluster``."""
        return [
            self.term(subset)
            for size in range(len(cluster) + 1)
            for subset in combinations(cluster, size)
        ]


def transfer(phi: FloatArray, given: Basis, wanted: Basis) -> FloatArray:
    """φ of the basis ``given`` as a start for ``wanted``: shared terms keep their blocks.

    All other blocks are zero. In the orthonormal coding the function is the same if ``wanted`` has
    all terms of ``given``.
    """
    result = np.zeros(wanted.dimension)
    known = {term.inputs: term for term in given.terms}
    for term in wanted.terms:
        if term.inputs in known:
            old = known[term.inputs]
            result[term.start : term.stop] = phi[old.start : old.stop]
    return result


def check_phi(basis: Basis, phi: ArrayLike) -> FloatArray:
    """φ as a vector of finite numbers of the right length."""
    vector = as_numbers(phi, "φ")
    if vector.shape != (basis.dimension,):
        raise ParameterError(f"φ must have shape ({basis.dimension},), got {vector.shape}")
    if not np.isfinite(vector).all():
        place = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise ParameterError(f"φ has {vector[place]} at {place}; it must be finite")
    vector.flags.writeable = False  # tables computed from it are cached
    return vector


def phi_to_tables(basis: Basis, phi: FloatArray, coding: Coding) -> TableSum:
    """One table of log odds per cluster, φ → λ; each term belongs to the first cluster with it.

    A cluster's table is ⊗_i [1 | E_i] applied to the array of its coefficients, axis by axis.
    """
    classes = coding.classes(basis.n_classes)
    full = {r: coding.full(r) for r in basis.sizes}
    tables = []
    for cluster, coefficients in _coefficients(basis, phi[:, None]):
        table = coefficients[..., 0]
        for axis, x in enumerate(cluster):
            table = _along(full[basis.domain.n_states(x)], table, axis)
        tables.append(table @ classes.T)
    return TableSum(basis.structure.clusters, tuple(tables), basis.n_classes - 1)


def tables_to_phi(basis: Basis, tables: TableSum, coding: Coding) -> FloatArray:
    """The φ with these log odds; the scopes of the tables (e.g. κ) must lie inside clusters."""
    phi = np.zeros(basis.dimension)
    to_classes = np.linalg.inv(coding.classes(basis.n_classes))
    inverse = {r: np.linalg.inv(coding.full(r)) for r in basis.sizes}
    inside = basis._by_inputs
    for scope, table in zip(tables.scopes, tables.tables, strict=True):
        varying = [x for x in scope if x in basis.position]
        cluster = tuple(sorted(varying, key=basis.position.__getitem__))
        if cluster not in inside and not table.any():
            continue  # the factor of a child with one state: κ = log 1
        axes = [varying.index(x) for x in cluster]
        values = table[tuple(slice(None) if x in basis.position else 0 for x in scope)]
        coefficients = np.transpose(values, (*axes, len(cluster))) @ to_classes.T
        for axis, x in enumerate(cluster):
            coefficients = _along(inverse[basis.domain.n_states(x)], coefficients, axis)
        for term in basis.terms_inside(cluster):
            phi[term.start : term.stop] += coefficients[_corner(cluster, term.inputs)].ravel()
    return phi


def recode(basis: Basis, phi: FloatArray, given: Coding, wanted: Coding) -> FloatArray:
    """The same functions in another coding; ``phi`` has shape (d,), or (d, B) for several."""
    if given == wanted:
        return phi.copy()
    classes = np.linalg.solve(wanted.classes(basis.n_classes), given.classes(basis.n_classes))
    by_size = {r: np.linalg.solve(wanted.full(r), given.full(r)) for r in basis.sizes}
    change = {x: by_size[basis.domain.n_states(x)] for x in basis.structure.markov_blanket}
    return change_coding(basis, phi, change, classes)


def change_coding(
    basis: Basis,
    phi: FloatArray,
    change: Mapping[str, NDArray[np.floating]],
    classes: NDArray[np.floating],
) -> FloatArray:
    """``recode`` by explicit matrices: (r, r) for inputs, (K − 1, K − 1) for classes."""
    columns = phi.reshape(basis.dimension, prod(phi.shape[1:]))
    result = np.zeros_like(columns)
    for cluster, coefficients in _coefficients(basis, columns):
        array = _along(classes, coefficients, len(cluster))
        for axis, x in enumerate(cluster):
            array = _along(change[x], array, axis)
        for term in basis.terms_inside(cluster):
            block = array[_corner(cluster, term.inputs)]
            result[term.start : term.stop] += block.reshape(
                term.stop - term.start, columns.shape[1]
            )
    return result.reshape(phi.shape)


def _coefficients(basis: Basis, phi: FloatArray) -> Iterator[tuple[tuple[str, ...], FloatArray]]:
    """φ by cluster, shape (states …, K − 1, B), each term in the first cluster with it."""
    placed: set[tuple[str, ...]] = set()
    for cluster in basis.structure.clusters:
        shape = tuple(basis.domain.n_states(x) for x in cluster)
        refuse_large_table((*shape, basis.n_classes), f"the table of cluster {cluster}")
        coefficients = np.zeros((*shape, basis.n_classes - 1, phi.shape[1]))
        for term in basis.terms_inside(cluster):
            if term.inputs not in placed:
                placed.add(term.inputs)
                block = phi[term.start : term.stop].reshape(*term.shape, phi.shape[1])
                coefficients[_corner(cluster, term.inputs)] = block
        yield cluster, coefficients


def _corner(cluster: Sequence[str], inputs: Sequence[str]) -> tuple[slice | int, ...]:
    """The index of a term's coefficients in its cluster's: 1… along its inputs, else 0."""
    return tuple(slice(1, None) if x in inputs else 0 for x in cluster)


def _along(matrix: NDArray[np.floating], array: FloatArray, axis: int) -> FloatArray:
    """Multiply a matrix along one axis."""
    return np.moveaxis(np.tensordot(matrix, array, axes=(1, axis)), 0, axis)
