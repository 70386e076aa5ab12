"""``summarise``: the summary of a model, with cross-validation if data are given."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebnc.data.rows import CodedRows, code_type
from ebnc.errors import DataError
from ebnc.fitted import FittedEBNC
from ebnc.parameters.ebnc import EBNC
from ebnc.report.effects import Effects, input_summaries
from ebnc.report.held_out import LabelledRows, held_out
from ebnc.report.models import ReportedModel, reported
from ebnc.report.panel import panel_of
from ebnc.report.summary import (
    VERSION,
    Case,
    FitSummary,
    Summary,
    TermSummary,
    TraceStep,
    TraceSummary,
    full_table,
)
from ebnc.report.words import state_text
from ebnc.search.trace import SearchTrace


def summarise(
    model: Any,
    X: Any = None,  # noqa: N803
    y: Any = None,
    *,
    sample_weight: Any = None,
    target: str | None = None,
    title: str | None = None,
    n_folds: int = 5,
    case: int = 0,
    random_state: int = 0,
    provenance: str = "",
) -> Summary:
    """Summarise a fitted ``EBNCClassifier`` or an ``EBNC`` for its report.

    Parameters
    ----------
    model : EBNCClassifier or EBNC
        The fitted model.
    X : table, optional
        Data for cross-validation; the model is refitted on each fold.
    y : array, optional
        The classes. For an ``EBNC`` the target may be a column of ``X`` instead.
    sample_weight : array, optional
        The weight of each row.
    target : str, optional
        The name of the target on the page; useful for a classifier, which does not store one.
    title : str, optional
        The heading of the page.
    n_folds : int
        Number of folds; fewer than 2 skip cross-validation.
    case : int
        The row of ``X`` whose prediction the page shows term by term.
    random_state : int
        The seed of the folds.
    provenance : str
        A line for the foot of the page, for example the command that was run.

    Examples
    --------
    >>> import ebnc
    >>> data = {"sky": ["clear", "grey", "grey"] * 9, "rain": ["no", "yes", "no"] * 9}
    >>> naive = ebnc.EmbeddedStructure.naive("rain", ["sky"])
    >>> summary = summarise(ebnc.fit(naive, data), data)
    >>> summary.classes, summary.held_out.n_folds
    (('no', 'yes'), 5)
    """
    adapter = reported(model, target)
    data = None if X is None else adapter.labelled(X, y, sample_weight)
    terms = Effects(adapter).largest(None if data is None else data.rows)
    structure = adapter.ebnc.structure
    place = {x: i for i, x in enumerate(adapter.inputs)}
    arcs = tuple((parent, x) for x, parents in structure.families for parent in parents)
    return Summary(
        version=VERSION,
        title=title or f"What predicts {adapter.target}",
        target=adapter.target,
        classes=tuple(map(state_text, adapter.classes)),
        inputs=input_summaries(adapter),
        arcs=arcs,
        structure=str(structure),
        structure_target=structure.target,
        clusters=tuple(tuple(place[x] for x in cluster) for cluster in structure.clusters),
        fit=_fit(adapter.ebnc),
        terms=terms,
        n_terms=len(adapter.ebnc.basis.terms),
        n_averaged=len(adapter.predictor.weighted),
        best_weight=max(weight for weight, _ in adapter.predictor.weighted),
        trace=_trace(model),
        held_out=None if data is None else held_out(data, n_folds, random_state),
        case=_case(adapter, terms, data, case),
        provenance=provenance,
        panel=panel_of(adapter),
    )


def _fit(ebnc: EBNC) -> FitSummary:
    sizes = map(ebnc.domain.n_states, ebnc.structure.markov_blanket)
    shown, log10 = full_table(ebnc.domain.n_states(ebnc.target), sizes)
    if not isinstance(ebnc, FittedEBNC):
        return FitSummary(ebnc.dimension, shown, log10)
    fit = ebnc.fit
    return FitSummary(
        dimension=ebnc.dimension,
        full_table=shown,
        log10_full_table=log10,
        n_cases=fit.n_cases,
        log_likelihood=fit.log_likelihood,
        bic=fit.bic,
        log_evidence=fit.log_evidence,
        prior_scales=tuple(scale for scale in fit.prior.scales if math.isfinite(scale)),
    )


def _trace(model: Any) -> TraceSummary | None:
    trace = getattr(model, "trace_", None)
    if not isinstance(trace, SearchTrace):
        return None
    return TraceSummary(
        score=str(model.get_params()["criterion"]),
        steps=tuple(
            TraceStep(step.move, step.score, step.dimension, step.seconds) for step in trace.steps
        ),
        n_screened=trace.n_screened,
        n_fits=trace.n_fits,
        interrupted=trace.interrupted,
    )


def _case(
    adapter: ReportedModel, terms: Sequence[TermSummary], data: LabelledRows | None, row: int
) -> Case:
    """One row of the data; without data, every input in its first state."""
    if data is None:
        codes = [0] * len(adapter.inputs)
    elif not 0 <= row < len(data.rows):
        raise DataError(f"case {row} is not a row of the data; they have {len(data.rows)} rows")
    else:
        codes = [int(data.rows.column(x)[row]) for x in adapter.inputs]
    n_states = tuple(adapter.domain.n_states(x) + 1 for x in adapter.inputs)
    rows = CodedRows(adapter.inputs, n_states, np.array([codes], dtype=code_type(n_states)).T)
    n_classes = len(adapter.classes)
    odds = np.concatenate([[0.0], adapter.best.log_odds(rows)[0]])
    log_odds = (odds - odds.mean()) * n_classes / (n_classes - 1)
    parts = np.zeros((len(terms), n_classes))
    for t, term in enumerate(terms):
        shape = [adapter.domain.n_states(adapter.inputs[i]) for i in term.inputs]
        at = [codes[i] for i in term.inputs]
        if all(code < size for code, size in zip(at, shape, strict=True)):
            parts[t] = np.reshape(term.values, (*shape, n_classes))[tuple(at)]
    return Case(
        states=tuple(codes),
        probabilities=tuple(adapter.predictor.probabilities(rows)[0].tolist()),
        best_probabilities=tuple(adapter.best_predictor.probabilities(rows)[0].tolist()),
        contributions=tuple(parts.ravel().tolist()),
        others=tuple((log_odds - parts.sum(axis=0)).tolist())
        if len(terms) < len(adapter.ebnc.basis.terms)
        else (0.0,) * n_classes,
        log_odds=tuple(log_odds.tolist()),
        row=None if data is None else row,
    )
