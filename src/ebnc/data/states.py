"""Learn the domain of data: the states of each column.

- Labels (text, categories, booleans): the declared states of a categorical type, else the observed
  labels in ascending order. The words True and False are booleans.
- Numbers: whole numbers with at most ``FEW_VALUES`` distinct values are labels in order; all others
  are cut into intervals. By default these are fine bins, over which functions are smooth curves
  (``numbers="smooth"``). MDLP and quantiles make a few intervals without an order; for these, few
  whole numbers are labels without an order. Dates are always cut.
- Missing entries: the last state, ``None``, or an error.

``categories`` declares the states of a column. ``kinds`` declares what it is: "nominal" (labels
without an order), "ordered" (every entry is a state, in ascending or declared order) or "numeric"
(fine bins). ``doubts`` detects columns that look like mistakes.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebnc.data.columns import EXACT, as_label
from ebnc.data.discretise import fine_cuts, intervals, mdlp_cuts, quantile_cuts
from ebnc.data.summaries import MOST_STATES, ColumnSummary, TableSummary
from ebnc.data.table import Coding, Missing
from ebnc.domain import Domain, State
from ebnc.errors import DataError, ParameterError
from ebnc.typing import IntArray

FEW_VALUES = 10
N_QUANTILES = 5
HEAD = 1000  # values; checking these first usually shows that many are distinct


def learn_domain(
    summary: TableSummary,
    inputs: Sequence[str],
    declared: Domain,
    missing: Missing,
    coding: Coding,
) -> Domain:
    """Return the states of ``inputs`` and of the target, which is never cut into intervals."""
    target = summary.target
    names = [*inputs, *([] if target is None else [target])]
    if target is not None and target not in declared and coding.kinds.get(target) == "numeric":
        raise ParameterError(f"the target {target!r} has classes, so its kind cannot be 'numeric'")
    ordered = {name for name in names if _is_ordered(name, summary, declared, coding)}

    def states(name: str) -> Sequence[State]:
        if name in declared:
            return declared[name]
        column = summary.columns[name]
        if name == target:
            return _states_of_target(name, column)
        own = _states_of_input(name, column, summary, coding)
        return _with_missing(name, own, column, missing)

    return Domain({name: states(name) for name in names}, ordered)


def _is_ordered(name: str, summary: TableSummary, declared: Domain, coding: Coding) -> bool:
    """Whether the states of a variable are in order: as declared, else those of smooth numbers."""
    if name in coding.kinds:
        return coding.kinds[name] != "nominal"
    if name in declared:
        return name in declared.ordered
    column = summary.columns[name]
    is_number = bool(column.numbers.parts) and not column.labels.n_entries
    return column.labels.ordered or (is_number and coding.numbers == "smooth")


def _states_of_target(name: str, column: ColumnSummary) -> tuple[State, ...]:
    labels = ordered_labels(name, column)
    if column.has_missing:
        raise DataError(f"target {name!r} has missing values; remove those rows")
    if len(labels) < 2:
        seen = f"only one class, {labels[0]!r}" if labels else "no value at all"
        raise DataError(f"target {name!r} has {seen}; at least two classes are needed")
    return labels


def _states_of_input(
    name: str, column: ColumnSummary, summary: TableSummary, coding: Coding
) -> tuple[State, ...]:
    values, classes, weights = column.numbers.rows()
    kind = coding.kinds.get(name)
    if kind == "numeric" and column.labels.n_entries:
        raise DataError(f"column {name!r} holds labels, so its kind cannot be 'numeric'")
    if not len(values):
        return ordered_labels(name, column)
    if kind == "ordered" or (kind is None and _is_few(values, column)):
        return _each_number(name, values)
    floats = np.asarray(values, dtype=np.float64)
    if kind == "numeric" or coding.numbers == "smooth":
        return intervals(fine_cuts(floats, weights))
    if classes is None or coding.numbers == "quantile":
        return intervals(quantile_cuts(floats, N_QUANTILES, weights))
    codes = _class_order(summary)[classes]
    return intervals(mdlp_cuts(floats, codes, int(codes.max()) + 1, weights))


def _is_few(values: NDArray[Any], column: ColumnSummary) -> bool:
    """Whether a column has few numbers, all whole, and no dates."""
    if column.kind == "date" or len(np.unique(values[:HEAD])) > FEW_VALUES:
        return False
    distinct = np.unique(values)
    is_whole = (distinct == np.round(distinct)) & (np.abs(distinct) <= EXACT)
    return len(distinct) <= FEW_VALUES and bool(is_whole.all())


def _each_number(name: str, values: NDArray[Any]) -> tuple[State, ...]:
    distinct = np.unique(values)
    if len(distinct) > MOST_STATES:
        raise DataError(
            f"column {name!r} has {len(distinct)} different numbers, too many for a state each; "
            "make its kind 'numeric'"
        )
    return tuple(map(as_label, distinct.tolist()))


def _class_order(summary: TableSummary) -> IntArray:
    """Renumber the classes in ascending order of their labels, missing last.

    This makes sums over classes independent of the order of rows.
    """
    labels = list(summary.classes)
    try:
        order = sorted(range(len(labels)), key=lambda i: (labels[i] is None, labels[i]))
    except TypeError:  # ordered_labels refuses labels without order
        order = list(range(len(labels)))
    place = np.empty(len(labels), dtype=np.int64)
    place[order] = np.arange(len(labels))
    return place


def ordered_labels(name: str, column: ColumnSummary) -> tuple[Hashable, ...]:
    """Return the labels of a column: as declared, or the observed ones in ascending order."""
    if column.labels.declared is not None:
        return column.labels.declared
    labels = list(column.labels.seen)
    if column.written and set(labels) <= {"False", "True"}:
        return tuple(label == "True" for label in sorted(map(str, labels)))
    try:
        return tuple(sorted(labels))  # type: ignore[type-var]
    except TypeError:
        kinds = {type(label).__name__: label for label in labels}
        if len(kinds) > 1:
            shown = ", ".join(f"{label!r} ({kind})" for kind, label in kinds.items())
            raise DataError(
                f"column {name!r} mixes types: {shown}; convert it to one type"
            ) from None
        raise DataError(
            f"values of column {name!r}, of type {type(labels[0]).__name__}, cannot be sorted; "
            "convert them to strings"
        ) from None


def _with_missing(
    name: str, states: tuple[State, ...], column: ColumnSummary, missing: Missing
) -> tuple[State, ...]:
    """Append the state None if entries are missing; raise if ``missing`` is "refuse"."""
    if column.has_missing and missing == "refuse":
        raise DataError(f"column {name!r} has missing values; fill them in, or use missing='state'")
    return (*states, None) if column.has_missing else states


def refuse_single_class(domain: Mapping[str, Sequence[State]], target: str) -> None:
    """Raise if the target was declared with one state."""
    if len(domain[target]) < 2:
        raise ParameterError(f"target {target!r} has only one state; at least two are needed")
