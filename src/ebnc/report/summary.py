"""The content of a model's report as plain data: frozen dataclasses of numbers and text.

``Summary.to_json`` and ``Summary.from_json`` convert everything but ``panel``, so that model files
can store the findings that need data. The panel is made from the model itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log10, prod
from typing import Any

from ebnc.field import Field, record_to_json

VERSION = 1
N_THRESHOLDS = 101  # of a probability: 0, 1 %, …, 100 %
LONGEST_COUNT = 10**15  # longer counts are shown by their logarithm


def full_table(n_states: int, sizes: Iterable[int]) -> tuple[int | None, float]:
    """Return the number of parameters of a full table (None if too long) and its log₁₀.

    ``n_states``: of the variable; ``sizes``: the numbers of states of its inputs.
    """
    full = max(1, n_states - 1) * prod(sizes)
    return full if full < LONGEST_COUNT else None, log10(full)


@dataclass(frozen=True, slots=True)
class InputSummary:
    """An input with its states as text.

    ``cuts``: the bounds between the intervals of a numeric input, else None. ``has_missing``: the
    last state stands for missing entries. ``worth``: the input's importance, the number of nats by
    which the score falls without it; None if it was not computed. ``is_ordered``: its effect is a
    curve over the states, without a missing one. ``shares``: of the states in the training data.
    """

    name: str
    states: tuple[str, ...]
    cuts: tuple[float, ...] | None
    has_missing: bool
    selected: bool
    worth: float | None
    is_ordered: bool = False
    shares: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class TermSummary:
    """One S ∈ Δ with its contributions c_k(S, x_S), flat: states of ``inputs`` …, then classes.

    ``inputs``: numbers of inputs. ``errors``: standard errors, or None. ``size``: the root mean
    square of the contributions over the training data. ``counts``: the number of rows in every
    cell of an interaction, in the data of the report; None without data.
    """

    inputs: tuple[int, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...] | None
    size: float
    counts: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class FitSummary:
    """Numbers of the fit.

    ``full_table``: number of parameters of a full table of the selected inputs, None if it is too
    long to write; ``log10_full_table``: its logarithm.
    """

    dimension: int
    full_table: int | None
    log10_full_table: float
    n_cases: float | None = None
    log_likelihood: float | None = None
    bic: float | None = None
    log_evidence: float | None = None
    prior_scales: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One accepted move of the search; ``dimension`` is None for a whole network."""

    move: str
    score: float
    dimension: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """The search: its steps and its cost. ``score``: the name of the criterion."""

    score: str
    steps: tuple[TraceStep, ...]
    n_screened: int
    n_fits: int
    interrupted: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """Held-out rows whose predicted probability of a class lies in one of ten equal intervals.

    ``predicted``: mean prediction; ``observed``: share of the class; ``low``, ``high``: its 95 %
    interval.
    """

    weight: float
    predicted: float
    observed: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Performance on held-out data. Losses are in nats per row; None means infinite.

    ``base_loss``: log-loss of the class frequencies. ``confusion[i][j]``: weight of the rows of
    class i that were predicted as j. ``calibration_error``: weighted mean of
    |predicted − observed| over bins and classes. ``n_unknown``: number of rows left out because
    their class occurred in no other fold. ``auc``: of every class against the others, None if one
    side has no rows. ``passed``: for two classes and t = 0, 0.01, …, 1 the weights of the rows of
    the first and of the second class whose probability of the second exceeds t. Both are empty in
    files of earlier versions.
    """

    n_folds: int
    n_cases: float
    log_loss: float | None
    log_loss_error: float | None
    base_loss: float | None
    accuracy: float
    brier: float
    calibration_error: float
    confusion: tuple[tuple[float, ...], ...]
    reliability: tuple[tuple[Bin, ...], ...]
    n_unknown: int
    auc: tuple[float | None, ...] = ()
    passed: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One row with its prediction.

    ``states``: the state of every input; the number of states means unknown. ``probabilities``:
    the prediction, averaged over models if the model averages. ``contributions`` and ``log_odds``:
    of the best model, flat by term (``Summary.terms``), then class; ``others``: the sum of the
    remaining terms. ``row``: its number in the data, None without data.
    """

    states: tuple[int, ...]
    probabilities: tuple[float, ...]
    best_probabilities: tuple[float, ...]
    contributions: tuple[float, ...]
    others: tuple[float, ...]
    log_odds: tuple[float, ...]
    row: int | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The content of a model's report.

    ``arcs``: of the embedded structure, by name. ``terms``: the intercept and the largest of
    ``n_terms`` terms. ``n_averaged``: number of averaged models; ``best_weight``: the weight of the
    best one. ``panel``: the data from which the page computes p(y|x) (``report.panel``).
    """

    version: int
    title: str
    target: str
    classes: tuple[str, ...]
    inputs: tuple[InputSummary, ...]
    arcs: tuple[tuple[str, str], ...]
    structure: str
    structure_target: str
    clusters: tuple[tuple[int, ...], ...]
    fit: FitSummary
    terms: tuple[TermSummary, ...]
    n_terms: int
    n_averaged: int
    best_weight: float
    trace: TraceSummary | None
    held_out: HeldOut | None
    case: Case
    provenance: str
    panel: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain lists, dicts, numbers and text, without the panel."""
        plain: dict[str, Any] = record_to_json(self)
        del plain["panel"]
        return plain

    @classmethod
    def from_json(cls, plain: object) -> "Summary":
        """The inverse of ``to_json``; checks every field, and errors name it."""
        field = Field(plain, "findings")
        summary = field.record(cls, leave_out=["panel"])
        for problem in _problems(summary):
            raise field.error(problem)
        return summary


def _problems(summary: Summary) -> Iterator[str]:
    """Inconsistencies between lengths and numbers of inputs, states and classes."""
    n_classes = len(summary.classes)
    if summary.version != VERSION:
        yield f"version {summary.version} is not {VERSION}"
    if n_classes < 2:
        yield f"{n_classes} classes are too few"
    yield from _problems_of_inputs(summary.inputs)
    yield from _problems_of_terms(summary)
    yield from _problems_of_case(summary)
    if summary.held_out is not None:
        yield from _problems_of_predictions(summary.held_out, n_classes)
    if summary.trace is not None and any(step.dimension is None for step in summary.trace.steps):
        yield "a step of the search has no dimension"


def _problems_of_inputs(inputs: Sequence[InputSummary]) -> Iterator[str]:
    for x in inputs:
        if not x.states:
            yield f"input {x.name!r} has no states"
        if x.cuts is not None and len(x.cuts) + 1 + x.has_missing != len(x.states):
            yield f"input {x.name!r} has {len(x.cuts)} cuts for {len(x.states)} states"
        if x.cuts is not None and not all(a < b for a, b in pairwise(x.cuts)):
            yield f"cuts of {x.name!r} must ascend"
        if x.shares is not None and len(x.shares) != len(x.states):
            yield f"input {x.name!r} has {len(x.shares)} shares for {len(x.states)} states"
        if x.shares is not None and not all(share >= 0 for share in x.shares):
            yield f"shares of {x.name!r} must not be negative"


def _problems_of_terms(summary: Summary) -> Iterator[str]:
    n_classes, n_inputs = len(summary.classes), len(summary.inputs)
    known = {summary.structure_target, *(x.name for x in summary.inputs)}
    for name in (name for arc in summary.arcs for name in arc if name not in known):
        yield f"an arc names {name!r}, which is not a variable"
    if any(i >= n_inputs for cluster in summary.clusters for i in cluster):
        yield "a cluster refers to an input that does not exist"
    if not summary.terms or summary.terms[0].inputs != ():
        yield "the first term is not the intercept"
    for term in summary.terms:
        if any(i >= n_inputs for i in term.inputs):
            yield "a term refers to an input that does not exist"
        size = n_classes * prod(len(summary.inputs[i].states) for i in term.inputs)
        if len(term.values) != size:
            yield f"a term has {len(term.values)} values, not {size}"
        if term.counts is not None and len(term.counts) * n_classes != size:
            yield "a term must have one count for each cell"
        if term.errors is not None and len(term.errors) != size:
            yield "a term must have as many standard errors as values"


def _problems_of_case(summary: Summary) -> Iterator[str]:
    case, n_classes = summary.case, len(summary.classes)
    if len(case.states) != len(summary.inputs):
        yield "the case must have one state for each input"
    for code, x in zip(case.states, summary.inputs, strict=True):
        if code > len(x.states):
            yield f"the case has state {code} of {x.name!r}, which has {len(x.states)} states"
    by_class = (case.probabilities, case.best_probabilities, case.others, case.log_odds)
    if any(len(part) != n_classes for part in by_class):
        yield "the case must have one number for each class"
    if len(case.contributions) != n_classes * len(summary.terms):
        yield "the case must have one contribution for each term and class"


def _problems_of_predictions(held_out: HeldOut, n_classes: int) -> Iterator[str]:
    if [len(row) for row in held_out.confusion] != [n_classes] * n_classes:
        yield "the confusion matrix must have one row and column for each class"
    if len(held_out.reliability) != n_classes:
        yield "there must be one reliability curve for each class"
    if len(held_out.auc) not in (0, n_classes):
        yield "there must be one AUC for each class"
    if held_out.passed and [len(pair) for pair in held_out.passed] != [2] * N_THRESHOLDS:
        yield f"there must be a pair of weights for each of {N_THRESHOLDS} thresholds"
    for bar in (each for curve in held_out.reliability for each in curve if each.weight <= 0):
        yield f"a bin of predictions has weight {bar.weight:g}; it must be positive"
