"""φ: non-redundant coordinates of an EBNC (§6, eq. 19), one block per subset of a cluster.

    λ_k(x) = Σ_{S ∈ Δ} φ_k(S, x_S)

Read in order: ``Basis`` (which coordinates exist) → ``phi_to_tables`` (one table per cluster) and
its inverse, ``tables_to_phi``. φ is a flat vector; a ``Coding`` gives its numbers their meaning. In
``INDICATOR`` φ_k(S, s) is the coefficient of Π_{i∈S} I(x_i^s), all s ≥ 1: a polynomial in
indicators, so an EBNC is a softmax polynomial regression.

If ordered or numeric variables interact, the products of fast waves have so small a scale that they
are left out: the waves j_i of a product satisfy Π j_i ≤ ``LARGEST_PRODUCT`` (a *hyperbolic cross*).

A basis may have *weak pairs*: beside the terms of its clusters, a term for every other pair of
inputs, with the slowest wave of each curve. They have one small scale of their own. Such a sum is
not an EBNC in general, because sets of pairs such as {12, 13, 23} are the clusters of no structure;
for Gaussian inputs these are the terms of a quadratic discriminant (docs/theory/numbers.md).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ebnc.domain import Domain, Levels
from ebnc.errors import ParameterError
from ebnc.memory import refuse_if_too_large
from ebnc.parameters.coding import Coding, wave_numbers
from ebnc.parameters.constants import without_constants
from ebnc.parameters.dimension import count_terms
from ebnc.parameters.numbers import as_numbers
from ebnc.parameters.tables import TableSum, refuse_large_table
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray, IntArray

BYTES_PER_TERM = 512  # approximate size of a Term; guards against exponentially many


LARGEST_PRODUCT = 6
"""Largest Π j_i of the waves in an interaction."""

WEAK = -1
"""The group of the weak pairs, and of an input with a scale of its own; other terms belong to the
group of their number of inputs."""


@lru_cache(maxsize=4096)
def products_of_columns(levels: tuple[Levels, ...], largest: int = LARGEST_PRODUCT) -> IntArray:
    """The columns of an interaction, shape (products, inputs): the column of each input's coding.

    All products of columns whose waves satisfy Π j_i ≤ ``largest``; a single input has all columns.
    """
    sizes = [each.n_columns for each in levels]
    places = np.indices(sizes).reshape(len(levels), prod(sizes)).T
    if len(levels) > 1 and any(each.n_ordered for each in levels):
        waves = [np.array(wave_numbers(each), dtype=np.int64) for each in levels]
        product = np.ones(len(places), dtype=np.int64)
        for numbers, place in zip(waves, places.T, strict=True):
            product *= numbers[place]
        places = places[product <= largest]
    places = np.ascontiguousarray(places)
    places.flags.writeable = False
    return places


@lru_cache(maxsize=4096)
def count_products(levels: tuple[Levels, ...], largest: int = LARGEST_PRODUCT) -> int:
    """The number of products of columns, without making them: a file may ask for too many."""
    if len(levels) < 2:
        return prod(each.n_columns for each in levels)
    counts = Counter({1: 1})  # products of columns by the product of their waves
    for each in levels:
        waves, before = Counter(wave_numbers(each)), counts
        counts = Counter()
        for product, n in before.items():
            for wave, times in waves.items():
                if product * wave <= largest:
                    counts[product * wave] += n * times
    return counts.total()


@dataclass(frozen=True, slots=True)
class Term:
    """One S ∈ Δ: its block of φ is ``phi[start:stop]``, shape (products of columns, t_Y).

    ``levels``: those of the inputs. ``is_weak``: whether the term is one of the weak pairs.
    ``is_apart``: whether its input has a scale of its own.
    """

    inputs: tuple[str, ...]
    levels: tuple[Levels, ...]
    n_outputs: int
    start: int
    is_weak: bool = False
    is_apart: bool = False

    @property
    def columns(self) -> IntArray:
        """The column of each input's coding, for each product of columns, (products, inputs)."""
        return products_of_columns(self.levels, self._largest)

    @property
    def _largest(self) -> int:
        return 1 if self.is_weak else LARGEST_PRODUCT

    @property
    def group(self) -> int:
        """The number of inputs, or ``WEAK``: terms of a group share a scale of the prior."""
        return WEAK if self.is_weak or self.is_apart else len(self.inputs)

    @property
    def stop(self) -> int:
        """End of the block."""
        return self.start + count_products(self.levels, self._largest) * self.n_outputs


def term_text(inputs: tuple[str, ...]) -> str:
    """The name of a term in tables and frames."""
    return " · ".join(inputs) or "(intercept)"


@dataclass(frozen=True)
class Basis:
    """The terms of Δ by size, then in the order of inputs; ∅, the intercept, is the first.

    ``structure`` has no inputs with one state: they are removed on construction. ``weak_pairs``:
    whether weak pairs follow the terms of the clusters. ``apart``: an input whose main effect has a
    scale of its own in the prior, that of the group ``WEAK``; a basis with it has no weak pairs.
    """

    structure: EmbeddedStructure
    domain: Domain
    weak_pairs: bool = False
    apart: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "structure", without_constants(self.structure, self.domain))

    def __reduce__(self) -> tuple[Any, ...]:
        return Basis, (self.structure, self.domain, self.weak_pairs)  # what is cached stays out

    @property
    def dimension(self) -> int:
        """d, the length of φ."""
        return self.terms[-1].stop

    @cached_property
    def n_classes(self) -> int:
        """K."""
        return self.domain.n_states(self.structure.target)

    @cached_property
    def n_outputs(self) -> int:
        """t_Y, the numbers in φ for each product of columns: K − 1 for a nominal target."""
        return self.domain.levels(self.structure.target).n_columns

    @cached_property
    def levels(self) -> Mapping[str, Levels]:
        """Levels of the target and of every input that a term has."""
        names = (*self.structure.markov_blanket, self.structure.target)
        return {name: self.domain.levels(name) for name in names}

    @cached_property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """The sets of inputs with a table: the clusters, then the weak pairs."""
        return (*self.structure.clusters, *(t.inputs for t in self.terms if t.is_weak))

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Every S ∈ Δ with its place in φ, then the weak pairs."""
        counts = {x: self.levels[x].n_columns + 1 for x in self.structure.markov_blanket}
        clusters = self.structure.clusters
        n_terms = count_terms(clusters, dict.fromkeys(counts, 2))
        length = self.n_outputs * count_terms(clusters, counts)
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
        ordered = [(s, False) for s in sorted(subsets, key=lambda s: (len(s), self._places(s)))]
        if self.weak_pairs:
            names = sorted(counts, key=position.__getitem__)
            ordered += [(pair, True) for pair in combinations(names, 2) if pair not in subsets]
        terms: list[Term] = []
        start = 0
        for inputs, is_weak in ordered:
            levels = tuple(self.levels[x] for x in inputs)
            is_apart = inputs == (self.apart,)
            terms.append(Term(inputs, levels, self.n_outputs, start, is_weak, is_apart))
            start = terms[-1].stop
        return tuple(terms)

    def _places(self, inputs: Sequence[str]) -> list[int]:
        return [self.position[x] for x in inputs]

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
        subsets = (
            subset
            for size in range(len(cluster) + 1)
            for subset in combinations(sorted(cluster, key=self.position.__getitem__), size)
        )
        return [self._by_inputs[subset] for subset in subsets if subset in self._by_inputs]


def transfer(phi: FloatArray, given: Basis, wanted: Basis) -> FloatArray:
    """φ of the basis ``given`` as a start for ``wanted``: shared terms keep their blocks.

    All other blocks are zero. In the orthonormal coding the function is the same if ``wanted`` has
    all terms of ``given``.
    """
    result = np.zeros(wanted.dimension)
    known = {term.inputs: term for term in given.terms}
    for term in wanted.terms:
        old = known.get(term.inputs)
        if old is not None and old.is_weak == term.is_weak:
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
    """One table of log odds per scope, φ → λ; each term belongs to the first scope with it.

    A scope's table is ⊗_i [1 | E_i] applied to the array of its coefficients, axis by axis.
    """
    classes = coding.classes(basis.levels[basis.structure.target])
    full = {levels: coding.full(levels) for levels in set(basis.levels.values())}
    tables = []
    for scope, coefficients in _coefficients(basis, phi[:, None]):
        table = coefficients[..., 0]
        for axis, x in enumerate(scope):
            table = _along(full[basis.levels[x]], table, axis)
        tables.append(table @ classes.T)
    return TableSum(basis.scopes, tuple(tables), basis.n_classes - 1)


def tables_to_phi(basis: Basis, tables: TableSum, coding: Coding) -> FloatArray:
    """The φ with these log odds; the scopes of the tables (e.g. κ) must lie inside clusters.

    All variables must be nominal.
    """
    phi = np.zeros(basis.dimension)
    to_classes = np.linalg.inv(coding.classes(basis.n_classes))
    inverse = {levels: np.linalg.inv(coding.full(levels)) for levels in set(basis.levels.values())}
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
            coefficients = _along(inverse[basis.levels[x]], coefficients, axis)
        for term in basis.terms_inside(cluster):
            phi[term.start : term.stop] += coefficients[places_of(term, cluster)].ravel()
    return phi


def recode(basis: Basis, phi: FloatArray, given: Coding, wanted: Coding) -> FloatArray:
    """The same functions in another coding; ``phi`` has shape (d,), or (d, B) for several."""
    if given == wanted:
        return phi.copy()
    of_target = basis.levels[basis.structure.target]
    classes = _solved(wanted.classes(of_target), given.classes(of_target))
    by_levels = {
        levels: _solved(wanted.full(levels), given.full(levels))
        for levels in set(basis.levels.values())
    }
    change = {x: by_levels[basis.levels[x]] for x in basis.structure.markov_blanket}
    return change_coding(basis, phi, change, classes)


def _solved(matrix: FloatArray, values: FloatArray) -> FloatArray:
    """X of matrix · X = values; a curve has fewer columns than states, which all agree."""
    if matrix.shape[0] == matrix.shape[1]:
        return np.asarray(np.linalg.solve(matrix, values))
    return np.asarray(np.linalg.lstsq(matrix, values, rcond=None)[0])


def change_coding(
    basis: Basis,
    phi: FloatArray,
    change: Mapping[str, NDArray[np.floating]],
    classes: NDArray[np.floating],
) -> FloatArray:
    """``recode`` by explicit matrices: (t + 1, t + 1) for inputs, (t_Y, t_Y) for classes."""
    columns = phi.reshape(basis.dimension, prod(phi.shape[1:]))
    result = np.zeros_like(columns)
    for scope, coefficients in _coefficients(basis, columns):
        array = _along(classes, coefficients, len(scope))
        for axis, x in enumerate(scope):
            array = _along(change[x], array, axis)
        for term in basis.terms_inside(scope):
            block = array[places_of(term, scope)]
            result[term.start : term.stop] += block.reshape(
                term.stop - term.start, columns.shape[1]
            )
    return result.reshape(phi.shape)


def _coefficients(basis: Basis, phi: FloatArray) -> Iterator[tuple[tuple[str, ...], FloatArray]]:
    """φ by scope, shape (t_i + 1 …, t_Y, B), each term in the first scope with it."""
    placed: set[tuple[str, ...]] = set()
    for scope in basis.scopes:
        sizes = tuple(basis.levels[x].n_states for x in scope)
        refuse_large_table((*sizes, basis.n_classes), f"the table of cluster {scope}")
        shape = tuple(basis.levels[x].n_columns + 1 for x in scope)
        coefficients = np.zeros((*shape, basis.n_outputs, phi.shape[1]))
        for term in basis.terms_inside(scope):
            if term.inputs not in placed:
                placed.add(term.inputs)
                block = phi[term.start : term.stop]
                block = block.reshape(len(term.columns), basis.n_outputs, phi.shape[1])
                coefficients[places_of(term, scope)] = block
        yield scope, coefficients


def places_of(term: Term, scope: Sequence[str]) -> tuple[IntArray | int, ...]:
    """The index of a term's coefficients among those of a scope: 0 along inputs it lacks."""
    own = {x: 1 + column for x, column in zip(term.inputs, term.columns.T, strict=True)}
    zeros = np.zeros(len(term.columns), dtype=np.int64)
    return tuple(own.get(x, zeros) for x in scope) if scope else (None,)  # type: ignore[return-value]


def _along(matrix: NDArray[np.floating], array: FloatArray, axis: int) -> FloatArray:
    """Multiply a matrix along one axis."""
    return np.moveaxis(np.tensordot(matrix, array, axes=(1, axis)), 0, axis)
