"""A Dask DataFrame as cases: summarised and coded on the workers, brought here where it is small.

Partitions are frames in memory, read by the same rules as any other; only sums of summaries, and
coded rows, travel.
"""

from collections.abc import Sequence
from typing import Any

from ebnc.data.batches import FrameSource
from ebnc.data.cases import Cases
from ebnc.data.coder import Coder
from ebnc.data.dask_parts import DaskParts, PartitionedFrame
from ebnc.data.parts import Parts
from ebnc.data.read import Plan, add_batch, coded_cases, finished
from ebnc.data.summaries import TableSummary
from ebnc.data.table import Options
from ebnc.domain import Domain
from ebnc.errors import DataError

__all__ = ["DaskReader"]

HOME_BYTES = 2**26
"""Coded rows of this size come here: a sum over them then needs no round trip to the workers."""


class DaskReader:
    """The partitions of a Dask DataFrame."""

    def __init__(self, frame: Any) -> None:
        self.names = [str(name) for name in frame.columns]
        self.options = Options()
        self._partitions = PartitionedFrame.of(frame)

    def summary(self, plan: Plan) -> TableSummary:
        """Of all partitions, added up on the workers."""
        found: TableSummary = self._partitions.add_up(_summary, plan)
        return found

    def cases(self, plan: Plan, domain: Domain, keep: Sequence[str]) -> Parts:
        """Coded rows: here if they are small, counted if not, and else on the workers."""
        coder = Coder(domain, [*keep, *([plan.target] if plan.target else [])])
        futures = self._partitions.submit(_coded, plan, coder)
        target = plan.target or coder.names[0]
        what = (domain, target, tuple(keep), coder.n_states[: len(keep)])
        parts = DaskParts(*what, 0, 0.0, self._partitions.client, tuple(futures))
        n_rows, _, size = parts.add_up(_sizes)
        if n_rows == 0:
            raise DataError("the data have no rows")
        if size <= HOME_BYTES:
            return finished(parts.collect(_itself), plan.target)
        counted = parts.prepared(_counted)
        n_rows, total, size = counted.add_up(_sizes)
        if size <= HOME_BYTES:
            return Cases.joined(counted.collect(_itself)).distinct()
        return DaskParts(*what, n_rows, total, self._partitions.client, counted.futures)


def _summary(part: Any, plan: Plan) -> TableSummary:
    found = TableSummary(plan.target)
    for batch in FrameSource(part).batches(plan.read, plan.kinds, plan.options):
        add_batch(found, batch, plan)
    return found


def _coded(part: Any, plan: Plan, coder: Coder) -> Cases:
    kinds = plan.kinds | coder.kinds
    (batch,) = FrameSource(part).batches(plan.read, kinds, plan.options)
    return coded_cases(batch, coder, plan)


def _counted(cases: Cases) -> Cases:
    return cases.counted()


def _sizes(cases: Cases) -> tuple[int, float, int]:
    return len(cases), cases.total_weight, cases.n_bytes


def _itself(cases: Cases) -> Cases:
    return cases
