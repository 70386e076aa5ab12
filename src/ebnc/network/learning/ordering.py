"""Candidate orders of a dense network; the total score of the network chooses one.

The evidence of a dense network depends on its order, because predecessors are shrunk. Candidates
are the order of the data, and increasing and decreasing frequency and correlation; all respect
tiers and required arcs. With many variables the differences are small (msweb, 294 variables: 0.009
nats per row) and only one order is tried, in which the variables that vary most come first.
"""

from collections.abc import Sequence

import numpy as np

from ebnc.data.cases import Cases
from ebnc.network.learning.constraints import Constraints
from ebnc.network.model.graph import topological_order
from ebnc.typing import FloatArray

MANY = 128
"""Number of variables above which only one order is tried."""


def candidate_orders(
    cases: Cases, names: Sequence[str], constraints: Constraints
) -> list[list[str]]:
    """Return distinct orders of ``names`` that respect the constraints, the data's own first."""
    ones = np.array([cases.rows.column(x) == 1 for x in names], dtype=np.float64)
    ones = ones.reshape(len(names), len(cases))  # also without names
    weights = np.ones(len(cases)) if cases.weights is None else cases.weights
    share = ones @ weights / weights.sum()
    rarity = np.minimum(share, 1.0 - share)
    centrality = _centrality(ones, weights, share)
    keys = [np.arange(len(names), dtype=np.float64), centrality, -centrality, rarity, -rarity]
    if len(names) > MANY:
        keys = [-rarity]
    orders: list[list[str]] = []
    for key in keys:
        ranked = [names[i] for i in np.argsort(key, kind="stable")]
        order = _keeping(ranked, constraints)
        if order not in orders:
            orders.append(order)
    return orders


def _centrality(ones: FloatArray, weights: FloatArray, share: FloatArray) -> FloatArray:
    """Return Σ_j r_ij², the summed squared correlations of each variable with all others."""
    centred = ones - share[:, None]
    spread = np.sqrt(np.maximum(share * (1.0 - share), 1e-300))
    covariance = (centred * weights) @ centred.T / weights.sum()
    correlation = covariance / np.outer(spread, spread)
    np.fill_diagonal(correlation, 0.0)
    return np.asarray((correlation**2).sum(axis=1))


def _keeping(ranked: Sequence[str], constraints: Constraints) -> list[str]:
    """Sort the ranked names by tier, and move required parents before their children."""
    tier = constraints.tier
    last = max(tier.values(), default=0)
    by_tier = sorted(ranked, key=lambda x: tier.get(x, last))
    inside = set(ranked)
    parents = {x: [p for p in constraints.required_parents(x) if p in inside] for x in by_tier}
    return list(topological_order(parents)) if any(parents.values()) else by_tier
