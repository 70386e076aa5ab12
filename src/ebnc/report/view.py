"""Convert a ``Summary`` to the content of a page: numbers as text, marks with coordinates."""

import base64
import json
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ebnc.report.charts import ReliabilityChart, reliability_chart, trace_chart
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

__all__ = ["Figure", "InputRow", "View", "node_texts", "page_data"]

SMALL_WORTH = 0.02  # accuracy of scores, in nats
MOST_SHOWN_TERMS = 24
MOST_CURVES = 6
MOST_CONFUSED = 12


@dataclass(frozen=True, slots=True)
class Figure:
    """A headline number with its name and a note."""

    name: str
    value: str
    note: str


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
        self.summary = summary
        self.sentences = sentences(summary)
        self.case_title = "Every input is in its first state."
        if summary.case.row is not None:
            self.case_title = f"The inputs are those of row {count_text(summary.case.row + 1)}."
        self.clusters = [term_name(summary, cluster) for cluster in summary.clusters]
        self.unselected = [x.name for x in summary.inputs if not x.selected]
        self.has_negative_worth = any((x.worth or 0.0) < -SMALL_WORTH for x in summary.inputs)
        self.n_classes_hidden = max(0, len(summary.classes) - MOST_CLASSES)
        self.trace = None if summary.trace is None else trace_chart(summary.trace)
        self._place = {x.name: i for i, x in enumerate(summary.inputs)}
        self._ranked = ranked_inputs(summary)
        self._sizes = dict(zip(self._place, input_sizes(summary), strict=True))

    @cached_property
    def figures(self) -> list[Figure]:
        """The headline numbers at the top of the page."""
        summary, held = self.summary, self.summary.held_out
        n_selected = sum(x.selected for x in summary.inputs)
        figures = [
            Figure("inputs used", count_text(n_selected), f"of {count_text(len(summary.inputs))}"),
            Figure(
                "parameters",
                count_text(summary.fit.dimension),
                f"a full table: {full_table_text(summary)}",
            ),
        ]
        if held is not None:
            loss = "∞" if held.log_loss is None else number(held.log_loss)
            error = "" if held.log_loss_error is None else f"± {held.log_loss_error:.3f}; "
            base = "" if held.base_loss is None else f"class frequencies: {held.base_loss:.3f}"
            figures += [
                Figure("held-out log-loss", loss, f"{error}{base}"),
                Figure("held-out accuracy", f"{held.accuracy:.1%}", f"{held.n_folds} folds"),
                Figure("calibration error", f"{held.calibration_error:.1%}", "mean gap, held out"),
            ]
        return figures

    @cached_property
    def structure(self) -> EmbeddedStructure:
        """The embedded structure, from its arcs."""
        parents: dict[str, list[str]] = {x: [] for x in self._place}
        parents[self.summary.structure_target] = []
        for tail, head in self.summary.arcs:
            parents[head].append(tail)
        families = tuple((x, tuple(given)) for x, given in parents.items())
        return EmbeddedStructure(self.summary.structure_target, families)

    @cached_property
    def drawing(self) -> Drawing:
        """The drawing of the structure."""
        return draw_structure(self.structure, self._sizes, self.summary.target)

    @cached_property
    def node_texts(self) -> dict[str, str]:
        """The descriptions of the nodes in the drawing."""
        return node_texts(self.structure, self.summary.target)

    @cached_property
    def inputs(self) -> list[InputRow]:
        """The selected inputs, the most important first."""
        together = _together(self.structure)
        largest = max((abs(x.worth) for x in self._ranked if x.worth is not None), default=0.0)
        largest = largest or max(self._sizes.values(), default=0.0) or 1.0
        rows = []
        for x in self._ranked:
            size = self._sizes[x.name]
            share = 100 * max(0.0, size if x.worth is None else x.worth) / largest
            partners = sorted(together.get(x.name, set()) - {x.name}, key=self._place.__getitem__)
            rows.append(InputRow(x, share, size, listed([shortened(p) for p in partners], 6)))
        return rows

    @cached_property
    def fields(self) -> list[int]:
        """Numbers of the inputs that any averaged model uses, the most important first."""
        if self.summary.panel is None:
            return []
        models = self.summary.panel["models"]
        used = {i for model in models for scope in model["scopes"] for i in scope}
        order = [self._place[x.name] for x in self._ranked if self._place[x.name] in used]
        return order + sorted(used - set(order))

    @cached_property
    def case_class(self) -> int:
        """The class whose log odds are shown: the second of two, else the most probable one."""
        p = self.summary.case.probabilities
        return 1 if len(p) == 2 else max(range(len(p)), key=p.__getitem__)

    @cached_property
    def bars(self) -> tuple[Bar, ...]:
        """The contributions of all terms to the log odds of the case."""
        summary, case, k = self.summary, self.summary.case, self.case_class
        details = []
        for term in summary.terms:
            states = []
            for i in term.inputs:
                known, code = summary.inputs[i].states, case.states[i]
                states.append(known[code] if code < len(known) else "not known")
            details.append(" · ".join(states))
        return waterfall(
            [term_name(summary, term.inputs) for term in summary.terms],
            details,
            case.contributions[k :: len(summary.classes)],
            case.others[k],
            summary.n_terms - len(summary.terms),
        )

    @property
    def bar_low(self) -> float:
        """The left end of all bars."""
        return min(0.0, *(min(bar.start, bar.end) for bar in self.bars))

    @property
    def bar_high(self) -> float:
        """The right end of all bars."""
        return max(0.0, *(max(bar.start, bar.end) for bar in self.bars))

    @cached_property
    def terms(self) -> list[TermView]:
        """The tables of the largest terms."""
        shown = [term for term in self.summary.terms if term.inputs][:MOST_SHOWN_TERMS]
        scale, bar_scale = largest_contribution(shown), longest_bar(shown)
        return [term_view(self.summary, term, scale, bar_scale) for term in shown]

    @cached_property
    def curves(self) -> list[tuple[str, ReliabilityChart]]:
        """Reliability charts: of the second of two classes, else of the first ``MOST_CURVES``."""
        if self.summary.held_out is None:
            return []
        curves = self.summary.held_out.reliability
        shown = [1] if len(curves) == 2 else range(min(len(curves), MOST_CURVES))
        return [(self.summary.classes[k], reliability_chart(curves[k])) for k in shown]

    @cached_property
    def confused(self) -> list[int]:
        """The classes in the confusion matrix: all, or those with the most rows."""
        if self.summary.held_out is None:
            return []
        totals = [sum(row) for row in self.summary.held_out.confusion]
        ranked = sorted(range(len(totals)), key=lambda k: (-totals[k], k))
        return sorted(ranked[:MOST_CONFUSED])

    @cached_property
    def facts(self) -> list[tuple[str, str]]:
        """The table of numbers at the end of the page."""
        summary, fit = self.summary, self.summary.fit
        scales = ", ".join(f"{scale:.3g}" for scale in fit.prior_scales)
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
            ("prior scale σ, by order of interaction", scales),
            ("models averaged", count_text(summary.n_averaged)),
            ("weight of the best model", signed(summary.best_weight, 3).lstrip("+")),
        ]
        return [(name, value) for name, value in facts if value]


def page_data(summary: Summary) -> str:
    """JSON for the page's script; “<” is escaped so that no text can end the script element."""
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
        "panel": summary.panel,
    }
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def node_texts(structure: EmbeddedStructure, label: str) -> dict[str, str]:
    """Describe each node of the drawing: its role, and the inputs it interacts with."""
    target = structure.target
    together = _together(structure)
    place = {x: i for i, x in enumerate(structure.inputs)}
    texts = {target: f"{shortened(label)}: the target"}
    parents, children = set(structure.parents(target)), set(structure.children(target))
    for x in structure.markov_blanket:
        part = "a parent" if x in parents else "a child" if x in children else "a parent of a child"
        others = sorted(together[x] - {x}, key=place.__getitem__)
        joint = f"; interacts with {listed([shortened(o) for o in others])}" if others else ""
        texts[x] = f"{shortened(x, 200)}: {part} of {shortened(label)}{joint}"
    return texts


def _together(structure: EmbeddedStructure) -> dict[str, set[str]]:
    """The inputs that each input shares a cluster with, itself included."""
    together: dict[str, set[str]] = {}
    for cluster in structure.clusters:
        for x in cluster:
            together.setdefault(x, set()).update(cluster)
    return together
