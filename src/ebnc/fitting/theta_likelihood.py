"""Log-likelihood of the strict model, in θ, and its gradient; unlike that of φ, it is not concave.

    ℓ(θ) = Σ_l Σ_k n_lk log p(y^k|x_l, θ)

Each θ is the softmax of a table of logits, so the coordinates are free. A factor's logits have axes
(inputs …, k), as κ has; θ(x_i|a, y^k) is normalised along x_i and θ(y^k|pa_y) along k.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.parameters.phi_to_theta import factor_table_to_theta, refuse_underflow
from ebnc.parameters.theta import uniform_theta
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray, IntArray

LARGEST_LOGIT = 300.0


class ThetaLikelihood:
    """ℓ and its gradient as functions of one vector, the concatenated logits of all factors.

    ``counts``: n_lk, shape (rows, K); they need not be integers.
    """

    def __init__(
        self, structure: EmbeddedStructure, domain: Domain, rows: CodedRows, counts: FloatArray
    ) -> None:
        self.structure, self.domain = structure, domain
        self.counts, self.totals = counts, counts.sum(axis=1, keepdims=True)
        n_classes = domain.n_states(structure.target)
        self.shapes = [
            (*(domain.n_states(x) for x in factor.inputs), n_classes)
            for factor in structure.factors
        ]
        self.axes = [-1 if f.head == structure.target else -2 for f in structure.factors]
        self.cells = [_cells(rows, factor.inputs) for factor in structure.factors]
        self.starts = np.cumsum([0, *(int(np.prod(shape)) for shape in self.shapes)])

    @property
    def size(self) -> int:
        """Number of logits; θ has fewer free parameters."""
        return int(self.starts[-1])

    def value_and_gradient(self, logits: FloatArray) -> tuple[float, FloatArray]:
        """ℓ and ∂ℓ/∂logits."""
        log_thetas = self._log_thetas(logits)
        log_p = self._log_probabilities(log_thetas)
        value = float(np.sum(self.counts * log_p))
        residual = self.counts - self.totals * np.exp(log_p)
        parts = []
        for log_theta, cells, axis in zip(log_thetas, self.cells, self.axes, strict=True):
            n_cells = log_theta.size // residual.shape[1]
            scatter = [np.bincount(cells, column, n_cells) for column in residual.T]
            slope = np.stack(scatter, axis=-1).reshape(log_theta.shape)
            slope = slope - np.exp(log_theta) * slope.sum(axis=axis, keepdims=True)
            parts.append(slope.ravel())
        return value, np.concatenate(parts)

    def log_probabilities(self, logits: FloatArray) -> FloatArray:
        """log p(y|x_l, θ), shape (rows, K)."""
        return self._log_probabilities(self._log_thetas(logits))

    def log_theta(self, logits: FloatArray) -> FloatArray:
        """log θ of all factors, in the order of the logits."""
        return np.concatenate([table.ravel() for table in self._log_thetas(logits)])

    def derivatives_in_log_theta(self, logits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """∂ℓ/∂log θ and −∂²ℓ/(∂log θ)², shapes (size,) and (size, size), for independent entries θ.

        Log odds are sums of log θ. The 0-1 matrix G sums them, with one row per data row and class:
        −∂²ℓ = Gᵀ diag(n p) G − Qᵀ diag(n) Q,  Q_l = Σ_k p_lk G_lk.
        """
        from scipy.sparse import csr_array

        n_rows, n_classes = self.counts.shape
        places = [
            start + cells[:, None] * n_classes + np.arange(n_classes)
            for start, cells in zip(self.starts[:-1], self.cells, strict=True)
        ]
        columns = np.stack(places, axis=-1)
        p = np.exp(self.log_probabilities(logits))
        n_factors = columns.shape[-1]

        def matrix(values: FloatArray, n_lines: int) -> csr_array:
            entries = np.repeat(values.ravel(), n_factors)
            ends = np.arange(n_lines + 1) * (columns.size // max(n_lines, 1))
            return csr_array((entries, columns.ravel(), ends), shape=(n_lines, self.size))

        root = matrix(np.sqrt(self.totals * p), n_rows * n_classes)
        mean = matrix(np.sqrt(self.totals) * p, n_rows)
        slope = matrix(self.counts - self.totals * p, n_rows * n_classes).sum(axis=0)
        return np.asarray(slope).ravel(), (root.T @ root - mean.T @ mean).toarray()

    def theta(self, logits: FloatArray) -> dict[str, FloatArray]:
        """θ of every variable; variables whose terms cancel have uniform θ."""
        structure = self.structure
        theta = {x: uniform_theta(structure, self.domain, x) for x in structure.inputs}
        for factor, log_theta in zip(structure.factors, self._log_thetas(logits), strict=True):
            theta[factor.head] = factor_table_to_theta(structure, factor, np.exp(log_theta))
        refuse_underflow(theta)
        return theta

    def _log_probabilities(self, log_thetas: list[FloatArray]) -> FloatArray:
        scores = np.zeros_like(self.counts)
        for log_theta, cells in zip(log_thetas, self.cells, strict=True):
            scores += log_theta.reshape(-1, scores.shape[1])[cells]
        return _log_softmax(scores, -1)

    def _log_thetas(self, logits: FloatArray) -> list[FloatArray]:
        return [
            _log_softmax(logits[start:stop].reshape(shape), axis)
            for (start, stop), shape, axis in zip(
                pairwise(self.starts), self.shapes, self.axes, strict=True
            )
        ]


class Climb(NamedTuple):
    """The end point of one climb of the likelihood."""

    logits: FloatArray
    value: float
    converged: bool


def climb(likelihood: ThetaLikelihood, start: FloatArray) -> Climb:
    """A local maximum of the likelihood in θ, by L-BFGS.

    Often the supremum lies at infinite logits (some θ → 0). The climb ends when a step gains less
    than 1e-13 of the value, or at ``LARGEST_LOGIT``, where θ does not underflow.
    """
    from scipy.optimize import minimize

    def negative(logits: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = likelihood.value_and_gradient(logits)
        return -value, -gradient

    options = {"maxiter": 2_000, "maxfun": 10_000, "ftol": 1e-13, "gtol": 1e-10}
    bounds = [(-LARGEST_LOGIT, LARGEST_LOGIT)] * len(start)
    end = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return Climb(end.x, -float(end.fun), bool(end.success))


def _cells(rows: CodedRows, inputs: tuple[str, ...]) -> IntArray:
    cells = np.zeros(len(rows), dtype=np.int64)
    for name in inputs:
        cells = cells * rows.n_states[rows.place(name)] + rows.column(name)
    return cells


def _log_softmax(values: FloatArray, axis: int) -> FloatArray:
    shifted = values - values.max(axis=axis, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))
