"""One-step estimates of what a move is worth, from the optimum of the structure it starts at.

With U the gradient and V the Schur complement of the negative Hessian (prior included) of the new
block at the current optimum, the quadratic approximation of the gain in log evidence is

    ½ UᵀV⁻¹U − ½ log |V| + ½ log |prior precision|

For a block B that a move takes away, V = ((A⁻¹)_BB)⁻¹ and U = V φ_B, and the gain is minus that.
With BIC the last two terms are −½ d_B log N. Near separation the second estimate is far too high
(the curvature at large φ is small): it ranks what may go, no more.

Where all this is expensive, growing moves are first ranked with V from those bags of the design
that share an input with the new block, and only the best are looked at with the whole design.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ebnc.domain import Domain
from ebnc.kernels.parallel import in_parallel, one_blas_thread
from ebnc.likelihood.posterior import OutsideBlock
from ebnc.parameters.phi import Basis
from ebnc.score.scales import HYPER_MEAN, HYPER_SPREAD
from ebnc.search.moves import Move
from ebnc.search.scorer import Scored, Scorer
from ebnc.structure.clusters import Cluster
from ebnc.typing import FloatArray, IntArray

__all__ = ["Screened", "screen", "worth_of_terms"]

NEW_SCALES = (0.06, 0.12, 0.25, 0.5, 1.0)
EXPENSIVE = 3e9  # operations, a few seconds, of which the first ranking saves most
THOROUGH = 40  # moves that are looked at again after the first ranking


@dataclass(frozen=True)
class Screened:
    """A move, its estimated gain in score, and the scales at which it was estimated."""

    move: Move
    gain: float
    scales: tuple[float, ...]


@one_blas_thread()
def screen(scorer: Scorer, here: Scored, candidates: Sequence[Move]) -> list[Screened]:
    """All moves with their estimated gains, the best first; ties by the words of the move."""
    basis = here.design.basis
    covariance = here.factor.solve(np.eye(here.dimension))
    clusters = here.structure.cluster_key
    prior = scorer.log_cluster_prior(clusters)
    known = {frozenset(term.inputs) for term in basis.terms}
    scales = here.posterior.prior.scales
    everything = Nuisance(tuple(range(len(here.design.bags))), covariance)

    def estimate(
        move: Move, gained: list[tuple[str, ...]], block: OutsideBlock | None, nuisance: Nuisance
    ) -> Screened:
        new = move.new_cluster
        if new is None:
            gain = scorer.log_structure_prior(move.structure) - prior
            there = {frozenset(term.inputs) for term in Basis(move.structure, basis.domain).terms}
            lost = [t.inputs for t in basis.terms if frozenset(t.inputs) not in there]
            return Screened(move, gain - worth_of_terms(scorer, here, lost, covariance), scales)
        kept = [cluster for cluster in clusters if not cluster <= new]
        gain = scorer.log_cluster_prior([*kept, new]) - prior
        if block is None:
            return Screened(move, gain, scales)
        worth, scale = _worth_outside(scorer, here, gained, block, nuisance.covariance)
        beyond = max(map(len, gained)) - len(scales)
        return Screened(move, gain + worth, (*scales, *[scale] * beyond))

    def estimates(
        moves: Sequence[Move], nearby: dict[tuple[int, ...], Nuisance] | None
    ) -> list[Screened]:
        gained = [_gained(basis.domain, known, move) for move in moves]
        outside = [i for i, terms in enumerate(gained) if terms]
        near = [
            everything if nearby is None else nearby[_bags_near(here, moves[i].new_cluster)]
            for i in outside
        ]
        bags = [
            here.design.bag_of(tuple(sorted(set().union(*gained[i]))), gained[i]) for i in outside
        ]
        beside = None if nearby is None else [nuisance.bags for nuisance in near]
        blocks = dict(zip(outside, scorer.outside_blocks(here, bags, beside), strict=True))
        nuisances = dict(zip(outside, near, strict=True))
        found = in_parallel(
            lambda i: estimate(moves[i], gained[i], blocks.get(i), nuisances.get(i, everything)),
            range(len(moves)),
        )
        return sorted(found, key=lambda s: (-s.gain, s.move.description))

    growing = [move for move in candidates if move.new_cluster is not None]
    rest: list[Screened] = []
    if len(growing) > THOROUGH and _price(here, growing) > EXPENSIVE:
        rough = estimates(growing, _nuisances(here, growing))
        growing, rest = [screened.move for screened in rough[:THOROUGH]], rough[THOROUGH:]
    shrinking = [move for move in candidates if move.new_cluster is None]
    return estimates(growing + shrinking, None) + rest


def _gained(domain: Domain, known: Collection[frozenset[str]], move: Move) -> list[tuple[str, ...]]:
    """The terms that a move brings in."""
    if move.new_cluster is None:
        return []
    names = sorted(x for x in move.new_cluster if domain.n_states(x) > 1)
    return [
        subset
        for size in range(1, len(names) + 1)
        for subset in combinations(names, size)
        if frozenset(subset) not in known
    ]


class Nuisance(NamedTuple):
    """Bags of the design, by number, and the inverse of A's block of their parameters."""

    bags: tuple[int, ...]
    covariance: FloatArray


def _bags_near(here: Scored, inputs: Cluster | None) -> tuple[int, ...]:
    """The bags that share an input with a cluster, and the one of the intercept."""
    design = here.design
    intercept = int(np.flatnonzero(design.order == 0)[0])
    return tuple(
        b
        for b, bag in enumerate(design.bags)
        if not (inputs or frozenset()).isdisjoint(bag.names)
        or design.columns[b].start <= intercept < design.columns[b].stop
    )


def _nuisances(here: Scored, moves: Sequence[Move]) -> dict[tuple[int, ...], Nuisance]:
    """The blocks that a first ranking of the moves needs: A = L Lᵀ, so A_ss = L_s L_sᵀ."""
    design, lower = here.design, np.tril(here.factor.lower)
    found: dict[tuple[int, ...], Nuisance] = {}
    for move in moves:
        bags = _bags_near(here, move.new_cluster)
        if bags not in found:
            columns = np.concatenate([np.arange(design.n_columns)[design.columns[b]] for b in bags])
            each = columns[:, None] * design.n_others + np.arange(design.n_others)
            rows = lower[each.ravel()]
            found[bags] = Nuisance(bags, np.asarray(np.linalg.inv(rows @ rows.T), np.float64))
    return found


def _price(here: Scored, moves: Sequence[Move]) -> float:
    """About the operations of screening: cross-tabulations with all bags, and A⁻¹ on both sides."""
    design, data = here.design, here.posterior.data
    n_pairs = design.n_others * (design.n_others + 1) / 2
    n_states = design.basis.domain.n_states
    widths = sum(math.prod(n_states(x) for x in move.new_cluster or ()) for move in moves)
    tables = len(moves) * data.n_rows * len(design.bags) * n_pairs
    return tables + 0.1 * widths * design.n_others * design.dimension**2


def worth_of_terms(
    scorer: Scorer, here: Scored, terms: Sequence[tuple[str, ...]], covariance: FloatArray
) -> float:
    """What terms of the design are worth, by the quadratic approximation; ``covariance``: A⁻¹."""
    if not terms:
        return 0.0
    design = here.posterior.design
    inside = np.zeros(design.basis.dimension, dtype=bool)
    for inputs in terms:
        term = design.basis.term(inputs)
        inside[term.start : term.stop] = True
    where = np.flatnonzero(design.from_basis(inside.astype(np.float64)).ravel())
    block = covariance[np.ix_(where, where)]
    precision = np.repeat(here.posterior.precision, design.n_others)[where]
    phi = here.solution.phi.ravel()[where]
    _, log_determinant = np.linalg.slogdet(block)
    fit = 0.5 * float(phi @ np.linalg.solve(block, phi))
    return fit + _occam(scorer, -log_determinant, precision)


def _worth_outside(
    scorer: Scorer,
    here: Scored,
    terms: Sequence[tuple[str, ...]],
    block: OutsideBlock,
    covariance: FloatArray,
) -> tuple[float, float]:
    """What terms outside of the design would be worth, and the best scale of orders new here."""
    design = here.posterior.design
    schur = block.own - block.cross @ covariance @ block.cross.T
    widths = [math.prod(design.basis.domain.n_states(x) - 1 for x in term) for term in terms]
    orders = np.repeat(np.repeat([len(term) for term in terms], widths), design.n_others)
    known = len(here.posterior.prior.scales)
    # An order that is new here has no scale yet: the best of a few, with what they cost.
    new = NEW_SCALES if scorer.tunes_scales and orders.max() > known else (math.exp(HYPER_MEAN),)
    return max(
        (_quadratic_gain(scorer, block.gradient, schur, here, orders, scale), scale)
        for scale in new
    )


def _quadratic_gain(
    scorer: Scorer,
    gradient: FloatArray,
    schur: FloatArray,
    here: Scored,
    orders: IntArray,
    new_scale: float,
) -> float:
    """The gain of a block whose orders beyond the known ones have ``new_scale``."""
    known = here.posterior.prior.scales
    sigma = [*known, *[new_scale] * (int(orders.max()) - len(known))]
    precision = np.array(sigma)[orders - 1] ** -2.0
    matrix = schur + np.diag(precision)
    sign, log_determinant = np.linalg.slogdet(matrix)
    if sign <= 0:
        return -math.inf
    fit = 0.5 * float(gradient @ np.linalg.solve(matrix, gradient))
    gain = fit + _occam(scorer, log_determinant, precision)
    if orders.max() > len(known):
        gain -= 0.5 * ((math.log(new_scale) - HYPER_MEAN) / HYPER_SPREAD) ** 2
    return gain


def _occam(scorer: Scorer, log_determinant: float, precision: FloatArray) -> float:
    if scorer.kind == "bic":
        return -0.5 * len(precision) * math.log(scorer.cases.total_weight)
    return 0.5 * float(np.log(precision).sum()) - 0.5 * log_determinant
