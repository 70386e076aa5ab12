"""Log posterior of φ: value, gradient and negative Hessian, by look-ups (§5, Theorem 2).

    log p(D, φ) = Σ_l n_l log p(y_l|x_l, φ) + log p(φ)
                = ⟨class counts, tables⟩ − Σ_l n_l log Z_l − ½ Σ φ²/σ² + const

Classes enter only through the class counts of cells, a linear term; what depends on rows is log Z.
The negative Hessian is made of cross-tabulations of pairs of bags, weighted by
n (δ_ab p_a − p_a p_b) and pulled back on both sides. It is concave: softmax regression.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ebnc.data.cases import Cases
from ebnc.errors import refuse_if_too_large
from ebnc.kernels.likelihood import (
    count_classes,
    cross_tabulate,
    draw_rows,
    information,
    log_partition,
    residuals,
    tabulate,
)
from ebnc.kernels.parallel import in_parallel, row_blocks
from ebnc.likelihood.design import Bag, Design
from ebnc.likelihood.prior import NormalPrior
from ebnc.typing import CodeArray, FloatArray, IntArray

__all__ = ["CellCounts", "OutsideBlock", "Posterior", "RowTerms", "count_cells"]

CELL_ROWS = 20
CHUNK_BYTES = 64 * 2**20  # information of so many bytes at a time, whatever the number of rows


@dataclass(frozen=True, eq=False)
class CellCounts:
    """All that the likelihood needs of the data: cells and classes of rows, weights, class counts.

    ``weights`` is empty where every row weighs 1. ``class_counts``: (K, cells of all bags).
    """

    cells: CodeArray
    classes: CodeArray
    weights: FloatArray
    class_counts: FloatArray

    @property
    def n_rows(self) -> int:
        """Number of rows, not of cases: a row may have a weight."""
        return int(self.cells.shape[1])

    @cached_property
    def n_cases(self) -> float:
        """N, the sum of the rows' weights."""
        return float(self.weights.sum()) if self.weights.size else float(self.n_rows)


def count_cells(design: Design, cases: Cases) -> CellCounts:
    """Cells of the cases' rows, and how often each class falls into each cell."""
    weights = np.empty(0) if cases.weights is None else cases.weights
    return _count(design, design.cells(cases.rows), cases.classes, weights)


def _count(design: Design, cells: CodeArray, classes: CodeArray, weights: FloatArray) -> CellCounts:
    def count(block: tuple[int, int]) -> FloatArray:
        counts = np.zeros((design.n_others + 1, int(design.offsets[-1])))
        count_classes(cells, design.offsets, classes, weights, *block, counts)
        return counts

    total = np.sum(in_parallel(count, row_blocks(len(classes))), axis=0)
    return CellCounts(cells, classes, weights, total)


@dataclass(frozen=True, eq=False)
class RowTerms:
    """At one φ, by row: ``residual`` n (I(y = k) − p_k), ``information`` n (δ_ab p_a − p_a p_b)."""

    residual: FloatArray
    information: FloatArray


@dataclass(frozen=True, eq=False)
class OutsideBlock:
    """Of a bag outside of the design, with d_B parameters: the likelihood's gradient (d_B,), its
    negative Hessian (d_B, d_B), and that with parameters of the design (d_B, up to d)."""

    gradient: FloatArray
    own: FloatArray
    cross: FloatArray


@dataclass(frozen=True, eq=False)
class Posterior:
    """The objective of a fit; φ always in the design's order, shape (columns, K − 1)."""

    design: Design
    data: CellCounts
    prior: NormalPrior

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
        return Posterior(self.design, self.data, prior)

    # -- value and gradient -----------------------------------------------------------------

    def value_and_gradient(self, phi: FloatArray) -> tuple[float, FloatArray]:
        """Log-likelihood − ½ Σ φ²/σ² and its gradient; without the prior's constant."""
        log_z, expected = self._log_partition(phi)
        shrunk = self.precision[:, None] * phi
        value = float(np.vdot(self.observed, phi)) - log_z - 0.5 * float(np.vdot(shrunk, phi))
        return value, self.observed - self.design.pull_back(expected) - shrunk

    def rounding(self, phi: FloatArray, value: float) -> float:
        """Rounding error of a value: that of its two large terms, which may nearly cancel, or of
        which the first one may vanish."""
        least = min(1.0, self.data.n_cases)  # weights may be tiny
        return 1e-14 * (least + abs(float(np.vdot(self.observed, phi))) + abs(value))

    def log_likelihood(self, phi: FloatArray) -> float:
        """L(φ) = Σ_l n_l log p(y_l|x_l, φ): a sum of *log* p (errata E2)."""
        log_z, _ = self._log_partition(phi)
        return float(np.vdot(self.observed, phi)) - log_z

    def _log_partition(self, phi: FloatArray) -> tuple[float, FloatArray]:
        tables = self.design.phi_to_tables(phi)

        def part(block: tuple[int, int]) -> tuple[float, FloatArray]:
            expected = np.zeros_like(tables)
            cells, offsets = self.data.cells, self.design.offsets
            log_z = log_partition(cells, offsets, tables, self.data.weights, *block, expected)
            return log_z, expected

        parts = in_parallel(part, row_blocks(self.data.n_rows))
        return math.fsum(log_z for log_z, _ in parts), np.sum([part for _, part in parts], axis=0)

    # -- negative Hessian -------------------------------------------------------------------

    def neg_hessian(self, phi: FloatArray) -> FloatArray:
        """A = −∂²/∂φ² of the log posterior, shape (d, d), symmetric."""
        upper = self.upper_neg_hessian(phi)
        return np.triu(upper) + np.triu(upper, 1).T

    def upper_neg_hessian(self, phi: FloatArray) -> FloatArray:
        """A with its upper triangle only, all that a Cholesky factor needs; the rest is undefined.

        A[(s, a), (t, b)] = Σ_{c,c′} M[c, s] M′[c′, t] Σ_{l in c, c′} n_l (δ_ab p_a − p_a p_b),
        the classes mapped by Q on both sides.
        """
        design, data = self.design, self.data
        n_others = design.n_others
        n_pairs = n_others * (n_others + 1) // 2
        tables = design.phi_to_tables(phi)
        if self._dense_price < self._cross_price:
            return self._with_precision(self._dense_products(tables))
        result = np.zeros((design.n_columns, n_others, design.n_columns, n_others))
        pairs = [(b, c) for b in range(len(design.bags)) for c in range(b, len(design.bags))]
        chunk = max(2**16, CHUNK_BYTES // (8 * n_pairs))
        for start in range(0, data.n_rows, chunk):
            stop = min(start + chunk, data.n_rows)
            weights = self._information(tables, start, stop)

            def cross(
                pair: tuple[int, int],
                start: int = start,
                stop: int = stop,
                weights: FloatArray = weights,
            ) -> None:
                b, c = pair
                block = self._cross(b, c, start, stop, weights)
                result[design.columns[b], :, design.columns[c]] += block

            in_parallel(cross, pairs)
        return self._with_precision(result)

    def _with_precision(self, result: FloatArray) -> FloatArray:
        dimension = self.design.dimension
        neg_hessian = result.reshape(dimension, dimension)
        neg_hessian.flat[:: dimension + 1] += np.repeat(self.precision, self.design.n_others)
        return neg_hessian

    def _dense_products(self, tables: FloatArray) -> FloatArray:
        """The likelihood's part of A as ZᵀWZ with rows Z of the design written out, by chunks.

        Cheaper than cross-tabulations where there are hundreds of bags and few rows.
        """
        design, data = self.design, self.data
        n_others = design.n_others
        n_pairs = n_others * (n_others + 1) // 2
        products = np.zeros((n_pairs, design.n_columns, design.n_columns))
        chunk = max(256, CHUNK_BYTES // (16 * design.n_columns))
        for start in range(0, data.n_rows, chunk):
            stop = min(start + chunk, data.n_rows)
            weights = self._information(tables, start, stop)
            rows = design.rows_of(data.cells[:, start:stop])
            for pair in range(n_pairs):
                products[pair] += rows.T @ (weights[:, pair, None] * rows)
        if n_others == 1:
            return np.asarray(products * self._class_pairs[0, 0])
        classes = self._class_pairs.reshape(n_pairs, n_others, n_others)
        return np.ascontiguousarray(np.einsum("pst,pab->satb", products, classes))

    def diagonal_blocks(self, phi: FloatArray) -> list[FloatArray]:
        """The blocks of A that belong to one bag each: O(N · bags) work, O(Σ d_b²) memory."""
        design, data = self.design, self.data
        tables = design.phi_to_tables(phi)
        n_pairs = design.n_others * (design.n_others + 1) // 2
        totals = [np.zeros((bag.n_cells, n_pairs)) for bag in design.bags]
        for start, stop in row_blocks(data.n_rows):
            weights = self._information(tables, start, stop)
            for b, total in enumerate(totals):
                tabulate(data.cells[b, start:stop], weights, total)
        blocks = []
        for bag, total, columns in zip(design.bags, totals, design.columns, strict=True):
            block = self._pull_back_diagonal(bag, total)
            block = block.reshape(2 * (block.shape[0] * design.n_others,))
            block.flat[:: len(block) + 1] += np.repeat(self.precision[columns], design.n_others)
            blocks.append(block)
        return blocks

    def _information(self, tables: FloatArray, start: int, stop: int) -> FloatArray:
        """n_l (δ_ab p_a − p_a p_b) of a chunk of rows, shape (rows, pairs a ≤ b)."""
        design, data = self.design, self.data
        out = np.empty((stop - start, design.n_others * (design.n_others + 1) // 2))

        def weigh(block: tuple[int, int]) -> None:
            first, last = block
            rows = start + first, start + last
            information(data.cells, design.offsets, tables, data.weights, *rows, out[first:last])

        in_parallel(weigh, row_blocks(stop - start))
        return out

    def _cross(self, b: int, c: int, start: int, stop: int, weights: FloatArray) -> FloatArray:
        """One block of A from a chunk of rows, shape (d_b, K − 1, d_c, K − 1)."""
        left, right = self.design.bags[b], self.design.bags[c]
        cells_b, cells_c = self.data.cells[b, start:stop], self.data.cells[c, start:stop]
        n_pairs = weights.shape[1]
        if b == c:
            diagonal = np.zeros((left.n_cells, n_pairs))
            tabulate(cells_b, weights, diagonal)
            return self._pull_back_diagonal(left, diagonal)
        table = np.zeros((right.n_cells, left.n_cells, n_pairs))
        cross_tabulate(cells_c, cells_b, left.n_cells, weights, table.reshape(-1, n_pairs))
        return self._pull_back(left, right, table)

    def _pull_back_diagonal(self, bag: Bag, diagonal: FloatArray) -> FloatArray:
        table = np.zeros((bag.n_cells, *diagonal.shape))
        table[np.arange(bag.n_cells), np.arange(bag.n_cells)] = diagonal
        return self._pull_back(bag, bag, table)

    def _pull_back(self, left: Bag, right: Bag, table: FloatArray) -> FloatArray:
        """M_leftᵀ table M_right, classes mapped by Q; table: (right cells, left cells, pairs)."""
        n_pairs, n_others = table.shape[2], self.design.n_others
        half = right.from_cells(table.reshape(right.n_cells, -1))
        half = half.reshape(-1, left.n_cells, n_pairs).transpose(1, 0, 2)
        whole = left.from_cells(half.reshape(left.n_cells, -1))
        whole = whole.reshape(-1, right.keep.size, n_pairs) @ self._class_pairs
        return whole.reshape(*whole.shape[:2], n_others, n_others).transpose(0, 2, 1, 3)

    @cached_property
    def _class_pairs(self) -> FloatArray:
        """Pairs a ≤ b of log odds in the coordinates of φ: Qᵀ(e_a e_bᵀ + e_b e_aᵀ)Q, flattened."""
        q = self.design.class_map
        refuse_if_too_large(
            4 * 8 * len(q) ** 4 // 2,
            f"the Hessian's map of pairs of {len(q) + 1} classes",
            "merge classes that are alike",
        )
        a, b = np.triu_indices(len(q))
        outer = q[a][:, :, None] * q[b][:, None, :]
        outer[a != b] += outer[a != b].transpose(0, 2, 1)
        return outer.reshape(a.size, -1)

    # -- a bag that is not in the design yet --------------------------------------------------

    def row_terms(self, phi: FloatArray) -> "RowTerms":
        """Residuals and information of every row at φ: what blocks outside of the design need."""
        tables = self.design.phi_to_tables(phi)
        data, offsets = self.data, self.design.offsets
        residual = np.empty((data.n_rows, self.design.n_others))

        def fill(block: tuple[int, int]) -> None:
            first, last = block
            how = (data.cells, offsets, tables, data.classes, data.weights)
            residuals(*how, first, last, residual[first:last])

        in_parallel(fill, row_blocks(data.n_rows))
        return RowTerms(residual, self._information(tables, 0, data.n_rows))

    def outside_block(
        self, bag: Bag, cells: CodeArray, rows: "RowTerms", beside: Sequence[int]
    ) -> "OutsideBlock":
        """Gradient and Hessian of the likelihood in the parameters of another bag.

        ``cells``: of that bag, one for each row of the data. ``beside``: numbers of the bags of the
        design that the mixed derivatives are taken with.
        """
        design = self.design
        n_others, n_pairs = design.n_others, rows.information.shape[1]
        size = bag.keep.size * n_others
        scatter = np.zeros((bag.n_cells, n_others))
        tabulate(cells, rows.residual, scatter)
        gradient = (bag.from_cells(scatter) @ design.class_map).ravel()
        diagonal = np.zeros((bag.n_cells, n_pairs))
        tabulate(cells, rows.information, diagonal)
        own = self._pull_back_diagonal(bag, diagonal).reshape(size, size)
        cross = []
        for b in beside:
            other = design.bags[b]
            table = np.zeros((other.n_cells, bag.n_cells, n_pairs))
            flat = table.reshape(-1, n_pairs)
            cross_tabulate(self.data.cells[b], cells, bag.n_cells, rows.information, flat)
            cross.append(self._pull_back(bag, other, table).reshape(size, -1))
        return OutsideBlock(gradient, own, np.concatenate(cross, axis=1))

    # -- a sample of rows -------------------------------------------------------------------

    def thinned(self, n_rows: int) -> "Posterior":
        """The posterior of a sample of about ``n_rows`` rows, weighted to stand for all of them.

        Always the same sample. Rows of rare cells are kept, ``CELL_ROWS`` of each or all there are:
        a state that the sample missed would have no curvature but its prior's, and steps in that
        metric overshoot a thousandfold. Class counts are the sample's own; those of all rows would
        make the noise of p(x) part of the likelihood.
        """
        design, data = self.design, self.data
        counts = data.class_counts.sum(axis=0)
        total = float(counts[: int(design.offsets[1])].sum())
        rates = np.maximum(n_rows / total, CELL_ROWS / np.maximum(counts, 1e-300))

        def draw(block: tuple[int, int]) -> tuple[IntArray, FloatArray]:
            chosen, weights = np.empty(block[1] - block[0], np.int64), np.empty(block[1] - block[0])
            how = (data.cells, design.offsets, rates, data.weights)
            kept = draw_rows(*how, *block, chosen, weights)
            return chosen[:kept].copy(), weights[:kept].copy()

        parts = in_parallel(draw, row_blocks(data.n_rows))
        chosen = np.concatenate([part[0] for part in parts])
        weights = np.concatenate([part[1] for part in parts])
        cells: CodeArray = np.take(data.cells, chosen, axis=1)
        sample = _count(design, cells, data.classes[chosen], weights)
        return Posterior(design, sample, self.prior)

    # -- prices: they decide, so they come from operation counts and not from a clock ---------

    @property
    def gradient_price(self) -> float:
        """About the nanoseconds of one value and gradient."""
        n_others = self.design.n_others
        return 100_000 + self.data.n_rows * n_others * (0.9 * len(self.design.bags) + 5.0)

    @property
    def hessian_price(self) -> float:
        """About the nanoseconds of A and its factor."""
        return min(self._cross_price, self._dense_price) + self.design.dimension**3 / 90

    @property
    def _cross_price(self) -> float:
        """A by cross-tabulations: every pair of bags, every row; then pulled back."""
        design = self.design
        m, n_others = len(design.bags), design.n_others
        per_row = (0.6 * m * m + 5.0) * (1.0 + 0.5 * (n_others * (n_others + 1) / 2 - 1))
        n_cells = float(design.offsets[-1])
        pull_back = 2.5 * n_cells * design.n_columns * n_others**2 + 20_000 * m * m
        return self.data.n_rows * per_row + pull_back

    @property
    def _dense_price(self) -> float:
        """A by products of rows written out: 0.06 ns for a multiplication, measured."""
        n_others, n_columns = self.design.n_others, self.design.n_columns
        n_pairs = n_others * (n_others + 1) / 2
        return self.data.n_rows * n_columns * (2.0 + 0.06 * n_columns * n_pairs)
