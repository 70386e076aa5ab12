"""Cases out of a Dask DataFrame: states from summaries of the partitions, codes made on workers.

1. What each partition has: columns, kinds, labels of the target.
2. Labels, and numbers as (value, class) counts, added up over the partitions.
3. Each partition coded and counted, and kept on its worker.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ebnc.data.cases import Cases, check_weights
from ebnc.data.columns import factorise, is_numeric, keep_rows, numbers, read_columns
from ebnc.data.dask_parts import DaskParts, PartitionedFrame
from ebnc.data.encoding import encode
from ebnc.data.rows import CodedRows
from ebnc.data.states import (
    Categories,
    Missing,
    number_states,
    refuse_many,
    refuse_single_class,
    target_states,
    with_missing,
)
from ebnc.domain import Domain, State
from ebnc.errors import DataError
from ebnc.typing import FloatArray, IntArray

__all__ = ["read_dask_frame"]


def read_dask_frame(
    frame: Any,
    inputs: Sequence[str],
    target: str,
    *,
    keep: Sequence[str],
    categories: Categories | None = None,
    missing: Missing = "state",
    weights: object = None,
) -> DaskParts:
    """States of ``inputs`` and ``target``, and the coded cases of ``keep`` on the workers."""
    if weights is not None and not isinstance(weights, str):
        raise DataError("weights of a Dask DataFrame must be the name of a column")
    declared = Domain(categories or {})
    partitions = PartitionedFrame.of(frame)
    names = [*inputs, target]
    described = partitions.add_up(_describe, names, weights)
    labels = described.labels[target]
    states: dict[str, Sequence[State]] = {
        target: declared[target]
        if target in declared
        else target_states(target, labels.ordered(target), labels.has_missing)
    }
    observed = [name for name in inputs if name not in declared]
    kinds = {name: described.kinds.get(name, "label") for name in observed}
    classes = labels.ordered(target)
    numeric = [name for name in observed if kinds[name] == "number"]
    counts = partitions.add_up(_number_counts, numeric, target, classes, weights)
    whole = []
    for name, count in zip(numeric, counts, strict=True):
        found = number_states(count.values, count.classes, count.weights)
        if found is None:
            whole.append(name)
        else:
            states[name] = with_missing(name, found, count.has_missing, missing)
    labelled = [name for name in observed if kinds[name] != "number"] + whole
    for name, summary in zip(labelled, partitions.add_up(_labels, labelled, weights), strict=True):
        found = summary.ordered(name)
        if name in whole:
            found = tuple(int(label) for label in found)  # type: ignore[call-overload]
        refuse_many(name, len(found), "is it an identifier? leave it out")
        states[name] = with_missing(name, found, summary.has_missing, missing)
    states |= {name: declared[name] for name in inputs if name in declared}
    domain = Domain({name: states[name] for name in names})
    refuse_single_class(domain, target)
    futures = partitions.submit(_code, domain, tuple(keep), target, weights)
    n_states = tuple(domain.n_states(name) for name in keep)
    what = (domain, target, tuple(keep), n_states)
    parts = DaskParts(*what, 0, 0.0, partitions.client, tuple(futures))
    n_rows, total_weight = parts.add_up(_sizes)
    if n_rows == 0:
        raise DataError("the data have no rows")
    return DaskParts(*what, n_rows, total_weight, partitions.client, tuple(futures))


def gather(frame: Any, names: Sequence[str]) -> Any:
    """All rows in memory, as one pandas DataFrame, once the partitions agree."""
    import pandas as pd  # type: ignore[import-untyped]

    partitions = PartitionedFrame.of(frame)
    partitions.add_up(_describe, list(names), None)
    return pd.concat(partitions.collect(_chosen, list(names)), ignore_index=True)


def _chosen(part: Any, names: list[str]) -> Any:
    return part[names]


@dataclass(frozen=True)
class _Labels:
    """Labels seen in some partitions; ``declared``: those of their categorical type, if one."""

    seen: frozenset[Any]
    declared: tuple[Any, ...] | None
    has_missing: bool
    is_empty: bool

    def __add__(self, other: "_Labels") -> "_Labels":
        if self.is_empty or other.is_empty:  # no rows, and no say in the type
            return other if self.is_empty else self
        declared = self.declared if self.declared == other.declared else None
        has_missing = self.has_missing or other.has_missing
        return _Labels(self.seen | other.seen, declared, has_missing, is_empty=False)

    def ordered(self, name: str) -> tuple[State, ...]:
        """The states: as declared, or those seen in ascending order."""
        if self.declared is not None:
            return self.declared
        column = np.empty(len(self.seen), dtype=object)
        column[:] = list(self.seen)
        return factorise(name, column).labels


@dataclass(frozen=True)
class _Described:
    kinds: dict[str, str]
    first: dict[str, str]
    labels: dict[str, _Labels]

    def __add__(self, other: "_Described") -> "_Described":
        for name, kind in other.kinds.items():
            if self.kinds.get(name, kind) != kind:
                raise DataError(
                    f"column {name!r} differs in type between partitions: {self.kinds[name]} "
                    f"({self.first[name]}), {kind} ({other.first[name]})"
                )
        labels = {name: self.labels[name] + other.labels[name] for name in self.labels}
        return _Described(other.kinds | self.kinds, other.first | self.first, labels)


@dataclass(frozen=True, eq=False)
class _NumberCounts:
    """Distinct (value, class) pairs with their weights."""

    values: FloatArray
    classes: IntArray
    weights: FloatArray
    has_missing: bool

    def __add__(self, other: "_NumberCounts") -> "_NumberCounts":
        values = np.concatenate([self.values, other.values])
        classes = np.concatenate([self.classes, other.classes])
        weights = np.concatenate([self.weights, other.weights])
        has_missing = self.has_missing or other.has_missing
        return _NumberCounts.of(values, classes, weights, has_missing)

    @classmethod
    def of(
        cls, values: FloatArray, classes: IntArray, weights: FloatArray, has_missing: bool
    ) -> "_NumberCounts":
        pairs = np.column_stack([values, classes.astype(np.float64)])
        distinct, inverse = np.unique(pairs, axis=0, return_inverse=True)
        summed = np.bincount(inverse.ravel(), weights, len(distinct)).astype(np.float64)
        return cls(distinct[:, 0], distinct[:, 1].astype(np.int64), summed, has_missing)


def _columns(part: Any, names: Sequence[str], weights: str | None) -> dict[str, Any]:
    """Columns of one partition, its weights under the name ""; rows of weight 0 are left out."""
    columns = dict(read_columns(part, [*names, *([weights] if weights else [])]))
    if weights is None:
        return {name: columns[name] for name in names}
    length = len(columns[weights])
    given = numbers(weights, columns[weights])
    checked = check_weights(given, length) if given.any() else np.zeros(length)
    assert checked is not None
    kept = checked > 0
    chosen: dict[str, Any] = dict(keep_rows({name: columns[name] for name in names}, kept))
    return {**chosen, "": checked[kept]}


def _describe(part: Any, names: Sequence[str], weights: str | None) -> _Described:
    columns = _columns(part, names, weights)
    kinds = {}
    for name in names:
        column = columns[name]
        found = is_numeric(column)
        if len(column) and (found or len(factorise(name, column).labels)):
            kinds[name] = "number" if found else "label"
    target = names[-1]
    where = {name: str(columns[name].dtype) for name in kinds}
    return _Described(kinds, where, {target: _label_summary(target, columns[target])})


def _label_summary(name: str, column: Any) -> _Labels:
    found = factorise(name, column)
    seen = {label for code, label in enumerate(found.labels) if (found.codes == code).any()}
    declared = found.labels if found.declared else None
    return _Labels(frozenset(seen), declared, found.has_missing, is_empty=len(column) == 0)


def _labels(part: Any, names: Sequence[str], weights: str | None) -> list[_Labels]:
    columns = _columns(part, names, weights)
    return [_label_summary(name, columns[name]) for name in names]


def _number_counts(
    part: Any,
    names: Sequence[str],
    target: str,
    labels: Sequence[State],
    weights: str | None,
) -> list[_NumberCounts]:
    columns = _columns(part, [*names, target], weights)
    found = factorise(target, columns[target])
    known = {label: code for code, label in enumerate(labels)}
    # A missing class counts as one more, as it does in memory.
    code_of = np.array([*(known[label] for label in found.labels), len(known)], dtype=np.int64)
    classes = code_of[found.codes]
    rows = columns.get("", np.ones(len(classes)))
    summaries = []
    for name in names:
        values = numbers(name, columns[name])
        present = ~np.isnan(values)
        chosen = values[present], classes[present], rows[present]
        summaries.append(_NumberCounts.of(*chosen, has_missing=not present.all()))
    return summaries


def _code(
    part: Any, domain: Domain, inputs: Sequence[str], target: str, weights: str | None
) -> Cases:
    columns = _columns(part, [*inputs, target], weights)
    rows = encode(columns, domain, [*inputs, target])
    codes, n_states = rows.codes[:-1], rows.n_states[:-1]
    coded = CodedRows(tuple(inputs), n_states, np.ascontiguousarray(codes))
    return Cases(domain, target, coded, rows.codes[-1].copy(), columns.get("")).counted()


def _sizes(cases: Cases) -> tuple[int, float]:
    return len(cases), cases.total_weight
