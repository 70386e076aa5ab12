"""Exact ranks: over the rationals for sparse integer rows, modulo a prime for dense matrices.

Ranks avoid floating point, because a dimension is an integer and must not depend on a tolerance.
"""

from collections.abc import Mapping
from math import gcd

import numpy as np

from ebnc.typing import IntArray

PRIME = 2**31 - 1
"""Largest prime whose residues multiply without overflow in 64-bit integers."""


class RowSpace:
    """The space of the rows inserted so far, by exact Gaussian elimination in the integers.

    Rows are sparse, {column: entry}. The matrices of §4 and §6 hold 0 and 1 and stay sparse.
    """

    def __init__(self) -> None:
        self._pivots: dict[int, dict[int, int]] = {}

    @property
    def rank(self) -> int:
        """Number of independent rows inserted."""
        return len(self._pivots)

    def insert(self, row: Mapping[int, int]) -> bool:
        """Add one row; return whether it is independent of the rows before it."""
        rest = {column: entry for column, entry in row.items() if entry}
        while rest:
            lead = min(rest)
            pivot = self._pivots.get(lead)
            if pivot is None:
                self._pivots[lead] = rest
                return True
            _eliminate(rest, pivot, lead)
        return False


def _eliminate(row: dict[int, int], pivot: Mapping[int, int], lead: int) -> None:
    """row ← (p·row − q·pivot) / gcd, with p, q chosen so that column ``lead`` becomes 0."""
    common = gcd(row[lead], pivot[lead])
    scale, factor = pivot[lead] // common, row[lead] // common
    if scale != 1:
        for column in row:
            row[column] *= scale
    for column, entry in pivot.items():
        value = row.get(column, 0) - factor * entry
        if value:
            row[column] = value
        else:
            del row[column]


def rank_modulo_prime(matrix: IntArray) -> int:
    """Rank of an integer matrix modulo ``PRIME``, by dense Gaussian elimination.

    It is at most the rank over the rationals, and smaller only if PRIME divides all minors of that
    size.
    """
    rest = np.array(matrix % PRIME, dtype=np.int64)
    if rest.shape[0] < rest.shape[1]:
        rest = np.ascontiguousarray(rest.T)
    rank = 0
    for column in range(rest.shape[1]):
        candidates = np.flatnonzero(rest[rank:, column])
        if candidates.size == 0:
            continue
        pivot = rank + int(candidates[0])
        rest[[rank, pivot]] = rest[[pivot, rank]]
        rest[rank] = rest[rank] * pow(int(rest[rank, column]), -1, PRIME) % PRIME
        below = rank + 1 + np.flatnonzero(rest[rank + 1 :, column])
        live = column + np.flatnonzero(rest[rank, column:])  # sparse pivots touch few columns
        factors = rest[below, column]
        block = np.ix_(below, live)
        rest[block] = (rest[block] - factors[:, None] * rest[rank, live]) % PRIME
        rank += 1
        if rank == rest.shape[0]:
            break
    return rank
