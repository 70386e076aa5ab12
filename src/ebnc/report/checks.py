"""Whether the parts of a summary fit together: lengths, numbers of inputs, states and classes."""

from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

from ebnc.errors import FormatError

if TYPE_CHECKING:
    from ebnc.report.summary import Summary

__all__ = ["check_summary"]

LARGEST_COUNT = 10**300  # beyond, a count is given by its logarithm


def check_summary(summary: "Summary", version: int) -> None:
    """Raise ``FormatError`` at the first thing that is wrong; types have been checked before."""
    _require(summary.version == version, f"version {summary.version} is not {version}")
    n_classes, n_inputs = len(summary.classes), len(summary.inputs)
    _require(n_classes >= 2, f"{n_classes} classes are too few")
    for x in summary.inputs:
        _require(bool(x.states), f"input {x.name!r} has no states")
        if x.cuts is not None:
            _require(
                len(x.cuts) + 1 + x.has_missing == len(x.states),
                f"input {x.name!r} has {len(x.cuts)} cuts for {len(x.states)} states",
            )
            _require(all(a < b for a, b in pairwise(x.cuts)), f"cuts of {x.name!r} must ascend")
    known = {summary.structure_target, *(x.name for x in summary.inputs)}
    for arc in summary.arcs:
        for name in arc:
            _require(name in known, f"an arc names {name!r}, which is no variable")
    for cluster in summary.clusters:
        _require(all(0 <= i < n_inputs for i in cluster), "a cluster has an input that is not one")
    _require(
        bool(summary.terms) and summary.terms[0].inputs == (), "the first term is not the intercept"
    )
    for term in summary.terms:
        _require(all(0 <= i < n_inputs for i in term.inputs), "a term has an input that is not one")
        size = n_classes * prod(len(summary.inputs[i].states) for i in term.inputs)
        _require(len(term.values) == size, f"a term has {len(term.values)} values, not {size}")
        _require(
            term.errors is None or len(term.errors) == size,
            "a term has not as many standard errors as values",
        )
    for step in summary.trace.steps if summary.trace is not None else ():
        _require(step.dimension is not None, "a step of the search has no dimension")
    for count in (summary.fit.dimension, summary.fit.full_table or 0, summary.n_terms):
        _require(0 <= count < LARGEST_COUNT, "a count is out of range")
    case = summary.case
    _require(len(case.states) == n_inputs, "the case has not one state for each input")
    for code, x in zip(case.states, summary.inputs, strict=True):
        _require(0 <= code <= len(x.states), f"the case has state {code} of {x.name!r}")
    for part in (case.probabilities, case.best_probabilities, case.others, case.log_odds):
        _require(len(part) == n_classes, "the case has not one number for each class")
    _require(
        len(case.contributions) == n_classes * len(summary.terms),
        "the case has not one contribution for each term and class",
    )
    held = summary.held_out
    if held is not None:
        _require(
            len(held.confusion) == n_classes
            and all(len(row) == n_classes for row in held.confusion),
            "the confusion table has not one row and column for each class",
        )
        _require(len(held.reliability) == n_classes, "not one reliability curve for each class")
        for bin_ in (each for curve in held.reliability for each in curve):
            _require(bin_.weight > 0, f"a bin of predictions has weight {bin_.weight:g}")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise FormatError(f"findings: {what}")
