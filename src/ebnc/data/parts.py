"""Cases in parts: one part in memory, or several on disk if they do not fit.

``add_up(job, …)`` returns Σ job(part, …); a job returns a number, an array, or a tuple or list of
these. ``collect`` returns the list of results. ``prepared(make, …)`` returns parts that hold
make(part, …) instead of cases; parts on disk compute it in every pass.
"""

import os
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.errors import DataError, StorageError
from ebnc.typing import CodeArray, FloatArray

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class StoredParts:
    """Coded cases in files of a temporary directory, read part by part in every pass.

    ``n_rows``: rows of all parts, not counting weights. ``makers``: functions with their arguments,
    which are applied to every part after reading.
    """

    domain: Domain
    target: str
    inputs: tuple[str, ...]
    n_states: tuple[int, ...]
    n_rows: int
    total_weight: float
    files: tuple[Path, ...]
    directory: "_Directory"
    makers: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = ()

    @classmethod
    def write(
        cls, parts: Iterable[Cases], directory: str | os.PathLike[str] | None = None
    ) -> "StoredParts":
        """Write parts to a temporary directory, which is removed with the last reference to it."""
        storage = _Directory(directory)
        files: list[Path] = []
        first, n_rows, total = None, 0, 0.0
        try:
            for part in parts:
                files.append(storage.path / f"part-{len(files):06d}.npz")
                _write(part, files[-1])
                first = first or part
                n_rows += len(part)
                total += part.total_weight
        except BaseException:
            storage.remove()
            raise
        if first is None:
            raise DataError("the data have no rows")
        variables = (first.domain, first.target, first.inputs, first.n_states)
        return cls(*variables, n_rows, total, tuple(files), storage)

    def add_up(self, job: Callable[..., T], *arguments: Any) -> T:
        """Σ job(part, …), one part in memory at a time."""
        return reduce(_add, (job(part, *arguments) for part in self._parts()))

    def collect(self, job: Callable[..., T], *arguments: Any) -> list[T]:
        """The results job(part, …) of all parts, in order."""
        return [job(part, *arguments) for part in self._parts()]

    def prepared(self, make: Callable[..., Any], *arguments: Any) -> "StoredParts":
        """Return parts that apply make(part, …) after reading."""
        return replace(self, makers=(*self.makers, (make, arguments)))

    def _parts(self) -> Iterator[Any]:
        for file in self.files:
            codes, classes, weights = _read(file)
            rows = CodedRows(self.inputs, self.n_states, codes)
            part: Any = Cases(self.domain, self.target, rows, classes, weights)
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


Parts: TypeAlias = Cases | StoredParts


def varying_inputs(cases: Parts) -> tuple[str, ...]:
    """The inputs with more than one state; only these can be informative."""
    return tuple(x for x, r in zip(cases.inputs, cases.n_states, strict=True) if r > 1)


def _add(left: Any, right: Any) -> Any:
    """Add two results of jobs, member by member."""
    if isinstance(left, tuple | list):
        return type(left)(map(_add, left, right))
    return left + right


def _write(cases: Cases, file: Path) -> None:
    weights = {} if cases.weights is None else {"weights": cases.weights}
    try:
        np.savez(file, codes=cases.rows.codes, classes=cases.classes, **weights)  # type: ignore[arg-type]
    except OSError as error:
        raise StorageError(
            f"coded rows cannot be written to {str(file.parent)!r}: {error.strerror}; give a "
            "temp_directory with more space"
        ) from None


def _read(file: Path) -> tuple[CodeArray, CodeArray, FloatArray | None]:
    try:
        with open(file, "rb") as opened, np.load(opened, allow_pickle=False) as stored:
            return stored["codes"], stored["classes"], stored.get("weights")
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise StorageError(
            f"coded rows cannot be read from {str(file)!r}: {error}; do not change the temporary "
            "directory during a fit"
        ) from None
