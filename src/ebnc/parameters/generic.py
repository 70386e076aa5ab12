"""Generic dimension: the rank of the Jacobian of θ → λ, also where Theorem 1 does not hold.

The image of θ need not be open in its span: if an input has fewer states than Y, its tables have
fewer degrees of freedom than κ (errata E6). The generic dimension is that of the image.
"""

import numpy as np

from ebnc.domain import Domain, DomainLike
from ebnc.memory import refuse_if_too_large
from ebnc.parameters.constants import sizes_of
from ebnc.parameters.phi import Basis, places_of
from ebnc.parameters.rank import PRIME, rank_modulo_prime
from ebnc.structure.embedded import EmbeddedStructure, Factor
from ebnc.typing import IntArray


def generic_dimension(
    structure: EmbeddedStructure, n_states: DomainLike, *, random_state: int = 0
) -> int:
    """Return the rank of ∂λ/∂θ at a random θ, in exact arithmetic modulo a prime p = 2³¹ − 1.

    In φ coordinates (``INDICATOR``) the Jacobian is B·D: B, the linear map κ → φ, has entries 0 and
    ±1; D, block diagonal over (child, context), has the derivatives

        ∂ log θ(x|a, y) / ∂w_t = δ(x, t) − θ(t|a, y)      (θ the softmax of w, w_0 = 0)

    which are polynomials in θ, so residues modulo p suffice: the computed rank is never too large,
    and too small with probability at most about d/p. κ of Y itself is free; it covers the terms
    inside Pa(Y), which are counted and left out of the matrix.

    The result is at most ``dimension``, and equal to it for binary Y. A variable whose statistic
    has dimension t counts as one with t + 1 states.

    Parameters
    ----------
    structure : EmbeddedStructure
        The structure.
    n_states : Domain or mapping
        The states of all variables including the target, as counts, labels or a ``Domain``.
    random_state : int
        The seed of the random θ.
    """
    structure, n_classes, counts = sizes_of(structure, n_states)
    domain = Domain({structure.target: n_classes, **counts})
    basis = Basis(structure, domain)
    others = n_classes - 1
    free = np.ones(basis.dimension, dtype=bool)
    for term in basis.terms_inside(structure.factors[0].inputs):  # Pa(Y)
        free[term.start : term.stop] = False
    children = structure.factors[1:]
    widths = [_n_free(factor, domain) * (others + 1) for factor in children]
    refuse_if_too_large(
        4 * 8 * int(free.sum()) * max(1, sum(widths)),
        f"the Jacobian of θ → φ, {int(free.sum())} by {sum(widths)},",
        "use dimension, the closed form for the span",
    )
    generator = np.random.default_rng(random_state)
    jacobian = np.zeros((basis.dimension, sum(widths)), dtype=np.int64)
    column = 0
    for factor, width in zip(children, widths, strict=True):
        jacobian[_rows(basis, factor), column : column + width] = _block(
            factor, domain, others, generator
        )
        column += width
    return int((~free).sum()) + rank_modulo_prime(jacobian[free])


def _n_free(factor: Factor, domain: Domain) -> int:
    """Free entries of a child's θ for one class: (r_i − 1) for every configuration of A_i."""
    *context, own = [domain.n_states(x) for x in factor.inputs]
    return int(np.prod(context, dtype=np.int64)) * (own - 1)


def _rows(basis: Basis, factor: Factor) -> IntArray:
    """The place in φ of every coefficient of a factor's table, in the table's own order."""
    shape = tuple(basis.domain.n_states(x) for x in factor.inputs)
    places = np.empty((*shape, basis.n_classes - 1), dtype=np.int64)
    for term in basis.terms_inside(factor.inputs):
        block = np.arange(term.start, term.stop).reshape(len(term.columns), -1)
        places[places_of(term, factor.inputs)] = block
    return places.ravel()


def _block(factor: Factor, domain: Domain, others: int, generator: np.random.Generator) -> IntArray:
    """B·D of one child: rows (coefficient of x_A, of x_i; k), columns (context, class, state)."""
    *context, own = [domain.n_states(x) for x in factor.inputs]
    to_context = np.ones((1, 1), dtype=np.int64)
    for r in context:
        to_context = np.kron(to_context, _coefficients(r))
    n_contexts = to_context.shape[0]
    theta = generator.integers(1, PRIME, size=(n_contexts, others + 1, own - 1))

    # ∂ log θ(x|a, y^c) / ∂w_t(a, c), axes (a, c, x, t); then along x to coefficients.
    derivative = np.eye(own, dtype=np.int64)[:, 1:] - theta[:, :, None, :]
    derivative = np.einsum("mx,acxt->acmt", _coefficients(own), derivative) % PRIME
    # κ(k) = log θ(k) − log θ(0): class c moves κ(c), and class 0 moves all of them.
    block = np.zeros((n_contexts, own, others, others + 1, own - 1), dtype=np.int64)
    for k in range(others):
        block[:, :, k, k + 1] = derivative[:, k + 1]
        block[:, :, k, 0] = -derivative[:, 0]
    full: IntArray = np.einsum("na,amkct->nmkact", to_context, block) % PRIME
    return full.reshape(n_contexts * own * others, n_contexts * (others + 1) * (own - 1))


def _coefficients(n_states: int) -> IntArray:
    """[1 | E]⁻¹ of the indicator coding, in integers: value at 0, then differences to it."""
    matrix = np.eye(n_states, dtype=np.int64)
    matrix[1:, 0] = -1
    return matrix
