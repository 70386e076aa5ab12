"""Rows of CSV files, coded by states that are known already: one pass, for prediction.

Plain text is coded many rows at once; on one core, since threads gained nothing (measured). What is
not plain (a quote within an entry, an empty line, a line with too few entries) is read by Python's
``csv`` from there on: it knows what is allowed, and says on which line something is not.
"""

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

import numpy as np

from ebnc.data.column_coder import ColumnCoder
from ebnc.data.columns import require
from ebnc.data.csv_columns import Header, csv_header, opened_csv, read_entries
from ebnc.data.csv_entries import entry_coder
from ebnc.data.csv_text import PAD, Text, separators
from ebnc.data.files import DataFiles, Stamps
from ebnc.data.memory import reuse_memory
from ebnc.data.rows import CodedRows, code_type
from ebnc.domain import Domain
from ebnc.errors import DataError
from ebnc.typing import CodeArray

__all__ = ["stream_csv_rows"]

BLOCK = 2**20  # bytes that are read at a time: what is made of them stays in the cache
MOST_OPEN = 2**24  # bytes without an end of a line outside of quotes, which may be none
BATCH = 2**14  # rows of Python's csv at a time


def stream_csv_rows(
    files: DataFiles, domain: Domain, names: Sequence[str], *, unseen_as_extra: bool
) -> Iterator[CodedRows]:
    """All rows in the order of the files, some at a time.

    An entry that is not a state is an error, or, with ``unseen_as_extra``, gets the code r.
    """
    reuse_memory()
    paths = files.find()
    stamps = Stamps(paths)
    headers = csv_header(paths)
    require(names, headers[0].names)
    n_states = tuple(domain.n_states(name) + unseen_as_extra for name in names)
    for path, header in zip(paths, headers, strict=True):
        reader = _Reader(path, header, domain, names, unseen_as_extra)
        for codes in reader.read(files):
            yield CodedRows(tuple(names), n_states, codes)
    stamps.refuse_changed()


class _Reader:
    """Codes the columns ``names`` of a file."""

    def __init__(
        self, path: str, header: Header, domain: Domain, names: Sequence[str], extra: bool
    ) -> None:
        self.path, self.header = path, header
        self.dtype = code_type([domain.n_states(name) + extra for name in names])
        self.columns = [header.names.index(name) for name in names]
        self.codes_of = [entry_coder(name, domain[name], unseen_as_extra=extra) for name in names]
        self.coders: list[ColumnCoder | None] = []
        for v, name in enumerate(names):
            if extra and len(domain[name]) == 1:  # what is not this state counts as it
                self.codes_of[v] = lambda _: 0
                self.coders.append(None)
            else:
                self.coders.append(ColumnCoder(domain[name], self.codes_of[v]))

    def read(self, files: DataFiles) -> Iterator[CodeArray]:
        """All rows, some at a time, shape (columns, rows)."""
        for offset, text in self._pieces(files):
            codes = None if text is None else self._code(text)
            if codes is None:
                yield from self._read_rest(offset)
                return
            yield codes

    def _pieces(self, files: DataFiles) -> Iterator[tuple[int, Text | None]]:
        """Whole lines, after which no quote is open, and where they begin; None: none in sight."""
        size = max(1, os.path.getsize(self.path))
        with opened_csv(self.path) as (binary, position):
            binary.read(self.header.size)
            offset, rest = self.header.size, b""
            while block := binary.read(BLOCK):
                text = b"".join([rest, block, bytes(PAD)])
                end = text.rfind(b"\n") + 1
                # Counting takes ten times as long as looking for one.
                if b'"' in text and text.count(b'"', 0, end) % 2:
                    end = 0  # a line break within quotes: read on
                if end:
                    yield offset, Text(text, end)
                offset += end
                rest = text[end:-PAD]
                if len(rest) > MOST_OPEN:
                    yield offset, None
                if files.progress is not None:
                    files.progress("reading rows", min(1.0, position() / size))
        if rest:
            yield offset, Text(rest + b"\n" + bytes(PAD), len(rest) + 1)

    def _code(self, text: Text) -> CodeArray | None:
        """Whole rows of text, if it is plain."""
        self._refuse_junk(text.raw)
        width = len(self.header.names)
        stops = separators(text, ord(self.header.delimiter), width)
        if stops is None:
            return None
        codes = np.zeros((len(self.coders), len(stops)), dtype=self.dtype)
        row_starts = np.concatenate([[0], stops[:-1, -1] + 1])
        for v, (column, coder) in enumerate(zip(self.columns, self.coders, strict=True)):
            if coder is None:
                continue
            start = stops[:, column - 1] + 1 if column else row_starts
            stop = stops[:, column]
            if column == width - 1 and b"\r" in text.raw:
                stop = stop - (text.bytes[stop - 1] == ord("\r"))
            codes[v] = coder.code(text, start, stop)
        return codes

    def _refuse_junk(self, text: bytes) -> None:
        if b"\0" in text:
            raise DataError(f"file {self.path!r} holds zero bytes; it is not text")
        if not text.isascii():
            try:
                text.decode()
            except UnicodeDecodeError as error:
                raise DataError(f"file {self.path!r} cannot be read: {error}") from None

    def _read_rest(self, offset: int) -> Iterator[CodeArray]:
        """Rows from an offset on, as Python's ``csv`` reads them."""
        known = [lru_cache(maxsize=2**16)(code_of) for code_of in self.codes_of]
        entries = read_entries(self.path, self.header, offset)
        while rows := list(islice(entries, BATCH)):
            codes = np.empty((len(self.columns), len(rows)), dtype=self.dtype)
            for v, (column, code_of) in enumerate(zip(self.columns, known, strict=True)):
                codes[v] = [code_of(row[column]) for row in rows]
            yield codes
