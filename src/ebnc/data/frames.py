"""Convert codes to a DataFrame of an installed library."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from ebnc.domain import Domain
from ebnc.typing import CodeArray

__all__ = ["to_frame"]

LIBRARIES = ("pandas", "polars", "pyarrow")


def to_frame(domain: Domain, codes: Mapping[str, CodeArray]) -> Any:
    """Return labels of codes as a table of the first installed of pandas, polars, pyarrow."""
    columns = {name: _labels(domain, name, column) for name, column in codes.items()}
    library = import_module(next(name for name in LIBRARIES if find_spec(name)))
    if hasattr(library, "DataFrame") and hasattr(library, "Index"):
        return library.DataFrame(columns)
    make = library.DataFrame if hasattr(library, "DataFrame") else library.table
    return make({name: column.tolist() for name, column in columns.items()})


def _labels(domain: Domain, name: str, codes: CodeArray) -> Any:
    states = domain[name]
    labels = np.empty(len(states), dtype=object)
    for i, state in enumerate(states):
        labels[i] = state
    chosen = labels[codes]
    kinds = {type(state) for state in states}
    for kind in (bool, int, float):
        if kinds == {kind}:
            return chosen.astype(kind)
    return chosen
