"""The answer to a query: a table of probabilities, with errors where they are estimates."""

from dataclasses import dataclass
from itertools import product
from typing import Any

from ebnc.data.frames import cells_to_frame
from ebnc.domain import State
from ebnc.errors import QueryError
from ebnc.typing import FloatArray

__all__ = ["QueryResult"]


@dataclass(frozen=True, eq=False)
class QueryResult:
    """p(variables | evidence): an array with one axis for each variable.

    ``standard_errors``: None where the answer is exact. ``log_evidence``: log p(evidence), where
    the method gives it; an estimate where the answer is one. ``method``: how it was found.
    ``warning``: why the answer and its standard errors cannot be trusted, None where nothing speaks
    against them.
    """

    variables: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    probabilities: FloatArray
    standard_errors: FloatArray | None
    log_evidence: float | None
    method: str
    warning: str | None = None

    def __getitem__(self, states: State) -> float:
        """The probability of one state, or of a tuple of them, one for each variable."""
        key = states if len(self.variables) > 1 else (states,)
        if not isinstance(key, tuple) or len(key) != len(self.variables):
            raise QueryError(f"give one state for each of {list(self.variables)}, got {states!r}")
        place = []
        for name, labels, state in zip(self.variables, self.states, key, strict=True):
            if state not in labels:
                raise QueryError(f"{state!r} is not a state of {name!r}: {list(labels)}")
            place.append(labels.index(state))
        return float(self.probabilities[tuple(place)])

    def to_dict(self) -> dict[State, float]:
        """Probabilities by state, or by tuples of states where several variables were asked for."""
        keys = product(*self.states)
        values = self.probabilities.ravel().tolist()
        if len(self.variables) == 1:
            return {key[0]: p for key, p in zip(keys, values, strict=True)}
        return dict(zip(keys, values, strict=True))

    def to_frame(self) -> Any:
        """A DataFrame of the first of pandas, polars, pyarrow that is installed.

        It has one row for each configuration of the variables: their states, ``probability``, and
        ``standard_error`` where the answer is an estimate.
        """
        values = {"probability": self.probabilities}
        if self.standard_errors is not None:
            values["standard_error"] = self.standard_errors
        return cells_to_frame(dict(zip(self.variables, self.states, strict=True)), values)

    def __str__(self) -> str:
        lines = [[*self.variables, "p"]]
        errors = None if self.standard_errors is None else self.standard_errors.ravel().tolist()
        if errors is not None:
            lines[0].append("std. error")
        for i, (key, p) in enumerate(
            zip(product(*self.states), self.probabilities.ravel().tolist(), strict=True)
        ):
            tail = [] if errors is None else [f"{errors[i]:.4f}"]
            lines.append([*("(missing)" if s is None else str(s) for s in key), f"{p:.4f}", *tail])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [
            "  ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join(shown if self.warning is None else [*shown, f"Warning: {self.warning}"])
