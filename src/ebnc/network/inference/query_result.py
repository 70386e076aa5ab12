"""The result of a query: a table of probabilities, with standard errors if they are estimates."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np

from ebnc.data.frames import cells_to_frame
from ebnc.domain import Interval, State
from ebnc.errors import NoSuchKeyError, QueryError
from ebnc.markup import html_table, probability, text_table
from ebnc.network.local.decision_nodes import state_text
from ebnc.parameters.bin_density import BinDensity, check_levels
from ebnc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class QueryResult(Mapping[Any, float]):
    """p(variables | evidence), with one axis for each variable.

    It is a mapping to probabilities from states, or from tuples of states for several variables.

    Attributes
    ----------
    variables : tuple of str
        The queried variables, in the order of the axes.
    states : tuple of tuples
        The states of each variable, in the order of the entries.
    probabilities : array
        The joint probabilities, shape (states of each variable …).
    standard_errors : array or None
        Standard errors of the probabilities; None if they are exact.
    log_evidence : float or None
        log p(evidence), exact or estimated; None if the method does not provide it. Numbers of
        numeric variables contribute their log density, intervals their log probability.
    method : str
        The method that was used.
    warning : str or None
        Why the probabilities and their standard errors cannot be trusted; None if they can.
    densities : mapping of str to BinDensity
        The densities of numeric variables inside their intervals, by variable.
    """

    variables: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    probabilities: FloatArray
    standard_errors: FloatArray | None
    log_evidence: float | None
    method: str
    warning: str | None = None
    densities: Mapping[str, BinDensity] = field(default_factory=dict)

    def __getitem__(self, states: State) -> float:
        """Return the probability of a state, or of a tuple with one state for each variable.

        A number stands for its interval.
        """
        key = states if len(self.variables) > 1 else (states,)
        if not isinstance(key, tuple) or len(key) != len(self.variables):
            raise NoSuchKeyError(
                f"give one state for each of {list(self.variables)}, got {states!r}"
            )
        place = []
        for name, labels, state in zip(self.variables, self.states, key, strict=True):
            found = next((i for i, label in enumerate(labels) if _is_state(state, label)), None)
            if found is None:
                raise NoSuchKeyError(f"{state!r} is not a state of {name!r}: {list(labels)}")
            place.append(found)
        return float(self.probabilities[tuple(place)])

    def __iter__(self) -> Iterator[Any]:
        keys = product(*self.states)
        return (key[0] for key in keys) if len(self.variables) == 1 else keys

    def __len__(self) -> int:
        return self.probabilities.size

    def intervals(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return the ends of intervals that contain the exact probabilities, p̂ ± z·(std. error).

        They have the shape of ``probabilities`` and lie between 0 and 1. Both ends of an exact
        answer are the answer.

        Parameters
        ----------
        level : float
            Probability that an interval contains the exact value, between 0 and 1.
        """
        share = check_levels(level, "level")
        if self.standard_errors is None:
            return self.probabilities, self.probabilities
        reach = NormalDist().inv_cdf((1.0 + float(share[0])) / 2.0) * self.standard_errors
        low, high = self.probabilities - reach, self.probabilities + reach
        return np.maximum(low, 0.0), np.minimum(high, 1.0)

    def mean(self, name: str | None = None) -> float:
        """Return the mean of a numeric variable, given that it is not missing.

        Parameters
        ----------
        name : str, optional
            The variable; needed if there are several.
        """
        density, p = self._bins(name)
        return float(density.mean(p)[0])

    def quantiles(self, levels: float | Iterable[float], name: str | None = None) -> list[float]:
        """Return quantiles of a numeric variable, given that it is not missing.

        Parameters
        ----------
        levels : float or iterable of float
            Probabilities between 0 and 1.
        name : str, optional
            The variable; needed if there are several.
        """
        density, p = self._bins(name)
        several = isinstance(levels, Iterable) and not isinstance(levels, str)
        asked: Any = list(levels) if several else levels  # type: ignore[arg-type]
        quantiles: list[float] = density.quantiles(p, check_levels(asked, "levels"))[0].tolist()
        return quantiles

    def _bins(self, name: str | None) -> tuple[BinDensity, FloatArray]:
        """The density of a variable and the probabilities of its bins, shape (1, bins)."""
        chosen = self.variables[0] if name is None and len(self.variables) == 1 else name
        if chosen not in self.variables or chosen not in self.densities:
            raise QueryError(
                f"name a numeric variable of this query, got {chosen!r}; they are "
                f"{[x for x in self.variables if x in self.densities]}"
            )
        density, axis = self.densities[chosen], self.variables.index(chosen)
        others = tuple(i for i in range(len(self.variables)) if i != axis)
        return density, density.given_known(self.probabilities.sum(axis=others)[None])

    def to_dict(self) -> dict[State, float]:
        """Return probabilities by state, or by tuple of states for several variables."""
        return dict(zip(self, self.probabilities.ravel().tolist(), strict=True))

    def to_frame(self) -> Any:
        """A DataFrame of the first of pandas, polars, pyarrow that is installed.

        It has one row for each configuration of the variables: their states, ``probability``, and
        ``standard_error`` where the answer is an estimate.
        """
        values = {"probability": self.probabilities}
        if self.standard_errors is not None:
            values["standard_error"] = self.standard_errors
        return cells_to_frame(dict(zip(self.variables, self.states, strict=True)), values)

    def _repr_html_(self) -> str:
        columns = [*self.variables, "p"]
        errors = [] if self.standard_errors is None else self.standard_errors.ravel().tolist()
        if errors:
            columns.append("std. error")
        rows = [
            [*map(state_text, key), probability(p), *errors[i : i + 1]]
            for i, (key, p) in enumerate(
                zip(product(*self.states), self.probabilities.ravel().tolist(), strict=True)
            )
        ]
        return html_table(columns, rows, note=f"Warning: {self.warning}" if self.warning else "")

    def __str__(self) -> str:
        columns = [*self.variables, "p"]
        numbers = [self.probabilities.ravel()]
        if self.standard_errors is not None:
            columns.append("std. error")
            numbers.append(self.standard_errors.ravel())
        rows = [
            [*map(state_text, key), *(f"{number:.4f}" for number in each)]
            for key, *each in zip(product(*self.states), *numbers, strict=True)
        ]
        shown = text_table(columns, rows)
        return shown if self.warning is None else f"{shown}\nWarning: {self.warning}"


def _is_state(state: State, label: State) -> bool:
    """Whether ``state`` is this label, or a number in this interval."""
    if isinstance(label, Interval) and isinstance(state, int | float):
        return label.low < state <= label.high
    return state == label
