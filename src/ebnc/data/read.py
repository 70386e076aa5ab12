"""Any data in, cases out: the one entrance of everything that learns.

1. Every batch is summarised (``summaries``); states follow from the sum (``states``), and columns
   that look like a mistake are named, all at once (``doubts``).
2. Every batch is coded (``coder``). Coded rows stay in memory as they come while they are few, are
   counted when they are many, and stay on disk where the distinct ones still are too many.

A Dask DataFrame goes the same way, partition by partition, on its workers (``dask_read``).
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ebnc.data.batches import Batch, Source, column_names, require, source_of
from ebnc.data.cases import Cases, check_weights, refuse_wrong_weights
from ebnc.data.coder import Coder, without_states
from ebnc.data.columns import Column, Numbers, joined
from ebnc.data.dask_parts import is_dask_frame
from ebnc.data.doubts import doubtful_columns, in_words
from ebnc.data.files import DataFiles, as_files
from ebnc.data.parts import Parts, StoredParts
from ebnc.data.rows import CodedRows
from ebnc.data.states import learn_domain, refuse_single_class
from ebnc.data.summaries import TableSummary
from ebnc.data.table import Categories, Frame, Kind, Missing, TableLike
from ebnc.domain import Domain
from ebnc.errors import DataError, DataWarning, StorageError
from ebnc.typing import FloatArray

__all__ = ["Plan", "add_batch", "coded_cases", "gather", "learn_cases", "learn_joint_cases"]
__all__ += ["learn_states", "read_cases", "read_rows", "row_weights"]

PART_ROWS = 2**20


class Plan:
    """What is to be read: names, kinds that are known beforehand, and options."""

    def __init__(
        self,
        names: Sequence[str],
        target: str | None,
        weights: str | None,
        categories: Categories | None,
        source: Any,
    ) -> None:
        self.target, self.weights = target, weights
        self.names = [*names, *([target] if target is not None else [])]
        self.declared = Domain(categories or {})
        known = [name for name in self.names if name in self.declared]
        self.options = without_states(source.options, self.declared, known)
        self.kinds: dict[str, Kind] = {
            **Coder(self.declared, known).kinds,
            **{x: kind for x, kind in self.options.types.items() if x in self.names},
        }
        self.as_labels = [x for x, kind in self.kinds.items() if kind == "label"]

    @property
    def read(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.names, *([self.weights] if self.weights else [])]))


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
    """States of ``inputs`` and ``target`` (``.domain``), and the counted cases of ``keep``.

    Parameters
    ----------
    data : frame, path or Dask DataFrame
        The columns of a two-dimensional array are the inputs, then the target.
    inputs, target : names of columns
    keep : names of inputs or None
        Those whose codes are wanted; all unless given.
    categories : mapping from column to states or None
        Declared states.
    missing : {"state", "refuse"}
    weights : array, name of a column, or None
        How often each row counts; rows of weight 0 are left out.
    leave_out : bool
        Whether learning may go on, with a warning, without identifiers.
    """
    return _learn(data, inputs, target, keep, categories, missing, weights, leave_out)


def learn_joint_cases(
    data: Frame, categories: Categories | None, missing: Missing, weights: object
) -> Cases:
    """All columns but that of the weights; rows hold every one, and the first stands in as target.

    Numbers are cut by quantiles. The distinct rows must fit in memory.
    """
    names = [str(name) for name in data.columns] if is_dask_frame(data) else column_names(data)
    names = [name for name in names if not (isinstance(weights, str) and name == weights)]
    if not names:
        raise DataError("the data have no columns")
    found = _learn(data, names, None, None, categories, missing, weights, leave_out=True)
    if not isinstance(found, Cases):
        raise StorageError(f"{found.n_rows} distinct rows do not fit in memory; raise memory_limit")
    return found


def read_rows(
    files: DataFiles, names: Sequence[str], domain: Domain, most: int
) -> dict[str, Column]:
    """Columns of files in memory, every second, third … row where there are more than ``most``.

    Columns of the domain are read as its states are.
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
    return {name: joined(found) for name, found in parts.items()}


def row_weights(data: Frame, weights: object, n_rows: int) -> FloatArray | None:
    """How often each row counts: from an array, or from the column of ``data`` of that name."""
    if isinstance(weights, str):
        require([weights], column_names(data))
        source = source_of(data)
        batches = source.batches([weights], {}, source.options)
        weights = np.concatenate([_as_weights(batch.columns[weights]) for batch in batches])
    return check_weights(weights, n_rows)


def learn_states(
    data: Frame,
    inputs: Sequence[str],
    target: str | None = None,
    *,
    categories: Categories | None = None,
    missing: Missing = "state",
    weights: object = None,
) -> Domain:
    """States of the columns of a table in memory."""
    reader = _Reader(data, [*inputs, *([] if target is None else [target])], weights)
    plan = Plan(inputs, target, None, categories, reader)
    summary = reader.summary(plan)
    _without_doubtful(summary, list(inputs), plan, None, leave_out=False)
    return learn_domain(summary, inputs, categories, missing)


def read_cases(
    data: TableLike, domain: Domain, inputs: Sequence[str], target: str, weights: object = None
) -> Cases:
    """Cases whose states are known; rows of weight 0 are left out."""
    names = [*inputs, target]
    if isinstance(data, CodedRows):
        columns: dict[str, Column] = {x: Numbers(data.column(x)) for x in names}
        data, domain_of_codes = columns, Domain({x: domain.n_states(x) for x in names})
    else:
        domain_of_codes = domain
    reader = _Reader(data, names, weights)
    plan = Plan(inputs, target, None, domain_of_codes, reader)
    (batch,) = reader.source.batches(plan.read, plan.kinds, plan.options)
    cases = coded_cases(batch, Coder(domain_of_codes, names), plan, weights)
    if not len(cases):
        raise DataError("the data have no rows")
    return replace(cases, domain=domain)


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
    reader: Any
    if is_dask_frame(data):
        from ebnc.data.dask_read import DaskReader

        if weights is not None and by_name is None:
            raise DataError("weights of a Dask DataFrame must be the name of a column")
        reader = DaskReader(data)
    else:
        names = [*inputs, *([] if target is None else [target])]
        reader = _Reader(data, names, None if by_name else weights)
    require([*inputs, *([target] if target else []), *([by_name] if by_name else [])], reader.names)
    plan = Plan(inputs, target, by_name, categories, reader)
    summary = reader.summary(plan)
    mixed = {name: "label" for name, column in summary.columns.items() if column.mixed}
    if mixed:
        plan.kinds |= mixed
        again = reader.summary(plan)
        summary.columns |= {name: again.columns[name] for name in mixed}
    if summary.n_rows == 0:
        raise DataError("the data have no rows")
    inputs = _without_doubtful(summary, list(inputs), plan, keep, leave_out)
    domain = learn_domain(summary, inputs, categories, missing)
    if target is not None:
        refuse_single_class(domain, target)
    kept = list(inputs) if keep is None else [name for name in keep if name in domain]
    del summary
    found: Parts = reader.cases(plan, domain, kept)
    return found


def _without_doubtful(
    summary: TableSummary,
    inputs: list[str],
    plan: Plan,
    keep: Sequence[str] | None,
    leave_out: bool,
) -> list[str]:
    """The inputs that are learned from; doubtful ones are refused, or left out with a warning."""
    doubts = doubtful_columns(summary, inputs, plan.declared, plan.as_labels)
    needed = set(inputs if keep is None else keep)
    gone = {doubt.name for doubt in doubts if doubt.is_left_out}
    wrong = [d for d in doubts if not d.is_left_out or (d.name in needed and not leave_out)]
    if wrong:
        raise DataError(in_words(doubts, refused=True))
    rest = [name for name in inputs if name not in gone]
    if not rest and gone:
        raise DataError(f"no column is left to learn from; {in_words(doubts)}")
    if doubts:
        warnings.warn(in_words(doubts), DataWarning, stacklevel=2)
    return rest


class _Reader:
    """Reads a source twice; a small file only once."""

    def __init__(self, data: Frame, array_names: Sequence[str], weights: object) -> None:
        self._files: DataFiles | None = as_files(data)
        if self._files is not None and weights is not None:
            raise DataError("weights of data in files must be the name of a column")
        self.source: Source = source_of(data, array_names)
        self.options = self.source.options
        self._weights = weights
        self._held: list[Batch] | None = None

    @property
    def names(self) -> Sequence[str]:
        """Of all columns, included or not."""
        return getattr(self.source, "all_names", self.source.names)

    def _batches(self, plan: Plan, kinds: Mapping[str, Kind]) -> Iterator[Batch]:
        return self.source.batches(plan.read, kinds, plan.options)

    def summary(self, plan: Plan) -> TableSummary:
        """Of all batches."""
        found = TableSummary(plan.target)
        holds = self._held is None and getattr(self.source, "is_small", lambda _: False)(plan.read)
        held = []
        for batch in self._batches(plan, plan.kinds):
            add_batch(found, batch, plan, self._weights)
            if holds:
                held.append(batch)
        self._held = held if holds else None
        return found

    def cases(self, plan: Plan, domain: Domain, keep: Sequence[str]) -> Parts:
        """Coded and counted."""
        coder = Coder(domain, [*keep, *([plan.target] if plan.target else [])])
        held = self._held
        batches = iter(held) if held is not None else self._batches(plan, plan.kinds | coder.kinds)
        coded = (coded_cases(batch, coder, plan, self._weights) for batch in batches)
        if self._files is None:
            return finished(list(coded), plan.target)
        limit = self._files.memory_bytes // 4
        return gather(coded, plan.target, limit, self._files.temp_directory)


def _weighted(
    batch: Batch, plan: Plan, given: object, first: int = 0
) -> tuple[Batch, FloatArray | None]:
    """A batch without its column of weights and without rows of weight 0, and the weights."""
    if plan.weights is not None:
        weights: FloatArray | None = _as_weights(batch.columns[plan.weights])
        refuse_wrong_weights(weights, first)  # type: ignore[arg-type]
    else:
        weights = check_weights(_as_array(given), batch.n_rows)
    columns: Mapping[str, Column] = {name: batch.columns[name] for name in plan.names}
    if weights is not None and not weights.all():
        kept = weights > 0
        columns = {name: column.take(kept) for name, column in columns.items()}
        weights = weights[kept]
    n_rows = batch.n_rows if weights is None else len(weights)
    return Batch(columns, n_rows, batch.where), weights


def _as_weights(column: Column) -> FloatArray:
    if not isinstance(column, Numbers):
        raise DataError("weights must be numbers")
    return np.asarray(column.values, dtype=np.float64)


def _as_array(weights: object) -> object:
    return weights.values if isinstance(weights, Numbers) else weights


def add_batch(summary: TableSummary, batch: Batch, plan: Plan, weights: object = None) -> None:
    """Summarise one more batch."""
    rows, counts = _weighted(batch, plan, weights, summary.n_rows)
    summary.add(rows, counts, plan.as_labels)


def coded_cases(batch: Batch, coder: Coder, plan: Plan, weights: object = None) -> Cases:
    """The cases of one batch."""
    rows, counts = _weighted(batch, plan, weights)
    coded = coder.encode(rows)
    if plan.target is None:
        return Cases(coder.domain, coded.names[0], coded, coded.codes[0], counts)
    inputs = CodedRows(coded.names[:-1], coded.n_states[:-1], coded.codes[:-1])
    return Cases(coder.domain, plan.target, inputs, coded.codes[-1], counts)


def finished(parts: list[Cases], target: str | None) -> Cases:
    """All rows, in the order they came; counted where that saves at least half of them."""
    if not any(map(len, parts)):
        raise DataError("the data have no rows")
    cases = Cases.joined(parts)
    parts.clear()
    if target is not None:
        return cases.counted()
    counted = cases.distinct()
    return counted if 2 * len(counted) <= len(cases) else cases


def gather(coded: Iterable[Cases], target: str | None, limit: int, directory: Any) -> Parts:
    """Cases of batches: as they are while they take a quarter of ``limit`` bytes, then counted.

    Distinct rows that take more than half of it are kept on disk.
    """
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
                return StoredParts.write(_in_parts(counted, batches), directory)
    if not counted:
        return finished(held, target)
    return Cases.joined([*counted, *held]).distinct()


def _in_parts(counted: list[Cases], rest: Iterable[Cases]) -> Iterator[Cases]:
    """Parts of about ``PART_ROWS`` rows, counted where that saves much."""
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
