"""Input and output files; the name ``-`` means standard input or standard output."""

import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ebnc.data.files import CSV, PARQUET, DataFiles, Progress
from ebnc.errors import DataError, FileError, FormatError
from ebnc.writing import refuse_existing, written_whole

STANDARD = "-"
KEPT = 2**24  # bytes of output buffered in memory; more goes to a temporary file


@contextmanager
def data_files(path: str, progress: Progress | None = None, **options: Any) -> Iterator[DataFiles]:
    """Yield the data at a path; standard input is copied to a file that is removed afterwards."""
    if path != STANDARD:
        yield DataFiles(path, progress=progress, **options)
        return
    folder = Path(tempfile.mkdtemp(prefix="ebnc-"))
    try:
        stream = sys.stdin.buffer
        first = stream.read(4)
        if not first:
            raise DataError("standard input is empty; its first line must name the columns")
        file = folder / ("data.parquet" if first == b"PAR1" else "data.csv")
        with open(file, "wb") as copy:
            copy.write(first)
            shutil.copyfileobj(stream, copy)
        yield DataFiles(file, progress=progress, **options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def model_path(path: str) -> str:
    """Return the path to read a model from; raise for a table, an argument in the wrong place."""
    if path.lower().endswith(CSV + PARQUET):
        raise FormatError(f"{path} is a table, not a model; name the model first, then the data")
    return "/dev/stdin" if path == STANDARD else path


@contextmanager
def output(path: str, *, force: bool) -> Iterator[BinaryIO]:
    """Yield a file for results. They reach ``path`` or standard output only without an error."""
    if path == STANDARD:
        with tempfile.SpooledTemporaryFile(KEPT, prefix="ebnc-") as spool:
            yield spool  # type: ignore[misc]
            spool.seek(0)
            shutil.copyfileobj(spool, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    refuse_existing_output(path, force=force)
    with written_whole(path, overwrite=force) as beside, open(beside, "wb") as file:
        yield file


@contextmanager
def finishing(out: str) -> Iterator[None]:
    """Ignore Ctrl-C while a learned model is written.

    If the model goes to standard output, Ctrl-C still works: the reader may have stopped.
    """
    if out == STANDARD or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def write_with_report(
    out: str, model: bytes, report: str | None, page: bytes, *, force: bool
) -> None:
    """Write a model and, if ``report`` is a path, its report."""
    for path, content in ((out, model), (report, page)):
        if path is not None:
            with output(path, force=force) as file:
                file.write(content)


def refuse_outputs(out: str, report: str | None, data: str, *, force: bool) -> None:
    """Raise before learning starts if the model or its report cannot be written."""
    for path in (out, report):
        refuse_existing_output(path, force=force, read=data)
    if report == STANDARD or (report is not None and _is_same(out, report)):
        raise FileError(
            "the report needs a file of its own, not the model file or standard output, "
            f"got {report}"
        )
    refuse_odd_page(report)


def refuse_odd_page(path: str | None) -> None:
    """Raise if the name of a report does not end as that of a page."""
    if path is None or path == STANDARD or path.startswith("/dev/"):
        return
    if not path.lower().endswith((".html", ".htm")):
        raise FileError(f"a report is an HTML page; end its name in .html, got {path!r}")


def refuse_existing_output(path: str | None, *, force: bool, read: str | None = None) -> None:
    """Raise if a result cannot be written, or would overwrite the input ``read``."""
    if path is None or path == STANDARD:
        return
    if read is not None and _is_same(path, read):
        raise FileError(f"{path} is an input file; choose another name for the result")
    if Path(path).is_dir():
        raise FileError(f"cannot write {path}: it is a directory; name a file in it")
    if not force:
        try:
            refuse_existing(path)
        except FileError:
            raise FileError(f"{path} exists already; --force overwrites it") from None
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise FileError(f"cannot write {path}: folder {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise FileError(f"cannot write {path}: no permission to write in {folder}")


def _is_same(path: str, other: str) -> bool:
    """Whether two names mean the same file, existing or not; devices never count as the same."""
    real = Path(os.path.realpath(path))
    return real == Path(os.path.realpath(other)) and (real.is_file() or not real.exists())
