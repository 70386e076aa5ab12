"""Log posterior of φ: value, gradient and negative Hessian, by look-ups (§5, Theorem 2).

    log p(D, φ) = Σ_l n_l log p(y_l|x_l, φ) + log p(φ)
                = ⟨class counts, tables⟩ − Σ_l n_l log Z_l − ½ Σ φ²/σ² + const

Classes enter only through the class counts of cells, a linear term; only log Z needs a sum over
rows. The negative Hessian consists of cross-tabulations of pairs of bags, weighted by
n (δ_ab p_a − p_a p_b) and pulled back on both sides. The log posterior is concave, as in softmax
regression.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ebnc.likelihood.class_form import ClassForm
from ebnc.likelihood.counts import CellCounts, Counts, joined_counts
from ebnc.likelihood.design import Bag, Design
from ebnc.likelihood.prior import NormalPrior
from ebnc.likelihood.row_sums import (
    OutsideBlock,
    RowTerms,
    draw_sample,
    pull_back_diagonal,
    sum_diagonals,
    sum_hessian,
    sum_hessian_dense,
    sum_hessian_sparse,
    sum_log_partition,
    sum_outside,
)
from ebnc.typing import FloatArray

CELL_ROWS = 20
LARGE_TABLE = 2**18  # numbers in the table of a pair of bags, above which memory limits the speed
OF_LARGE_TABLE = 4.0  # nanoseconds for each of these numbers (2.6 to 6 were measured)
BATCH_BYTES = 256 * 2**20  # size of the blocks outside the design that one pass sums


@dataclass(frozen=True, eq=False)
class Posterior:
    """The objective of a fit; φ is in the design's order, shape (columns, t_Y).

    ``separate``: whether A has one block for each class (``class_form``); value and gradient do not
    depend on it.
    """

    design: Design
    data: Counts
    prior: NormalPrior
    separate: bool = False

    @cached_property
    def form(self) -> ClassForm:
        """The blocks of A."""
        return ClassForm(self.design, self.separate)

    @cached_property
    def precision(self) -> FloatArray:
        """1/σ² by column."""
        return self.prior.precision(self.design)

    @cached_property
    def observed(self) -> FloatArray:
        """The sufficient statistics: class counts pulled back to φ."""
        return self.design.pull_back(self.data.class_counts[1:])

    def with_prior(self, prior: NormalPrior) -> "Posterior":
        """The same likelihood with another prior."""
        return Posterior(self.design, self.data, prior, self.separate)

    # -- value and gradient -----------------------------------------------------------------

    def value_and_gradient(self, phi: FloatArray) -> tuple[float, FloatArray]:
        """Log-likelihood − ½ Σ φ²/σ², without the prior's constant, and its gradient."""
        log_z, expected = self._log_partition(phi)
        shrunk = self.precision[:, None] * phi
        value = float(np.vdot(self.observed, phi)) - log_z - 0.5 * float(np.vdot(shrunk, phi))
        return value, self.observed - self.design.pull_back(expected) - shrunk

    def rounding(self, phi: FloatArray, value: float) -> float:
        """Rounding error of a value: that of its two large terms, which may nearly cancel."""
        least = min(1.0, self.data.n_cases)  # weights may be tiny
        return 1e-14 * (least + abs(float(np.vdot(self.observed, phi))) + abs(value))

    def log_likelihood(self, phi: FloatArray) -> float:
        """L(φ) = Σ_l n_l log p(y_l|x_l, φ): a sum of *log* p (errata E2)."""
        log_z, _ = self._log_partition(phi)
        return float(np.vdot(self.observed, phi)) - log_z

    def _log_partition(self, phi: FloatArray) -> tuple[float, FloatArray]:
        return self.data.add_up(sum_log_partition, self.design.phi_to_tables(phi))

    # -- negative Hessian -------------------------------------------------------------------

    def neg_hessian(self, phi: FloatArray) -> FloatArray:
        """A = −∂²/∂φ² of the log posterior, shape (d, d), symmetric."""
        upper = self.upper_neg_hessian(phi)
        return np.triu(upper) + np.triu(upper, 1).T

    def upper_neg_hessian(self, phi: FloatArray) -> FloatArray:
        """The upper triangle of A, for a Cholesky factor; the rest is undefined.

        A[(s, a), (t, b)] = Σ_{c,c′} M[c, s] M′[c′, t] Σ_{l in c, c′} n_l (δ_ab p_a − p_a p_b),
        the classes mapped by Q on both sides.
        """
        whole: FloatArray = Posterior(self.design, self.data, self.prior).upper_blocks(phi)[0]
        return whole

    def upper_blocks(self, phi: FloatArray) -> FloatArray:
        """The upper triangles of the blocks of A, (blocks, n, n): A itself, or V_k of each class.

        n = columns · t_Y, or the columns. The rest is undefined.
        """
        way = sum_hessian_dense if self.writes_rows_out else sum_hessian
        cheapest = sum_hessian_sparse if self.lists_rows else way
        result = self.data.add_up(cheapest, self.design.phi_to_tables(phi), self.separate)
        size = self.design.n_columns * self.form.n_coupled
        blocks = result.reshape(-1, size, size)
        blocks.reshape(len(blocks), -1)[:, :: size + 1] += self.form.precisions(self.precision)
        return blocks

    def diagonal_blocks(self, phi: FloatArray) -> list[FloatArray]:
        """The diagonal blocks of A, one per bag: O(N · bags) work, O(Σ d_b²) memory."""
        design = self.design
        totals = self.data.add_up(sum_diagonals, design.phi_to_tables(phi))
        blocks = []
        for bag, total, columns in zip(design.bags, totals, design.columns, strict=True):
            block = pull_back_diagonal(design, bag, total)
            block = block.reshape(2 * (block.shape[0] * design.n_outputs,))
            block.flat[:: len(block) + 1] += np.repeat(self.precision[columns], design.n_outputs)
            blocks.append(block)
        return blocks

    # -- bags outside the design --------------------------------------------------------------

    def outside_blocks(
        self,
        phi: FloatArray,
        bags: Sequence[Bag],
        beside: Sequence[tuple[int, ...]] | None = None,
        kept: RowTerms | None = None,
    ) -> list[OutsideBlock]:
        """Gradient and Hessian of the likelihood in the parameters of other bags, at φ.

        ``beside``: for every bag the numbers of the design's bags in the mixed derivatives; all of
        them by default. ``kept``: a cache, empty at first, for further calls with the same φ.
        """
        tables = self.design.phi_to_tables(phi)
        of_column = self.form.n_blocks * self.form.n_coupled**2
        at_once = BATCH_BYTES // (8 * self.design.n_columns * of_column)
        everything = tuple(range(len(self.design.bags)))
        blocks: list[OutsideBlock] = []
        batch: list[tuple[Bag, tuple[int, ...]]] = []
        size = 0
        for i, bag in enumerate(bags):
            batch.append((bag, everything if beside is None else beside[i]))
            size += bag.keep.size
            if size > at_once or i == len(bags) - 1:
                cache = kept if isinstance(self.data, CellCounts) else None  # parts cannot share it
                blocks += self.data.add_up(sum_outside, tables, batch, self.separate, cache)
                batch, size = [], 0
        return blocks

    # -- a sample of rows -------------------------------------------------------------------

    def thinned(self, n_rows: int) -> "Posterior":
        """The posterior of a weighted sample of about ``n_rows`` rows that represents all rows.

        The sample is deterministic. It has at least ``CELL_ROWS`` rows of every cell, or all of
        them: a state missing from the sample would have only the curvature of its prior, and steps
        in that metric overshoot a thousandfold. Class counts are those of the sample; the counts of
        all rows would add the noise of p(x) to the likelihood.
        """
        design, counts = self.design, self.data.class_counts.sum(axis=0)
        total = float(counts[: int(design.offsets[1])].sum())
        rates = np.maximum(n_rows / total, CELL_ROWS / np.maximum(counts, 1e-300))
        sample = joined_counts(self.data.collect(draw_sample, rates))
        return Posterior(design, sample, self.prior, self.separate)

    # -- prices: operation counts, not timings, so that decisions are reproducible ------------

    @property
    def gradient_price(self) -> float:
        """Approximate time of one value and gradient, in nanoseconds."""
        n_others = self.design.n_others
        return 100_000 + self.data.n_rows * n_others * (0.9 * len(self.design.bags) + 5.0)

    @property
    def hessian_price(self) -> float:
        """Approximate time of A and its factor, in nanoseconds."""
        size = self.design.n_columns * self.form.n_coupled
        cheapest = min(self._cross_price, self._dense_price, self._sparse_price)
        return cheapest + self.form.n_blocks * size**3 / 90

    @property
    def writes_rows_out(self) -> bool:
        """Whether explicit rows of the design are cheaper for A than cross-tabulations."""
        return self._dense_price < self._cross_price

    @property
    def lists_rows(self) -> bool:
        """Whether lists of the inputs in unusual states are the cheapest form of rows for A."""
        return self._sparse_price < min(self._cross_price, self._dense_price)

    @property
    def _cross_price(self) -> float:
        """Time of A by cross-tabulations: every pair of bags, every row; then the pull-back.

        The table of a pair of large bags does not fit into a cache.
        """
        design = self.design
        m = len(design.bags)
        per_row = (0.5 * m * m + 5.0) * (1.0 + 0.5 * (self.form.n_weights - 1))
        n_cells, of_column = float(design.offsets[-1]), self.form.n_blocks * self.form.n_coupled**2
        pull_back = 2.5 * n_cells * design.n_columns * of_column + 8_000 * m * m
        cells = np.array([bag.n_cells for bag in design.bags], dtype=np.float64)
        tables = np.triu(np.outer(cells, cells), 1) * self.form.n_weights
        pull_back += OF_LARGE_TABLE * float(tables[tables > LARGE_TABLE].sum())
        return self.data.n_rows * per_row + pull_back

    @property
    def _dense_price(self) -> float:
        """Time of A by products of explicit rows; a multiplication was measured at 0.06 ns.

        Products with weights that are not negative are symmetric: half the work.
        """
        n_columns, n_products = self.design.n_columns, self.form.n_weights
        of_product = 0.03 if self.separate or n_products == 1 else 0.06
        return self.data.n_rows * n_columns * (2.0 + of_product * n_columns * n_products)

    @property
    def _sparse_price(self) -> float:
        """Time of A by lists: every pair on the list of every row; then the change of columns."""
        usual = self.data.usual_states
        if usual is None:
            return math.inf
        n_columns, n_products = self.design.n_columns, self.form.n_weights
        return n_products * (2.0 * self.data.n_rows * usual.n_pairs + 10.0 * n_columns**2)
