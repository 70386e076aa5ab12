"""Log-likelihood of rows with missing entries: what is missing is summed out.

    log p(observed) = log Σ_hidden Π_i p(z_i | pa_i)

Only ancestors of what is observed matter. Rows with the same entries missing are done together.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ebnc.data.rows import CodedRows, all_configurations
from ebnc.network.graph import ancestral_set
from ebnc.network.local import draw_states
from ebnc.typing import FloatArray

if TYPE_CHECKING:
    from ebnc.network.network import Network

__all__ = ["log_marginals", "log_sum_over"]

MOST_CONFIGURATIONS = 4096  # of the hidden variables, listed for every row
CHUNK_ROWS = 2**18


def log_marginals(
    network: "Network",
    rows: CodedRows,
    hidden: NDArray[np.bool_],
    n_samples: int,
    random_state: int,
) -> FloatArray:
    """log p of the observed entries of every row; ``hidden``: (variables, rows), True if missing.

    Exact where the hidden ancestors have at most ``MOST_CONFIGURATIONS`` configurations; otherwise
    the logarithm of the mean of ``n_samples`` likelihood weights.
    """
    result = np.empty(len(rows))
    patterns, member = np.unique(hidden, axis=1, return_inverse=True)
    member = member.reshape(-1)
    n_states = tuple(map(network.domain.n_states, rows.names))
    parents = {x: network.parents(x) for x in network}
    for p, pattern in enumerate(patterns.T):
        chosen = np.flatnonzero(member == p)
        observed = [x for x, lacking in zip(rows.names, pattern, strict=True) if not lacking]
        relevant = ancestral_set(parents, observed)
        lacking = [x for x in network.order if x in relevant and x not in set(observed)]
        codes = np.where(pattern[:, None], 0, rows.codes[:, chosen]).astype(rows.codes.dtype)
        group = CodedRows(rows.names, n_states, codes)
        if prod(map(network.domain.n_states, lacking)) <= MOST_CONFIGURATIONS:
            result[chosen] = log_sum_over(network, group, lacking, relevant)
        else:
            generator = np.random.default_rng([random_state, p])
            order = [x for x in network.order if x in relevant]
            for row, place in enumerate(chosen.tolist()):
                one = _repeat(group, [row], n_samples)
                weights = _weigh(network, one, order, set(lacking), generator)
                result[place] = np.logaddexp.reduce(weights) - np.log(n_samples)
    return result


def log_sum_over(
    network: "Network", rows: CodedRows, hidden: Sequence[str], relevant: set[str]
) -> FloatArray:
    """log Σ_hidden Π p(z_i | pa_i) over the relevant nodes, for every row; lists configurations."""
    touched = [x for x in relevant if {x, *network.parents(x)} & set(hidden)]
    untouched = [x for x in network.order if x in relevant and x not in set(touched)]
    total = np.zeros(len(rows))
    for name in untouched:
        total += network[name].log_probability(rows)
    if not hidden:
        return total
    touched.sort(key=network.order.index)
    listed = all_configurations(network.domain, hidden)
    places = [rows.place(x) for x in hidden]
    for start, stop in _chunks(len(rows), len(listed)):
        many = _repeat(rows, range(start, stop), len(listed))
        many.codes[places] = np.tile(listed.codes, stop - start)
        joint = np.zeros(len(many))
        for name in touched:
            joint += network[name].log_probability(many)
        total[start:stop] += np.logaddexp.reduce(joint.reshape(stop - start, -1), axis=1)
    return total


def _weigh(
    network: "Network",
    rows: CodedRows,
    order: Sequence[str],
    hidden: set[str],
    generator: np.random.Generator,
) -> FloatArray:
    """Draw the hidden entries in place, parents first; Σ log p of the observed ones by row."""
    weights = np.zeros(len(rows))
    for name in order:
        if name in hidden:
            p = network[name].probabilities(rows)
            rows.codes[rows.place(name)] = draw_states(p, generator.random(len(rows)))
        else:
            weights += network[name].log_probability(rows)
    return weights


def _repeat(rows: CodedRows, chosen: Sequence[int], times: int) -> CodedRows:
    codes = np.repeat(rows.codes[:, list(chosen)], times, axis=1)
    return CodedRows(rows.names, rows.n_states, codes)


def _chunks(n_rows: int, n_listed: int) -> Iterator[tuple[int, int]]:
    step = max(1, CHUNK_ROWS // n_listed)
    for start in range(0, n_rows, step):
        yield start, min(start + step, n_rows)
