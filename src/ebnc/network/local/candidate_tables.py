"""Tables of a node with one extra parent: all candidates are counted and scored together."""

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np

from ebnc.data.cases import Cases
from ebnc.network.local.configurations import number_configurations
from ebnc.score.dirichlet import table_alphas
from ebnc.threads import in_parallel
from ebnc.typing import FloatArray

__all__ = ["CandidateTables"]

TOGETHER = 3  # number of tables in one task of a thread


class CandidateTables:
    """Counts N_jks for each candidate parent in ``names``.

    N_jks is the number of rows with the target in state k, its parents in configuration j and the
    candidate in state s. All tables must be small. The parents' configurations are numbered once.
    """

    def __init__(self, cases: Cases, parents: Sequence[str], names: Sequence[str]) -> None:
        domain = cases.domain
        self.cases = cases
        self.n_classes = domain.n_states(cases.target)
        self._inside = number_configurations(cases, [*parents, cases.target])
        self._columns = np.array([cases.rows.place(x) for x in names], dtype=np.int64)
        self._n_states = np.array([domain.n_states(x) for x in names], dtype=np.int64)
        n_inside = prod(map(domain.n_states, parents)) * self.n_classes
        # Tables of shape (q, K, r) are concatenated; table v begins at starts[v].
        self._starts = np.concatenate(([0], np.cumsum(n_inside * self._n_states)))
        n_tables = len(names)
        self._shares = [
            slice(first, min(first + TOGETHER, n_tables)) for first in range(0, n_tables, TOGETHER)
        ]

    def counts(self) -> list[FloatArray]:
        """Return the counts of each candidate, shape (q, K, r), zeros included."""
        flat = np.zeros(self._starts[-1])
        in_parallel(lambda some: self._count(some, flat), self._shares)
        return [
            flat[begin:end].reshape(-1, self.n_classes, r)
            for (begin, end), r in zip(pairwise(self._starts), self._n_states, strict=True)
        ]

    def log_evidences(self, sample_size: float | None) -> FloatArray:
        """Return the log evidence of each candidate, shape (V,).

        ``sample_size``: the equivalent sample size; None chooses it by evidence.
        """
        from ebnc.kernels.dirichlet import best_log_evidences

        flat = np.zeros(self._starts[-1])
        alphas = table_alphas(np.diff(self._starts), sample_size)
        out = np.empty(len(alphas))

        def evaluate(some: slice) -> None:
            self._count(some, flat)
            starts = self._starts[some.start : some.stop + 1]
            best_log_evidences(
                flat, starts, self._n_states[some], self.n_classes, alphas[some], out[some]
            )

        in_parallel(evaluate, self._shares)
        return out

    def _count(self, some: slice, flat: FloatArray) -> None:
        from ebnc.kernels.likelihood import count_with_columns

        cases = self.cases
        weights = np.empty(0) if cases.weights is None else cases.weights
        starts = self._starts[some.start : some.stop + 1]
        columns, n_states = self._columns[some], self._n_states[some]
        count_with_columns(self._inside, cases.rows.codes, columns, n_states, weights, starts, flat)
