"""Read CSV and Parquet files as batches of columns, with pyarrow.

All columns of CSV are read as text, so that labels keep their text and one rule (``text``) decides
what is a number. The first line names the columns.
"""

import csv
import gzip
import io
import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from ebnc.data.batches import Batch, Source, require
from ebnc.data.entries import read_column
from ebnc.data.files import DataFiles, format_of
from ebnc.data.plan import Plan
from ebnc.data.text import is_text
from ebnc.errors import DataError, ParameterError

DELIMITERS = ",;\t|"
BLOCK_BYTES = 2**23  # text per batch of CSV
SMALL_BYTES = 2**27
BATCH_ENTRIES = 2**21  # entries per batch of Parquet


class FileSource(Source):
    """The files of one table, sorted by name."""

    def __init__(self, files: DataFiles) -> None:
        self.options, self.memory_bytes = files.options, files.memory_bytes
        self.temp_directory = files.temp_directory
        self._progress = files.progress
        self._files = files.find()
        self._is_csv = format_of(self._files[0]) == "csv"
        self._stamps = [_stamp(file) for file in self._files]
        # Compressed files hold about ten times as many bytes of data.
        is_plain = [self._is_csv and not _is_packed(file) for file in self._files]
        sizes = [size for size, _ in self._stamps]
        n_bytes = sum(n if plain else 10 * n for n, plain in zip(sizes, is_plain, strict=True))
        self.is_small = n_bytes <= SMALL_BYTES
        headers = [self._header(file, files.delimiter) for file in self._files]
        names = headers[0][0]
        for file, (others, _) in zip(self._files, headers, strict=True):
            if others != names:
                raise DataError(
                    f"files {file!r} and {self._files[0]!r} have different columns: "
                    f"{others[:8]} and {names[:8]}"
                )
        if len(set(names)) < len(names):
            repeated = min(name for name in names if names.count(name) > 1)
            raise DataError(f"file {self._files[0]!r} has two columns {repeated!r}; rename one")
        self.names = tuple(names)
        self._delimiters = [delimiter for _, delimiter in headers]
        require([*(files.include or ()), *files.exclude, *files.types], self.names)

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield all rows, file by file; finally raise if a file was changed meanwhile."""
        names = plan.read
        require(names, self.names)
        first = 0
        for number, file in enumerate(self._files):
            if self._is_csv:
                tables = self._csv(file, self._delimiters[number], names)
            else:
                tables = self._parquet(file, names)
            for table, share in tables:
                columns = {
                    name: read_column(name, column, plan.kinds.get(name), plan.options)
                    for name, column in zip(names, table.columns, strict=False)
                }
                yield Batch(columns, table.num_rows, f"file {file!r}", first)
                first += table.num_rows
                if self._progress is not None:
                    self._progress("reading", (number + share) / len(self._files))
        for file, stamp in zip(self._files, self._stamps, strict=True):
            if _stamp(file) != stamp:
                raise DataError(f"file {file!r} changed while it was read; read it again")

    def _header(self, file: str, delimiter: str | None) -> tuple[list[str], str]:
        if self._is_csv:
            return _csv_header(file, delimiter)
        with _translated(file):
            return list(pq.read_schema(file).names), ""

    def _csv(self, file: str, delimiter: str, names: Sequence[str]) -> Iterator[tuple[Any, float]]:
        """Yield record batches of these columns, and the share of the file read so far."""
        keys = [f"c{i}" for i in range(len(self.names))]  # unique keys, which names may not be
        wanted = [keys[self.names.index(name)] for name in names]
        with _translated(file), pa.OSFile(file) as raw:
            is_packed = _is_packed(file)
            reader = arrow_csv.open_csv(
                pa.CompressedInputStream(raw, "gzip") if is_packed else raw,
                arrow_csv.ReadOptions(
                    column_names=keys, skip_rows_after_names=1, block_size=BLOCK_BYTES
                ),
                arrow_csv.ParseOptions(
                    delimiter=delimiter,
                    newlines_in_values=is_packed or _has_quotes(file),  # takes three times as long
                ),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(keys, pa.string()),
                    include_columns=wanted or keys[:1],
                    strings_can_be_null=False,
                ),
            )
            size = max(1, raw.size())
            for batch in reader:
                if batch.num_rows:
                    yield batch, min(1.0, raw.tell() / size)

    def _parquet(self, file: str, names: Sequence[str]) -> Iterator[tuple[Any, float]]:
        with _translated(file):
            schema = pq.read_schema(file)
            text = [name for name in names if is_text(schema.field(name).type)]
            with pq.ParquetFile(file, read_dictionary=text) as opened:
                n_read, n_rows = 0, max(1, opened.metadata.num_rows)
                size = max(1024, BATCH_ENTRIES // max(1, len(names)))
                for batch in opened.iter_batches(size, columns=list(names), use_threads=False):
                    n_read += batch.num_rows
                    if batch.num_rows:
                        yield batch.select(list(names)), n_read / n_rows


def _is_packed(file: str) -> bool:
    return file.lower().endswith(".gz")


def _stamp(file: str) -> tuple[int, int]:
    """Size and modification time of a file, to detect changes while it is read."""
    try:
        status = os.stat(file)
    except OSError as error:
        raise DataError(f"file {file!r} can no longer be read: {error.strerror}") from None
    return status.st_size, status.st_mtime_ns


@contextmanager
def _translated(file: str) -> Iterator[None]:
    """Turn errors of pyarrow and of the system into ``DataError``."""
    try:
        yield
    except DataError:
        raise
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        if "invalid UTF8" in reason or isinstance(error, UnicodeDecodeError):
            reason = "it is not UTF-8 text; save it as UTF-8"
        raise DataError(f"file {file!r} cannot be read: {reason[:300]}") from None


def _has_quotes(file: str) -> bool:
    with open(file, "rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return text.find(b'"') >= 0


def _csv_header(file: str, delimiter: str | None) -> tuple[list[str], str]:
    """Return the names in the first line, and the delimiter."""
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
        raise ParameterError(f"delimiter must be one character, got {delimiter!r}")
    with _translated(file), open(file, "rb") as raw:
        binary: Any = gzip.GzipFile(fileobj=raw) if _is_packed(file) else raw
        text = io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")
        line = text.readline()
        if not line.strip():
            raise DataError(f"file {file!r} is empty; its first line must name the columns")
        if "\0" in line:
            raise DataError(f"file {file!r} contains zero bytes; it is not text")
        while line.count('"') % 2:  # a quoted name may hold a line break
            more = text.readline()
            if not more:
                raise DataError(f"the header of file {file!r} has a quote that is never closed")
            line += more
    chosen = delimiter or max(DELIMITERS, key=line.count)
    return next(csv.reader([line], delimiter=chosen)), chosen
