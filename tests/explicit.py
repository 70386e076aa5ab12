"""Softmax regression on explicit columns, in NumPy and SciPy: the oracle of mixed models."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from columns import coding_of, columns_of, design_of, groups_of, random_codes
from ebnc import Domain, EmbeddedStructure
from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.phi import Basis
from strategies import bins


@dataclass(frozen=True)
class Problem:
    """A structure, its domain, codes and weights of rows, and whether there are weak pairs."""

    structure: EmbeddedStructure
    domain: Domain
    codes: dict[str, np.ndarray]
    weights: np.ndarray
    weak_pairs: bool

    def posterior(self, prior=None, most_cells=128):
        """The posterior by the package."""
        inputs = self.structure.inputs
        sizes = tuple(len(self.domain[x]) for x in inputs)
        rows = np.array([self.codes[x] for x in inputs], dtype=np.uint8)
        rows = rows.reshape(len(inputs), len(self.weights))
        cases = Cases(
            self.domain,
            "Y",
            CodedRows(inputs, sizes, rows),
            self.codes["Y"].astype(np.uint8),
            self.weights,
        )
        design = Design.of(Basis(self.structure, self.domain, self.weak_pairs), most_cells)
        return Posterior(design, count_cells(design, cases), prior or NormalPrior((1.0,)))

    def rows(self, chosen):
        """The same with other rows or weights of 0."""
        codes = {x: column[chosen] for x, column in self.codes.items()}
        return Problem(self.structure, self.domain, codes, self.weights[chosen], self.weak_pairs)

    # -- by NumPy; φ is in the order of the basis, flat ------------------------------------------

    @cached_property
    def z(self):
        return design_of(self.structure, self.domain, self.codes, self.weak_pairs)

    @cached_property
    def of_class(self):
        return coding_of(self.domain, "Y")[0]

    def precision(self, prior):
        """1/σ² of every element of φ."""
        by_group = {0: prior.intercept_scale, -1: prior.weak_scale}
        by_group |= {s: prior.scales[min(s, len(prior.scales)) - 1] for s in (1, 2, 3)}
        groups = groups_of(self.structure, self.domain, self.weak_pairs)
        scales = [by_group[group] for group in groups.tolist()]
        return np.repeat(np.array(scales) ** -2.0, self.of_class.shape[1])

    def scores(self, phi):
        return self.z @ phi.reshape(self.z.shape[1], -1) @ self.of_class.T

    def losses(self, phi):
        """−log p(y|x) of every row."""
        return -log_softmax(self.scores(phi), axis=1)[np.arange(len(self.z)), self.codes["Y"]]

    def value(self, phi, prior):
        penalty = 0.5 * np.sum(self.precision(prior) * phi**2)
        return -float(self.weights @ self.losses(phi)) - penalty

    def gradient(self, phi, prior):
        p = softmax(self.scores(phi), axis=1)
        residual = np.eye(p.shape[1])[self.codes["Y"]] - p
        of_rows = self.z.T @ (self.weights[:, None] * residual) @ self.of_class
        return of_rows.ravel() - self.precision(prior) * phi

    def neg_hessian(self, phi, prior):
        p = softmax(self.scores(phi), axis=1)
        total = np.diag(self.precision(prior))
        for z, own, weight in zip(self.z, p, self.weights, strict=True):
            inner = self.of_class.T @ (np.diag(own) - np.outer(own, own)) @ self.of_class
            total += weight * np.kron(np.outer(z, z), inner)
        return total

    def optimum(self, prior):
        """φ̃ by SciPy."""
        found = minimize(
            lambda phi: -self.value(phi, prior),
            np.zeros(self.z.shape[1] * self.of_class.shape[1]),
            jac=lambda phi: -self.gradient(phi, prior),
            hess=lambda phi: self.neg_hessian(phi, prior),
            method="trust-exact",
            options={"gtol": 1e-9, "maxiter": 1000},
        )
        return found.x

    def log_evidence(self, prior, phi=None):
        """Laplace's, eq. 8, with all normalising constants."""
        phi = self.optimum(prior) if phi is None else phi
        log_det = np.linalg.slogdet(self.neg_hessian(phi, prior))[1]
        # (d/2) log 2π of eq. 8 cancels against that of the normal prior.
        return self.value(phi, prior) + 0.5 * np.log(self.precision(prior)).sum() - 0.5 * log_det


DOMAINS = {
    "three kinds": (
        "[Y][A|Y][B|Y][C|Y]",
        {"A": [*bins(31), None], "B": 3, "C": [1, 2, 3, 4], "Y": 3},
        ["A", "C"],
    ),
    "chain": (
        "[Y][A|Y][B|A:Y][C|B:Y]",
        {"A": bins(15), "B": 3, "C": [*bins(7), None], "Y": 2},
        ["A", "C"],
    ),
    "curves interact": (
        "[A][B][Y|A:B][C|Y]",
        {"A": bins(13), "B": bins(9), "C": 2, "Y": 2},
        ["A", "B"],
    ),
    "ordered target": (
        "[Y][A|Y][B|A:Y][C|Y]",
        {"A": 3, "B": bins(6), "C": 2, "Y": ["low", "middle", "high", "top"]},
        ["B", "Y"],
    ),
    "numeric target": (
        "[Y][A|Y][B|Y][C|Y]",
        {"A": bins(5), "B": 2, "C": 2, "Y": bins(20)},
        ["A", "Y"],
    ),
}


def problem_named(name, weak_pairs=False, n_rows=150, seed=0, signal=0.7):
    """Random inputs and weights, classes from a random φ of the model."""
    text, states, ordered = DOMAINS[name]
    structure, domain = EmbeddedStructure.from_string(text, "Y"), Domain(states, ordered)
    generator = np.random.default_rng(seed)
    codes = random_codes(structure, domain, n_rows, generator)
    weights = generator.integers(1, 4, n_rows) / 2.0
    problem = Problem(structure, domain, codes, weights, weak_pairs)
    n_phi = len(columns_of(structure, domain, weak_pairs)) * problem.of_class.shape[1]
    p = softmax(problem.scores(generator.normal(0, signal, n_phi)), axis=1)
    codes["Y"] = (p.cumsum(axis=1)[:, :-1] < generator.random((n_rows, 1))).sum(axis=1)
    return problem
