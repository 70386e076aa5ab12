"""``Fit``: the maximum of a posterior, the curvature there, and its scores."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ebnc.errors import ParameterError
from ebnc.fitting.solution import Solution
from ebnc.likelihood.class_form import ClassForm
from ebnc.likelihood.design import Design
from ebnc.likelihood.prior import NormalPrior
from ebnc.markup import html_facts
from ebnc.typing import FloatArray

if TYPE_CHECKING:
    from ebnc.fitting.cholesky import Factor  # imports scipy, which reading a model does not need


@dataclass(frozen=True, eq=False)
class Fit:
    """φ̃ of a posterior, its scores, and A, minus the Hessian there.

    It holds no rows: a search stores hundreds of fits, and the cells of all rows take bags × N
    numbers each. Functions that need rows take the posterior as well.

    ``design``: the columns that φ̃ belongs to. ``factor``: the Cholesky factor of A; None if A is
    too large or was not stored. ``n_cases``: N, the sum of the weights. ``log_likelihood``: L(φ̃).
    ``log_evidence``: Laplace's log p(D | m), eq. 8, with the hyperprior of the scales if evidence
    chose them. ``bic``: L(φ̂) − (d/2) log N, eq. 9. Scores that were not requested or have no value
    are None. ``n_fits``: number of fits that choosing the scales took.
    """

    design: Design
    prior: NormalPrior
    solution: Solution
    factor: "Factor | None"
    n_cases: float
    log_likelihood: float
    log_evidence: float | None = None
    bic: float | None = None
    n_fits: int = 1

    @property
    def phi(self) -> FloatArray:
        """φ̃ in the orthonormal coding and the order of the basis, shape (d,)."""
        return self.design.to_basis(self.solution.phi)

    @property
    def facts(self) -> list[tuple[str, object]]:
        """Names and values of the scores, for a reader."""
        scores = (
            ("log-likelihood", self.log_likelihood),
            ("BIC", self.bic),
            ("log evidence", self.log_evidence),
        )
        known = [(name, f"{value:.3f} nats") for name, value in scores if value is not None]
        return [("rows", f"{self.n_cases:g}"), *known]

    def _repr_html_(self) -> str:
        return html_facts([("parameters", self.design.dimension), *self.facts])

    @property
    def form(self) -> ClassForm:
        """The blocks of A."""
        from ebnc.fitting.cholesky import ClassCholesky

        return ClassForm(self.design, isinstance(self.curvature, ClassCholesky))

    @property
    def curvature(self) -> "Factor":
        """The factor of A; raises ``ParameterError`` if the fit has none."""
        if self.factor is None:
            from ebnc.fitting.newton import LARGEST_FACTOR

            raise ParameterError(
                f"this fit of {self.design.dimension} parameters has no Hessian: it is not "
                f"computed for more than {LARGEST_FACTOR}, and model files do not store it"
            )
        return self.factor
