"""What a summary says in sentences, and numbers as people read them."""

import math
from collections.abc import Sequence

from ebnc.domain import State
from ebnc.report.summary import InputSummary, Summary

__all__ = [
    "BLANK",
    "count_text",
    "full_table_text",
    "input_sizes",
    "large_count_text",
    "listed",
    "number",
    "percent",
    "ranked_inputs",
    "sentences",
    "shortened",
    "signed",
    "state_text",
    "term_name",
]

LONGEST_NAME = 40
BLANK = "␣"
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def sentences(summary: Summary) -> tuple[str, str, str]:
    """What was learned: which inputs, how they work together, how well it predicts."""
    return _about_inputs(summary), _about_terms(summary), _about_predictions(summary)


def _about_inputs(summary: Summary) -> str:
    selected = ranked_inputs(summary)
    classes = listed([shortened(c) for c in summary.classes], most=5, last="or")
    what = f"The model gives the probability of {shortened(summary.target)} ({classes})"
    if not selected:
        return f"{what} without any input: none of them helps."
    n, total = count_text(len(selected)), count_text(len(summary.inputs))
    of = f"all {total}" if n == total else f"{n} of {total}"
    plural = "input" if len(summary.inputs) == 1 else "inputs"
    names = [shortened(x.name) for x in selected]
    if len(selected) == 1:
        return f"{what} from one of {total} {plural}, {names[0]}."
    return f"{what} from {of} {plural}; those that matter most are {listed(names[:3])}."


def _about_terms(summary: Summary) -> str:
    fit = summary.fit
    tables = "table" if len(summary.clusters) == 1 else "small tables"
    n_tables = "one" if len(summary.clusters) == 1 else count_text(len(summary.clusters))
    start = (
        f"Its log odds are a sum of {n_tables} {tables} with {count_text(fit.dimension)} parameters"
    )
    full = full_table_text(summary)
    against = (
        "as many as a full table has"
        if fit.full_table == fit.dimension
        else (f"where a full table of the same inputs has {full}")
    )
    together = [term for term in summary.terms if len(term.inputs) > 1]
    if not together:
        return f"{start}, {against}; every input acts by itself."
    largest = max(together, key=lambda term: term.size)
    names = listed([shortened(summary.inputs[i].name) for i in largest.inputs])
    return f"{start}, {against}; the strongest interaction is that of {names}."


def _about_predictions(summary: Summary) -> str:
    held = summary.held_out
    if held is None:
        return "How well it predicts is not known: no data were held out for this report."
    cases = count_text(round(held.n_cases))
    loss = "infinitely many nats" if held.log_loss is None else f"{held.log_loss:.3f} nats"
    base = "" if held.base_loss is None else (f" (the class shares alone: {held.base_loss:.3f})")
    return (
        f"On {cases} cases, each held out from learning in one of {held.n_folds} folds, it loses "
        f"{loss} a case{base} and calls {held.accuracy:.1%} of them right."
    )


def ranked_inputs(summary: Summary) -> list[InputSummary]:
    """The selected inputs, the most valuable first: by worth, else by the size of their terms."""
    sizes = input_sizes(summary)
    chosen = [i for i, x in enumerate(summary.inputs) if x.selected]
    known = all(summary.inputs[i].worth is not None for i in chosen)
    key = (lambda i: summary.inputs[i].worth or 0.0) if known else sizes.__getitem__
    return [summary.inputs[i] for i in sorted(chosen, key=lambda i: (-key(i), i))]


def input_sizes(summary: Summary) -> list[float]:
    """For every input the root of the summed squares of the terms it is in."""
    return [
        math.hypot(*(term.size for term in summary.terms if i in term.inputs))
        for i in range(len(summary.inputs))
    ]


def full_table_text(summary: Summary) -> str:
    """The number of parameters of a full table, as a power of ten where it is long."""
    return large_count_text(summary.fit.full_table, summary.fit.log10_full_table)


def large_count_text(count: int | None, log10: float) -> str:
    """A count, or what is known of it: as a power of ten where it is long."""
    if count is not None:
        return count_text(count)
    if log10 < 15:
        return count_text(round(10**log10))
    power = math.floor(log10)
    raised = str(power).translate(SUPERSCRIPTS)
    return f"{10 ** (log10 - power):.1f} · 10{raised}"


def term_name(summary: Summary, inputs: Sequence[int]) -> str:
    """A term by the names of its inputs."""
    return " × ".join(summary.inputs[i].name.strip() or BLANK for i in inputs) or "intercept"


def state_text(state: State) -> str:
    """A state as people read it."""
    return "(missing)" if state is None else str(state)


def listed(names: Sequence[str], most: int = 8, last: str = "and") -> str:
    """“a, b and c”; of very many the first ones and how many more."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} {last} {len(names) - most + 1} more"
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """A name on one line, cut in the middle where it is long; a blank one can be seen."""
    text = " ".join(name.split()) or BLANK
    if len(text) <= longest:
        return text
    end = longest // 3  # long names often differ at their ends
    return f"{text[: longest - 1 - end]}…{text[-end:]}"


def count_text(count: float) -> str:
    """A count with thin spaces between thousands."""
    return f"{count:,.0f}".replace(",", "\u202f")


def number(value: float, digits: int = 3) -> str:
    """A number with a real minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def percent(p: float) -> str:
    """A probability; one that is nearly 0 or 1 is not shown as if it were."""
    if 0 < p < 0.0005:
        return "< 0.1 %"
    return "> 99.9 %" if 0.9995 <= p < 1 else f"{100 * p:.1f} %"


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign."""
    return f"{value:+.{digits}f}".replace("-", "−")
