"""All marginals, and the most probable row, from one elimination: forwards, then backwards.

Forwards, every step adds tables t_i over the eliminated variable h and its neighbours s:

    t(h, s) = Σ_i t_i,    m(s) = log Σ_h exp t(h, s),    or max_h t(h, s) for the most probable row

Backwards, the step that used m has the probabilities of s, or their most probable states:

    p(h, s) = p(s) exp(t(h, s) − m(s)),    or h = argmax_h t(h, s)

p(h, s) sums to the marginal of h, and to the probabilities of all tables that were added.
"""

from collections.abc import Collection, Mapping

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.errors import TooLargeError
from ebnc.network.inference.elimination import Eliminator, Program, plan_elimination
from ebnc.typing import FloatArray, IntArray

MOST_CELLS_TOGETHER = 2**22  # maximum cells of the tables of all steps, which are kept: 32 MiB


class TwoPasses:
    """Both passes over all nodes of a network, for rows with the same observed variables.

    ``weighted``: hidden variables with weights. Raises ``TooLargeError`` if tables are too large.
    """

    def __init__(
        self, eliminator: Eliminator, observed: Collection[str], weighted: Collection[str] = ()
    ) -> None:
        network = eliminator.network
        plan = plan_elimination(network, (), observed, network.order)
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
        tables = self._program.tables(rows, log_weights)
        totals: list[FloatArray] = []
        shapes: dict[int, tuple[int, ...]] = {}
        for step in self._program.steps:
            shapes |= {number: tables[number].shape[1:] for number, _ in step.tables}
            totals.append(step.total(tables))
            summed = np.logaddexp.reduce(totals[-1], axis=-1) if step.sums_out else totals[-1]
            tables[step.result] = summed
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
        return log_p, marginals

    def most_probable(
        self, rows: CodedRows, log_weights: Mapping[str, FloatArray]
    ) -> tuple[FloatArray, dict[str, IntArray]]:
        """Return max log p(observed, hidden), shape (rows,), and the codes of hidden variables.

        Of equally probable states the first is taken, beginning with the last one eliminated.
        """
        tables = self._program.tables(rows, log_weights)
        totals = []
        for step in self._program.steps:
            totals.append(step.total(tables))
            tables[step.result] = totals[-1].max(axis=-1) if step.sums_out else totals[-1]
        log_p = np.broadcast_to(tables[self._program.result], len(rows))
        best: dict[str, IntArray] = {}
        for step, total in zip(reversed(self._program.steps), reversed(totals), strict=True):
            if step.sums_out:
                row = np.arange(len(rows)) if len(total) > 1 else np.zeros(len(rows), np.intp)
                at = total[(row, *(best[x] for x in step.scope[:-1]))]
                best[step.scope[-1]] = at.argmax(axis=-1)
        return log_p, best


def _shares(total: FloatArray) -> FloatArray:
    """exp(t − log Σ exp t) along the last axis; 0 where all t are −∞."""
    peak = total.max(axis=-1, keepdims=True)
    p = np.exp(total - np.where(peak == -np.inf, 0.0, peak))
    sums = p.sum(axis=-1, keepdims=True)
    return np.asarray(p / np.where(sums > 0.0, sums, 1.0))
