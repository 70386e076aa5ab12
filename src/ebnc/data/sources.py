"""Make the source of any data: a table in memory, or files."""

from collections.abc import Sequence

from ebnc.data.batches import FrameSource, Source, is_dask_frame
from ebnc.data.file_batches import FileSource
from ebnc.data.files import as_files
from ebnc.data.table import Frame

__all__ = ["column_names", "source_of"]


def source_of(data: Frame, array_names: Sequence[str] | None = None) -> Source:
    """Return the source of data other than a Dask DataFrame.

    Parameters
    ----------
    data : table or path
        The data.
    array_names : sequence of str or None
        Names of the columns of a two-dimensional array; default X1, X2, ….
    """
    files = as_files(data)
    return FrameSource(data, array_names) if files is None else FileSource(files)


def column_names(data: Frame) -> list[str]:
    """Return the columns to learn from, in order; those of an array are X1, X2, …."""
    if is_dask_frame(data):
        return [str(name) for name in data.columns]
    files, names = as_files(data), source_of(data).names
    return list(names) if files is None else files.chosen(names)
