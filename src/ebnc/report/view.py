"""Convert a ``Summary`` to the content of a page: numbers as text, marks with coordinates."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ebnc.report.charts import reliability_chart, trace_chart
from ebnc.report.drawing import Drawing, draw_structure
from ebnc.report.network_drawing import draw_network, is_tangled
from ebnc.report.performance import class_rows, headline_figures, more_figures
from ebnc.report.summary import InputSummary, Summary
from ebnc.report.tables import MOST_CLASSES, classes_shown, scales_of, state_order, term_view
from ebnc.report.waterfall import Bar, waterfall
from ebnc.report.words import (
    about_terms,
    count_text,
    full_table_text,
    input_sizes,
    listed,
    number,
    ranked_inputs,
    sentences,
    shortened,
    shown_classes,
    term_name,
)
from ebnc.structure.embedded import EmbeddedStructure

SMALL_WORTH = 0.02  # accuracy of scores, in nats
MOST_SHOWN_TERMS = 24
MOST_CONFUSED = 12


@dataclass(frozen=True, slots=True)
class InputRow:
    """A selected input in the table of features; ``share``: its bar in % of the longest bar."""

    input: InputSummary
    share: float
    size: float
    partners: str


class View:
    """The content of a page, in the order of the template."""

    def __init__(self, summary: Summary) -> None:
        self.sentences = sentences(summary)
        self.about_terms = about_terms(summary)
        self.figures = headline_figures(summary)
        self.more_figures = more_figures(summary)
        self.class_rows = class_rows(summary)
        structure = _structure(summary)
        names = [x.name for x in summary.inputs]
        sizes = dict(zip(names, input_sizes(summary), strict=True))
        self.drawing = draw_structure(structure, sizes, summary.target)
        self.node_texts = node_texts(structure, summary.target)
        self.interactions = _interactions(structure)
        self.clusters = [term_name(names[i] for i in cluster) for cluster in summary.clusters]
        self.inputs = _input_rows(ranked_inputs(summary), sizes, structure)
        self.has_negative_worth = any((x.worth or 0.0) < -SMALL_WORTH for x in summary.inputs)
        self.unselected = [x.name for x in summary.inputs if not x.selected]
        self.fields = _fields(summary)
        self.orders = [state_order(x) for x in summary.inputs]
        self.case_title = "Every input is in its first state."
        if summary.case.row is not None:
            self.case_title = f"The inputs are those of row {count_text(summary.case.row + 1)}."
        p = summary.case.probabilities
        self.case_class = 1 if len(p) == 2 else max(range(len(p)), key=p.__getitem__)
        self.bars = _bars(summary, self.case_class)
        ends = [0.0, *(end for bar in self.bars for end in (bar.start, bar.end))]
        self.bar_low, self.bar_high = min(ends), max(ends)
        terms = [term for term in summary.terms if term.inputs][:MOST_SHOWN_TERMS]
        self.scales = scales_of(summary, terms)
        self.terms = [term_view(summary, term, self.scales) for term in terms]
        self.links = {names[t.inputs[0]]: i for i, t in enumerate(terms) if len(t.inputs) == 1}
        self.has_curves = any(view.curve is not None for view in self.terms)
        self.has_heats = any(view.heats for view in self.terms)
        self.hides_cells = any(term.counts is not None for term in terms)
        self.classes_shown = classes_shown(summary)
        self.n_classes_hidden = max(0, len(summary.classes) - MOST_CLASSES)
        self.curves, totals = [], []
        if summary.held_out is not None:
            charts = [reliability_chart(curve) for curve in summary.held_out.reliability]
            self.curves = [(summary.classes[k], charts[k]) for k in shown_classes(len(charts))]
            totals = [sum(row) for row in summary.held_out.confusion]
        self.confused = sorted(sorted(range(len(totals)), key=lambda k: -totals[k])[:MOST_CONFUSED])
        self.trace = trace_chart(summary.trace)
        self.facts = _facts(summary)


def _structure(summary: Summary) -> EmbeddedStructure:
    parents: dict[str, list[str]] = {x.name: [] for x in summary.inputs}
    parents[summary.structure_target] = []
    for tail, head in summary.arcs:
        parents[head].append(tail)
    families = tuple((x, tuple(given)) for x, given in parents.items())
    return EmbeddedStructure(summary.structure_target, families)


def _interactions(structure: EmbeddedStructure) -> Drawing | None:
    """The inputs that interact, joined in pairs; None if there are none or too many to draw."""
    place = {x: i for i, x in enumerate(structure.inputs)}
    joined = {x: near for x, near in _partners(structure).items() if near}
    pairs = {x: [y for y in near if place[y] < place[x]] for x, near in joined.items()}
    if not joined or is_tangled(pairs):
        return None
    return draw_network(pairs, dict.fromkeys(pairs, "child"))


def _input_rows(
    ranked: Sequence[InputSummary], sizes: Mapping[str, float], structure: EmbeddedStructure
) -> list[InputRow]:
    """The selected inputs, the most important first."""
    partners = _partners(structure)
    largest = max((abs(x.worth) for x in ranked if x.worth is not None), default=0.0)
    largest = largest or max(sizes.values(), default=0.0) or 1.0
    rows = []
    for x in ranked:
        share = 100 * max(0.0, sizes[x.name] if x.worth is None else x.worth) / largest
        names = [shortened(partner) for partner in partners[x.name]]
        rows.append(InputRow(x, share, sizes[x.name], listed(names, 6)))
    return rows


def _fields(summary: Summary) -> list[int]:
    """Numbers of the inputs that any averaged model uses, the most important first."""
    if summary.panel is None:
        return []
    place = {x.name: i for i, x in enumerate(summary.inputs)}
    used = {i for model in summary.panel["models"] for scope in model["scopes"] for i in scope}
    order = [place[x.name] for x in ranked_inputs(summary) if place[x.name] in used]
    return order + sorted(used - set(order))


def _bars(summary: Summary, k: int) -> tuple[Bar, ...]:
    """The contributions of all terms to the log odds of the case for class k."""
    case = summary.case
    states = [
        x.states[code] if code < len(x.states) else "not known"
        for x, code in zip(summary.inputs, case.states, strict=True)
    ]
    return waterfall(
        [term_name(summary.inputs[i].name for i in term.inputs) for term in summary.terms],
        [" · ".join(states[i] for i in term.inputs) for term in summary.terms],
        case.contributions[k :: len(summary.classes)],
        case.others[k],
        summary.n_terms - len(summary.terms),
    )


def _facts(summary: Summary) -> list[tuple[str, str]]:
    """The table of numbers at the end of the page."""
    fit = summary.fit
    scores = {
        "log-likelihood": fit.log_likelihood,
        "BIC": fit.bic,
        "log evidence (Laplace)": fit.log_evidence,
    }
    facts = [
        ("parameters (dimension of the span)", count_text(fit.dimension)),
        ("parameters of a full table of the inputs used", full_table_text(summary)),
        ("terms", count_text(summary.n_terms)),
        ("training rows", "" if fit.n_cases is None else count_text(fit.n_cases)),
        *((name, "" if score is None else number(score, 2)) for name, score in scores.items()),
        (
            "prior scale σ, by order of interaction",
            ", ".join(f"{scale:.3g}" for scale in fit.prior_scales),
        ),
        ("models averaged", count_text(summary.n_averaged)),
        ("weight of the best model", number(summary.best_weight)),
    ]
    return [(name, value) for name, value in facts if value]


def page_data(summary: Summary) -> str:
    """JSON for the page's script."""
    values = np.concatenate([np.array(term.values) for term in summary.terms])
    return escaped_json(
        {
            "classes": [shortened(name, 200) for name in summary.classes],
            "inputs": input_data(summary.inputs),
            "terms": [term.inputs for term in summary.terms],
            "termNumbers": base64.b64encode(values.astype("<f8").tobytes()).decode("ascii"),
            "nOthers": summary.n_terms - len(summary.terms),
            "states": summary.case.states,
            **_decisions(summary),
            "panel": summary.panel,
        }
    )


def input_data(inputs: Sequence[InputSummary]) -> list[dict[str, Any]]:
    """Names, states and cuts of inputs for the page's script."""
    return [
        {
            "name": shortened(x.name, 200),
            "states": [shortened(s, 200) for s in x.states],
            "cuts": x.cuts,
        }
        for x in inputs
    ]


def escaped_json(data: Mapping[str, Any]) -> str:
    """JSON for a script element; “<” is escaped so that no text can end it."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _decisions(summary: Summary) -> dict[str, Any]:
    """Weights of both classes beyond each threshold, and their totals; nothing for more classes."""
    held = summary.held_out
    if held is None or not held.passed:
        return {}
    return {"passed": held.passed, "passedAll": [sum(row) for row in held.confusion]}


def node_texts(structure: EmbeddedStructure, label: str) -> dict[str, str]:
    """Describe each node of the drawing: its role, and the inputs it interacts with."""
    target = structure.target
    texts = {target: f"{shortened(label)}: the target"}
    parents, children = set(structure.parents(target)), set(structure.children(target))
    for x, partners in _partners(structure).items():
        part = "a parent" if x in parents else "a child" if x in children else "a parent of a child"
        names = listed([shortened(partner) for partner in partners])
        joint = f"; interacts with {names}" if partners else ""
        texts[x] = f"{shortened(x, 200)}: {part} of {shortened(label)}{joint}"
    return texts


def _partners(structure: EmbeddedStructure) -> dict[str, list[str]]:
    """The inputs that each selected input shares a cluster with, in the order of all inputs."""
    place = {x: i for i, x in enumerate(structure.inputs)}
    together: dict[str, set[str]] = {x: set() for x in structure.markov_blanket}
    for cluster in structure.clusters:
        for x in cluster:
            together[x].update(cluster)
    return {x: sorted(near - {x}, key=place.__getitem__) for x, near in together.items()}
