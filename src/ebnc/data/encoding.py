"""From labelled tables to coded rows: every label is looked up in the domain.

Accepts pandas and polars DataFrames, pyarrow tables (all through narwhals), mappings from column
names to one-dimensional arrays, and two-dimensional NumPy arrays whose columns stand in the order
asked for. Entries are labels of the domain, never codes; where states were declared by their
number the labels are 0 … r − 1 and the two are the same. ``CodedRows`` pass through.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebnc.data.rows import CodedRows, code_type
from ebnc.domain import Domain
from ebnc.errors import DataError

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

__all__ = ["Table", "encode"]

Table: TypeAlias = "CodedRows | IntoDataFrame | Mapping[str, Any] | NDArray[Any]"


def encode(data: Table, domain: Domain, names: Sequence[str]) -> CodedRows:
    """Rows of ``names`` as codes; other columns of ``data`` are ignored."""
    if isinstance(data, CodedRows):
        return _checked_rows(data, domain, names)
    columns = _columns(data, names)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"columns differ in length: {lengths}")
    n_states = tuple(domain.n_states(name) for name in names)
    n_rows = _n_rows(data) if not columns else next(iter(lengths.values()))
    codes = np.empty((len(names), n_rows), dtype=code_type(n_states))
    for v, name in enumerate(names):
        codes[v] = _encode_column(name, columns[name], domain)
    return CodedRows(tuple(names), n_states, codes)


def _checked_rows(rows: CodedRows, domain: Domain, names: Sequence[str]) -> CodedRows:
    for name in names:
        declared, coded = domain.n_states(name), rows.n_states[rows.place(name)]
        if coded != declared:
            raise DataError(
                f"{name!r} was coded with {coded} states, but has {declared} in this domain"
            )
    return rows


def _columns(data: Any, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The columns asked for as one-dimensional NumPy arrays."""
    if isinstance(data, np.ndarray):
        if data.ndim != 2 or data.shape[1] != len(names):
            raise DataError(
                f"an array must have one column for each of {list(names)} "
                f"(shape (n, {len(names)})), got shape {data.shape}"
            )
        return {name: data[:, i] for i, name in enumerate(names)}
    if isinstance(data, Mapping):
        _require(names, list(data))
        return {name: _one_dimensional(name, data[name]) for name in names}
    import narwhals as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        raise DataError(
            f"data must be a DataFrame (pandas, polars, pyarrow), a mapping from column names "
            f"to arrays, or a two-dimensional NumPy array, got {type(data).__name__}"
        ) from None
    _require(names, frame.columns)
    return {name: frame[name].to_numpy() for name in names}


def _n_rows(data: Any) -> int:
    """Number of rows where no column is asked for (an isolated target)."""
    if isinstance(data, Mapping):
        return len(next(iter(data.values()), ()))
    return len(data)


def _require(names: Sequence[str], present: Sequence[str]) -> None:
    for name in names:
        if name not in present:
            shown = ", ".join(repr(other) for other in present[:8])
            more = ", …" if len(present) > 8 else ""
            raise DataError(f"the data have no column {name!r}; they have {shown}{more}")


def _one_dimensional(name: str, given: Any) -> NDArray[Any]:
    array = np.asarray(given)
    if array.ndim != 1:
        raise DataError(f"column {name!r} must be one-dimensional, got shape {array.shape}")
    return array


def _encode_column(name: str, column: NDArray[Any], domain: Domain) -> NDArray[Any]:
    """Codes of one column: as they are where labels are 0 … r − 1, else looked up."""
    labels = domain[name]
    if column.dtype.kind in "iu" and labels == tuple(range(len(labels))):
        if column.size and (column.min() < 0 or column.max() >= len(labels)):
            outside = column[(column < 0) | (column >= len(labels))][0]
            raise _unseen(name, outside, labels)
        return column
    codes = domain.codes(name)
    try:
        distinct, inverse = np.unique(column, return_inverse=True)
    except TypeError:  # labels of several types do not sort; they still hash
        return np.array([_code(name, label, codes, labels) for label in column.tolist()])
    looked_up = [_code(name, label, codes, labels) for label in distinct.tolist()]
    return np.array(looked_up, dtype=np.int64)[inverse]


def _code(name: str, label: Any, codes: Mapping[Any, int], labels: tuple[Any, ...]) -> int:
    code = codes.get(label)
    if code is None:
        raise _unseen(name, label, labels)
    return code


def _unseen(name: str, label: object, labels: tuple[Any, ...]) -> DataError:
    if label is None or (isinstance(label, float) and math.isnan(label)):
        return DataError(f"column {name!r} has missing values; fill them with a declared state")
    shown = ", ".join(repr(other) for other in labels[:8])
    more = ", …" if len(labels) > 8 else ""
    return DataError(f"{label!r} in column {name!r} is not one of its states {shown}{more}")
