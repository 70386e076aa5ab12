"""Rows of files, coded by states that are known already: one pass, for prediction."""

from collections.abc import Iterator, Sequence

from ebnc.data.files import DataFiles, format_of
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain

__all__ = ["stream_rows"]


def stream_rows(
    files: DataFiles, domain: Domain, names: Sequence[str], *, unseen_as_extra: bool = False
) -> Iterator[CodedRows]:
    """All rows in the order of the files, coded, some at a time.

    An entry that is not a state is an error, or, with ``unseen_as_extra``, gets the code r.
    """
    if format_of(files.find()[0]) == "csv":
        from ebnc.data.csv_rows import stream_csv_rows as stream
    else:
        from ebnc.data.parquet_rows import stream_parquet_rows as stream
    return stream(files, domain, names, unseen_as_extra=unseen_as_extra)
