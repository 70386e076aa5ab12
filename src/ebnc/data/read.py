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

from ebnc.data.batches import Batch, is_dask_frame, require
from ebnc.data.cases import Cases, check_weights
from ebnc.data.coder import Coder, without_states
from ebnc.data.columns import Column, Numbers, joined
from ebnc.data.dask_read import DaskReader
from ebnc.data.doubts import doubtful_columns, in_words
from ebnc.data.files import DataFiles, as_files
from ebnc.data.parts import Parts, StoredParts
from ebnc.data.plan import Plan, Reader, add_batch, as_weights, coded_cases
from ebnc.data.rows import CodedRows
from ebnc.data.sources import column_names, source_of
from ebnc.data.states import learn_domain, refuse_single_class
from ebnc.data.summaries import TableSummary
from ebnc.data.table import Categories, Frame, Kind, Missing, TableLike
from ebnc.domain import Domain
from ebnc.errors import DataError, DataWarning, StorageError
from ebnc.typing import FloatArray

__all__ = [
    "learn_cases",
    "learn_joint_cases",
    "learn_states",
    "read_cases",
    "read_rows",
    "row_weights",
]

PART_ROWS = 2**20


class _LocalReader:
    """A table in memory or in files. A small table is read once, and its batches are held."""

    def __init__(self, data: Frame, array_names: Sequence[str] | None, weights: object) -> None:
        files = as_files(data)
        if files is not None and weights is not None:
            raise DataError("weights of data in files must be the name of a column")
        self._source = source_of(data, array_names)
        self._weights = weights
        self._held: list[Batch] | None = None
        self.names, self.options = self._source.names, self._source.options
        self.memory_bytes = None if files is None else files.memory_bytes
        self.temp_directory = None if files is None else files.temp_directory

    def summary(self, plan: Plan) -> TableSummary:
        """Summarise all batches."""
        summary = TableSummary(plan.target)
        self._held = [] if self._source.is_small(plan.read) else None
        for batch in self._source.batches(plan.read, plan.kinds, plan.options):
            add_batch(summary, batch, plan, self._weights)
            if self._held is not None:
                self._held.append(batch)
        return summary

    def coded(self, plan: Plan, coder: Coder) -> Iterator[Cases]:
        """Yield the cases of every batch."""
        batches: Iterable[Batch] = self._held or ()
        if self._held is None:
            kinds = {**plan.kinds, **coder.kinds}
            batches = self._source.batches(plan.read, kinds, plan.options)
        for batch in batches:
            yield coded_cases(batch, coder, plan, self._weights)


def _reader(data: Frame, array_names: Sequence[str] | None, weights: object) -> Reader:
    if not is_dask_frame(data):
        return _LocalReader(data, array_names, weights)
    if weights is not None:
        raise DataError("weights of a Dask DataFrame must be the name of a column")
    return DaskReader(data)


def learn_cases(
    data: Frame,
    inputs: Sequence[str],
    target: str,
    *,
    keep: Sequence[str] | None = None,
    categories: Categories | None = None,
    missing: Missing = "state",
    weights: object = None,
    leave_out: bool = False,
) -> Parts:
    """Learn the states of ``inputs`` and ``target``, and return the counted cases of ``keep``.

    Parameters
    ----------
    data : frame, path or Dask DataFrame
        The columns of a two-dimensional array are the inputs, then the target.
    inputs : sequence of str
        Columns of the inputs.
    target : str
        Column of the target.
    keep : sequence of str or None
        Inputs whose codes are returned; None: all.
    categories : mapping from column to states or None
        Declared states.
    missing : {"state", "refuse"}
        Whether missing entries are a state or an error.
    weights : array, str or None
        Weights of the rows, or the name of their column; rows of weight 0 are left out.
    leave_out : bool
        Whether to leave identifiers out with a warning instead of raising.
    """
    return _learn(data, inputs, target, keep, categories, missing, weights, leave_out)


def learn_joint_cases(
    data: Frame, categories: Categories | None, missing: Missing, weights: object
) -> Cases:
    """Read all columns except the weights; rows hold all of them, and the first is the target.

    Numbers are cut at quantiles. The distinct rows must fit in memory.
    """
    names = [x for x in column_names(data) if not (isinstance(weights, str) and x == weights)]
    if not names:
        raise DataError("the data have no columns")
    cases = _learn(data, names, None, None, categories, missing, weights, leave_out=True)
    if not isinstance(cases, Cases):
        raise StorageError(f"{cases.n_rows} distinct rows do not fit in memory; raise memory_limit")
    return cases


def learn_states(data: Frame, inputs: Sequence[str], target: str | None = None) -> Domain:
    """Learn the states of the columns of a table in memory."""
    reader = _LocalReader(data, [*inputs, *([] if target is None else [target])], None)
    plan = Plan.of(inputs, target, None, None, reader.options)
    domain, _, _ = _learn_domain(reader, plan, inputs, None, "state", leave_out=False)
    return domain


def _learn(
    data: Frame,
    inputs: Sequence[str],
    target: str | None,
    keep: Sequence[str] | None,
    categories: Categories | None,
    missing: Missing,
    weights: object,
    leave_out: bool,
) -> Parts:
    by_name = weights if isinstance(weights, str) else None
    names = [*inputs, *([] if target is None else [target])]
    reader = _reader(data, names, None if by_name else weights)
    plan = Plan.of(inputs, target, by_name, categories, reader.options)
    require(plan.read, reader.names)
    domain, inputs, plan = _learn_domain(reader, plan, inputs, keep, missing, leave_out)
    coded = list(inputs) if keep is None else [name for name in keep if name in domain]
    coder = Coder(domain, [*coded, *([target] if target else [])])
    return _gathered(reader, reader.coded(plan, coder), target)


def _learn_domain(
    reader: Reader,
    plan: Plan,
    inputs: Sequence[str],
    keep: Sequence[str] | None,
    missing: Missing,
    leave_out: bool,
) -> tuple[Domain, list[str], Plan]:
    """Return the states, the inputs to learn from, and the plan for coding them."""
    summary = reader.summary(plan)
    if any(column.mixed for column in summary.columns.values()):
        mixed: dict[str, Kind] = {x: "label" for x, c in summary.columns.items() if c.mixed}
        plan = replace(plan, kinds={**plan.kinds, **mixed})
        again = reader.summary(plan)
        summary.columns |= {name: again.columns[name] for name in mixed}
    if summary.n_rows == 0:
        raise DataError("the data have no rows")
    rest = _without_doubtful(summary, list(inputs), plan, keep, leave_out)
    domain = learn_domain(summary, rest, plan.declared, missing)
    if plan.target is not None:
        refuse_single_class(domain, plan.target)
    return domain, rest, plan


def _without_doubtful(
    summary: TableSummary,
    inputs: list[str],
    plan: Plan,
    keep: Sequence[str] | None,
    leave_out: bool,
) -> list[str]:
    """Return the inputs to learn from; raise for doubtful ones, or leave them out and warn."""
    doubts = doubtful_columns(summary, inputs, plan.declared, plan.as_labels)
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


def read_cases(
    data: TableLike, domain: Domain, inputs: Sequence[str], target: str, weights: object = None
) -> Cases:
    """Read cases with known states; rows of weight 0 are left out."""
    names = [*inputs, target]
    of_codes = domain
    if isinstance(data, CodedRows):
        data = {x: Numbers(data.column(x)) for x in names}
        of_codes = Domain({x: domain.n_states(x) for x in names})
    source = source_of(data, names)
    plan = Plan.of(inputs, target, None, of_codes, source.options)
    (batch,) = source.batches(plan.read, plan.kinds, plan.options)
    cases = coded_cases(batch, Coder(of_codes, names), plan, weights)
    if not len(cases):
        raise DataError("the data have no rows")
    return replace(cases, domain=domain)


def read_rows(
    files: DataFiles, names: Sequence[str], domain: Domain, most: int
) -> dict[str, Column]:
    """Read columns of files into memory, with evenly spaced rows if there are more than ``most``.

    The states in the domain determine how columns are read.
    """
    source = source_of(files)
    coder = Coder(domain, [name for name in names if name in domain])
    options = without_states(source.options, domain, coder.names)
    n_rows = sum(batch.n_rows for batch in source.batches([], {}, options))
    step, start = max(1, -(-n_rows // most)), 0
    parts: dict[str, list[Column]] = {name: [] for name in names}
    for batch in source.batches(names, coder.kinds, options):
        chosen = np.arange(-start % step, batch.n_rows, step)
        start += batch.n_rows
        for name in names:
            parts[name].append(batch.columns[name].take(chosen))
    return {name: joined(columns) for name, columns in parts.items()}


def row_weights(data: Frame, weights: object, n_rows: int) -> FloatArray | None:
    """Return the weights of rows, from an array or from the column of ``data`` of that name."""
    if isinstance(weights, str):
        source = source_of(data)
        batches = source.batches([weights], {}, source.options)
        weights = np.concatenate([as_weights(batch.columns[weights]) for batch in batches])
    return check_weights(weights, n_rows)


def _gathered(reader: Reader, coded: Iterable[Cases], target: str | None) -> Parts:
    """Join the cases of batches; count them if they take more than 1/16 of the memory limit.

    Distinct rows that take more than 1/8 of it are stored on disk.
    """
    limit = np.inf if reader.memory_bytes is None else reader.memory_bytes // 4
    held: list[Cases] = []
    counted: list[Cases] = []
    batches = iter(coded)
    for cases in batches:
        held.append(cases)
        n_counted = sum(part.n_bytes for part in counted)
        if sum(part.n_bytes for part in held) <= limit // 4:
            continue
        counted.append(Cases.joined(held).distinct())
        held.clear()
        if n_counted + counted[-1].n_bytes > limit // 2:
            counted = [Cases.joined(counted).distinct()]
            if counted[0].n_bytes > limit // 2:
                return StoredParts.write(_in_parts(counted, batches), reader.temp_directory)
    if counted:
        return Cases.joined([*counted, *held]).distinct()
    whole = Cases.joined(held)
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
