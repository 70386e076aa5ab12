"""EBNCs as JSON: domain, structure and φ in its coding; optionally the background and the fit."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebnc.domain import Domain
from ebnc.field import Field, scale_to_json
from ebnc.fitted import FittedEBNC
from ebnc.fitting.fit import Fit
from ebnc.fitting.solution import Solution, Status
from ebnc.formats.background_json import background_from_json, background_to_json
from ebnc.formats.domain_json import domain_from_json, domain_to_json
from ebnc.formats.phi_json import CODINGS, basis_from_json, phi_from_json, terms_to_json
from ebnc.formats.structure_json import structure_from_json, structure_to_json
from ebnc.likelihood.design import Design
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.phi import Term
from ebnc.typing import FloatArray


def ebnc_to_json(model: EBNC, *, with_domain: bool = True) -> dict[str, Any]:
    """Convert an EBNC to plain data; omit its domain if several models in the file share it."""
    plain: dict[str, Any] = {"domain": domain_to_json(model.domain)} if with_domain else {}
    plain |= {
        "structure": structure_to_json(model.structure),
        "coding": model.coding.name,
        "terms": terms_to_json(model.basis),
        "phi": model.phi.tolist(),
    }
    if model.background is not None:
        plain["background"] = background_to_json(model.background)
    return plain | {"fit": _fit_to_json(model)} if isinstance(model, FittedEBNC) else plain


def ebnc_from_json(field: Field, domain: Domain | None = None) -> EBNC:
    """Invert ``ebnc_to_json``; the result is a ``FittedEBNC`` if the file holds a fit.

    ``domain``: the domain of the file, if the model has none of its own.
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
    return _fit_from_json(parts["fit"], model, order) if "fit" in parts else model


def _fit_to_json(model: FittedEBNC) -> dict[str, Any]:
    """Convert a fit to plain data, without its Hessian."""
    fit, solution, errors = model.fit, model.solution, model.standard_errors()
    return {
        "prior": {
            "scales": [scale_to_json(scale) for scale in fit.prior.scales],
            "intercept_scale": scale_to_json(fit.prior.intercept_scale),
            "weak_scale": scale_to_json(fit.prior.weak_scale),
        },
        "cases": float(fit.n_cases),
        "log_likelihood": float(fit.log_likelihood),
        "bic": fit.bic,
        "log_evidence": fit.log_evidence,
        "standard_errors": None if errors is None else errors.tolist(),
        "solution": {
            "value": float(solution.value),
            "decrement": scale_to_json(solution.decrement),
            "status": solution.status.name.lower(),
            "steps": int(solution.steps),
            "values": int(solution.n_values),
            "hessians": int(solution.n_hessians),
        },
    }


def _fit_from_json(field: Field, model: EBNC, order: Sequence[Term]) -> FittedEBNC:
    parts = field.object(
        ["prior", "cases", "log_likelihood", "bic", "log_evidence", "standard_errors", "solution"]
    )
    prior = _prior_from_json(parts["prior"])
    n_cases = parts["cases"].number()
    if n_cases <= 0:
        raise parts["cases"].error(f"must be positive, got {n_cases:g}")
    errors = parts["standard_errors"].optional(lambda f: phi_from_json(model.basis, order, f))
    if errors is not None and not np.all(errors >= 0):
        raise parts["standard_errors"].error("must not be negative")
    design = Design.of(model.basis)
    fit = Fit(
        design,
        prior,
        _solution_from_json(parts["solution"], design.from_basis(model.phi_in(ORTHONORMAL.name))),
        factor=None,
        n_cases=n_cases,
        log_likelihood=parts["log_likelihood"].number(),
        log_evidence=parts["log_evidence"].optional(Field.number),
        bic=parts["bic"].optional(Field.number),
    )
    return FittedEBNC(fit, background=model.background, standard_errors=errors)


def _prior_from_json(field: Field) -> NormalPrior:
    """Read a prior; in files of version 1 it has no scale of weak pairs."""
    parts = field.object(["scales", "intercept_scale"], ["weak_scale"])
    scales = tuple(item.scale() for item in parts["scales"].items())
    others = {name: parts[name].scale() for name in parts.keys() - {"scales"}}
    if not scales or not all(scale > 0 for scale in (*scales, *others.values())):
        raise field.error("scales must be positive")
    return NormalPrior(scales, **others)


def _solution_from_json(field: Field, phi: FloatArray) -> Solution:
    parts = field.object(["value", "decrement", "status", "steps", "values", "hessians"])
    return Solution(
        phi,
        parts["value"].number(),
        parts["decrement"].scale(),
        Status[parts["status"].choice(s.name.lower() for s in Status).upper()],
        parts["steps"].integer(0),
        parts["values"].integer(0),
        parts["hessians"].integer(0),
    )
