"""φ to read: a table with one row for each parameter."""

from typing import Any, NamedTuple

import numpy as np

from ebnc.data.frames import columns_to_frame, labels_to_column
from ebnc.domain import State
from ebnc.markup import html_table
from ebnc.parameters.phi import term_text


class PhiRow(NamedTuple):
    """One parameter in the indicator coding: what is added to the log odds of ``of_class``
    against the baseline class when all of ``states`` hold; its standard error where it was fitted.

    An ordered or numeric input has waves in the place of states: "wave 2" is the coefficient of the
    second cosine of its curve (``parameters.coding``).
    """

    term: tuple[str, ...]
    states: tuple[State, ...]
    of_class: State
    value: float
    standard_error: float | None


class PhiTable(tuple[PhiRow, ...]):
    """A tuple of ``PhiRow`` that prints as a table; ``to_frame`` makes a DataFrame of it."""

    __slots__ = ()

    @property
    def is_fitted(self) -> bool:
        """True if the parameters have standard errors."""
        return any(row.standard_error is not None for row in self)

    def to_frame(self) -> Any:
        """A DataFrame of the first of pandas, polars, pyarrow that is installed.

        Its columns are those that are printed: ``term`` and ``states`` as text, ``class``,
        ``value``, and ``standard_error`` where the parameters were fitted.
        """
        columns = [
            ("term", labels_to_column([term_text(row.term) for row in self])),
            ("states", labels_to_column([_states_text(row) for row in self])),
            ("class", labels_to_column([row.of_class for row in self])),
            ("value", np.array([row.value for row in self])),
        ]
        if self.is_fitted:
            errors = np.array([row.standard_error for row in self], dtype=np.float64)
            columns.append(("standard_error", errors))
        return columns_to_frame(columns)

    def _repr_html_(self) -> str:
        rows = [
            (term_text(row.term), _states_text(row), str(row.of_class), row.value)
            + (() if row.standard_error is None else (row.standard_error,))
            for row in self
        ]
        columns = ("term", "states", "class", "value", *(("std. error",) * self.is_fitted))
        return html_table(columns, rows)

    def __str__(self) -> str:
        cells = [("term", "states", "class", "value", *(["std. error"] if self.is_fitted else []))]
        for row in self:
            error = [] if row.standard_error is None else [f"{row.standard_error:.4f}"]
            line = (term_text(row.term), _states_text(row), str(row.of_class), f"{row.value:+.4f}")
            cells.append((*line, *error))
        widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
        return "\n".join(
            "  ".join(
                text.ljust(width) if i < 3 else text.rjust(width)
                for i, (text, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in cells
        )


def _states_text(row: PhiRow) -> str:
    return " · ".join("(missing)" if state is None else str(state) for state in row.states)
