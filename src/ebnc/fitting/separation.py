"""Detect data without a unique maximum of the likelihood, and name the terms that cause it.

The maximum has two obstacles. *Not identified*: some direction of φ changes no log odds of any
observed row. *Separation*: the likelihood rises for ever along some direction v, because no
observed class loses and some gain:

    λ_y(x; v) − λ_j(x; v) ≥ 0   for every observed (x, y) and class j,   > 0 for some

Both are properties of the data, with exact tests: the null space of the Hessian at φ = 0 for the
first, a linear programme for the second (Konis 2007).
"""

from itertools import permutations

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.parts import Parts
from ebnc.errors import NoMaximumError
from ebnc.likelihood.posterior import Posterior
from ebnc.parameters.coding import INDICATOR, ORTHONORMAL
from ebnc.parameters.design_matrix import indicator_design
from ebnc.parameters.phi import Basis, recode
from ebnc.typing import FloatArray

MOST_NAMED = 5
PLACES = 7  # decimals of a direction's largest component; smaller components are not named
ADVICE = "use a finite prior_scale, or leave out the terms"


def refuse_unidentified(posterior: Posterior) -> None:
    """Raise if the likelihood has a flat direction at φ = 0: the data do not determine φ."""
    design = posterior.design
    start = np.zeros((design.n_columns, design.n_outputs))
    values, vectors = np.linalg.eigh(posterior.neg_hessian(start))
    flat = values <= len(values) * np.finfo(np.float64).eps * values.max() * 16
    if flat.any():
        # A random vector in the null space involves every term that contributes to it.
        generator = np.random.default_rng(0)
        mixed = vectors[:, flat] @ generator.normal(size=int(flat.sum()))
        phi = design.to_basis(mixed.reshape(start.shape))
        names = _terms_of(design.basis, recode(design.basis, phi, ORTHONORMAL, INDICATOR))
        raise NoMaximumError(
            f"the data do not determine {int(flat.sum())} of {design.dimension} parameters, in "
            f"{names}: states that never occur (together), or redundant inputs; {ADVICE}"
        )


def refuse_separated(basis: Basis, cases: Parts) -> None:
    """Raise if the classes are separated, completely or partly; the error names the terms."""
    if not isinstance(cases, Cases):
        raise NoMaximumError(
            "maximum likelihood was not reached: the classes may be separated, which cannot be "
            f"checked for data in parts; {ADVICE}"
        )
    direction = separating_direction(basis, cases)
    if direction is not None:
        raise NoMaximumError(
            f"maximum likelihood does not exist: the classes are separated by "
            f"{_terms_of(basis, direction)}, whose parameters would be infinite; {ADVICE}"
        )


def separating_direction(basis: Basis, cases: Cases) -> FloatArray | None:
    """A direction of φ (indicator coding) in [−1, 1] that separates the classes, or None."""
    from scipy.optimize import linprog
    from scipy.sparse import kron, vstack

    counted = cases.counted()
    design = indicator_design(basis, counted.rows)
    of_class = INDICATOR.matrix(basis.levels[basis.structure.target])
    blocks = []
    for own, other in permutations(range(basis.n_classes), 2):
        rows = design[np.flatnonzero(counted.classes == own)]
        if rows.shape[0]:
            blocks.append(kron(rows, of_class[own : own + 1] - of_class[other], format="csr"))
    gains = vstack(blocks, format="csr")
    optimum = linprog(
        -np.asarray(gains.sum(axis=0)).ravel(),
        A_ub=-gains,
        b_ub=np.zeros(gains.shape[0]),
        bounds=(-1, 1),
        method="highs",
    )
    if not optimum.success or -optimum.fun <= 1e-6:
        return None
    return np.asarray(optimum.x)


def _terms_of(basis: Basis, direction: FloatArray) -> str:
    """The terms involved in a direction; the most prominent ones are named."""
    sizes = np.abs(direction)
    sizes = np.round(sizes / sizes.max(), PLACES)
    weights = {t.inputs: float(sizes[t.start : t.stop].max(initial=0.0)) for t in basis.terms}
    involved = [inputs for inputs, weight in weights.items() if weight > 0 and inputs]
    involved.sort(key=lambda inputs: (-len(inputs), -weights[inputs], inputs))
    shown = ", ".join(" · ".join(inputs) for inputs in involved[:MOST_NAMED]) or "the intercept"
    more = len(involved) - MOST_NAMED
    return shown + (f" and {more} more terms" if more > 0 else "")
