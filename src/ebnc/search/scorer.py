"""Scores of structures on one set of cases, with a memory: equal clusters are scored once.

    score = log evidence + log hyperprior + log p(m′)      or      BIC + log p(m′)

Hundreds of candidates compete, and evidence alone would overfit small data. The structure prior
corrects for their number: how many inputs and how many interaction arcs there are is free, which
ones shares the probability of that number among all choices (Scott & Berger 2010):

    log p(m′) = −log C(n, inputs taken in) − log C(n (n − 1)/2, arcs)

The first arc of n inputs costs log n(n − 1)/2, a tenth one log 10 less.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.parts import Parts
from ebnc.fitting.metric import Factor
from ebnc.fitting.optimum import Optimum, find_optimum
from ebnc.fitting.solution import Solution
from ebnc.likelihood.counts import CellCounts, Counts, NoCounts, count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.phi import Basis, transfer
from ebnc.score.bic import bic
from ebnc.score.laplace import laplace_log_evidence, log_joint
from ebnc.score.scales import HYPER_MEAN, HYPER_SPREAD, maximise_evidence
from ebnc.search.side_by_side import Kept, SideBySide, gather_team
from ebnc.structure.clusters import Cluster
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

__all__ = ["How", "Scored", "Scorer", "on_cases", "without_rows"]

How = tuple[str, tuple[float, ...] | None, bool]  # kind, scales, structure prior

SHORT = 3e6  # nanoseconds of a fit that is not worth sending
LONG = 2e6  # nanoseconds of a gradient that threads compute side by side
MOST_PROJECTED = 16  # projections of the cases that are kept

NEARLY_FLAT = 3.0
"""σ for BIC where none is given: close to maximum likelihood, and never separated."""


@dataclass(frozen=True, eq=False)
class Scored:
    """A structure, its fit, and its score; ``fit_score`` is the score without the prior p(m′)."""

    structure: EmbeddedStructure
    posterior: Posterior
    solution: Solution
    factor: Factor
    fit_score: float
    score: float

    @property
    def optimum(self) -> Optimum:
        """The fit."""
        return Optimum(self.posterior, self.solution, self.factor)

    @property
    def design(self) -> Design:
        """The design of the fit."""
        return self.posterior.design

    @property
    def dimension(self) -> int:
        """d of the structure."""
        return self.design.dimension


class Scorer:
    """Fits and scores structures over the inputs of ``cases``.

    ``kind``: "laplace" or "bic". ``scales``: fixed σ by order, or None for σ by evidence.
    ``n_fits`` counts full fits, each scale that is tried being one; ``n_jobs`` processes (joblib)
    do them side by side, and screen, where there is enough to do. Cases in parts are worked on
    where they are instead, one fit at a time.
    """

    def __init__(
        self,
        cases: Parts,
        kind: str = "laplace",
        scales: Sequence[float] | None = None,
        structure_prior: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.cases, self.kind, self.n_jobs = cases, kind, n_jobs
        self.scales = None if scales is None else tuple(scales)
        self.structure_prior = structure_prior
        self.n_fits = 0
        self._ahead: tuple[Scored, Scored, int] | None = None  # a fit, what tuning makes of it
        self._memory: dict[tuple[frozenset[frozenset[str]], tuple[float, ...] | None], Scored] = {}

    @property
    def tunes_scales(self) -> bool:
        """Whether σ is chosen by evidence."""
        return self.kind == "laplace" and self.scales is None

    def log_structure_prior(self, structure: EmbeddedStructure) -> float:
        """−log of the number of choices of as many inputs, and of as many interaction arcs.

        Arcs are those beyond the first variable of a cluster: each is a pair of inputs.
        """
        return self.log_cluster_prior(structure.cluster_key)

    def log_cluster_prior(self, clusters: Collection[Cluster]) -> float:
        """The same from the clusters alone."""
        n_inputs = len(self.cases.inputs)
        n_in = len(frozenset().union(*clusters))
        if not self.structure_prior:
            return 0.0
        n_arcs = sum(len(cluster) - 1 for cluster in clusters if cluster)
        n_pairs = n_inputs * (n_inputs - 1) // 2
        return -_log_choices(n_inputs, n_in) - _log_choices(n_pairs, n_arcs)

    def tuned(self, structure: EmbeddedStructure, near: Scored | None = None) -> Scored:
        """The score with σ by evidence (or as given), started at a similar structure."""
        if not self.tunes_scales:
            return self.at_scales(structure, self.scales or (NEARLY_FLAT,), near)
        return self._remember(structure, None, lambda: self._tune(structure, near))

    def at_scales(
        self, structure: EmbeddedStructure, scales: Sequence[float], near: Scored | None = None
    ) -> Scored:
        """The score with these σ; orders beyond them have the hyperprior's mean."""
        return self._remember(structure, tuple(scales), lambda: self._fit(structure, scales, near))

    def all_at_scales(
        self,
        asked: Sequence[tuple[EmbeddedStructure, tuple[float, ...]]],
        near: Scored,
        *,
        look_ahead: bool = False,
    ) -> list[Scored]:
        """``at_scales`` of several structures and scales, side by side where that is worth it.

        They come without their rows from others. ``look_ahead``: others also tune the first one,
        which is probably asked for next; unless there are so many rows that threads will share the
        work well.
        """
        new = {
            (structure.cluster_key, scales): structure
            for structure, scales in asked
            if (structure.cluster_key, scales) not in self._memory
        }
        price = 10 * near.posterior.gradient_price + 2 * near.posterior.hessian_price
        if self.team is not None and len(new) > 1 and price > SHORT:
            kept = Kept(without_rows(near))
            tune = look_ahead and self.tunes_scales and near.posterior.gradient_price < LONG
            jobs = [
                (self.how, structure, scales, kept, tune and i == 0)
                for i, ((_, scales), structure) in enumerate(new.items())
            ]
            for key, (found, tuned, n_fits) in zip(new, self.team(_fit_one, jobs), strict=True):
                self.n_fits += 1
                self._memory[key] = found
                if tuned is not None:
                    self._ahead = (self._memory[key], tuned, n_fits)
        return [self.at_scales(structure, scales, near) for structure, scales in asked]

    @cached_property
    def team(self) -> SideBySide | None:
        """Workers that hold the cases, or None where there is one job, or cases are in parts."""
        return gather_team(self.cases, self.n_jobs) if isinstance(self.cases, Cases) else None

    @property
    def how(self) -> How:
        """How scores are made: what another process needs to make the same ones."""
        return (self.kind, self.scales, self.structure_prior)

    def with_rows(self, scored: Scored) -> Scored:
        """A fit with its rows, which it may have left behind."""
        return on_cases(self._cases_of(scored.structure), scored)

    def _remember(
        self,
        structure: EmbeddedStructure,
        scales: tuple[float, ...] | None,
        make: Callable[[], Scored],
    ) -> Scored:
        key = (structure.cluster_key, scales)
        if key not in self._memory:
            self._memory[key] = make()
        return self._memory[key]

    def _posterior(self, structure: EmbeddedStructure) -> Posterior:
        design = Design(Basis(structure, self.cases.domain))
        counts = count_cells(design, self._cases_of(structure))
        return Posterior(design, counts, NormalPrior((1.0,)))

    def _cases_of(self, structure: EmbeddedStructure) -> Parts:
        """The cases with the inputs of a structure alone, where that makes them fewer."""
        names = structure.markov_blanket
        if not isinstance(self.cases, Cases) or len(names) == len(self.cases.inputs):
            return self.cases
        with _projecting:
            known = _projected.setdefault(self.cases, {})
            if names not in known:
                while len(known) >= MOST_PROJECTED:
                    del known[next(iter(known))]
                known[names] = self.cases.projected(names)
            return known[names]

    def _tune(self, structure: EmbeddedStructure, near: Scored | None) -> Scored:
        if self._ahead is not None and self._ahead[0] is near:
            _, found_ahead, n_fits = self._ahead
            if found_ahead.structure.cluster_key == structure.cluster_key:
                self.n_fits += n_fits
                return found_ahead
        posterior = self._posterior(structure)
        scales = () if near is None else near.posterior.prior.scales
        start: FloatArray | Optimum | None = None
        if near is not None:
            same = near.structure == structure
            start = near.optimum if same else start_from(near, posterior.design)
        found = maximise_evidence(posterior, tolerance=1e-2, scales=scales, start=start)
        self.n_fits += found.n_fits
        prior = self.log_structure_prior(structure)
        what = (structure, found.posterior, found.solution, found.factor)
        return Scored(*what, found.total, found.total + prior)

    def _fit(
        self, structure: EmbeddedStructure, scales: Sequence[float], near: Scored | None
    ) -> Scored:
        posterior = self._posterior(structure)
        orders = int(posterior.design.order_of_interaction.max())
        filled = [*scales, *[math.exp(HYPER_MEAN)] * (orders - len(scales))]
        used = tuple(filled[:orders]) or tuple(scales)
        posterior = posterior.with_prior(NormalPrior(used))
        start = None if near is None else start_from(near, posterior.design)
        _, solution, factor = find_optimum(posterior, start)
        self.n_fits += 1
        if self.kind == "bic":
            likelihood = posterior.log_likelihood(solution.phi)
            value = bic(likelihood, posterior.design.dimension, self.cases.total_weight)
        else:
            value = laplace_log_evidence(log_joint(posterior, solution.phi), factor)
            if self.tunes_scales:
                z = (np.log(used[:orders]) - HYPER_MEAN) / HYPER_SPREAD
                value -= 0.5 * float(z @ z)
        prior = self.log_structure_prior(structure)
        return Scored(structure, posterior, solution, factor, value, value + prior)


_projected: WeakKeyDictionary[Cases, dict[tuple[str, ...], Cases]] = WeakKeyDictionary()
"""Cases with fewer inputs, for all scorers of the same cases: a worker has one for every job."""

_projecting = Lock()


def _log_choices(n: int, k: int) -> float:
    """log C(n, k)."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def start_from(near: Scored, design: Design) -> FloatArray:
    """φ̃ of a similar structure as a start for another design."""
    old = near.posterior.design
    return design.from_basis(transfer(old.to_basis(near.solution.phi), old.basis, design.basis))


def without_rows(scored: Scored) -> Scored:
    """What another process needs of a fit: all but the rows, which it has."""
    return _with_counts(scored, NoCounts())


def on_cases(cases: Parts, scored: Scored) -> Scored:
    """A fit with the rows of these cases, whatever it had."""
    here = scored.posterior.data
    if isinstance(here, CellCounts) and isinstance(cases, Cases) and here.rows is cases.rows:
        return scored
    return _with_counts(scored, count_cells(scored.design, cases))


def _with_counts(scored: Scored, counts: Counts) -> Scored:
    posterior = scored.posterior
    return replace(scored, posterior=Posterior(posterior.design, counts, posterior.prior))


def _fit_one(
    cases: Cases,
    how: How,
    structure: EmbeddedStructure,
    scales: tuple[float, ...],
    near: Kept[Scored],
    tune: bool,
) -> tuple[Scored, Scored | None, int]:
    """A fit at given scales, and if asked for what tuning makes of it, with the fits that takes."""
    scorer = Scorer(cases, *how)
    found = scorer.at_scales(structure, scales, near.value)
    tuned = without_rows(scorer.tuned(structure, found)) if tune else None
    return without_rows(found), tuned, scorer.n_fits - 1
