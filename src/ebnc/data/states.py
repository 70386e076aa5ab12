"""Learn the domain of data: which states each column has.

- Labels (strings, categories, booleans): the declared ones of a categorical type, else the observed
  ones in ascending order.
- Numbers: whole numbers of at most ``FEW_VALUES`` different values are labels; all others are cut
  into intervals, by MDLP where there is a target, else by quantiles.
- Missing entries are a state of their own, ``None``, the last one, or refused.

``categories`` declares the states of a column outright.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from ebnc.data.columns import (
    Column,
    Factorised,
    Frame,
    factorise,
    is_numeric,
    keep_rows,
    numbers,
    read_columns,
)
from ebnc.data.discretise import intervals, mdlp_cuts, quantile_cuts
from ebnc.domain import Domain, State
from ebnc.errors import DataError, ParameterError
from ebnc.typing import FloatArray, IntArray

__all__ = [
    "Categories",
    "Missing",
    "learn_domain",
    "number_states",
    "refuse_many",
    "refuse_single_class",
    "target_states",
    "with_missing",
]

Missing: TypeAlias = Literal["state", "refuse"]
Categories: TypeAlias = Mapping[str, int | Iterable[State]]

FEW_VALUES = 10
MOST_STATES = 1000
N_QUANTILES = 5


def learn_domain(
    data: Frame,
    inputs: Sequence[str],
    target: str | None = None,
    *,
    categories: Categories | None = None,
    missing: Missing = "state",
    weights: FloatArray | None = None,
    factorised: Mapping[str, Factorised] | None = None,
) -> Domain:
    """States of ``inputs`` and ``target``; the latter is never cut into intervals.

    ``factorised``: columns that are known so already.
    """
    declared = Domain(categories or {})
    names = [*inputs, *([] if target is None else [target])]
    columns = read_columns(data, names)
    if weights is not None and not weights.all():  # rows of weight 0 are not there
        columns = keep_rows(columns, weights > 0)
        weights = weights[weights > 0]
    states: dict[str, Sequence[State]] = {}
    classes = None
    if target is not None:
        states[target] = (
            declared[target] if target in declared else _states_of_target(target, columns[target])
        )
        if any(name not in declared and is_numeric(columns[name]) for name in inputs):
            classes = factorise(target, columns[target]).codes
            classes = np.where(classes < 0, classes.max() + 1, classes)  # missing, if declared
    for name in inputs:
        if name in declared:
            states[name] = declared[name]
        else:
            found = None if factorised is None else factorised.get(name)
            states[name] = _states_of_input(name, columns[name], classes, missing, weights, found)
    return Domain({name: states[name] for name in names})


def _states_of_target(name: str, column: Column) -> tuple[State, ...]:
    found = factorise(name, column)
    return target_states(name, found.labels, found.has_missing)


def target_states(name: str, labels: tuple[State, ...], has_missing: bool) -> tuple[State, ...]:
    """The labels seen of a target, if they can be its states."""
    if has_missing:
        raise DataError(f"target {name!r} has missing values; remove those rows")
    if len(labels) < 2:
        seen = f"only {labels[0]!r}" if labels else "no value at all"
        raise DataError(
            f"target {name!r} has {seen}; there is nothing to tell apart "
            f"(declare its states with categories={{{name!r}: [...]}} if more are possible)"
        )
    refuse_many(name, len(labels), "is it a number to be predicted by regression?")
    return labels


def _states_of_input(
    name: str,
    column: Column,
    classes: IntArray | None,
    missing: Missing,
    weights: FloatArray | None,
    found: Factorised | None,
) -> tuple[State, ...]:
    if found is None and is_numeric(column):
        values = numbers(name, column)
        states: tuple[State, ...] | None = number_states(values, classes, weights)
        if states is None:
            states = _whole(name, column)
        has_missing = bool(np.isnan(values).any())
    else:
        found = found or factorise(name, column)
        refuse_many(name, len(found.labels), "is it an identifier? leave it out")
        states, has_missing = found.labels, found.has_missing
    return with_missing(name, states, has_missing, missing)


def number_states(
    values: FloatArray, classes: IntArray | None, weights: FloatArray | None
) -> tuple[State, ...] | None:
    """Intervals of a column of numbers, NaN being missing; None where they are few whole ones."""
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) <= FEW_VALUES and np.array_equal(distinct, np.round(distinct)):
        return None
    if classes is None:
        return intervals(quantile_cuts(values, N_QUANTILES, weights))
    return intervals(mdlp_cuts(values, classes, int(classes.max()) + 1, weights))


def with_missing(
    name: str, states: tuple[State, ...], has_missing: bool, missing: Missing
) -> tuple[State, ...]:
    """The states and, where entries are missing, None as the last one; or a refusal."""
    if has_missing and missing == "refuse":
        raise DataError(
            f"column {name!r} has missing values; fill them in, or take missing as a state"
        )
    return (*states, None) if has_missing else states


def refuse_single_class(domain: Domain, target: str) -> None:
    """Raise where the target was declared with one state."""
    if domain.n_states(target) < 2:
        raise ParameterError(f"target {target!r} has one state only; there is nothing to learn")


def _whole(name: str, column: Column) -> tuple[int, ...]:
    """Whole numbers as labels, from the column itself: floats do not tell large ones apart."""
    labels: tuple[Any, ...] = factorise(name, column).labels
    return tuple(map(int, labels))


def refuse_many(name: str, n_labels: int, advice: str) -> None:
    """Raise where a column has too many labels to be states."""
    if n_labels > MOST_STATES:
        raise DataError(
            f"column {name!r} has {n_labels} different values, more than {MOST_STATES}; "
            f"{advice} (or declare its states with categories)"
        )
