"""Any data in, cases out: frames in memory, paths to files, Dask DataFrames.

The one place that looks at what ``data`` is; everything that learns calls ``learn_cases``.
"""

from collections.abc import Sequence
from typing import Any

from ebnc.data.cases import check_weights, read_cases
from ebnc.data.columns import Frame, read_columns, require
from ebnc.data.dask_parts import is_dask_frame
from ebnc.data.files import as_files
from ebnc.data.parts import Parts
from ebnc.data.states import Categories, Missing, learn_domain, refuse_single_class
from ebnc.data.wide_csv import typed_column, wide_columns

__all__ = ["learn_cases"]


def learn_cases(
    data: Frame,
    inputs: Sequence[str],
    target: str,
    *,
    keep: Sequence[str] | None = None,
    categories: Categories | None = None,
    missing: Missing = "state",
    weights: object = None,
) -> Parts:
    """States of ``inputs`` and ``target`` (``.domain``), and the counted cases of ``keep``.

    ``keep``: the inputs whose codes are wanted; all unless given. ``weights``: a number for each
    row, or the name of a column.
    """
    kept = list(inputs) if keep is None else list(keep)
    files = as_files(data)
    how: dict[str, Any] = {
        "keep": kept,
        "categories": categories,
        "missing": missing,
        "weights": weights,
    }
    wide = None if files is None else wide_columns(files)
    if wide is not None:
        used = [*inputs, target, *([weights] if isinstance(weights, str) else [])]
        require(used, list(wide))
        data = {name: typed_column(wide[name]) for name in used}
    elif files is not None:
        from ebnc.data.file_cases import read_files

        return read_files(files, inputs, target, **how)
    if is_dask_frame(data):
        from ebnc.data.dask_cases import read_dask_frame

        return read_dask_frame(data, inputs, target, **how)
    names = (*inputs, target)
    if isinstance(weights, str):
        weights = read_columns(data, [weights])[weights]
    checked = None
    if weights is not None:
        checked = check_weights(weights, len(read_columns(data, names)[target]))
    domain = learn_domain(
        data, inputs, target, categories=categories, missing=missing, weights=checked
    )
    refuse_single_class(domain, target)
    return read_cases(data, domain, kept, target, checked, names).counted()
