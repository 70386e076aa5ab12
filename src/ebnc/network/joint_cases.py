"""All columns of a table as cases of a network: no target, the distinct rows counted."""

from collections.abc import Mapping

import numpy as np

from ebnc.data.cases import Cases, check_weights, distinct_rows
from ebnc.data.columns import (
    Column,
    Factorised,
    Frame,
    column_names,
    factorise,
    is_numeric,
    read_columns,
)
from ebnc.data.dask_parts import is_dask_frame
from ebnc.data.encoding import encode
from ebnc.data.files import DataFiles, as_files
from ebnc.data.rows import CodedRows
from ebnc.data.states import Categories, Missing, learn_domain
from ebnc.domain import Domain
from ebnc.errors import DataError, StorageError
from ebnc.kernels.parallel import in_parallel
from ebnc.typing import FloatArray

__all__ = ["read_joint_cases"]


def read_joint_cases(
    data: Frame, categories: Categories | None, missing: Missing, weights: object
) -> Cases:
    """All columns (but one of weights) as rows; the first one stands in as target.

    ``data``: a frame in memory, a path to files, or a Dask DataFrame whose rows are then brought
    together here: a network needs all columns at once, and keeps its distinct rows.
    ``weights``: a number for each row, or the name of a column.
    """
    files = as_files(data)
    if files is not None:
        return _from_files(files, categories, missing, weights)
    if is_dask_frame(data):
        from ebnc.data.dask_cases import gather

        data = gather(data, [str(name) for name in data.columns])
    names = column_names(data)
    if isinstance(weights, str):
        names = [x for x in names if x != weights]
    if not names:
        raise DataError("the data have no columns")
    if isinstance(weights, str):
        weights = read_columns(data, [weights])[weights]
    columns = read_columns(data, names)
    labels = _factorised({x: c for x, c in columns.items() if not is_numeric(c)})
    domain = learn_domain(columns, names, categories=categories, missing=missing, factorised=labels)
    rows = encode(columns, domain, names, factorised=labels)
    if len(rows) == 0:
        raise DataError("the data have no rows")
    return _counted(domain, rows, check_weights(weights, len(rows)))


def _factorised(columns: Mapping[str, Column]) -> dict[str, Factorised]:
    found = in_parallel(lambda column: factorise(*column), list(columns.items()))
    return dict(zip(columns, found, strict=True))


def _from_files(
    files: DataFiles, categories: Categories | None, missing: Missing, weights: object
) -> Cases:
    from ebnc.data.file_cases import column_names as columns_of
    from ebnc.data.file_cases import read_files

    names = [x for x in columns_of(files) if x != weights]
    found = read_files(files, names, None, categories=categories, missing=missing, weights=weights)
    if not isinstance(found, Cases):
        raise StorageError(f"{found.n_rows} distinct rows do not fit in memory; raise memory_limit")
    codes = np.vstack([found.rows.codes, found.classes[None, :]])
    domain = Domain({name: found.domain[name] for name in names})
    rows = CodedRows(tuple(names), tuple(map(domain.n_states, names)), codes)
    return _counted(domain, rows, found.weights)


def _counted(domain: Domain, rows: CodedRows, weights: FloatArray | None) -> Cases:
    codes = rows.codes
    if weights is not None and (weights == 0).any():
        codes, weights = codes[:, weights > 0], weights[weights > 0]
    first, inverse = distinct_rows(list(codes), rows.n_states)
    if 2 * len(first) <= codes.shape[1]:
        weights = np.bincount(inverse, weights, len(first)).astype(np.float64)
        codes = np.ascontiguousarray(codes[:, first])
    kept = CodedRows(rows.names, rows.n_states, codes)
    return Cases(domain, rows.names[0], kept, codes[0], weights)
