"""The loops of the likelihood, by NumPy for few rows and compiled for many, against plain sums."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.special import log_softmax

from ebnc.kernels import likelihood
from ebnc.kernels.compiling import FEW


class Rows:
    """Random rows; λ, p and indicators of cells are written out."""

    def __init__(self, seed, n_rows, n_classes, weighted):
        rng = np.random.default_rng(seed)
        self.n_states = rng.integers(1, 6, 5)
        self.codes = np.array([rng.integers(0, r, n_rows) for r in self.n_states]).astype(np.uint8)
        self.offsets = np.cumsum([0, *self.n_states]).astype(np.int64)
        self.cells = self.codes.astype(np.uint16)
        self.tables = rng.normal(scale=3, size=(n_classes - 1, self.offsets[-1]))
        self.classes = rng.integers(0, n_classes, n_rows).astype(np.uint8)
        self.weights = rng.random(n_rows) if weighted else np.empty(0)
        self.n = self.weights if weighted else np.ones(n_rows)
        every_cell = [
            np.arange(r) == own[:, None] for r, own in zip(self.n_states, self.codes, strict=True)
        ]
        self.indicators = np.concatenate(every_cell, axis=1).astype(float)  # (rows, cells)
        log_odds = np.column_stack([np.zeros(n_rows), self.indicators @ self.tables.T])
        self.log_p = log_softmax(log_odds, axis=1)
        self.p = np.exp(self.log_p)


@pytest.fixture(
    params=[(200, 2, True), (200, 4, False), (FEW, 2, False), (FEW, 4, True)],
    ids=["few, 2", "few, 4", "many, 2", "many, 4"],
)
def rows(request):
    return Rows(len(request.param), *request.param)


def blocks_of(rows):
    """Two blocks whose border lies inside."""
    return [(0, 77), (77, len(rows.n))]


def test_cells_are_mixed_radix_numbers(rows):
    columns, strides = np.array([0, 3, 1, 4]), np.array([7, 1, 5, 1])
    cells = np.full((3, len(rows.n)), 9, dtype=np.uint16)
    for block in blocks_of(rows):
        likelihood.mix_cells(rows.codes, columns, strides, np.array([0, 2, 2, 4]), *block, cells)
    codes = rows.codes.astype(int)
    expected = [7 * codes[0] + codes[3], 0 * codes[0], 5 * codes[1] + codes[4]]
    assert np.array_equal(cells, expected)


def test_classes_are_counted_in_every_cell(rows):
    counts = np.zeros((len(rows.tables) + 1, rows.offsets[-1]))
    for block in blocks_of(rows):
        args = (rows.cells, rows.offsets, rows.classes, rows.weights)
        likelihood.count_classes(*args, *block, counts)
    is_class = rows.classes == np.arange(len(counts))[:, None]
    np.testing.assert_allclose(
        counts, (is_class * rows.n) @ rows.indicators, rtol=1e-12, atol=1e-12
    )


def test_log_partition_and_expected_counts(rows):
    expected, total = np.zeros_like(rows.tables), 0.0
    for block in blocks_of(rows):
        args = (rows.cells, rows.offsets, rows.tables, rows.weights)
        total += likelihood.log_partition(*args, *block, expected)
    assert total == pytest.approx(-rows.n @ rows.log_p[:, 0], rel=1e-12)
    wanted = (rows.p[:, 1:].T * rows.n) @ rows.indicators
    np.testing.assert_allclose(expected, wanted, rtol=1e-11, atol=1e-12)


def test_information_is_the_covariance_of_the_classes(rows):
    n_others = len(rows.tables)
    a, b = np.triu_indices(n_others)
    for begin, end in blocks_of(rows):
        out = np.full((end - begin + 3, len(a)), 5.0)
        args = (rows.cells, rows.offsets, rows.tables, rows.weights)
        likelihood.information(*args, begin, end, out)
        p, n = rows.p[begin:end, 1:], rows.n[begin:end, None]
        np.testing.assert_allclose(
            out[: end - begin], n * p[:, a] * ((a == b) - p[:, b]), atol=1e-12
        )
        assert (out[end - begin :] == 5.0).all()


def test_residuals_are_classes_minus_probabilities(rows):
    for begin, end in blocks_of(rows):
        out = np.empty((end - begin, len(rows.tables)))
        args = (rows.cells, rows.offsets, rows.tables, rows.classes, rows.weights)
        likelihood.residuals(*args, begin, end, out)
        is_class = rows.classes[begin:end, None] == np.arange(1, len(rows.tables) + 1)
        wanted = rows.n[begin:end, None] * (is_class - rows.p[begin:end, 1:])
        np.testing.assert_allclose(out, wanted, atol=1e-12)


@pytest.mark.parametrize("n_values", [1, 3])
def test_tabulation_adds_up_values_by_cell(rows, n_values):
    values = np.random.default_rng(0).normal(size=(len(rows.n), n_values))
    table = np.ones((rows.n_states[0], n_values))
    likelihood.tabulate(rows.cells[0], values, table)
    wanted = 1 + rows.indicators[:, : rows.n_states[0]].T @ values
    np.testing.assert_allclose(table, wanted, rtol=1e-11)


FIRST_FIT = """
from numba.core import event
import numpy as np
import ebnc
class Compiled(event.Listener):
    def on_start(self, e):
        raise AssertionError(f"compiles {e.data['dispatcher']}")
    def on_end(self, e):
        pass
event.register("numba:compile", Compiled())
from sklearn.datasets import load_iris
x, y = load_iris(return_X_y=True, as_frame=True)
model = ebnc.EBNCClassifier().fit(x, y)
model.predict_proba(x)
"""


@pytest.mark.slow
def test_the_fit_of_a_small_table_compiles_nothing():
    subprocess.run([sys.executable, "-c", FIRST_FIT], check=True)
