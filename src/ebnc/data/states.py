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

from ebnc.data.columns import Column, Frame, factorise, is_numeric, keep_rows, numbers, read_columns
from ebnc.data.discretise import intervals, mdlp_cuts, quantile_cuts
from ebnc.domain import Domain, State
from ebnc.errors import DataError
from ebnc.typing import FloatArray, IntArray

__all__ = ["Missing", "learn_domain"]

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
) -> Domain:
    """States of ``inputs`` and ``target``; the latter is never cut into intervals."""
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
            states[name] = _states_of_input(name, columns[name], classes, missing, weights)
    return Domain({name: states[name] for name in names})


def _states_of_target(name: str, column: Column) -> tuple[State, ...]:
    found = factorise(name, column)
    if found.has_missing:
        raise DataError(f"target {name!r} has missing values; remove those rows")
    if len(found.labels) < 2:
        seen = f"only {found.labels[0]!r}" if found.labels else "no value at all"
        raise DataError(
            f"target {name!r} has {seen}; there is nothing to tell apart "
            f"(declare its states with categories={{{name!r}: [...]}} if more are possible)"
        )
    _refuse_many(name, found.labels, "is it a number to be predicted by regression?")
    return found.labels


def _states_of_input(
    name: str,
    column: Column,
    classes: IntArray | None,
    missing: Missing,
    weights: FloatArray | None,
) -> tuple[State, ...]:
    if is_numeric(column):
        values = numbers(name, column)
        lacking = np.isnan(values)
        distinct = np.unique(values[~lacking])
        if len(distinct) <= FEW_VALUES and np.array_equal(distinct, np.round(distinct)):
            states: tuple[State, ...] = _whole(name, column)
        elif classes is None:
            states = intervals(quantile_cuts(values, N_QUANTILES, weights))
        else:
            states = intervals(mdlp_cuts(values, classes, int(classes.max()) + 1, weights))
        has_missing = bool(lacking.any())
    else:
        found = factorise(name, column)
        _refuse_many(name, found.labels, "is it an identifier? leave it out")
        states, has_missing = found.labels, found.has_missing
    if has_missing:
        if missing == "refuse":
            raise DataError(
                f"column {name!r} has missing values; fill them in, or take missing as a state"
            )
        states = (*states, None)
    return states


def _whole(name: str, column: Column) -> tuple[int, ...]:
    """Whole numbers as labels, from the column itself: floats do not tell large ones apart."""
    labels: tuple[Any, ...] = factorise(name, column).labels
    return tuple(map(int, labels))


def _refuse_many(name: str, labels: Sequence[State], advice: str) -> None:
    if len(labels) > MOST_STATES:
        raise DataError(
            f"column {name!r} has {len(labels)} different values, more than {MOST_STATES}; "
            f"{advice} (or declare its states with categories)"
        )
