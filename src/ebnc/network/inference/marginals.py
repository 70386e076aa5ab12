"""p(x | evidence) of every variable: all at once by two passes, else one by one, else sampled."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ebnc.data.frames import columns_to_frame, labels_to_column
from ebnc.errors import NoSuchKeyError, TooLargeError
from ebnc.markup import html_table, probability
from ebnc.network.inference.query import (
    METHODS,
    Method,
    by_elimination,
    check_method,
    draw,
    from_weights,
    sampled,
)
from ebnc.network.inference.query_result import QueryResult
from ebnc.network.inference.question import Question
from ebnc.network.inference.two_passes import TwoPasses
from ebnc.network.local.decision_nodes import state_text


@dataclass(frozen=True, eq=False)
class Marginals(Mapping[str, QueryResult]):
    """The answers to ``query(x, evidence)`` for every variable x that is not evidence.

    Attributes
    ----------
    results : mapping of str to QueryResult
        The answers by variable, in the order of the network. The mapping itself is one, too:
        ``marginals["rain"]["yes"]`` is a probability.
    """

    results: Mapping[str, QueryResult]

    def __getitem__(self, name: str) -> QueryResult:
        try:
            return self.results[name]
        except KeyError:
            raise NoSuchKeyError(
                f"{name!r} is not a variable of the network, or its state is evidence"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def to_frame(self) -> Any:
        """A DataFrame of the first of pandas, polars, pyarrow that is installed.

        It has one row for each state of each variable: ``variable``, ``state``, ``probability``,
        and where answers are estimates ``low`` and ``high``, the ends of their 95 % intervals.
        """
        labels = [state for result in self.values() for state in result.states[0]]
        names = [x for x, result in self.items() for _ in result.states[0]]
        columns = {
            "variable": labels_to_column(names),
            "state": labels_to_column(labels),
            "probability": np.concatenate([each.probabilities for each in self.values()]),
        }
        if any(each.standard_errors is not None for each in self.values()):
            ends = [each.intervals() for each in self.values()]
            columns["low"] = np.concatenate([low for low, _ in ends])
            columns["high"] = np.concatenate([high for _, high in ends])
        return columns_to_frame(columns.items())

    def _repr_html_(self) -> str:
        rows = [
            (name if i == 0 else "", state_text(state), probability(p))
            for name, each in self.items()
            for i, (state, p) in enumerate(
                zip(each.states[0], each.probabilities.tolist(), strict=True)
            )
        ]
        return html_table(("variable", "state", "p"), rows)

    def __str__(self) -> str:
        return "\n\n".join(str(result) for result in self.values())


def marginals(question: Question, method: Method) -> Marginals:
    """Return the answers for each variable of the question; see ``Network.marginals``."""
    check_method(method, question.n_samples)
    results: dict[str, QueryResult] = {}
    if method in ("auto", "exact"):
        with suppress(TooLargeError):
            results = _all_at_once(question)
    if not results:
        results = _one_by_one(question, method)
    for text in {each.warning for each in results.values() if each.warning is not None}:
        warnings.warn(text, UserWarning, stacklevel=3)
    return Marginals({x: results[x] for x in question.variables})


def _all_at_once(question: Question) -> dict[str, QueryResult]:
    evidence = question.evidence
    passes = TwoPasses(question.eliminator, evidence.codes.keys(), evidence.weights.keys())
    log_p, found = passes.marginals(question.known_row(), evidence.log_weights)
    if log_p[0] == -np.inf:
        raise question.impossible()
    return {
        x: question.about(x).answer(found[x][0], None, float(log_p[0]), "exact")
        for x in question.variables
    }


def _one_by_one(question: Question, method: Method) -> dict[str, QueryResult]:
    """Answer for each variable; answers by weighting share their samples."""
    if method in ("exact", "gibbs"):
        return {x: METHODS[method](question.about(x)) for x in question.variables}
    results = _each_by_elimination(question) if method == "auto" else {}
    rest = tuple(x for x in question.variables if x not in results)
    if rest:
        samples = draw(replace(question, variables=rest), question.n_samples)
        answer = sampled if method == "auto" else from_weights
        results |= {x: answer(question.about(x), samples) for x in rest}
    return results


def _each_by_elimination(question: Question) -> dict[str, QueryResult]:
    """Answer for the variables that elimination can answer for."""
    results = {}
    for x in question.variables:
        with suppress(TooLargeError):
            results[x] = by_elimination(question.about(x))
    return results
