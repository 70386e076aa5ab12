"""Read any data as cases, for all functions that learn.

1. Summarise every batch (``summaries``); learn the states from the sum (``states``), and name all
   columns that look like mistakes (``doubts``).
2. Code every batch (``coder``). Few coded rows stay in memory unchanged; many are counted; if the
   distinct rows are still too many, they are stored on disk.

A Dask DataFrame is read in the same way, partition by partition, on its workers (``dask_read``).
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ebnc.data.batches import FrameSource, Source, require
from ebnc.data.cases import Cases, check_weights
from ebnc.data.coder import Coder, coded_cases
from ebnc.data.columns import Column, joined
from ebnc.data.doubts import doubtful_columns, in_words
from ebnc.data.files import DataFiles
from ebnc.data.parts import Parts, StoredParts
from ebnc.data.plan import Plan
from ebnc.data.sources import column_names, source_of
from ebnc.data.states import learn_domain, refuse_single_class
from ebnc.data.summaries import TableSummary, Values
from ebnc.data.table import Categories, Coding, Frame, Kind, Missing
from ebnc.domain import Domain, as_domain
from ebnc.errors import DataError, DataWarning, StorageError
from ebnc.typing import FloatArray

PART_ROWS = 2**20
SMOOTH, QUANTILE = Coding("smooth"), Coding("quantile")


def learn_cases(
    data: Frame,
    inputs: Sequence[str],
    target: str | None,
    *,
    keep: Sequence[str] | None = None,
    categories: Categories | None = None,
    missing: Missing = "state",
    weights: object = None,
    leave_out: bool = False,
    coding: Coding = SMOOTH,
) -> Parts:
    """Learn the states of ``inputs`` and ``target``, and return the counted cases of ``keep``.

    ``keep``: inputs whose codes are returned; None: all. ``weights``: weights of the rows, or the
    name of their column; rows of weight 0 are left out. ``leave_out``: whether to leave identifiers
    out with a warning instead of raising. The columns of a two-dimensional array are the inputs,
    then the target. Without a target, the first input is also the class. ``coding``: what numbers
    become, and kinds of variables.
    """
    return _learn(data, inputs, target, keep, categories, missing, weights, leave_out, coding)[0]


def _learn(
    data: Frame,
    inputs: Sequence[str],
    target: str | None,
    keep: Sequence[str] | None,
    categories: Categories | None,
    missing: Missing,
    weights: object,
    leave_out: bool,
    coding: Coding,
) -> tuple[Parts, TableSummary]:
    """Return the cases, as in ``learn_cases``, and the summary of all columns."""
    of_target = [] if target is None else [target]
    names = (*inputs, *of_target)
    if not names:
        raise DataError("the data have no columns")
    source = source_of(data, names)
    if weights is not None and not isinstance(weights, str):
        if not isinstance(source, FrameSource):
            raise DataError("weights of files or a Dask DataFrame must be the name of a column")
        weights = source.add_weights(weights, names[0])
    declared = as_domain(categories or {})
    known = Coder(declared, [name for name in names if name in declared]).plan(source.options)
    types: dict[str, Kind] = {name: "label" for name in coding.nominal if name in names}
    types |= {name: kind for name, kind in source.options.types.items() if name in names}
    plan = Plan(names, known.options, {**known.kinds, **types}, target, weights)
    require([*plan.read, *coding.kinds], source.names)
    summary, plan = _summarised(source, plan)
    rest = _without_doubtful(summary, inputs, declared, plan, keep, leave_out)
    domain = learn_domain(summary, rest, declared, missing, coding)
    if target is not None:
        refuse_single_class(domain, target)
    coded = rest if keep is None else [name for name in keep if name in domain]
    coder = Coder(domain, [*coded, *of_target])
    return _gathered(source, source.each(coded_cases, plan, coder), target), summary


def learn_joint_cases(
    data: Frame,
    categories: Categories | None,
    missing: Missing,
    weights: object,
    coding: Coding = QUANTILE,
) -> tuple[Cases, dict[str, Values]]:
    """Read all columns except the weights; rows hold all of them, and the first is the target.

    Also return the values of numeric variables whose states were learned. By default numbers are
    cut at quantiles, and no variable is numeric. The distinct rows must fit in memory.
    """
    names = [x for x in column_names(data) if not (isinstance(weights, str) and x == weights)]
    cases, summary = _learn(data, names, None, None, categories, missing, weights, True, coding)
    if not isinstance(cases, Cases):
        raise StorageError(f"{cases.n_rows} distinct rows do not fit in memory; raise memory_limit")
    domain = cases.domain
    learned = [x for x in domain if domain.kind(x) == "numeric" and x not in (categories or {})]
    return cases, {x: summary.columns[x].numbers.rows() for x in learned}


def learn_states(
    data: Frame, inputs: Sequence[str], target: str | None = None, coding: Coding = SMOOTH
) -> Domain:
    """Learn the states of the columns of a table in memory."""
    return learn_cases(data, inputs, target, coding=coding).domain


def _summarised(source: Source, plan: Plan) -> tuple[TableSummary, Plan]:
    """Summarise all batches; columns that mix numbers and labels are read again as labels."""
    summary = TableSummary.merged(source.each(TableSummary.of, plan), plan.target)
    mixed: dict[str, Kind] = {x: "label" for x, c in summary.columns.items() if c.mixed}
    if mixed:
        plan = replace(plan, kinds={**plan.kinds, **mixed})
        again = TableSummary.merged(source.each(TableSummary.of, plan), plan.target)
        summary.columns |= {name: again.columns[name] for name in mixed}
    if summary.n_rows == 0:
        raise DataError("the data have no rows")
    return summary, plan


def _without_doubtful(
    summary: TableSummary,
    inputs: Sequence[str],
    declared: Domain,
    plan: Plan,
    keep: Sequence[str] | None,
    leave_out: bool,
) -> list[str]:
    """Return the inputs to learn from; raise for doubtful ones, or leave them out and warn."""
    doubts = doubtful_columns(summary, inputs, declared, plan.as_labels)
    needed = set(inputs if keep is None else keep)
    if any(not d.is_left_out or (d.name in needed and not leave_out) for d in doubts):
        raise DataError(in_words(doubts, refused=True))
    left_out = {doubt.name for doubt in doubts}
    rest = [name for name in inputs if name not in left_out]
    if not rest and left_out:
        raise DataError(f"no columns are left to learn from; {in_words(doubts)}")
    if doubts:
        warnings.warn(in_words(doubts), DataWarning, stacklevel=2)
    return rest


def read_rows(
    files: DataFiles, names: Sequence[str], domain: Domain, most: int
) -> dict[str, Column]:
    """Read columns of files into memory, with evenly spaced rows if there are more than ``most``.

    The states in the domain determine how columns are read.
    """
    source = source_of(files)
    known = Coder(domain, [name for name in names if name in domain]).plan(source.options)
    n_rows = sum(batch.n_rows for batch in source.batches(Plan(())))
    step = max(1, -(-n_rows // most))
    parts: dict[str, list[Column]] = {name: [] for name in names}
    for batch in source.batches(replace(known, names=tuple(names))):
        chosen = np.arange(-batch.first % step, batch.n_rows, step)
        for name in names:
            parts[name].append(batch.columns[name].take(chosen))
    return {name: joined(columns) for name, columns in parts.items()}


def row_weights(data: Frame, weights: object, n_rows: int) -> FloatArray | None:
    """Return the weights of rows, from an array or from the column of ``data`` of that name."""
    if isinstance(weights, str):
        source = source_of(data)
        batches = source.batches(Plan((weights,), source.options))
        weights = np.concatenate([batch.weights_of(weights) for batch in batches])
    return check_weights(weights, n_rows)


def _gathered(source: Source, coded: Iterable[Cases], target: str | None) -> Parts:
    """Join the cases of batches; count them if they take more than 1/16 of the memory limit.

    Distinct rows that take more than 1/8 of it are stored on disk.
    """
    room = np.inf if source.memory_bytes is None else source.memory_bytes // 16
    held: list[Cases] = []
    n_new, is_counted = 0, False
    batches = iter(coded)
    for cases in batches:
        held.append(cases)
        n_new += cases.n_bytes
        if n_new > room:
            held, n_new, is_counted = [Cases.joined(held).distinct()], 0, True
            if held[0].n_bytes > 2 * room:
                return StoredParts.write(_in_parts(held, batches), source.temp_directory)
    whole = Cases.joined(held)
    if is_counted:
        return whole.distinct()
    held.clear()
    if target is not None:
        return whole.counted()
    distinct = whole.distinct()
    return distinct if 2 * len(distinct) <= len(whole) else whole


def _in_parts(counted: list[Cases], rest: Iterable[Cases]) -> Iterator[Cases]:
    """Yield parts of about ``PART_ROWS`` rows, counted if that saves much."""
    whole = counted.pop()
    for first in range(0, len(whole), PART_ROWS):
        yield whole.rows_of(first, first + PART_ROWS)
    del whole
    held: list[Cases] = []
    for cases in rest:
        held.append(cases)
        if sum(map(len, held)) >= PART_ROWS:
            yield Cases.joined(held).counted()
            held.clear()
    if held:
        yield Cases.joined(held).counted()
