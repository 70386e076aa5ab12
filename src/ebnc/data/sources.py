"""Make the source of any data: a table in memory, files, or a Dask DataFrame."""

from collections.abc import Sequence

from ebnc.data.batches import FrameSource, Source
from ebnc.data.dask_read import DaskSource, is_dask_frame
from ebnc.data.file_batches import FileSource
from ebnc.data.files import as_files
from ebnc.data.table import Frame


def source_of(data: Frame, array_names: Sequence[str] | None = None) -> Source:
    """Return the source of data; columns of an array are ``array_names``, or X1, X2, ….."""
    files = as_files(data)
    if files is not None:
        return FileSource(files)
    return DaskSource(data) if is_dask_frame(data) else FrameSource(data, array_names)


def column_names(data: Frame) -> list[str]:
    """Return the columns to learn from, in order; those of an array are X1, X2, …."""
    files, names = as_files(data), source_of(data).names
    return list(names) if files is None else files.chosen(names)
