"""Candidate orders of a dense network; the total score of the network chooses one.

The evidence of a dense network depends on its order, because predecessors are shrunk. Candidates
are decreasing and increasing variation and correlation, the order of the data, and random orders;
all respect tiers and required arcs. With many variables the differences are small and by default
only one order is tried, in which the variables that vary most come first: naive EBNCs learned from
3 000 rows predict the validation rows of kdd and baudio with it as well as with the best of five by
score, or better. The reverse order comes second: on validation rows of kosarek, the average of
these two gained 0.036 nats a row, that of the first and a random order 0.020.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from ebnc.data.cases import Cases
from ebnc.network.learning.constraints import Constraints
from ebnc.network.local.configurations import count_with
from ebnc.network.model.graph import topological_order
from ebnc.typing import FloatArray

MANY = 40
"""Number of variables above which only one order is tried."""


FEW_ORDERS = 5
"""Number of orders that are tried by default for up to ``MANY`` variables."""

TRIES = 4
"""Number of orders that are made for each that is needed: some may be equal under constraints."""


def candidate_orders(
    cases: Cases, names: Sequence[str], constraints: Constraints, n_orders: int | None = None
) -> list[list[str]]:
    """Return distinct orders of ``names`` that respect the constraints, at most ``n_orders``.

    By default they are one or ``FEW_ORDERS``.
    """
    n = n_orders if n_orders is not None else 1 if len(names) > MANY else FEW_ORDERS
    counts = [_counts_of(cases, x) for x in names]
    orders: list[list[str]] = []
    for key in islice(_keys(cases, names, counts), TRIES * n):
        ranked = [names[i] for i in np.argsort(key, kind="stable")]
        order = _keeping(ranked, constraints)
        if order not in orders:
            orders.append(order)
        if len(orders) == n:
            break
    return orders


def _keys(cases: Cases, names: Sequence[str], counts: Sequence[FloatArray]) -> Iterator[FloatArray]:
    """Yield keys that sort the names, the best ones first, then random ones without end."""
    variation = np.array([own.sum() - own.max() for own in counts])
    yield -variation
    yield variation
    centrality = _centrality(cases, names, counts)
    yield -centrality
    yield centrality
    yield np.arange(len(names), dtype=np.float64)
    generator = np.random.default_rng(0)
    while True:
        yield generator.random(len(names))


def _counts_of(cases: Cases, name: str) -> FloatArray:
    """Return the weight of the rows in each state of a variable."""
    column, n_states = cases.rows.column(name), cases.domain.n_states(name)
    return np.bincount(column, cases.weights, minlength=n_states).astype(np.float64)


def _centrality(cases: Cases, names: Sequence[str], counts: Sequence[FloatArray]) -> FloatArray:
    """Return Σ_j φ²_ij, the summed mean square contingencies of each variable with all others.

    φ² = Σ_ab p_ab² / (p_a p_b) − 1 is Pearson's; it is r², the squared correlation, of two binary
    variables.
    """
    total = cases.total_weight
    squares = np.zeros((len(names), len(names)))
    for i, (x, own) in enumerate(zip(names, counts, strict=True)):
        column = cases.rows.column(x)
        for j in range(i):
            other = cases.rows.column(names[j])
            joint = count_with(cases, column, own.size, other, counts[j].size)
            expected = np.outer(own, counts[j]) / total
            present = expected > 0
            square = float((joint[present] ** 2 / expected[present]).sum()) / total - 1.0
            squares[i, j] = squares[j, i] = square
    return np.asarray(squares.sum(axis=1))


def _keeping(ranked: Sequence[str], constraints: Constraints) -> list[str]:
    """Sort the ranked names by tier, and move required parents before their children."""
    tier = constraints.tier
    last = max(tier.values(), default=0)
    by_tier = sorted(ranked, key=lambda x: tier.get(x, last))
    inside = set(ranked)
    parents = {x: [p for p in constraints.required_parents(x) if p in inside] for x in by_tier}
    return list(topological_order(parents)) if any(parents.values()) else by_tier
