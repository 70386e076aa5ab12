"""Samples of a network: forward, weighted by evidence, and by Gibbs sweeps.

All functions draw many rows at once, node by node; each node is looked up once for all rows.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from ebnc.data.rows import CodedRows, code_type
from ebnc.network.inference.evidence import Evidence
from ebnc.network.model.joint import Joint
from ebnc.typing import CodeArray, FloatArray

BURN_IN = 200  # sweeps to discard at the start of a chain
FEW_EFFECTIVE = 200  # below this effective size, standard errors of weighting are unreliable


@dataclass(frozen=True, eq=False)
class WeightedSamples:
    """Rows that agree with the evidence, each with its weight w relative to the largest.

    ``log_mean``: log of the mean weight, an estimate of log p(evidence). ``effective``: the size
    (Σ w)²/Σ w² of an equally precise unweighted sample; 0 if every weight is 0.
    """

    rows: CodedRows
    weights: FloatArray
    log_mean: float
    effective: float


def sample_codes(network: Joint, n: int, generator: np.random.Generator) -> CodeArray:
    """Draw n rows of p(z) as codes, shape (variables, n), by forward sampling."""
    rows = blank_rows(network, n)
    _draw(network, rows, network.order, Evidence({}), generator)
    return rows.codes


def sample_numbers(
    network: Joint, codes: CodeArray, generator: np.random.Generator
) -> dict[str, FloatArray]:
    """Draw numbers in the bins of all nodes with a density; NaN is a missing entry.

    ``codes``: from ``sample_codes``, shape (variables, n).
    """
    numbers = {}
    for name, column in zip(network.variables, codes, strict=True):
        if name in network.densities:
            density = network.densities[name]
            drawn = density.sample(np.minimum(column, density.n_bins - 1), generator)
            numbers[name] = np.where(column < density.n_bins, drawn, np.nan)
    return numbers


def weighted_samples(
    network: Joint,
    evidence: Evidence,
    names: Collection[str],
    n: int,
    generator: np.random.Generator,
) -> WeightedSamples:
    """Draw n samples by likelihood weighting: evidence is fixed, other nodes are drawn forward.

    A node with an interval is drawn inside of it, and the weight is the probability of that.

    Only ``names``, the evidence and their ancestors are sampled.
    """
    rows = blank_rows(network, n)
    order = network.ancestral([*names, *evidence.names])
    logarithms = _draw(network, rows, order, evidence, generator)
    peak = float(logarithms.max())
    if peak == -np.inf:
        return WeightedSamples(rows, np.zeros(n), -np.inf, 0.0)
    weights = np.exp(logarithms - peak)
    log_mean = float(np.log(weights.mean())) + peak
    return WeightedSamples(rows, weights, log_mean, effective_size(weights))


def effective_size(weights: FloatArray) -> float:
    """(Σ w)²/Σ w²."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def resample(
    samples: WeightedSamples, weights: FloatArray, n: int, generator: np.random.Generator
) -> CodedRows:
    """Draw n of the rows in proportion to their weights (up to rounding).

    Systematic resampling: one uniform number u selects the rows at (u + i)/n of the summed weights.
    """
    ends = np.cumsum(weights)
    at = (generator.random() + np.arange(n)) * (ends[-1] / n)
    last = np.flatnonzero(weights)[-1]  # used if rounding leads beyond the sum
    chosen = np.minimum(np.searchsorted(ends, at, side="right"), last)
    rows = samples.rows
    return CodedRows(rows.names, rows.n_states, rows.codes[:, chosen])


def gibbs_samples(
    network: Joint,
    evidence: Evidence,
    names: Collection[str],
    starts: CodedRows,
    n_sweeps: int,
    generator: np.random.Generator,
) -> Iterator[CodedRows]:
    """Yield the states of Gibbs chains after each of ``n_sweeps`` sweeps past the burn-in.

    Each row of ``starts`` is the start of a chain and is overwritten. Each hidden node is drawn
    from p(z | its Markov blanket). Zeros in tables may keep a chain from reaching all states.
    """
    order = network.ancestral([*names, *evidence.names])
    hidden = [x for x in order if x not in evidence.codes]
    children = {x: [c for c in order if x in network.parents(c)] for x in hidden}
    rows, log_weights = starts, evidence.log_weights
    for sweep in range(BURN_IN + n_sweeps):
        for name in hidden:
            place, n_states = rows.place(name), network.domain.n_states(name)
            with np.errstate(divide="ignore"):
                logarithm = np.log(network[name].probabilities(rows))
            logarithm += log_weights.get(name, 0.0)
            for state in range(n_states):
                rows.codes[place] = state
                for child in children[name]:
                    logarithm[:, state] += network[child].log_probability(rows)
            logarithm -= logarithm.max(axis=1, keepdims=True)
            p = np.exp(logarithm)
            p /= p.sum(axis=1, keepdims=True)
            rows.codes[place] = _draw_states(p, generator.random(len(rows)))
        if sweep >= BURN_IN:
            yield rows


def blank_rows(network: Joint, n: int) -> CodedRows:
    """Return n rows of all variables with every code 0."""
    names = network.variables
    n_states = tuple(map(network.domain.n_states, names))
    return CodedRows(names, n_states, np.zeros((len(names), n), dtype=code_type(n_states)))


def _draw(
    network: Joint,
    rows: CodedRows,
    order: Collection[str],
    evidence: Evidence,
    generator: np.random.Generator,
) -> FloatArray:
    """Fill ``rows`` node by node, parents first, and return Σ log p(evidence) by row."""
    weights = np.zeros(len(rows))
    for name in order:
        place = rows.place(name)
        if name in evidence.codes:
            rows.codes[place] = evidence.codes[name]
            weights += network[name].log_probability(rows)
        else:
            p = network[name].probabilities(rows)
            if name in evidence.weights:
                p = p * evidence.weights[name]
                total = p.sum(axis=1)
                with np.errstate(divide="ignore"):
                    weights += np.log(total)
                p /= np.where(total > 0.0, total, 1.0)[:, None]
            rows.codes[place] = _draw_states(p, generator.random(len(rows)))
    return weights


def _draw_states(probabilities: FloatArray, uniforms: FloatArray) -> CodeArray:
    """Draw a state for every row of ``probabilities`` (rows, K) by inverting one uniform number."""
    below = np.cumsum(probabilities[:, :-1], axis=1) <= uniforms[:, None]
    return np.asarray(below.sum(axis=1), dtype=np.uint32)
