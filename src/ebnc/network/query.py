"""Questions to a network: p(variables | evidence), exactly or by sampling with standard errors."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ebnc.data.coder import code_of
from ebnc.data.rows import CodedRows, all_configurations, code_type
from ebnc.domain import State
from ebnc.errors import ParameterError, QueryError, TooLargeError
from ebnc.network.graph import ancestral_set
from ebnc.network.marginal import log_sum_over
from ebnc.network.sampling import gibbs_samples, weighted_samples
from ebnc.typing import FloatArray

if TYPE_CHECKING:
    from ebnc.network.network import Network

__all__ = ["Method", "QueryResult", "query"]

Method: TypeAlias = Literal["auto", "exact", "weighting", "gibbs"]

MOST_LISTED = 2**18  # configurations that are listed rather than handed to pyAgrum
N_CHAINS = 200
FEW_EFFECTIVE = 200  # with fewer effective samples "auto" goes on with Gibbs


@dataclass(frozen=True, eq=False)
class QueryResult:
    """p(variables | evidence): an array with one axis for each variable.

    ``standard_errors``: None where the answer is exact. ``log_evidence``: log p(evidence), where
    the method gives it.
    """

    variables: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    probabilities: FloatArray
    standard_errors: FloatArray | None
    log_evidence: float | None
    method: str

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
        return "\n".join(
            "  ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )


@dataclass(frozen=True, eq=False)
class _Question:
    network: "Network"
    variables: tuple[str, ...]
    evidence: Mapping[str, int]
    n_samples: int
    random_state: int

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(self.network.domain.n_states, self.variables))

    def answer(
        self,
        probabilities: FloatArray,
        errors: FloatArray | None,
        log_evidence: float | None,
        method: str,
    ) -> QueryResult:
        states = tuple(self.network.domain[x] for x in self.variables)
        return QueryResult(self.variables, states, probabilities, errors, log_evidence, method)

    def impossible(self) -> QueryError:
        given = {x: self.network.domain[x][code] for x, code in self.evidence.items()}
        return QueryError(f"the evidence {given} has probability 0; nothing follows from it")


def query(
    network: "Network",
    variables: str | Iterable[str],
    evidence: Mapping[str, State],
    method: Method,
    n_samples: int,
    random_state: int,
) -> QueryResult:
    """p(variables | evidence) by the method asked for; see ``Network.query``."""
    asked = (variables,) if isinstance(variables, str) else tuple(variables)
    if method not in METHODS:
        raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if n_samples < 1:
        raise ParameterError(f"n_samples must be at least 1, got {n_samples}")
    for name in (*asked, *evidence):
        network[name]  # raises where there is no such node
    if not asked or len(set(asked)) < len(asked) or set(asked) & set(evidence):
        raise QueryError(
            f"ask for at least one variable, each once, none of the evidence; got {list(asked)} "
            f"given {list(evidence)}"
        )
    codes = {name: code_of(network.domain, name, state) for name, state in evidence.items()}
    return METHODS[method](_Question(network, asked, codes, n_samples, random_state))


def _auto(question: _Question) -> QueryResult:
    try:
        return _exact(question)
    except (TooLargeError, ImportError):
        pass
    found = _weighting(question)
    if found is not None:
        return found
    return _gibbs(question)


def _exact(question: _Question) -> QueryResult:
    network = question.network
    parents = {x: network.parents(x) for x in network}
    relevant = ancestral_set(parents, [*question.variables, *question.evidence])
    asked = set(question.variables)
    hidden = [x for x in network.order if x in relevant - asked - question.evidence.keys()]
    if prod(map(network.domain.n_states, [*asked, *hidden])) <= MOST_LISTED:
        return _by_listing(question, hidden, relevant)
    from ebnc.network.pyagrum import exact_posterior

    found = exact_posterior(network, question.variables, question.evidence, relevant)
    if found is None:
        raise question.impossible()
    return question.answer(found.probabilities, None, found.log_evidence, "exact (pyAgrum)")


def _by_listing(question: _Question, hidden: list[str], relevant: set[str]) -> QueryResult:
    network = question.network
    listed = all_configurations(network.domain, question.variables)
    n_states = tuple(map(network.domain.n_states, network.variables))
    codes = np.zeros((len(network), len(listed)), dtype=code_type(n_states))
    rows = CodedRows(network.variables, n_states, codes)
    for name, code in question.evidence.items():
        codes[rows.place(name)] = code
    codes[[rows.place(x) for x in question.variables]] = listed.codes
    joint = log_sum_over(network, rows, hidden, relevant)
    log_evidence = float(np.logaddexp.reduce(joint))
    if log_evidence == -np.inf:
        raise question.impossible()
    probabilities = np.exp(joint - log_evidence).reshape(question.shape)
    return question.answer(probabilities, None, log_evidence, "exact (listing)")


def _weighting(question: _Question, enough: float = FEW_EFFECTIVE) -> QueryResult | None:
    """Likelihood weighting; None where the effective sample is smaller than ``enough``.

    p̂ = Σ w I / Σ w with standard error √(Σ w²(I − p̂)²)/Σ w; the weight of one average sample is
    added to it, so that a state never drawn is not taken for impossible.
    """
    generator = np.random.default_rng(question.random_state)
    what = (question.network, question.evidence, question.variables, question.n_samples)
    rows, weights = weighted_samples(*what, generator)
    peak = weights.max()
    if peak == -np.inf:
        return None
    relative = np.exp(weights - peak)
    total = relative.sum()
    effective = float(total**2 / (relative**2).sum())
    if effective < enough:
        return None
    cells = _cells(question, rows)
    n_cells = prod(question.shape)
    p = np.bincount(cells, relative, n_cells) / total
    squares = np.bincount(cells, relative**2, n_cells)
    # Σ w²(I − p)² = (1 − 2p) Σ_in w² + p² Σ w²
    variance = ((1 - 2 * p) * squares + p**2 * squares.sum()) / total**2
    errors = np.sqrt(np.maximum(variance, 0.0) + effective**-2)
    log_evidence = float(np.log(total / question.n_samples) + peak)
    shape = question.shape
    return question.answer(p.reshape(shape), errors.reshape(shape), log_evidence, "weighting")


def _weighting_only(question: _Question) -> QueryResult:
    found = _weighting(question, enough=0.0)
    if found is None:
        raise QueryError(
            f"none of {question.n_samples} samples agrees with the evidence on "
            f"{sorted(question.evidence)}: its probability is 0 or very small; "
            "use method='exact' or 'gibbs'"
        )
    return found


def _gibbs(question: _Question) -> QueryResult:
    """Averages of independent chains; their spread gives the standard errors."""
    n_sweeps = max(10, -(-question.n_samples // N_CHAINS))
    generator = np.random.default_rng(question.random_state)
    what = (question.network, question.evidence, question.variables)
    sweeps = gibbs_samples(*what, N_CHAINS, n_sweeps, generator)
    n_cells = prod(question.shape)
    chains = np.arange(N_CHAINS) * n_cells
    counts = np.zeros(N_CHAINS * n_cells)
    for rows in sweeps:
        counts += np.bincount(chains + _cells(question, rows), minlength=len(counts))
    by_chain = counts.reshape(N_CHAINS, n_cells) / n_sweeps
    p = by_chain.mean(axis=0)
    errors = np.sqrt(by_chain.var(axis=0, ddof=1) / N_CHAINS + (N_CHAINS * n_sweeps) ** -2.0)
    shape = question.shape
    return question.answer(p.reshape(shape), errors.reshape(shape), None, "gibbs")


def _cells(question: _Question, rows: CodedRows) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    columns = tuple(rows.column(x).astype(np.int64) for x in question.variables)
    return np.asarray(np.ravel_multi_index(columns, question.shape))


METHODS: dict[str, Callable[[_Question], QueryResult]] = {
    "auto": _auto,
    "exact": _exact,
    "weighting": _weighting_only,
    "gibbs": _gibbs,
}
