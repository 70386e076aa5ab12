"""Sentences about a summary, and numbers formatted for readers."""

import math
from collections.abc import Iterable, Sequence

from ebnc.domain import Interval, State
from ebnc.report.summary import InputSummary, Summary

LONGEST_NAME = 40
MOST_CURVES = 6
BLANK = "␣"
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def sentences(summary: Summary) -> tuple[str, str]:
    """Two sentences: the inputs used, the predictive performance."""
    return _about_inputs(summary), _about_predictions(summary)


def _about_inputs(summary: Summary) -> str:
    selected = ranked_inputs(summary)
    classes = listed([shortened(c) for c in summary.classes], most=5, last="or")
    subject = f"The model predicts the probability of {shortened(summary.target)} ({classes})"
    if not selected:
        return f"{subject} without any input: none of them helps."
    n, total = count_text(len(selected)), count_text(len(summary.inputs))
    of = f"all {total}" if n == total else f"{n} of {total}"
    plural = "input" if len(summary.inputs) == 1 else "inputs"
    names = [shortened(x.name) for x in selected]
    if len(selected) == 1:
        return f"{subject} from one of {total} {plural}, {names[0]}."
    return f"{subject} from {of} {plural}; the most important are {listed(names[:3])}."


def about_terms(summary: Summary) -> str:
    """A sentence on the size of the model and its strongest interaction."""
    fit = summary.fit
    tables = "table" if len(summary.clusters) == 1 else "small tables"
    n_tables = "one" if len(summary.clusters) == 1 else count_text(len(summary.clusters))
    start = (
        f"The log odds are a sum of {n_tables} {tables} with {count_text(fit.dimension)} parameters"
    )
    full = full_table_text(summary)
    against = (
        "as many as a full table has"
        if fit.full_table == fit.dimension
        else (f"where a full table of the same inputs has {full}")
    )
    together = [term for term in summary.terms if len(term.inputs) > 1]
    if not together:
        return f"{start}, {against}; inputs do not interact."
    largest = max(together, key=lambda term: term.size)
    names = listed([shortened(summary.inputs[i].name) for i in largest.inputs])
    return f"{start}, {against}; the strongest interaction is that of {names}."


def _about_predictions(summary: Summary) -> str:
    held = summary.held_out
    if held is None:
        return "Its performance is not reported: no data were held out."
    rows = count_text(round(held.n_cases))
    loss = "infinite" if held.log_loss is None else f"{held.log_loss:.3f}"
    base = ""
    if held.base_loss is not None:
        base = f" ({held.base_loss:.3f} when always predicting the class frequencies)"
    return (
        f"On held-out data ({rows} rows, {held.n_folds} folds) its accuracy is "
        f"{held.accuracy:.1%} and its log-loss is {loss}{base}."
    )


def ranked_inputs(summary: Summary) -> list[InputSummary]:
    """The selected inputs, the most important first: by worth, else by the size of their terms."""
    sizes = input_sizes(summary)
    chosen = [i for i, x in enumerate(summary.inputs) if x.selected]
    known = all(summary.inputs[i].worth is not None for i in chosen)
    key = (lambda i: summary.inputs[i].worth or 0.0) if known else sizes.__getitem__
    return [summary.inputs[i] for i in sorted(chosen, key=lambda i: (-key(i), i))]


def input_sizes(summary: Summary) -> list[float]:
    """For every input √(Σ size²) over the terms that contain it."""
    return [
        math.hypot(*(term.size for term in summary.terms if i in term.inputs))
        for i in range(len(summary.inputs))
    ]


def shown_classes(n_classes: int) -> Sequence[int]:
    """The classes whose reliability is shown: the second of two (the first mirrors it)."""
    return [1] if n_classes == 2 else range(min(n_classes, MOST_CURVES))


def full_table_text(summary: Summary) -> str:
    """The number of parameters of a full table, as a power of ten if it is long."""
    return large_count_text(summary.fit.full_table, summary.fit.log10_full_table)


def large_count_text(count: int | None, log10: float) -> str:
    """A count, written as a power of ten if it is too long (``count`` is then None)."""
    if count is not None:
        return count_text(count)
    if log10 < 15:
        return count_text(round(10**log10))
    power = math.floor(log10)
    raised = str(power).translate(SUPERSCRIPTS)
    return f"{10 ** (log10 - power):.1f} · 10{raised}"


def term_name(inputs: Iterable[str]) -> str:
    """The names of a term's inputs, joined by "×"; "intercept" without inputs."""
    return " × ".join(name.strip() or BLANK for name in inputs) or "intercept"


def interval_text(low: float, high: float) -> str:
    """The text of an interval of numbers."""
    return state_text(Interval(low, high))


def interval_texts(states: Sequence[State]) -> list[str]:
    """The text of intervals; if all cuts are half-way between whole numbers, of whole numbers."""
    intervals = [state for state in states if isinstance(state, Interval)]
    if not all(interval.high % 1 == 0.5 for interval in intervals[:-1]):
        return [state_text(state) for state in states]
    return [_whole_text(s) if isinstance(s, Interval) else state_text(s) for s in states]


def _whole_text(interval: Interval) -> str:
    first, last = interval.low + 0.5, interval.high - 0.5
    if first == -math.inf or last == math.inf:
        both = first == -math.inf and last == math.inf
        return str(interval) if both else f"≤ {last:g}" if first == -math.inf else f"≥ {first:g}"
    return f"{first:g}" if first == last else f"{first:g} to {last:g}"


def state_text(state: State) -> str:
    """The text of a state; None is "(missing)"."""
    if isinstance(state, Interval) and -math.inf < state.low and state.high < math.inf:
        return f"{state.low:g} to {state.high:g}"
    return "(missing)" if state is None else str(state)


def listed(names: Sequence[str], most: int = 8, last: str = "and") -> str:
    """“a, b and c”; beyond ``most`` names, the first ones and the number of the others."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} {last} {len(names) - most + 1} more"
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """A name on one line, cut in the middle if it is long; ``BLANK`` replaces an empty name."""
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
    """A probability in %; values near 0 or 1 become "< 0.1 %" or "> 99.9 %"."""
    if 0 < p < 0.0005:
        return "< 0.1 %"
    return "> 99.9 %" if 0.9995 <= p < 1 else f"{100 * p:.1f} %"


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign."""
    return f"{value:+.{digits}f}".replace("-", "−")
