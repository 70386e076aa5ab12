"""From a ``Summary`` to what a page shows: every number a text, every mark a place."""

import base64
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from ebnc.errors import StructureError
from ebnc.report.charts import LineChart, ReliabilityChart, reliability_chart, trace_chart
from ebnc.report.drawing import Drawing, draw_structure
from ebnc.report.summary import InputSummary, Summary
from ebnc.report.tables import MOST_CLASSES, TermView, largest_contribution, longest_bar, term_view
from ebnc.report.waterfall import Bar, waterfall
from ebnc.report.words import (
    count_text,
    full_table_text,
    input_sizes,
    listed,
    number,
    ranked_inputs,
    sentences,
    shortened,
    signed,
    term_name,
)
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["Figure", "InputRow", "View", "WhatIfField", "node_texts", "page_data", "view"]

SMALL_WORTH = 0.02  # nats to which scores are computed
MOST_SHOWN_TERMS = 24
MOST_LISTED = 200
MOST_INPUTS = 60
MOST_FIELDS = 400
MOST_CURVES = 6
MOST_CONFUSED = 12


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its name and a note."""

    name: str
    value: str
    note: str


@dataclass(frozen=True, slots=True)
class InputRow:
    """A selected input in the table of features."""

    name: str
    kind: str
    n_states: int
    worth: float | None
    worth_text: str
    share: float
    size: float
    partners: str


@dataclass(frozen=True, slots=True)
class WhatIfField:
    """An input whose state can be chosen."""

    index: int
    name: str
    states: tuple[str, ...]
    chosen: int
    takes_numbers: bool


@dataclass(frozen=True, slots=True)
class View:
    """All that the template shows."""

    summary: Summary
    sentences: tuple[str, str, str]
    figures: tuple[Figure, ...]
    drawing: Drawing
    node_texts: dict[str, str]
    inputs: tuple[InputRow, ...]
    n_inputs_hidden: int
    unselected: tuple[str, ...]
    n_unselected: int
    fields: tuple[WhatIfField, ...]
    n_fields_hidden: int
    case_title: str
    case_class: int
    has_negative_worth: bool
    bars: tuple[Bar, ...]
    bar_low: float
    bar_high: float
    terms: tuple[TermView, ...]
    n_terms_hidden: int
    has_maps: bool
    n_classes_hidden: int
    curves: tuple[tuple[str, ReliabilityChart], ...]
    confused: tuple[int, ...]
    trace: LineChart | None
    facts: tuple[tuple[str, str], ...]
    clusters: tuple[str, ...]
    n_clusters_hidden: int


def view(summary: Summary) -> View:
    """Everything, in the order of the page."""
    sizes = input_sizes(summary)
    ranked = ranked_inputs(summary)
    shown_terms = [term for term in summary.terms if term.inputs][:MOST_SHOWN_TERMS]
    scale, bar_scale = largest_contribution(shown_terms), longest_bar(shown_terms)
    case_class = _case_class(summary)
    bars = _case_bars(summary, case_class)
    ends = [0.0, *(bar.start for bar in bars), *(bar.end for bar in bars)]
    fields, n_fields_hidden = _fields(summary, ranked)
    unselected = [x.name for x in summary.inputs if not x.selected]
    structure = _structure(summary)
    importance = {x.name: size for x, size in zip(summary.inputs, sizes, strict=True)}
    clusters = [term_name(summary, cluster) for cluster in summary.clusters]
    return View(
        summary=summary,
        sentences=sentences(summary),
        figures=_figures(summary),
        drawing=draw_structure(structure, importance, summary.target),
        node_texts=node_texts(structure, summary.target),
        inputs=_input_rows(summary, ranked[:MOST_INPUTS], importance),
        n_inputs_hidden=max(0, len(ranked) - MOST_INPUTS),
        unselected=tuple(unselected[:MOST_LISTED]),
        n_unselected=len(unselected),
        fields=fields,
        n_fields_hidden=n_fields_hidden,
        case_title="made up: every input in its first state"
        if summary.case.row is None
        else f"row {count_text(summary.case.row + 1)} of the data",
        case_class=case_class,
        has_negative_worth=any((x.worth or 0.0) < -SMALL_WORTH for x in summary.inputs),
        bars=bars,
        bar_low=min(ends),
        bar_high=max(ends),
        terms=tuple(term_view(summary, term, scale, bar_scale) for term in shown_terms),
        n_terms_hidden=summary.n_terms - 1 - len(shown_terms),
        has_maps=any(len(term.inputs) > 1 for term in shown_terms),
        n_classes_hidden=max(0, len(summary.classes) - MOST_CLASSES),
        curves=_curves(summary),
        confused=_confused(summary),
        trace=None if summary.trace is None else trace_chart(summary.trace),
        facts=_facts(summary),
        clusters=tuple(clusters[:MOST_LISTED]),
        n_clusters_hidden=max(0, len(clusters) - MOST_LISTED),
    )


def page_data(summary: Summary) -> str:
    """JSON for the page's script; “<” is escaped, so that no text can end the script element."""
    panel = summary.panel
    values = np.concatenate([np.array(term.values) for term in summary.terms])
    data = {
        "classes": [shortened(name, 200) for name in summary.classes],
        "inputs": [
            {
                "name": shortened(x.name, 200),
                "states": [shortened(s, 200) for s in x.states],
                "cuts": x.cuts,
            }
            for x in summary.inputs
        ],
        "terms": [term.inputs for term in summary.terms],
        "termNumbers": base64.b64encode(values.astype("<f8").tobytes()).decode("ascii"),
        "nOthers": summary.n_terms - len(summary.terms),
        "states": summary.case.states,
        "panel": None
        if panel is None
        else {
            "models": [{"weight": m.weight, "scopes": m.scopes} for m in panel.models],
            "numbers": base64.b64encode(panel.numbers).decode("ascii"),
            "background": None
            if panel.background is None
            else {
                "inputs": panel.background.inputs,
                "stateWeights": panel.background.state_weights,
                "rows": panel.background.rows,
                "rowWeights": panel.background.row_weights,
            },
        },
    }
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _structure(summary: Summary) -> EmbeddedStructure:
    parents: dict[str, list[str]] = {x.name: [] for x in summary.inputs}
    parents[summary.structure_target] = []
    for tail, head in summary.arcs:
        parents[head].append(tail)
    try:
        return EmbeddedStructure(
            summary.structure_target, tuple((x, tuple(given)) for x, given in parents.items())
        )
    except RecursionError:  # pragma: no cover
        raise StructureError("the structure is too deep to draw") from None


def node_texts(structure: EmbeddedStructure, label: str) -> dict[str, str]:
    """What a node of the drawing says: its part, and the inputs it acts together with."""
    target = structure.target
    together: dict[str, set[str]] = {}
    for cluster in structure.clusters:
        for x in cluster:
            together.setdefault(x, set()).update(cluster)
    place = {x: i for i, x in enumerate(structure.inputs)}
    texts = {target: f"{shortened(label)}: what is predicted"}
    parents, children = set(structure.parents(target)), set(structure.children(target))
    for x in structure.markov_blanket:
        part = "a parent" if x in parents else "a child" if x in children else "a parent of a child"
        others = sorted(together[x] - {x}, key=place.__getitem__)
        joint = f"; acts together with {listed([shortened(o) for o in others])}" if others else ""
        texts[x] = f"{shortened(x, 200)}: {part} of {shortened(label)}{joint}"
    return texts


def _figures(summary: Summary) -> tuple[Figure, ...]:
    held, n_selected = summary.held_out, sum(x.selected for x in summary.inputs)
    found = [
        Figure("inputs used", count_text(n_selected), f"of {count_text(len(summary.inputs))}"),
        Figure(
            "parameters",
            count_text(summary.fit.dimension),
            f"a full table: {full_table_text(summary)}",
        ),
    ]
    if held is not None:
        loss = "∞" if held.log_loss is None else number(held.log_loss)
        error = "" if held.log_loss_error is None else f"± {held.log_loss_error:.3f}, "
        base = "" if held.base_loss is None else f"shares alone {held.base_loss:.3f}"
        found += [
            Figure("held-out log-loss", loss, f"nats a case; {error}{base}"),
            Figure("held-out accuracy", f"{held.accuracy:.1%}", f"{held.n_folds} folds"),
            Figure("calibration error", f"{held.calibration_error:.1%}", "mean gap, held out"),
        ]
    return tuple(found)


def _input_rows(
    summary: Summary, ranked: list[InputSummary], sizes: dict[str, float]
) -> tuple[InputRow, ...]:
    together: dict[int, set[int]] = {}
    for cluster in summary.clusters:
        for i in cluster:
            together.setdefault(i, set()).update(cluster)
    place = {x.name: i for i, x in enumerate(summary.inputs)}
    largest = max((abs(x.worth) for x in ranked if x.worth is not None), default=0.0)
    largest = largest or max(sizes.values(), default=0.0) or 1.0
    rows = []
    for x in ranked:
        i = place[x.name]
        partners = [summary.inputs[j].name for j in sorted(together.get(i, set()) - {i})]
        size = sizes[x.name]
        rows.append(
            InputRow(
                name=x.name,
                kind="number in intervals" if x.cuts is not None else "states",
                n_states=len(x.states),
                worth=x.worth,
                worth_text="" if x.worth is None else number(x.worth, 2),
                share=100 * max(0.0, size if x.worth is None else x.worth) / largest,
                size=size,
                partners=listed([shortened(p) for p in partners], 6) if partners else "",
            )
        )
    return tuple(rows)


def _fields(summary: Summary, ranked: list[InputSummary]) -> tuple[tuple[WhatIfField, ...], int]:
    """Inputs that any averaged model uses, the most valuable first."""
    if summary.panel is None:
        return (), 0
    used = {i for model in summary.panel.models for scope in model.scopes for i in scope}
    place = {x.name: i for i, x in enumerate(summary.inputs)}
    order = [place[x.name] for x in ranked if place[x.name] in used]
    order += sorted(used - set(order))
    fields = tuple(
        WhatIfField(
            i,
            summary.inputs[i].name,
            tuple(shortened(state, 80) for state in summary.inputs[i].states),
            summary.case.states[i],
            summary.inputs[i].cuts is not None,
        )
        for i in order[:MOST_FIELDS]
    )
    return fields, len(order) - len(fields)


def _case_class(summary: Summary) -> int:
    """Of two classes the second, whose log odds are meant; of more the most probable one."""
    p = summary.case.probabilities
    return 1 if len(p) == 2 else max(range(len(p)), key=p.__getitem__)


def _case_bars(summary: Summary, k: int) -> tuple[Bar, ...]:
    case, n_classes = summary.case, len(summary.classes)
    details = []
    for term in summary.terms:
        states = []
        for i in term.inputs:
            known = summary.inputs[i].states
            code = case.states[i]
            states.append(known[code] if code < len(known) else "not known")
        details.append(" · ".join(states))
    return waterfall(
        [term_name(summary, term.inputs) for term in summary.terms],
        details,
        case.contributions[k::n_classes],
        case.others[k],
        summary.n_terms - len(summary.terms),
    )


def _curves(summary: Summary) -> tuple[tuple[str, ReliabilityChart], ...]:
    if summary.held_out is None:
        return ()
    curves = summary.held_out.reliability
    shown = [1] if len(curves) == 2 else range(min(len(curves), MOST_CURVES))
    return tuple((summary.classes[k], reliability_chart(curves[k])) for k in shown)


def _confused(summary: Summary) -> tuple[int, ...]:
    """The classes in the table of confusion: all, or those with the most cases."""
    if summary.held_out is None:
        return ()
    totals = [sum(row) for row in summary.held_out.confusion]
    ranked = sorted(range(len(totals)), key=lambda k: (-totals[k], k))
    return tuple(sorted(ranked[:MOST_CONFUSED]))


def _facts(summary: Summary) -> tuple[tuple[str, str], ...]:
    fit = summary.fit
    found: list[tuple[str, Any]] = [
        ("parameters (dimension of the span)", count_text(fit.dimension)),
        ("parameters of a full table of the inputs used", full_table_text(summary)),
        ("terms", count_text(summary.n_terms)),
        ("cases learned from", None if fit.n_cases is None else count_text(fit.n_cases)),
        ("log-likelihood", None if fit.log_likelihood is None else number(fit.log_likelihood, 2)),
        ("BIC", None if fit.bic is None else number(fit.bic, 2)),
        (
            "log evidence (Laplace)",
            None if fit.log_evidence is None else number(fit.log_evidence, 2),
        ),
        (
            "prior scale σ, by order of interaction",
            ", ".join(f"{scale:.3g}" for scale in fit.prior_scales) or None,
        ),
        ("models averaged", count_text(summary.n_averaged)),
        ("weight of the best model", signed(summary.best_weight, 3).lstrip("+")),
    ]
    return tuple((name, value) for name, value in found if value is not None)
