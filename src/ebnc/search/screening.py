"""One-step estimates of the gain of a move, from the optimum of the present structure.

With U the gradient and V the Schur complement of the negative Hessian (prior included) of the new
block at the current optimum, the quadratic approximation of the gain in log evidence is

    ½ UᵀV⁻¹U − ½ log |V| + ½ log |prior precision|

For a block B that a move removes, V = ((A⁻¹)_BB)⁻¹ and U = V φ_B, and the gain is minus this value.
With BIC the last two terms are −½ d_B log N. Near separation the estimate for removal is far too
high, because the curvature at large φ is small; it only ranks the candidates.

If screening is expensive, growing moves are first ranked with V from the bags of the design that
share an input with the new block, and only the best are then estimated with the whole design.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from ebnc.domain import Domain
from ebnc.fitting.cholesky import Cholesky
from ebnc.likelihood.class_form import ClassForm
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Bag
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.likelihood.row_sums import OutsideBlock, RowTerms
from ebnc.parameters.phi import Basis
from ebnc.score.scales import HYPER_MEAN
from ebnc.search.moves import Move
from ebnc.search.scorer import Scored, Scorer
from ebnc.structure.clusters import Cluster
from ebnc.threads import in_parallel, one_blas_thread
from ebnc.typing import FloatArray, IntArray

NEW_SCALES = (0.06, 0.12, 0.25, 0.5, 1.0)
EXPENSIVE = 3e9  # operations (a few seconds) above which a first, rough ranking pays
THOROUGH = 40  # number of moves to estimate again after the rough ranking, or at later steps
LARGE = 1e300  # its root is finite; more than UᵀV⁻¹U, so that the factor exists


@dataclass(frozen=True)
class Screened:
    """A move, its estimated gain in score, and the prior used for the estimate."""

    move: Move
    gain: float
    prior: NormalPrior


@one_blas_thread()
def screen(
    scorer: Scorer,
    here: Scored,
    candidates: Sequence[Move],
    before: Mapping[Cluster, Screened] | None = None,
    *,
    thorough: int = THOROUGH,
    expensive: float = EXPENSIVE,
) -> list[Screened]:
    """Return all moves with estimated gains, best first; ties by the description of the move.

    If more than ``thorough`` growing moves take more than ``expensive`` operations, a rough ranking
    chooses those that are estimated thoroughly. ``before``: estimates at an earlier step, by the
    cluster that the move adds. A step changes the gains of few other moves much, so only the
    ``thorough`` best of them are estimated again.
    """
    growing = [move for move in candidates if move.new_cluster is not None]
    shrinking = [move for move in candidates if move.new_cluster is None]
    growing, rest = _without_known(growing, before or {}, thorough)
    widths = [_width(here, move) for move in growing]
    view = _View(scorer, here)
    n_rows = scorer.cases_of(here.structure).n_rows
    if len(growing) > thorough and _price(here.fit.form, n_rows, widths) > expensive:
        rough = _ranked(view, growing, rough=True)
        growing = [screened.move for screened in rough[:thorough]]
        rest = rough[thorough:] + rest
    return _ranked(view, growing + shrinking, rough=False) + rest


def _without_known(
    growing: Sequence[Move], before: Mapping[Cluster, Screened], thorough: int
) -> tuple[list[Move], list[Screened]]:
    """Return the moves to estimate, and those that keep their earlier estimates."""
    known = [
        Screened(move, old.gain, old.prior)
        for move in growing
        if move.new_cluster is not None and (old := before.get(move.new_cluster))
    ]
    kept = sorted(known, key=_rank)[thorough:]
    is_kept = {screened.move.new_cluster for screened in kept}
    return [move for move in growing if move.new_cluster not in is_kept], kept


def _rank(screened: Screened) -> tuple[float, str]:
    return -screened.gain, screened.move.description


def _ranked(view: "_View", moves: Sequence[Move], *, rough: bool) -> list[Screened]:
    estimates = _estimates(view, moves, rough)
    screened = [Screened(move, *estimate) for move, estimate in zip(moves, estimates, strict=True)]
    return sorted(screened, key=_rank)


class _View:
    """A fit, with the quantities that the estimates of all its moves share."""

    def __init__(self, scorer: Scorer, here: Scored) -> None:
        self.scorer, self.here = scorer, here
        # Caches of row terms: False for the rows of the fit, True for all cases.
        self._kept: dict[bool, RowTerms] = {False: [], True: []}

    @cached_property
    def covariances(self) -> list[FloatArray]:
        """The inverses of the blocks of A."""
        return [block.inverse() for block in self.here.fit.curvature.blocks]

    @cached_property
    def roots(self) -> FloatArray:
        """R of every block of A, whose inverse is R Rᵀ, shape (blocks, n, n)."""
        return np.stack([block.inverse_root() for block in self.here.fit.curvature.blocks])

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior of the fit."""
        return self.scorer.posterior(self.here)

    @cached_property
    def whole(self) -> Posterior:
        """The posterior with all cases, for bags with inputs outside of the structure."""
        here, cases = self.here, self.scorer.cases
        if self.scorer.cases_of(here.structure) is cases:
            return self.posterior
        counts = count_cells(here.fit.design, cases)
        return Posterior(here.fit.design, counts, here.fit.prior, here.fit.form.separate)

    def outside_blocks(
        self, bags: Sequence[Bag], beside: Sequence[tuple[int, ...]] | None = None
    ) -> list[OutsideBlock]:
        """Return blocks of the likelihood for bags outside of the design."""
        inside = set(self.here.structure.markov_blanket)
        within = [i for i, bag in enumerate(bags) if inside.issuperset(bag.names)]
        beyond = [i for i, bag in enumerate(bags) if not inside.issuperset(bag.names)]
        by_place: dict[int, OutsideBlock] = {}
        for places, is_whole in ((within, False), (beyond, True)):
            if places:
                posterior = self.whole if is_whole else self.posterior
                chosen = [bags[i] for i in places]
                near = None if beside is None else [beside[i] for i in places]
                blocks = posterior.outside_blocks(
                    self.here.fit.solution.phi, chosen, near, self._kept[is_whole]
                )
                by_place |= zip(places, blocks, strict=True)
        return [by_place[i] for i in range(len(bags))]


def _estimates(view: _View, moves: Sequence[Move], rough: bool) -> list[tuple[float, NormalPrior]]:
    """Return gains and priors of moves; ``rough``: use only the nearest bags of the design."""
    scorer, here = view.scorer, view.here
    basis = here.fit.design.basis
    clusters = here.structure.cluster_key
    before = scorer.log_structure_prior(clusters)
    known = {frozenset(term.inputs) for term in basis.terms}
    gained = [_gained(basis.domain, known, move) for move in moves]
    outside = [i for i, terms in enumerate(gained) if terms]
    design = here.fit.design
    bags = [
        design.bag_of(
            tuple(sorted(set().union(*gained[i]))), [design.term_of(x) for x in gained[i]]
        )
        for i in outside
    ]
    if rough:
        nearby = _nuisances(here, [moves[i] for i in outside])
        beside = [_bags_near(here, moves[i].new_cluster) for i in outside]
        blocks = view.outside_blocks(bags, beside)
        roots = [nearby[numbers] for numbers in beside]
    else:
        blocks = view.outside_blocks(bags)
        roots = [view.roots] * len(outside)
    found_outside = dict(zip(outside, zip(blocks, roots, strict=True), strict=True))

    def estimate(i: int) -> tuple[float, NormalPrior]:
        new = moves[i].new_cluster
        if new is None:
            structure = moves[i].structure
            gain = scorer.log_structure_prior(structure.cluster_key) - before
            there = {frozenset(term.inputs) for term in Basis(structure, basis.domain).terms}
            lost = [t.inputs for t in basis.terms if frozenset(t.inputs) not in there]
            return gain - worth_of_terms(scorer, here, lost, view.covariances), here.fit.prior
        kept = [cluster for cluster in clusters if not cluster <= new]
        gain = scorer.log_structure_prior([*kept, new]) - before
        if i not in found_outside:
            return gain, here.fit.prior
        worth, prior = _worth_outside(scorer, here, gained[i], *found_outside[i])
        return gain + worth, prior

    return in_parallel(estimate, range(len(moves)))


def _gained(domain: Domain, known: Collection[frozenset[str]], move: Move) -> list[tuple[str, ...]]:
    """Return the terms that a move adds."""
    if move.new_cluster is None:
        return []
    names = sorted(x for x in move.new_cluster if domain.n_states(x) > 1)
    return [
        subset
        for size in range(1, len(names) + 1)
        for subset in combinations(names, size)
        if frozenset(subset) not in known
    ]


def _bags_near(here: Scored, inputs: Cluster | None) -> tuple[int, ...]:
    """Return the bags that share an input with a cluster, and the bag of the intercept."""
    design = here.fit.design
    intercept = int(np.flatnonzero(design.order == 0)[0])
    return tuple(
        b
        for b, bag in enumerate(design.bags)
        if not (inputs or frozenset()).isdisjoint(bag.names)
        or design.columns[b].start <= intercept < design.columns[b].stop
    )


def _nuisances(here: Scored, moves: Sequence[Move]) -> dict[tuple[int, ...], FloatArray]:
    """Return roots of (A_ss)⁻¹ for the rough ranking, by the bags s near each move.

    As A = L Lᵀ, A_ss = L_s L_sᵀ, for every block of A.
    """
    design, form = here.fit.design, here.fit.form
    factors = [np.tril(block.lower) for block in here.fit.curvature.blocks]
    roots: dict[tuple[int, ...], FloatArray] = {}
    for move in moves:
        bags = _bags_near(here, move.new_cluster)
        if bags not in roots:
            columns = np.concatenate([np.arange(design.n_columns)[design.columns[b]] for b in bags])
            each = (columns[:, None] * form.n_coupled + np.arange(form.n_coupled)).ravel()
            near = [lower[each] @ lower[each].T for lower in factors]
            roots[bags] = np.stack([Cholesky.of(block).inverse_root() for block in near])
    return roots


def _price(form: ClassForm, n_rows: int, widths: Sequence[int]) -> float:
    """Estimate the operations of screening: cross-tabulations with all bags, products with A⁻¹."""
    design = form.design
    tables = len(widths) * n_rows * len(design.bags) * form.n_weights
    size = design.n_columns * form.n_coupled
    return tables + 0.1 * sum(widths) * form.n_blocks * form.n_coupled * size**2


def _width(here: Scored, move: Move) -> int:
    """Return the number of cells of the cluster that a move adds."""
    return math.prod(here.fit.design.basis.domain.n_states(x) for x in move.new_cluster or ())


def worth_of_terms(
    scorer: Scorer,
    here: Scored,
    terms: Sequence[tuple[str, ...]],
    covariances: Sequence[FloatArray],
) -> float:
    """Return the worth of terms of the design by the quadratic approximation.

    ``covariances``: the inverses of the blocks of A.
    """
    if not terms:
        return 0.0
    design, form = here.fit.design, here.fit.form
    basis = design.basis
    inside = np.zeros(basis.dimension, dtype=bool)
    for inputs in terms:
        term = basis.term(inputs)
        inside[term.start : term.stop] = True
    columns = np.flatnonzero(design.from_basis(inside.astype(np.float64))[:, 0])
    where = (columns[:, None] * form.n_coupled + np.arange(form.n_coupled)).ravel()
    precision = np.repeat(here.fit.prior.precision(design)[columns], design.n_outputs)
    phi = form.of_blocks(here.fit.solution.phi[columns])
    fit, log_determinants = 0.0, []
    for values, covariance in zip(phi, covariances, strict=True):
        block = covariance[np.ix_(where, where)]
        log_determinants.append(-float(np.linalg.slogdet(block)[1]))
        fit += 0.5 * float(values @ np.linalg.solve(block, values))
    log_determinant = form.log_determinant(log_determinants, len(columns))
    return fit + scorer.criterion.price(precision, log_determinant, scorer.cases.total_weight)


def _worth_outside(
    scorer: Scorer,
    here: Scored,
    terms: Sequence[tuple[str, ...]],
    block: OutsideBlock,
    roots: FloatArray,
) -> tuple[float, NormalPrior]:
    """Return the worth of terms outside of the design, and the prior that gives it.

    ``roots``: R of every block of A, whose inverse is R Rᵀ, shape (blocks, n, n).
    """
    design = here.fit.design
    half = block.cross @ roots
    schur = block.own - half @ half.swapaxes(1, 2)  # own − cross A⁻¹ crossᵀ
    widths = [len(design.term_of(term).columns) for term in terms]
    orders = np.repeat([len(term) for term in terms], widths)
    priors = [here.fit.prior]
    known, needed = design.max_order, int(orders.max())
    if scorer.criterion.tunes_scales and needed > known:
        # A new order of interaction has no scale yet: try a few, each with its hyperprior.
        old = here.fit.prior.scales[:known]
        priors = [NormalPrior((*old, *[new] * (needed - known))) for new in NEW_SCALES]
    form = here.fit.form
    gains = [
        _quadratic_gain(scorer, form, block.gradient, schur, orders, prior, known)
        for prior in priors
    ]
    best = int(np.argmax(gains))
    return gains[best], priors[best]


def _quadratic_gain(
    scorer: Scorer,
    form: ClassForm,
    gradients: FloatArray,
    schur: FloatArray,
    orders: IntArray,
    prior: NormalPrior,
    n_known: int,
) -> float:
    """Return the gain of a block under a prior; orders above ``n_known`` pay their hyperprior.

    ``gradients``, ``schur``: of every block of A. ``orders``: number of inputs of each column.
    """
    sigma = np.array([prior.scale_of(s) for s in range(1, int(orders.max()) + 1)])
    precision = sigma[orders - 1] ** -2.0
    size = gradients.shape[1]
    # The factor of V beside U gives L⁻¹U in its last row, and the log determinant on its diagonal.
    beside = np.zeros((len(gradients), size + 1, size + 1))
    beside[:, :size, :size] = schur
    diagonal = beside.reshape(len(beside), -1)[:, :: size + 2]
    diagonal[:, :size] += scorer.criterion.ridge(form.precisions(precision), diagonal[:, :size])
    beside[:, size, :size] = gradients
    beside[:, size, size] = LARGE
    try:
        lower = np.linalg.cholesky(beside)
    except np.linalg.LinAlgError:
        return -math.inf
    gain = 0.5 * float((lower[:, size, :size] ** 2).sum())
    logs = 2.0 * np.log(np.diagonal(lower, axis1=1, axis2=2)[:, :size]).sum(axis=1)
    log_determinant = form.log_determinant(logs.tolist(), len(orders))
    of_outputs = np.repeat(precision, form.design.n_outputs)
    gain += scorer.criterion.price(of_outputs, log_determinant, scorer.cases.total_weight)
    if scorer.criterion.tunes_scales:
        gain -= 0.5 * float(np.sum((np.log(sigma[n_known:]) - HYPER_MEAN) ** 2))
    return gain
