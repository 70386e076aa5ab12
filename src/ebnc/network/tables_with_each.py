"""Tables of a node with one parent more, for all that it may be: counted and scored together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np

from ebnc.data.cases import Cases
from ebnc.kernels.parallel import in_parallel
from ebnc.network.configurations import number_configurations
from ebnc.score.dirichlet import table_alphas
from ebnc.typing import FloatArray, IntArray

__all__ = ["TablesWithEach"]

TOGETHER = 3  # tables that a thread takes at a time


@dataclass(frozen=True, eq=False)
class TablesWithEach:
    """N_jks: how often the target is in state k where its parents are in configuration j and a
    variable that may become one is in state s.

    ``counts``: tables of shape (q, K, r) one behind the other, table v from ``starts[v]`` on;
    configurations that do not occur have zeros. ``n_states``: r of each, shape (V,).
    """

    counts: FloatArray
    starts: IntArray
    n_states: IntArray
    n_classes: int

    @classmethod
    def of(cls, cases: Cases, parents: Sequence[str], names: Sequence[str]) -> "TablesWithEach":
        """For each of ``names``. All tables must be small."""
        from ebnc.kernels.likelihood import count_with_columns

        rows, domain = cases.rows, cases.domain
        n_classes = domain.n_states(cases.target)
        n_inside = prod(map(domain.n_states, parents)) * n_classes
        inside = number_configurations(cases, [*parents, cases.target])
        n_states = np.array([domain.n_states(x) for x in names], dtype=np.int64)
        starts = np.concatenate(([0], np.cumsum(n_inside * n_states)))
        columns = np.array([rows.place(x) for x in names], dtype=np.int64)
        weights = np.empty(0) if cases.weights is None else cases.weights
        found = cls(np.zeros(starts[-1]), starts, n_states, n_classes)

        def count(some: slice) -> None:
            mine = starts[some.start : some.stop + 1]
            how = (columns[some], n_states[some], weights, mine, found.counts)
            count_with_columns(inside, rows.codes, *how)

        in_parallel(count, list(found._slices()))
        return found

    def __iter__(self) -> Iterator[FloatArray]:
        for (begin, end), r in zip(pairwise(self.starts), self.n_states, strict=True):
            yield self.counts[begin:end].reshape(-1, self.n_classes, r)

    def log_evidences(self, sample_size: float | None) -> FloatArray:
        """Log evidence of each, shape (V,); the equivalent sample size by evidence unless given."""
        from ebnc.kernels.dirichlet import best_log_evidences

        starts, n_states = self.starts, self.n_states
        alphas = table_alphas(np.diff(starts), sample_size)
        out = np.empty(len(n_states))

        def evaluate(some: slice) -> None:
            mine = starts[some.start : some.stop + 1]
            how = (mine, n_states[some], self.n_classes, alphas[some], out[some])
            best_log_evidences(self.counts, *how)

        in_parallel(evaluate, list(self._slices()))
        return out

    def _slices(self) -> Iterator[slice]:
        for first in range(0, len(self.n_states), TOGETHER):
            yield slice(first, min(first + TOGETHER, len(self.n_states)))
