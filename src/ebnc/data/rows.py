"""``CodedRows``: rows of codes, the numbers of states; checked once, here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ebnc.domain import Domain
from ebnc.errors import DataError
from ebnc.memory import refuse_if_too_large
from ebnc.typing import CodeArray, IntArray


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows of codes of the variables ``names``, with ``codes[v, row]`` < ``n_states[v]``.

    ``codes`` has shape (variables, rows) and the smallest unsigned type that holds all codes.
    ``from_codes`` makes rows from codes, and ``coder.encode`` from labelled data.
    """

    names: tuple[str, ...]
    n_states: tuple[int, ...]
    codes: CodeArray

    @classmethod
    def from_codes(cls, domain: Domain, columns: Mapping[str, ArrayLike]) -> "CodedRows":
        """Make rows from one array of codes per variable; raise if they do not fit the domain."""
        names = tuple(columns)
        n_states = tuple(domain.n_states(name) for name in names)
        arrays = [
            _check_codes(name, columns[name], r) for name, r in zip(names, n_states, strict=True)
        ]
        lengths = {name: len(array) for name, array in zip(names, arrays, strict=True)}
        if len(set(lengths.values())) > 1:
            raise DataError(f"columns differ in length: {lengths}")
        codes = np.empty((len(names), max(lengths.values(), default=0)), dtype=code_type(n_states))
        for v, array in enumerate(arrays):
            codes[v] = array
        return cls(names, n_states, codes)

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def column(self, name: str) -> CodeArray:
        """Codes of one variable."""
        codes: CodeArray = self.codes[self.place(name)]
        return codes

    def place(self, name: str) -> int:
        """The number of a variable: its place on the first axis of ``codes``."""
        try:
            return self._places[name]
        except KeyError:
            raise DataError(
                f"the rows have no column {name!r}; they have {list(self.names)}"
            ) from None

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {name: v for v, name in enumerate(self.names)}


def code_type(n_states: Sequence[int]) -> type[np.unsignedinteger]:
    """Return the smallest unsigned type for variables with these numbers of states."""
    largest = max(n_states, default=1) - 1
    for candidate in (np.uint8, np.uint16, np.uint32):
        if largest <= np.iinfo(candidate).max:
            return candidate
    raise DataError(f"a variable has {largest + 1} states; the limit is 2^32")


def all_configurations(domain: Domain, names: Sequence[str]) -> CodedRows:
    """Return all configurations of ``names`` in lexicographic order; raise if too many."""
    n_states = tuple(domain.n_states(name) for name in names)
    dtype = code_type(n_states)
    n_rows = prod(n_states)
    refuse_if_too_large(
        n_rows * max(1, len(names)) * np.dtype(dtype).itemsize,
        f"the list of all {n_rows if n_rows < 10**12 else 'configurations'} of {len(names)} inputs",
        "pass the rows of interest instead",
    )
    grid = np.indices(n_states, dtype=dtype).reshape(len(names), n_rows)
    return CodedRows(tuple(names), n_states, grid)


def _check_codes(name: str, codes: ArrayLike, n_states: int) -> NDArray[np.integer] | IntArray:
    array = np.asarray(codes)
    if array.ndim != 1:
        raise DataError(f"codes of {name!r} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise DataError(f"codes of {name!r} must be integers, got {array.dtype}")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= n_states:
        wrong = low if low < 0 else high
        raise DataError(
            f"code {wrong} of {name!r} is outside its {n_states} states 0 … {n_states - 1}"
        )
    return array
