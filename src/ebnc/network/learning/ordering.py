"""Orders of a dense network: candidates, each scored by what it leads to.

The evidence of a dense network depends on its order, because predecessors are shrunk. Candidates
are the order of the data and those by frequency and by correlation, both ways; all of them keep
tiers and required arcs. The best total score decides. With many variables the differences are
small (msweb, 294 variables: 0.009 nats a row) and only one is tried, the variables that vary most
first.
"""

from collections.abc import Sequence

import numpy as np

from ebnc.data.cases import Cases
from ebnc.network.learning.constraints import Constraints
from ebnc.network.model.graph import topological_order
from ebnc.typing import FloatArray

__all__ = ["candidate_orders"]

MANY = 128
"""With more variables one order is tried."""


def candidate_orders(
    cases: Cases, names: Sequence[str], constraints: Constraints
) -> list[list[str]]:
    """Different orders of ``names`` that keep the constraints; the data's own is the first."""
    ones = np.array([cases.rows.column(x) == 1 for x in names], dtype=np.float64)
    weights = np.ones(len(cases)) if cases.weights is None else cases.weights
    share = ones @ weights / weights.sum()
    rarity = np.minimum(share, 1.0 - share)
    centrality = _centrality(ones, weights, share)
    keys = [np.arange(len(names), dtype=np.float64), centrality, -centrality, rarity, -rarity]
    if len(names) > MANY:
        keys = [-rarity]
    found: list[list[str]] = []
    for key in keys:
        ranked = [names[i] for i in np.argsort(key, kind="stable")]
        order = _keeping(ranked, constraints)
        if order not in found:
            found.append(order)
    return found


def _centrality(ones: FloatArray, weights: FloatArray, share: FloatArray) -> FloatArray:
    """Σ_j r_ij², the squared correlations of every variable with all others."""
    centred = ones - share[:, None]
    spread = np.sqrt(np.maximum(share * (1.0 - share), 1e-300))
    covariance = (centred * weights) @ centred.T / weights.sum()
    correlation = covariance / np.outer(spread, spread)
    np.fill_diagonal(correlation, 0.0)
    return np.asarray((correlation**2).sum(axis=1))


def _keeping(ranked: Sequence[str], constraints: Constraints) -> list[str]:
    """The ranked names, tiers first, moved only where a required parent must stand before."""
    tier = constraints.tier
    last = max(tier.values(), default=0)
    by_tier = sorted(ranked, key=lambda x: tier.get(x, last))
    inside = set(ranked)
    parents = {x: [p for p in constraints.required_parents(x) if p in inside] for x in by_tier}
    if not any(parents.values()):
        return by_tier
    return list(topological_order(parents))
