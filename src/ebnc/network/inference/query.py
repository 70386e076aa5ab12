"""Queries of a network: p(variables | evidence), exact or sampled with standard errors."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Literal, TypeAlias

import numpy as np

from ebnc.data.one_row import RowCoder
from ebnc.data.rows import CodedRows
from ebnc.domain import State
from ebnc.errors import ParameterError, QueryError, TooLargeError
from ebnc.network.inference.elimination import Eliminator
from ebnc.network.inference.evidence import Evidence
from ebnc.network.inference.pyagrum import exact_posterior
from ebnc.network.inference.query_result import QueryResult
from ebnc.network.inference.question import Question
from ebnc.network.inference.sampling import (
    BURN_IN,
    FEW_EFFECTIVE,
    WeightedSamples,
    effective_size,
    gibbs_samples,
    resample,
    weighted_samples,
)
from ebnc.typing import FloatArray

Method: TypeAlias = Literal["auto", "exact", "weighting", "gibbs"]

N_CHAINS = 200
N_STARTS = 100 * N_CHAINS  # weighted samples from which the starts of chains are drawn
LEAST_SWEEPS = 100  # minimum sweeps per chain after the burn-in
FEW_STARTS = 20  # with fewer possible starts, all chains may be on one side of a zero
LONGEST_MEMORY = 0.2  # maximum correlation between the first and last third of the chains


def query(
    eliminator: Eliminator,
    row_coder: RowCoder,
    variables: str | Iterable[str],
    evidence: Mapping[str, State],
    method: Method,
    n_samples: int,
    random_state: int,
) -> QueryResult:
    """Return p(variables | evidence) by ``method``; see ``Network.query``.

    ``row_coder``: codes the entries of all variables.
    """
    network = eliminator.network
    asked = (variables,) if isinstance(variables, str) else tuple(variables)
    check_method(method, n_samples)
    for name in (*asked, *evidence):
        network[name]  # raises an error if the network has no such node
    if not asked or len(set(asked)) < len(asked) or set(asked) & set(evidence):
        raise QueryError(
            "query at least one variable, each once, and none that is also evidence; got variables "
            f"{list(asked)} and evidence {list(evidence)}"
        )
    known = Evidence.of(network, evidence, row_coder)
    question = Question(eliminator, asked, evidence, known, n_samples, random_state)
    result = METHODS[method](question)
    if result.warning is not None:
        warnings.warn(result.warning, UserWarning, stacklevel=3)
    return result


def check_method(method: str, n_samples: int) -> None:
    """Raise if a method is unknown, or would draw no sample."""
    if method not in METHODS:
        raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if n_samples < 1:
        raise ParameterError(f"n_samples must be at least 1, got {n_samples}")


def auto(question: Question) -> QueryResult:
    """Answer exactly, otherwise by samples."""
    try:
        return exact(question)
    except (TooLargeError, ImportError):
        pass
    return sampled(question, draw(question, question.n_samples))


def sampled(question: Question, samples: WeightedSamples) -> QueryResult:
    """Answer by weighted samples; by Gibbs chains if the weights are too uneven."""
    if samples.effective >= FEW_EFFECTIVE:
        return from_weights(question, samples)
    return gibbs(question)


def exact(question: Question) -> QueryResult:
    """Answer by elimination, otherwise through pyAgrum."""
    try:
        return by_elimination(question)
    except TooLargeError:
        pass
    posterior = exact_posterior(question.network, question.variables, question.evidence)
    if posterior is None:
        raise question.impossible()
    return question.answer(posterior[0], None, posterior[1], "exact (pyAgrum)")


def by_elimination(question: Question) -> QueryResult:
    """Answer by elimination; raises ``TooLargeError`` if that needs large tables."""
    evidence = question.evidence
    (joint,) = question.eliminator.log_sums(
        question.known_row(), question.variables, evidence.codes, evidence.log_weights
    )
    log_evidence = float(np.logaddexp.reduce(joint, axis=None))
    if log_evidence == -np.inf:
        raise question.impossible()
    return question.answer(np.exp(joint - log_evidence), None, log_evidence, "exact")


def draw(question: Question, n: int) -> WeightedSamples:
    """Draw weighted samples of the variables of a question."""
    generator = np.random.default_rng(question.random_state)
    return weighted_samples(question.network, question.evidence, question.variables, n, generator)


def weighting(question: Question) -> QueryResult:
    """Answer by weighted samples."""
    return from_weights(question, draw(question, question.n_samples))


def from_weights(question: Question, samples: WeightedSamples) -> QueryResult:
    """Return the shares of the states among weighted samples."""
    if samples.effective == 0:
        raise QueryError(
            f"none of {question.n_samples} samples agrees with the evidence on "
            f"{sorted(question.evidence.names)}: its probability is 0 or very small; "
            "use method='exact' or 'gibbs'"
        )
    p, variance = _weighted_shares(question, samples)
    warning = None
    if samples.effective < FEW_EFFECTIVE:
        warning = (
            f"the effective sample size is {samples.effective:.0f}, below {FEW_EFFECTIVE}: the "
            "answer may be far off, whatever its standard errors; give more samples"
        )
    return question.answer(p, np.sqrt(variance), samples.log_mean, "weighting", warning)


def _weighted_shares(question: Question, samples: WeightedSamples) -> tuple[FloatArray, FloatArray]:
    """Return p̂ = Σ w I / Σ w of every cell, and its variance Σ w²(I − p̂)²/(Σ w)².

    The variance includes the square of one average sample's share, so that a state that was never
    drawn does not look impossible.
    """
    cells, n_cells, w = _cells(question, samples.rows), prod(question.shape), samples.weights
    total = w.sum()
    p = np.bincount(cells, w, n_cells) / total
    squares = np.bincount(cells, w**2, n_cells)
    # Σ w²(I − p)² = (1 − 2p) Σ_in w² + p² Σ w²
    variance = ((1 - 2 * p) * squares + p**2 * squares.sum()) / total**2
    return p, np.maximum(variance, 0.0) + samples.effective**-2


def gibbs(question: Question) -> QueryResult:
    """Average Gibbs chains; the spread between chains gives the standard errors.

    Chains start at weighted samples, resampled by weight. If the first third of the chains predicts
    the last, the answer is no better than the starts. The variance of the starts is then added, or
    the answer has a warning if the weights were too uneven for resampling.
    """
    samples = draw(question, N_STARTS)
    n_possible = int(np.count_nonzero(samples.weights))
    if not n_possible:
        raise QueryError(
            f"no sample of {N_STARTS} agrees with the evidence on "
            f"{sorted(question.evidence.names)}; its probability is 0 or too small for "
            "sampling; use method='exact'"
        )
    # Flatten uneven weights until the starts differ: chains that all start in one place would
    # agree with each other even if they never leave it.
    weights, enough = samples.weights, min(N_CHAINS, n_possible / 2)
    while effective_size(weights) < enough:
        weights = np.sqrt(weights)
    flattened = weights is not samples.weights
    generator = np.random.default_rng([question.random_state, 1])
    starts = resample(samples, weights, N_CHAINS, generator)
    n_sweeps = max(LEAST_SWEEPS, -(-question.n_samples // N_CHAINS))
    chains = gibbs_samples(
        question.network, question.evidence, question.variables, starts, n_sweeps, generator
    )
    n_cells = prod(question.shape)
    first_cell = np.arange(N_CHAINS) * n_cells
    counts = np.zeros((3, N_CHAINS * n_cells))
    for i, rows in enumerate(chains):
        cells = first_cell + _cells(question, rows)
        counts[3 * i // n_sweeps] += np.bincount(cells, minlength=N_CHAINS * n_cells)
    thirds = counts.reshape(3, N_CHAINS, n_cells)
    by_chain = thirds.sum(axis=0) / n_sweeps
    variance = by_chain.var(axis=0, ddof=1) / N_CHAINS + (N_CHAINS * n_sweeps) ** -2.0
    warning = None
    if _memory(thirds) > LONGEST_MEMORY:
        if flattened:
            warning = (
                f"{N_CHAINS} Gibbs chains disagree after {BURN_IN + n_sweeps} sweeps: the answer "
                "depends on where they started and its standard errors cannot be trusted; "
                "use method='exact', or 'weighting' with more samples"
            )
        else:
            variance += _weighted_shares(question, samples)[1]
    elif n_possible < FEW_STARTS:
        warning = (
            f"only {n_possible} of {N_STARTS} samples agree with the evidence: Gibbs chains that "
            "start there may miss other possible states; use method='exact', or 'weighting' with "
            "more samples"
        )
    return question.answer(by_chain.mean(axis=0), np.sqrt(variance), None, "gibbs", warning)


def _memory(thirds: FloatArray) -> float:
    """Return the correlation between the first and last thirds of the chains, over all cells.

        Σ first·last / √(Σ first² Σ last²), each centred on its mean over the chains

    ``thirds``: (3, chains, cells). Cells in which chains are stuck spread most and count most. The
    correlation is 0 if the chains do not differ.
    """
    first, _, last = thirds - thirds.mean(axis=1, keepdims=True)
    scale = np.sqrt((first**2).sum() * (last**2).sum())
    return float((first * last).sum() / scale) if scale > 0 else 0.0


def _cells(question: Question, rows: CodedRows) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    columns = tuple(rows.column(x).astype(np.int64) for x in question.variables)
    return np.asarray(np.ravel_multi_index(columns, question.shape))


METHODS: dict[str, Callable[[Question], QueryResult]] = {
    "auto": auto,
    "exact": exact,
    "weighting": weighting,
    "gibbs": gibbs,
}
