"""The closest θ where φ has no exact one: minimum Kullback–Leibler divergence, several starts.

    min_θ  Σ_x w(x) Σ_k p(y^k|x, φ) log p(y^k|x, φ) / p(y^k|x, θ),   w uniform

Unlike the fit of φ this is not convex: the image of θ is a curved-off part of the span.
"""

from typing import NamedTuple

import numpy as np

from ebnc.data.rows import CodedRows, all_configurations
from ebnc.domain import Domain
from ebnc.parameters.embedded_network import EmbeddedNetwork
from ebnc.parameters.phi_to_theta import factor_table_to_theta, factor_tables, refuse_underflow
from ebnc.parameters.tables import TableSum, log_odds_to_probabilities
from ebnc.parameters.theta import uniform_theta
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray, IntArray

__all__ = ["ClosestNetwork", "closest_theta"]


class ClosestNetwork(NamedTuple):
    """An embedded network and how far it is: mean divergence per configuration, in nats.

    ``converged``: whether the best of the starts ended at a local minimum.
    """

    network: EmbeddedNetwork
    divergence: float
    converged: bool


def closest_theta(
    structure: EmbeddedStructure,
    domain: Domain,
    tables: TableSum,
    *,
    n_starts: int = 10,
    random_state: int = 0,
) -> ClosestNetwork:
    """θ on this very structure that is closest to the p(y|x) of ``tables``.

    Lists all configurations of the Markov blanket, so it is for small ones; refused beyond memory.
    """
    from scipy.optimize import minimize

    rows = all_configurations(domain, structure.markov_blanket)
    problem = _Divergence(structure, domain, rows, log_odds_to_probabilities(tables.log_odds(rows)))
    generator = np.random.default_rng(random_state)
    starts = [problem.first_start(tables)]
    starts += [generator.normal(size=starts[0].size) for _ in range(n_starts - 1)]
    # Often the infimum lies at infinite logits (some θ → 0); ftol then ends the approach to it.
    options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-13, "gtol": 1e-10}
    fits = [
        minimize(problem.value_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
        for start in starts
    ]
    best = min(fits, key=lambda fit: float(fit.fun))
    network = EmbeddedNetwork(structure, domain, problem.theta(best.x))
    return ClosestNetwork(network, max(0.0, float(best.fun)), bool(best.success))


class _Divergence:
    """Value and gradient in unconstrained coordinates: each θ is the softmax of a table of logits.

    A factor's logits have axes (inputs …, k), as κ has; θ(x_i|a, y^k) is normalised along x_i and
    θ(y^k|pa_y) along k.
    """

    def __init__(
        self, structure: EmbeddedStructure, domain: Domain, rows: CodedRows, wanted: FloatArray
    ) -> None:
        self.structure, self.domain, self.wanted = structure, domain, wanted
        n_classes = domain.n_states(structure.target)
        self.shapes = [
            (*(domain.n_states(x) for x in factor.inputs), n_classes)
            for factor in structure.factors
        ]
        self.axes = [-1 if f.head == structure.target else -2 for f in structure.factors]
        self.cells = [_cells(rows, f.inputs) for f in structure.factors]
        self.entropy = float(np.sum(wanted * np.log(np.maximum(wanted, np.finfo(float).tiny))))

    def value_and_gradient(self, vector: FloatArray) -> tuple[float, FloatArray]:
        logs = self._log_theta(vector)
        scores = np.zeros_like(self.wanted)
        for log_theta, cells in zip(logs, self.cells, strict=True):
            scores += log_theta.reshape(-1, scores.shape[1])[cells]
        log_given = _log_softmax(scores, -1)
        n_rows = len(self.wanted)
        value = (self.entropy - float(np.sum(self.wanted * log_given))) / n_rows
        residual = (np.exp(log_given) - self.wanted) / n_rows
        parts = []
        for log_theta, cells, axis in zip(logs, self.cells, self.axes, strict=True):
            n_cells = log_theta.size // residual.shape[1]
            scatter = [np.bincount(cells, column, n_cells) for column in residual.T]
            slope = np.stack(scatter, axis=-1).reshape(log_theta.shape)
            slope = slope - np.exp(log_theta) * slope.sum(axis=axis, keepdims=True)
            parts.append(slope.ravel())
        return value, np.concatenate(parts)

    def first_start(self, tables: TableSum) -> FloatArray:
        """φ's own tables as logits: exact but for the normalising constants."""
        values = factor_tables(self.structure, self.domain, tables)
        return np.concatenate([values[factor.head].ravel() for factor in self.structure.factors])

    def theta(self, vector: FloatArray) -> dict[str, FloatArray]:
        """θ of every variable; those whose terms cancel are uniform."""
        names = self.structure.inputs
        theta = {name: uniform_theta(self.structure, self.domain, name) for name in names}
        for factor, log_theta in zip(self.structure.factors, self._log_theta(vector), strict=True):
            theta[factor.head] = factor_table_to_theta(self.structure, factor, np.exp(log_theta))
        refuse_underflow(theta)
        return theta

    def _log_theta(self, vector: FloatArray) -> list[FloatArray]:
        logs, start = [], 0
        for shape, axis in zip(self.shapes, self.axes, strict=True):
            stop = start + int(np.prod(shape))
            logs.append(_log_softmax(vector[start:stop].reshape(shape), axis))
            start = stop
        return logs


def _cells(rows: CodedRows, inputs: tuple[str, ...]) -> IntArray:
    cells = np.zeros(len(rows), dtype=np.int64)
    for name in inputs:
        cells = cells * rows.n_states[rows.place(name)] + rows.column(name)
    return cells


def _log_softmax(values: FloatArray, axis: int) -> FloatArray:
    shifted = values - values.max(axis=axis, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))
