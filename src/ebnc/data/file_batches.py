"""CSV and Parquet files as batches of columns, read by pyarrow.

All columns of CSV are read as text, so that a label keeps the text that is written and one rule
(``columns``) says what is a number. The first line names the columns.
"""

import csv
import gzip
import io
import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ebnc.data.batches import Batch, require
from ebnc.data.columns import read_column
from ebnc.data.files import DataFiles, Stamps, format_of
from ebnc.data.table import Kind, Options
from ebnc.errors import DataError, ParameterError

__all__ = ["FileSource"]

DELIMITERS = ",;\t|"
BLOCK_BYTES = 2**23  # of text that become one batch
SMALL_BYTES = 2**27
BATCH_ENTRIES = 2**21  # of Parquet that become one batch


class FileSource:
    """The files of one table, in order of their names."""

    def __init__(self, files: DataFiles) -> None:
        self.files = files
        self.options = files.options
        self.found = files.find()
        self.is_csv = format_of(self.found[0]) == "csv"
        self._stamps = Stamps(self.found)
        self._delimiters: dict[str, str] = {}
        headers = [self._header(file) for file in self.found]
        for file, names in zip(self.found, headers, strict=True):
            if names != headers[0]:
                raise DataError(
                    f"file {file!r} has other columns than {self.found[0]!r}: "
                    f"{names[:8]} instead of {headers[0][:8]}"
                )
        if len(set(headers[0])) < len(headers[0]):
            repeated = min(name for name in headers[0] if headers[0].count(name) > 1)
            raise DataError(f"file {self.found[0]!r} has two columns {repeated!r}; rename one")
        self.all_names = tuple(headers[0])
        asked = [*(files.include or ()), *files.exclude, *files.types]
        require(asked, self.all_names)
        left = set(files.exclude)
        kept = self.all_names if files.include is None else tuple(files.include)
        self._names = tuple(name for name in kept if name not in left)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns that are included."""
        return self._names

    def is_small(self, names: Sequence[str]) -> bool:
        """Whether these columns fit in memory easily once they are read."""
        if self.is_csv:  # compressed text is about ten times as long
            sizes = [
                os.path.getsize(f) * (10 if f.lower().endswith(".gz") else 1) for f in self.found
            ]
            return sum(sizes) <= SMALL_BYTES
        import pyarrow.parquet as pq

        n_rows = sum(pq.read_metadata(file).num_rows for file in self.found)
        return bool(n_rows * len(names) * 8 <= SMALL_BYTES)

    def batches(
        self, names: Sequence[str], kinds: Mapping[str, Kind], options: Options
    ) -> Iterator[Batch]:
        """All rows, file by file; raises at the end where a file was changed meanwhile."""
        require(names, self.all_names)
        keys = {x: f"c{self.all_names.index(x)}" if self.is_csv else x for x in names}
        read = self._csv if self.is_csv else self._parquet
        for number, file in enumerate(self.found):
            for table, done in read(file, list(keys.values())):
                columns = {
                    name: read_column(name, table.column(key), kinds.get(name), options)
                    for name, key in keys.items()
                }
                yield Batch(columns, table.num_rows, f"file {file!r}")
                if self.files.progress is not None:
                    self.files.progress("reading", (number + done) / len(self.found))
        self._stamps.refuse_changed()

    def _header(self, file: str) -> list[str]:
        if not self.is_csv:
            import pyarrow.parquet as pq

            with _translated(file):
                return list(pq.read_schema(file).names)
        names, self._delimiters[file] = _csv_header(file, self.files.delimiter)
        return names

    def _csv(self, file: str, keys: Sequence[str]) -> Iterator[tuple[Any, float]]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        read = [f"c{i}" for i in range(len(self.all_names))]
        with _translated(file), pa.OSFile(file) as raw:
            packed = file.lower().endswith(".gz")
            stream = pa.CompressedInputStream(raw, "gzip") if packed else raw
            reader = arrow_csv.open_csv(
                stream,
                arrow_csv.ReadOptions(
                    column_names=read, skip_rows_after_names=1, block_size=BLOCK_BYTES
                ),
                arrow_csv.ParseOptions(
                    delimiter=self._delimiters[file],
                    newlines_in_values=packed or _has_quotes(file),  # three times as slow
                ),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(read, pa.string()),
                    include_columns=list(keys) or read[:1],
                    strings_can_be_null=False,
                ),
            )
            size = max(1, raw.size())
            for batch in reader:
                if batch.num_rows:
                    yield batch, min(1.0, raw.tell() / size)

    def _parquet(self, file: str, names: Sequence[str]) -> Iterator[tuple[Any, float]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with _translated(file):
            schema = pq.read_schema(file)
            text = [
                name
                for name in names
                if pa.types.is_string(schema.field(name).type)
                or pa.types.is_large_string(schema.field(name).type)
            ]
            with pq.ParquetFile(file, read_dictionary=text) as opened:
                done, total = 0, max(1, opened.metadata.num_rows)
                rows = max(1024, BATCH_ENTRIES // max(1, len(names)))
                for batch in opened.iter_batches(rows, columns=list(names)):
                    done += batch.num_rows
                    if batch.num_rows:
                        yield batch, done / total


@contextmanager
def _translated(file: str) -> Iterator[None]:
    """Errors of pyarrow and of the system as ours."""
    import pyarrow as pa

    try:
        yield
    except DataError:
        raise
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())
        if "invalid UTF8" in said or isinstance(error, UnicodeDecodeError):
            said = "it is not UTF-8 text; save it as UTF-8"
        raise DataError(f"file {file!r} cannot be read: {said[:300]}") from None


def _has_quotes(file: str) -> bool:
    with open(file, "rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return text.find(b'"') >= 0


def _csv_header(file: str, delimiter: str | None) -> tuple[list[str], str]:
    """The names in the first line, and the delimiter."""
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
        raise ParameterError(f"delimiter must be one character, got {delimiter!r}")
    with _translated(file), open(file, "rb") as raw:
        binary: Any = gzip.GzipFile(fileobj=raw) if file.lower().endswith(".gz") else raw
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
        line = text.readline()
        if not line.strip("\ufeff \t\r\n"):
            raise DataError(f"file {file!r} is empty; its first line must name the columns")
        if "\0" in line:
            raise DataError(f"file {file!r} holds zero bytes; it is not text")
        while line.count('"') % 2:  # a quoted name may hold a line break
            more = text.readline()
            if not more:
                raise DataError(f"the header of file {file!r} has a quote that does not end")
            line += more
    line = line.removeprefix("\ufeff")  # the mark of UTF-8 is no part of a name
    chosen = delimiter or max(DELIMITERS, key=line.count)
    return next(csv.reader([line], delimiter=chosen)), chosen
