"""Cases in parts: on disk here, or on the workers of a cluster; sums over rows go to the rows.

``Parts`` is a protocol of few verbs. Whoever needs a sum over all rows writes a function of one
part and calls ``add_up``; results are summed in a fixed tree, so they do not depend on timing.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.errors import DataError, StorageError
from ebnc.typing import CodeArray, FloatArray

__all__ = ["Parts", "StoredParts", "add", "tree_sum", "varying_inputs"]

T = TypeVar("T")


class Parts(Protocol):
    """Cases in one or several parts, all with the same inputs, target and states.

    ``Cases`` in memory are one part.

    ``add_up(job, …)`` is Σ job(part, …); a job returns a number, an array, or a tuple or list of
    these. ``collect`` is the list of the results. ``prepared(make, …)`` are parts that hold
    make(part, …) instead of the cases, made anew in every pass or kept where there is memory.
    """

    @property
    def domain(self) -> Domain: ...
    @property
    def target(self) -> str: ...
    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def n_states(self) -> tuple[int, ...]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def total_weight(self) -> float: ...
    def add_up(self, job: Callable[..., T], *arguments: Any) -> T: ...
    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]: ...
    def prepared(self, make: Callable[..., Any], *arguments: Any) -> Any: ...


def varying_inputs(cases: Parts) -> tuple[str, ...]:
    """The inputs with more than one state: those that can tell anything."""
    return tuple(x for x, r in zip(cases.inputs, cases.n_states, strict=True) if r > 1)


def add(left: Any, right: Any) -> Any:
    """The sum of two results of jobs, member by member."""
    if isinstance(left, tuple | list):
        return type(left)(map(add, left, right))
    return left + right


def tree_sum(results: Iterable[T]) -> T:
    """Sums neighbours, then neighbouring sums: log₂ deep, ⌈log₂⌉ results held at a time."""
    held: list[tuple[int, T]] = []
    for result in results:
        level, summed = 0, result
        while held and held[-1][0] == level:
            summed = add(held.pop()[1], summed)
            level += 1
        held.append((level, summed))
    if not held:
        raise DataError("the data have no rows")
    total = held.pop()[1]
    while held:
        total = add(held.pop()[1], total)
    return total


@dataclass(frozen=True, eq=False)
class StoredParts:
    """Coded cases in files of a temporary directory, read part by part in every pass."""

    domain: Domain
    target: str
    inputs: tuple[str, ...]
    n_states: tuple[int, ...]
    total_weight: float
    stored: tuple["_StoredCases", ...]
    directory: "_Directory"
    makers: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = field(default=())

    @classmethod
    def write(
        cls, parts: Iterable[Cases], directory: str | os.PathLike[str] | None = None
    ) -> "StoredParts":
        """Write parts to a temporary directory; it goes when nothing refers to the parts."""
        kept = _Directory(directory)
        stored, first, total = [], None, 0.0
        try:
            for number, part in enumerate(parts):
                stored.append(_StoredCases.write(part, kept.path / f"part-{number:06d}"))
                first = first or part
                total += part.total_weight
        except OSError as error:
            kept.remove()
            if isinstance(error, StorageError):
                raise
            raise StorageError(
                f"coded rows cannot be written to {str(kept.path)!r}: {error.strerror}; give a "
                "temp_directory with more space"
            ) from None
        except BaseException:
            kept.remove()
            raise
        if first is None:
            raise DataError("the data have no rows")
        names, n_states = first.rows.names, first.rows.n_states
        return cls(first.domain, first.target, names, n_states, total, tuple(stored), kept)

    @property
    def n_rows(self) -> int:
        """Rows of all parts; a row may have a weight."""
        return sum(part.n_rows for part in self.stored)

    def add_up(self, job: Callable[..., T], *arguments: Any) -> T:
        """Σ job(part, …), one part in memory at a time."""
        return tree_sum(job(part, *arguments) for part in self._made())

    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]:
        """job(part, …) of every part, in order."""
        return [job(part, *arguments) for part in self._made()]

    def prepared(self, make: Callable[..., Any], *arguments: Any) -> "StoredParts":
        """Parts that become make(part, …) when they are read."""
        what = (self.domain, self.target, self.inputs, self.n_states, self.total_weight)
        makers = (*self.makers, (make, arguments))
        return StoredParts(*what, self.stored, self.directory, makers)

    def _made(self) -> Iterator[Any]:
        for stored in self.stored:
            part: Any = stored.read(self.domain, self.target, self.inputs, self.n_states)
            for make, arguments in self.makers:
                part = make(part, *arguments)
            yield part


class _Directory:
    """A temporary directory that is removed with the last reference to it, or at exit."""

    def __init__(self, parent: str | os.PathLike[str] | None) -> None:
        try:
            self.path = Path(tempfile.mkdtemp(prefix="ebnc-parts-", dir=parent))
        except OSError as error:
            raise StorageError(
                f"no temporary directory can be made in {str(parent)!r}: {error.strerror}; give "
                "another temp_directory"
            ) from None
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True)
class _StoredCases:
    """Where one part lies: codes and classes as they are in memory, then the weights."""

    path: Path
    n_rows: int
    code_type: str
    class_type: str
    has_weights: bool

    @classmethod
    def write(cls, cases: Cases, path: Path) -> "_StoredCases":
        with open(path, "wb") as file:
            for array in (cases.rows.codes, cases.classes, cases.weights):
                if array is not None:
                    np.ascontiguousarray(array).tofile(file)
        types = cases.rows.codes.dtype.str, cases.classes.dtype.str
        return cls(path, len(cases), *types, cases.weights is not None)

    def read(
        self, domain: Domain, target: str, inputs: tuple[str, ...], n_states: Sequence[int]
    ) -> Cases:
        try:
            with open(self.path, "rb") as file:
                codes: CodeArray = np.fromfile(file, self.code_type, len(inputs) * self.n_rows)
                classes: CodeArray = np.fromfile(file, self.class_type, self.n_rows)
                weights: FloatArray | None = None
                if self.has_weights:
                    weights = np.fromfile(file, np.float64, self.n_rows)
        except OSError as error:
            raise StorageError(
                f"coded rows cannot be read from {str(self.path)!r}: {error.strerror}; the "
                "temporary directory must stay as it is during a fit"
            ) from None
        found = classes if weights is None else weights
        if len(found) != self.n_rows:
            raise StorageError(f"the file of coded rows {str(self.path)!r} was cut short")
        rows = CodedRows(inputs, tuple(n_states), codes.reshape(len(inputs), self.n_rows))
        return Cases(domain, target, rows, classes, weights)
