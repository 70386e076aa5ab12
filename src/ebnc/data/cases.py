"""Cases: coded inputs, a class and a weight per row; equal rows can be merged and counted."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.errors import DataError
from ebnc.typing import CodeArray, FloatArray

T = TypeVar("T")

LARGEST_WEIGHT = 1e100  # sums of squares do not overflow
FEW_CELLS = 2**16  # configurations: a lookup table of half a megabyte
SAMPLE = 16_384  # rows for an estimate of the number of distinct rows


@dataclass(frozen=True, eq=False)
class Cases:
    """D: inputs x_l, class y_l and weight of every case; ``weights`` is None if all are 1."""

    domain: Domain
    target: str
    rows: CodedRows
    classes: CodeArray
    weights: FloatArray | None

    def __len__(self) -> int:
        return len(self.rows)

    def with_target(self, name: str) -> "Cases":
        """Return the same rows, where the class is another variable of the rows."""
        return replace(self, target=name, classes=self.rows.column(name))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self.rows.names

    @property
    def n_states(self) -> tuple[int, ...]:
        """Numbers of states of the inputs."""
        return self.rows.n_states

    @property
    def n_rows(self) -> int:
        """Number of rows, not counting weights."""
        return len(self.rows)

    def add_up(self, job: Callable[..., T], *arguments: Any) -> T:
        """Σ job(part, …) as in ``Parts``; cases in memory are one part."""
        return job(self, *arguments)

    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]:
        """The results of all parts, as in ``Parts``."""
        return [job(self, *arguments)]

    def prepared(self, make: Callable[..., Any], *arguments: Any) -> Any:
        """Return make(cases, …), as in ``Parts``."""
        return make(self, *arguments)

    @property
    def total_weight(self) -> float:
        """N in the scores: the sum of the weights."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    def counted(self) -> "Cases":
        """Return the distinct cases with summed weights, or ``self`` if that would save little."""
        return self.distinct() if self._worth_counting() else self

    def distinct(self) -> "Cases":
        """Return the distinct cases in ascending order, with summed weights."""
        columns, sizes = self._columns(), self._sizes()
        if self.weights is None and FEW_CELLS < prod(sizes) < 2**64:
            # The key of a row encodes all its states: sorting only the keys is much faster.
            keys, counts = np.unique(_keys(columns, sizes), return_counts=True)
            codes = np.empty((len(self.inputs), len(keys)), dtype=self.rows.codes.dtype)
            classes = np.empty(len(keys), dtype=self.classes.dtype)
            for column, size in zip([classes, *codes[::-1]], sizes[::-1], strict=True):
                keys, column[:] = np.divmod(keys, np.uint64(size))
            weights = counts.astype(np.float64)
        else:
            first, inverse = distinct_rows(columns, sizes)
            weights = np.bincount(inverse, self.weights, minlength=len(first)).astype(np.float64)
            codes, classes = self.rows.codes[:, first], self.classes[first]
        return self._with(np.ascontiguousarray(codes), classes, weights)

    @staticmethod
    def joined(parts: Sequence["Cases"]) -> "Cases":
        """Concatenate parts with the same variables."""
        if len(parts) == 1:
            return parts[0]
        weights = joined_weights((len(part), part.weights) for part in parts)
        codes = np.concatenate([part.rows.codes for part in parts], axis=1)
        return parts[0]._with(codes, np.concatenate([part.classes for part in parts]), weights)

    def rows_of(self, first: int, last: int) -> "Cases":
        """Return the rows from ``first`` up to but without ``last``."""
        weights = None if self.weights is None else self.weights[first:last]
        return self._with(self.rows.codes[:, first:last], self.classes[first:last], weights)

    def _with(self, codes: CodeArray, classes: CodeArray, weights: FloatArray | None) -> "Cases":
        """Other rows of the same variables."""
        rows = CodedRows(self.inputs, self.n_states, codes)
        return Cases(self.domain, self.target, rows, classes, weights)

    @property
    def n_bytes(self) -> int:
        """Bytes of the arrays."""
        arrays = (self.rows.codes, self.classes, self.weights)
        return sum(0 if array is None else array.nbytes for array in arrays)

    def projected(self, names: Sequence[str]) -> "Cases":
        """Keep only these inputs, and count again: with fewer inputs, more rows are equal."""
        places = [self.rows.place(name) for name in names]
        n_states = tuple(self.n_states[place] for place in places)
        rows = CodedRows(tuple(names), n_states, self.rows.codes[places])
        return replace(self, rows=rows).counted()

    def _worth_counting(self) -> bool:
        """Whether at least half of the rows are repeats, estimated from a sample.

        Among s rows drawn from D equally likely ones, s²/2D pairs are equal.
        """
        if len(self) <= SAMPLE:
            return len(self) > 1
        chosen = np.linspace(0, len(self) - 1, SAMPLE).astype(np.int64)
        keys = _keys([column[chosen] for column in self._columns()], self._sizes())
        _, counts = np.unique(keys, return_counts=True)
        equal_pairs = float(np.sum(counts * (counts - 1.0))) / 2
        return equal_pairs > SAMPLE**2 / len(self)

    def _columns(self) -> list[NDArray[Any]]:
        return [*self.rows.codes, self.classes]

    def _sizes(self) -> list[int]:
        return [*self.rows.n_states, self.domain.n_states(self.target)]


def joined_weights(parts: Iterable[tuple[int, FloatArray | None]]) -> FloatArray | None:
    """Concatenate the weights of parts, given with their numbers of rows; None: all are 1."""
    weights = list(parts)
    if all(array is None for _, array in weights):
        return None
    return np.concatenate([np.ones(n) if array is None else array for n, array in weights])


def check_weights(weights: object, n_rows: int) -> FloatArray | None:
    """Return weights as floats; require one per row, finite, none negative, not all zero."""
    if weights is None:
        return None
    try:
        raw = np.asarray(weights)
        if raw.dtype.kind not in "biufO":  # NumPy would silently cast text and dates
            raise TypeError
        array = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError("weights must be numbers") from None
    if array.shape != (n_rows,):
        raise DataError(f"weights must have shape ({n_rows},), one for each row, got {array.shape}")
    refuse_wrong_weights(array)
    if not array.any():
        raise DataError("all weights are zero; at least one must be positive")
    return array


def refuse_wrong_weights(array: FloatArray, first: int = 0) -> None:
    """Raise if a weight is not a finite number ≥ 0; ``first`` is the number of the first row."""
    wrong = ~np.isfinite(array) | (array < 0)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise DataError(f"weight {array[place]} of row {first + place} is not a finite number ≥ 0")
    if array.size and array.max() > LARGEST_WEIGHT:
        raise DataError(f"weight {array.max()} is too large; scale the weights down")


def _keys(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> NDArray[np.uint64]:
    """One number per row, equal for equal rows: mixed radix, renumbered before it overflows."""
    keys = np.zeros(len(columns[0]), dtype=np.uint64)
    range_so_far = 1
    for column, size in zip(columns, sizes, strict=True):
        if range_so_far * size >= 2**64:
            distinct, inverse = np.unique(keys, return_inverse=True)
            keys, range_so_far = inverse.astype(np.uint64), len(distinct)
        keys *= np.uint64(size)
        keys += column
        range_so_far *= size
    return keys


def distinct_rows(
    columns: Sequence[NDArray[Any]], sizes: Sequence[int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first place of each distinct row, and the number of its distinct row per row."""
    keys = _keys(columns, sizes)
    n_rows, n_cells = len(keys), prod(sizes)
    if n_cells > max(n_rows, FEW_CELLS):
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return first, inverse
    # For few configurations a lookup takes a fifth of the time of sorting.
    place = np.full(n_cells, -1, dtype=np.intp)
    place[keys[::-1]] = np.arange(n_rows - 1, -1, -1)  # the first row is written last
    present = np.flatnonzero(place >= 0)
    first = place[present]
    place[present] = np.arange(len(present))
    return first, place[keys]
