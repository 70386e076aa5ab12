"""θ → φ for numbers: embedded networks whose children of Y are linear Gaussians.

    p(x_i | a, y^k) = N(x_i; β_ik · (1, a), σ²_ik),        a: the numbers A_i = Pa(X_i) \\ {Y}

This is an exponential family with the statistic T = (x, x²), so eq. 4 holds with T in the place of
indicators: every child adds a quadratic polynomial in (x_i, a) to the log odds. Its normalising
constant, which has β_ik · (1, a) squared, is a quadratic polynomial in a, and A_i is a subset of a
cluster; so it lies in the span. φ are the coefficients of monomials, which are linearly independent
functions:

    λ_k(x) = zᵀ (Λ_k − Λ_0) z,   z = (1, x),        Λ_k = log p(y^k) e_0 e_0ᵀ + Σ_i Λ_ik

Naive structures are Gaussian naive Bayes. If every input is a child of Y and of all inputs before
it, the model is quadratic discriminant analysis; if only the intercepts β_ik0 depend on the class,
the squares cancel, and it is linear discriminant analysis.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ebnc.errors import ParameterError
from ebnc.parameters.numbers import as_numbers
from ebnc.structure.embedded import EmbeddedStructure, check_structure
from ebnc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class EmbeddedGaussianNetwork:
    """(m′, θ) over numbers: every child of Y is a linear Gaussian, given its parents and the class.

    Parameters
    ----------
    structure : EmbeddedStructure
        The structure m′. The target has no parents; inputs that are not its children do not matter.
    class_probabilities : array (K,)
        p(y), all positive; they sum to 1.
    coefficients : mapping from str to array (K, 1 + parents)
        For every child of the target and every class: the intercept, then the slope of each other
        parent, in the order of ``structure.parents(name)``.
    variances : mapping from str to array (K,) or float
        The variance of every child in each class; one number means that it is equal in all classes.

    Examples
    --------
    >>> structure = EmbeddedStructure.naive("Y", ["X"])
    >>> network = EmbeddedGaussianNetwork(structure, [0.5, 0.5], {"X": [[0.0], [2.0]]}, {"X": 1.0})
    >>> network.phi["X",], network.phi["X", "X"]
    (array([2.]), array([0.]))
    >>> network.log_odds({"X": [0.0, 1.0, 3.0]})
    array([[-2.],
           [ 0.],
           [ 4.]])
    """

    structure: EmbeddedStructure
    class_probabilities: ArrayLike
    coefficients: Mapping[str, ArrayLike]
    variances: Mapping[str, ArrayLike]

    def __post_init__(self) -> None:
        check_structure(self.structure)
        target = self.structure.target
        if self.structure.parents(target):
            raise ParameterError(f"target {target!r} has parents, but it must have none")
        shares = as_numbers(self.class_probabilities, "class_probabilities")
        if shares.ndim != 1 or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-9:
            raise ParameterError(f"class_probabilities must be positive and sum to 1, got {shares}")
        coefficients, variances = {}, {}
        for x in self.children:
            if x not in self.coefficients or x not in self.variances:
                raise ParameterError(f"child {x!r} of the target needs coefficients and variances")
            beta = as_numbers(self.coefficients[x], f"coefficients of {x!r}")
            shape = (len(shares), 1 + len(self._others(x)))
            if beta.shape != shape:
                raise ParameterError(
                    f"coefficients of {x!r} must have shape {shape}, got {beta.shape}"
                )
            own = as_numbers(self.variances[x], f"variances of {x!r}")
            if own.shape not in ((), shape[:1]) or not (own > 0).all():
                raise ParameterError(
                    f"variances of {x!r} must be one positive number, or {shape[0]}, got {own}"
                )
            coefficients[x], variances[x] = beta, np.broadcast_to(own, shape[:1])
        object.__setattr__(self, "class_probabilities", shares)
        object.__setattr__(self, "coefficients", coefficients)
        object.__setattr__(self, "variances", variances)

    @property
    def children(self) -> tuple[str, ...]:
        """The children of the target; all other factors of the joint density cancel (eq. 4)."""
        target = self.structure.target
        return tuple(x for x in self.structure.inputs if target in self.structure.parents(x))

    def _others(self, name: str) -> list[str]:
        return [x for x in self.structure.parents(name) if x != self.structure.target]

    @cached_property
    def _forms(self) -> FloatArray:
        """Λ_k − Λ_0 for k ≥ 1, shape (K − 1, n + 1, n + 1); index 0 is the constant."""
        names = self.structure.markov_blanket
        place = {x: i + 1 for i, x in enumerate(names)}
        shares = np.asarray(self.class_probabilities)
        forms = np.zeros((len(shares), len(names) + 1, len(names) + 1))
        forms[:, 0, 0] = np.log(shares)
        for x in self.children:
            residual = np.zeros((len(shares), len(names) + 1))  # x_i − β·(1, a) as a function of z
            residual[:, place[x]] = 1.0
            given = [0, *(place[a] for a in self._others(x))]
            residual[:, given] -= np.asarray(self.coefficients[x])
            variance = np.asarray(self.variances[x])
            forms -= residual[:, :, None] * (residual / (2.0 * variance[:, None]))[:, None, :]
            forms[:, 0, 0] -= 0.5 * np.log(variance)
        return np.asarray(forms[1:] - forms[0])

    @cached_property
    def phi(self) -> Mapping[tuple[str, ...], FloatArray]:
        """φ: the coefficients of 1, x_i, x_i² and x_i x_j in λ, one for each class but the first.

        A key holds the inputs of a monomial: () is 1, ("A", "A") is the square of A. Two inputs
        have a product if a cluster contains both.
        """
        names, forms = self.structure.markov_blanket, self._forms
        place = {x: i + 1 for i, x in enumerate(names)}
        clusters = self.structure.clusters
        pairs = {pair for c in clusters for pair in combinations_with_replacement(c, 2)}
        phi: dict[tuple[str, ...], FloatArray] = {(): forms[:, 0, 0]}
        phi |= {(x,): 2.0 * forms[:, 0, place[x]] for x in names}
        for a, b in sorted(pairs, key=lambda pair: [place[x] for x in pair]):
            phi[a, b] = (1.0 + (a != b)) * forms[:, place[a], place[b]]
        return phi

    def log_odds(self, data: Mapping[str, ArrayLike] | Any) -> FloatArray:
        """Return λ_k = log p(y^k|x)/p(y^0|x) for k = 1 … K − 1, eq. 4, shape (rows, K − 1).

        Parameters
        ----------
        data : mapping or DataFrame
            Columns of numbers, which are found by name.
        """
        columns = [as_numbers(data[x], f"column {x!r}") for x in self.structure.markov_blanket]
        if not columns:
            raise ParameterError("the target has no children, so λ does not depend on data")
        z = np.column_stack([np.ones(len(columns[0])), *columns])
        return np.asarray(np.einsum("li,kij,lj->lk", z, self._forms, z))
