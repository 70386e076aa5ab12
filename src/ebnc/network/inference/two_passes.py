"""All marginals, and the most probable row, from one elimination: forwards, then backwards.

Forwards, every step adds tables t_i over the eliminated variable h and its neighbours s:

    t(h, s) = Σ_i t_i,    m(s) = log Σ_h exp t(h, s),    or max_h t(h, s) for the most probable row

Backwards, the step that used m has the probabilities of s, or their most probable states:

    p(h, s) = p(s) exp(t(h, s) − m(s)),    or h = argmax_h t(h, s)

p(h, s) sums to the marginal of h, and to the probabilities of all tables that were added. States of
all hidden variables together are drawn from h = argmax_h t(h, s) + g_h, with the sums of the first
pass and independent standard Gumbel numbers g.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.errors import TooLargeError
from ebnc.network.inference.elimination import Eliminator, Program, plan_elimination
from ebnc.typing import FloatArray, IntArray

MOST_CELLS_TOGETHER = 2**22  # maximum cells of the tables of all steps, which are kept: 32 MiB


class TwoPasses:
    """Both passes over nodes of a network, for rows with the same observed variables.

    ``weighted``: hidden variables with weights. ``nodes``: the factors to multiply, by default all;
    all other variables in them are observed. Raises ``TooLargeError`` if tables are too large.
    """

    def __init__(
        self,
        eliminator: Eliminator,
        observed: Collection[str],
        weighted: Collection[str] = (),
        nodes: Sequence[str] | None = None,
    ) -> None:
        network = eliminator.network
        plan = plan_elimination(network, (), observed, network.order if nodes is None else nodes)
        self._factors, self.largest = plan.factors, plan.largest
        if plan.together > MOST_CELLS_TOGETHER:
            raise TooLargeError(
                f"the exact sums need tables of more than {MOST_CELLS_TOGETHER} cells together"
            )
        self._program = Program(eliminator, plan, sorted(weighted), keeps_all=True)

    def marginals(
        self, rows: CodedRows, log_weights: Mapping[str, FloatArray]
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Return log p(observed), shape (rows,), and p(x | observed) of every hidden x (rows, K).

        The marginals of a row that is impossible are all 0.
        """
        log_p, marginals, _ = self._backwards(rows, log_weights)
        return log_p, marginals

    def families(
        self, rows: CodedRows
    ) -> tuple[FloatArray, dict[str, tuple[tuple[str, ...], FloatArray]]]:
        """Return log p(observed), and p(hidden ones of z and its parents | observed) by node z.

        The hidden variables are given with each table, in the order of its axes after the rows.
        """
        log_p, _, known = self._backwards(rows, {})
        return log_p, {
            name: (hidden, known[i]) for i, (name, hidden) in enumerate(self._factors) if hidden
        }

    def _backwards(
        self, rows: CodedRows, log_weights: Mapping[str, FloatArray]
    ) -> tuple[FloatArray, dict[str, FloatArray], dict[int, FloatArray]]:
        """Return log p(observed), all marginals, and the probabilities of the first tables."""
        tables, totals, shapes = self._forwards(rows, log_weights, np.logaddexp.reduce)
        log_p = np.broadcast_to(tables[self._program.result], len(rows))
        possible = np.where(log_p > -np.inf, 1.0, 0.0)
        known: dict[int, FloatArray] = {self._program.result: possible}
        marginals = {}
        for step, total in zip(reversed(self._program.steps), reversed(totals), strict=True):
            p = known.pop(step.result)
            if step.sums_out:
                p = p[..., None] * _shares(total)
                marginals[step.scope[-1]] = p.sum(axis=tuple(range(1, p.ndim - 1)))
            for number, shape in step.tables:
                lacking = tuple(i for i, r in enumerate(shape, start=1) if r == 1)
                known[number] = p.sum(axis=lacking).reshape(len(p), *shapes[number])
        return log_p, marginals, known

    def _forwards(
        self, rows: CodedRows, log_weights: Mapping[str, FloatArray], remove: Callable[..., Any]
    ) -> tuple[dict[int, FloatArray], list[FloatArray], dict[int, tuple[int, ...]]]:
        """Eliminate with ``remove`` along axes; return the last table, all t, and all shapes."""
        tables = self._program.tables(rows, log_weights)
        totals: list[FloatArray] = []
        shapes: dict[int, tuple[int, ...]] = {}
        for step in self._program.steps:
            shapes |= {number: tables[number].shape[1:] for number, _ in step.tables}
            totals.append(step.total(tables))
            left = remove(totals[-1], axis=-1) if step.sums_out else totals[-1]
            tables[step.result] = left
        return tables, totals, shapes

    def most_probable(
        self, rows: CodedRows, log_weights: Mapping[str, FloatArray]
    ) -> tuple[FloatArray, dict[str, IntArray]]:
        """Return max log p(observed, hidden), shape (rows,), and the codes of hidden variables.

        Of equally probable states the first is taken, beginning with the last one eliminated.
        """
        tables, totals, _ = self._forwards(rows, log_weights, np.max)
        log_p = np.broadcast_to(tables[self._program.result], len(rows))
        return log_p, self._best(len(rows), totals, lambda at: at)

    def drawn(self, rows: CodedRows, generator: np.random.Generator) -> dict[str, IntArray]:
        """Draw the codes of all hidden variables together, given the observed ones, per row."""
        _, totals, _ = self._forwards(rows, {}, np.logaddexp.reduce)
        return self._best(len(rows), totals, lambda at: at + generator.gumbel(size=at.shape))

    def _best(
        self, n_rows: int, totals: Sequence[FloatArray], change: Callable[[FloatArray], FloatArray]
    ) -> dict[str, IntArray]:
        """Return the state of each hidden variable with the largest changed t, given the later."""
        best: dict[str, IntArray] = {}
        for step, total in zip(reversed(self._program.steps), reversed(totals), strict=True):
            if step.sums_out:
                row = np.arange(n_rows) if len(total) > 1 else np.zeros(n_rows, np.intp)
                at = total[(row, *(best[x] for x in step.scope[:-1]))]
                best[step.scope[-1]] = change(at).argmax(axis=-1)
        return best


def _shares(total: FloatArray) -> FloatArray:
    """exp(t − log Σ exp t) along the last axis; 0 where all t are −∞."""
    peak = total.max(axis=-1, keepdims=True)
    p = np.exp(total - np.where(peak == -np.inf, 0.0, peak))
    sums = p.sum(axis=-1, keepdims=True)
    return np.asarray(p / np.where(sums > 0.0, sums, 1.0))
