"""Samples of a network: forward, weighted by evidence, and by Gibbs sweeps.

All of them draw many rows at once, one node after another; a node costs one look-up for all rows.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ebnc.data.rows import CodedRows, code_type
from ebnc.errors import QueryError
from ebnc.network.graph import ancestral_set
from ebnc.network.local import draw_states
from ebnc.typing import CodeArray, FloatArray

if TYPE_CHECKING:
    from ebnc.network.network import Network

__all__ = ["gibbs_samples", "sample_codes", "weighted_samples"]

BURN_IN = 200  # sweeps before the first one that counts


def sample_codes(network: "Network", n: int, generator: np.random.Generator) -> CodeArray:
    """n rows of p(z) as codes, shape (variables, n), by forward sampling."""
    rows = _blank(network, n)
    _draw(network, rows, network.order, {}, generator)
    return rows.codes


def weighted_samples(
    network: "Network",
    evidence: Mapping[str, int],
    names: Collection[str],
    n: int,
    generator: np.random.Generator,
) -> tuple[CodedRows, FloatArray]:
    """Likelihood weighting: n samples with the evidence set, and the logarithms of their weights.

    Only ``names`` and the evidence with their ancestors are sampled.
    """
    parents = {x: network.parents(x) for x in network}
    relevant = ancestral_set(parents, [*names, *evidence])
    rows = _blank(network, n)
    order = [x for x in network.order if x in relevant]
    return rows, _draw(network, rows, order, evidence, generator)


def gibbs_samples(
    network: "Network",
    evidence: Mapping[str, int],
    names: Collection[str],
    n_chains: int,
    n_sweeps: int,
    generator: np.random.Generator,
) -> list[CodedRows]:
    """States of ``n_chains`` Gibbs chains after each of ``n_sweeps`` sweeps past the burn-in.

    Every hidden node is drawn from p(z | its Markov blanket). Zeros in tables may keep a chain from
    reaching all states; likelihood weighting does not have that trouble.
    """
    parents = {x: network.parents(x) for x in network}
    relevant = ancestral_set(parents, [*names, *evidence])
    order = [x for x in network.order if x in relevant]
    hidden = [x for x in order if x not in evidence]
    children = {x: [c for c in order if x in parents[c]] for x in hidden}
    rows = _possible_rows(network, order, evidence, n_chains, generator)
    kept = []
    for sweep in range(BURN_IN + n_sweeps):
        for name in hidden:
            place, n_states = rows.place(name), network.domain.n_states(name)
            logarithm = np.empty((n_chains, n_states))
            with np.errstate(divide="ignore"):
                logarithm[:] = np.log(network[name].probabilities(rows))
            for state in range(n_states):
                rows.codes[place] = state
                for child in children[name]:
                    logarithm[:, state] += network[child].log_probability(rows)
            logarithm -= logarithm.max(axis=1, keepdims=True)
            p = np.exp(logarithm)
            p /= p.sum(axis=1, keepdims=True)
            rows.codes[place] = draw_states(p, generator.random(n_chains))
        if sweep >= BURN_IN:
            kept.append(CodedRows(rows.names, rows.n_states, rows.codes.copy()))
    return kept


def _possible_rows(
    network: "Network",
    order: list[str],
    evidence: Mapping[str, int],
    n_chains: int,
    generator: np.random.Generator,
) -> CodedRows:
    """Rows with the evidence and a probability above 0, to start chains at."""
    for n in (n_chains, 100 * n_chains):
        rows = _blank(network, n)
        weights = _draw(network, rows, order, evidence, generator)
        possible = np.flatnonzero(weights > -np.inf)
        if possible.size:
            # The likelier ones first, each as often as needed.
            ranked = possible[np.argsort(-weights[possible], kind="stable")][:n_chains]
            chosen = np.resize(ranked, n_chains)
            return CodedRows(rows.names, rows.n_states, rows.codes[:, chosen].copy())
    raise QueryError(
        f"no sample of {100 * n_chains} agrees with the evidence on {sorted(evidence)}; its "
        "probability is 0 or too small for sampling; use method='exact'"
    )


def _blank(network: "Network", n: int) -> CodedRows:
    names = network.variables
    n_states = tuple(map(network.domain.n_states, names))
    return CodedRows(names, n_states, np.zeros((len(names), n), dtype=code_type(n_states)))


def _draw(
    network: "Network",
    rows: CodedRows,
    order: Collection[str],
    evidence: Mapping[str, int],
    generator: np.random.Generator,
) -> FloatArray:
    """Fill ``rows`` node by node, parents first; returns Σ log p of the evidence by row."""
    weights = np.zeros(len(rows))
    for name in order:
        place = rows.place(name)
        if name in evidence:
            rows.codes[place] = evidence[name]
            weights += network[name].log_probability(rows)
        else:
            p = network[name].probabilities(rows)
            rows.codes[place] = draw_states(p, generator.random(len(rows)))
    return weights
