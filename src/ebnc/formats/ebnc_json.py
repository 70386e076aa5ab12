"""EBNCs as JSON: domain, structure, φ in its coding; background and report of a fit, if any."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ebnc.domain import Domain
from ebnc.fitting.solution import Solution, Status
from ebnc.formats.background_json import background_from_json, background_to_json
from ebnc.formats.domain_json import domain_from_json, domain_to_json
from ebnc.formats.field import Field, scale_to_json
from ebnc.formats.phi_json import CODINGS, basis_from_json, phi_from_json, terms_to_json
from ebnc.formats.structure_json import structure_from_json, structure_to_json
from ebnc.likelihood.design import Design
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.ebnc import EBNC
from ebnc.typing import FloatArray

__all__ = ["FitReport", "StoredEBNC", "ebnc_from_json", "ebnc_to_json"]


@dataclass(frozen=True, eq=False)
class FitReport:
    """What a file keeps of a fit: all but the Hessian. ``standard_errors``: of φ as indicators."""

    prior: NormalPrior
    n_cases: float
    log_likelihood: float
    bic: float | None
    log_evidence: float | None
    standard_errors: FloatArray | None
    value: float
    decrement: float
    status: Status
    steps: int
    n_values: int
    n_hessians: int


class StoredEBNC(EBNC):
    """A fitted EBNC that was read from a file: it predicts, and knows how it was fitted.

    ``solution``, ``prior``, ``n_cases``, ``log_likelihood``, ``bic``, ``log_evidence`` and standard
    errors are those of the fit; the Hessian, and with it intervals of probabilities, is not kept.
    """

    def __init__(self, model: EBNC, report: FitReport) -> None:
        what = (model.structure, model.domain, model.phi, model.coding.name)
        super().__init__(*what, background=model.background)
        self.report = report
        self.prior = report.prior
        self.n_cases = report.n_cases
        self.log_likelihood = report.log_likelihood
        self.bic = report.bic
        self.log_evidence = report.log_evidence

    @property
    def solution(self) -> Solution:
        """The report of the fit; φ̃ in the design's order, as ``ebnc.fit`` gives it."""
        report = self.report
        phi = Design.of(self.basis).from_basis(self.phi_in(ORTHONORMAL.name))
        return Solution(
            phi,
            report.value,
            report.decrement,
            report.status,
            report.steps,
            report.n_values,
            report.n_hessians,
        )

    def standard_errors(self) -> FloatArray | None:
        """Standard errors of φ in the indicator coding, or None."""
        return self.report.standard_errors


def ebnc_to_json(model: EBNC, *, with_domain: bool = True) -> dict[str, Any]:
    """All of an EBNC; without its domain where the file has one for several models."""
    found: dict[str, Any] = {"domain": domain_to_json(model.domain)} if with_domain else {}
    found |= {
        "structure": structure_to_json(model.structure),
        "coding": model.coding.name,
        "terms": terms_to_json(model.basis),
        "phi": model.phi.tolist(),
    }
    if model.background is not None:
        found["background"] = background_to_json(model.background)
    report = _report(model)
    return found if report is None else found | {"fit": _report_to_json(report)}


def ebnc_from_json(field: Field, domain: Domain | None = None) -> EBNC:
    """The inverse of ``ebnc_to_json``: a ``StoredEBNC`` where there was a fit.

    ``domain``: the file's, where the model has none of its own.
    """
    own = [] if domain is not None else ["domain"]
    parts = field.object([*own, "structure", "coding", "terms", "phi"], ["background", "fit"])
    declared = domain_from_json(parts["domain"]) if domain is None else domain
    structure = structure_from_json(parts["structure"])
    coding = parts["coding"].choice(CODINGS)
    basis, order = basis_from_json(structure, declared, parts["terms"])
    phi = phi_from_json(basis, order, parts["phi"])
    background = None
    if "background" in parts:
        background = background_from_json(parts["background"], declared, structure)
    model = field.built(lambda: EBNC(structure, declared, phi, coding, background=background))
    if "fit" not in parts:
        return model
    return StoredEBNC(model, _report_from_json(parts["fit"], model, order))


def _report(model: EBNC) -> FitReport | None:
    if isinstance(model, StoredEBNC):
        return model.report
    from ebnc.learn import FittedEBNC  # reading a file needs no fitting

    if not isinstance(model, FittedEBNC):
        return None
    has_evidence = model.prior.is_proper and model.factor is not None
    solution = model.solution
    return FitReport(
        model.prior,
        model.n_cases,
        model.log_likelihood,
        model.bic,
        model.log_evidence if has_evidence else None,
        model.standard_errors(),
        solution.value,
        solution.decrement,
        solution.status,
        solution.steps,
        solution.n_values,
        solution.n_hessians,
    )


def _report_to_json(report: FitReport) -> dict[str, Any]:
    errors = report.standard_errors
    return {
        "prior": {
            "scales": [scale_to_json(scale) for scale in report.prior.scales],
            "intercept_scale": scale_to_json(report.prior.intercept_scale),
        },
        "cases": float(report.n_cases),
        "log_likelihood": float(report.log_likelihood),
        "bic": None if report.bic is None else float(report.bic),
        "log_evidence": None if report.log_evidence is None else float(report.log_evidence),
        "standard_errors": None if errors is None else errors.tolist(),
        "solution": {
            "value": float(report.value),
            "decrement": scale_to_json(report.decrement),
            "status": report.status.name.lower(),
            "steps": int(report.steps),
            "values": int(report.n_values),
            "hessians": int(report.n_hessians),
        },
    }


def _report_from_json(field: Field, model: EBNC, order: Any) -> FitReport:
    parts = field.object(
        ["prior", "cases", "log_likelihood", "bic", "log_evidence", "standard_errors", "solution"]
    )
    prior = parts["prior"].object(["scales", "intercept_scale"])
    scales = tuple(item.scale() for item in prior["scales"].items())
    intercept_scale = prior["intercept_scale"].scale()
    if not scales or not all(scale > 0 for scale in (*scales, intercept_scale)):
        raise parts["prior"].error("scales must be positive")
    errors = None
    if not parts["standard_errors"].is_null():
        errors = phi_from_json(model.basis, order, parts["standard_errors"])
        if not np.all(errors >= 0):
            raise parts["standard_errors"].error("must not be negative")
    evidence = parts["log_evidence"]
    solution = parts["solution"].object(
        ["value", "decrement", "status", "steps", "values", "hessians"]
    )
    cases = parts["cases"].number()
    if cases <= 0:
        raise parts["cases"].error(f"must be positive, got {cases:g}")
    return FitReport(
        NormalPrior(scales, intercept_scale),
        cases,
        parts["log_likelihood"].number(),
        None if parts["bic"].is_null() else parts["bic"].number(),
        None if evidence.is_null() else evidence.number(),
        errors,
        solution["value"].number(),
        solution["decrement"].scale(),
        Status[solution["status"].choice(s.name.lower() for s in Status).upper()],
        solution["steps"].integer(0),
        solution["values"].integer(0),
        solution["hessians"].integer(0),
    )
