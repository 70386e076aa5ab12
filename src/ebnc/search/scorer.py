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
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.parts import Parts
from ebnc.fitting.metric import Factor
from ebnc.fitting.optimum import Optimum, find_optimum
from ebnc.fitting.solution import Solution
from ebnc.kernels.parallel import in_parallel
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.phi import Basis, transfer
from ebnc.score.bic import bic
from ebnc.score.laplace import laplace_log_evidence, log_joint
from ebnc.score.scales import HYPER_MEAN, HYPER_SPREAD, maximise_evidence
from ebnc.structure.clusters import Cluster
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

__all__ = ["Scored", "Scorer"]

MOST_PROJECTED = 16  # projections of the cases that are kept

NEARLY_FLAT = 3.0
"""σ for BIC where none is given: close to maximum likelihood, and never separated."""


@dataclass(frozen=True, eq=False)
class Scored:
    """A structure, its fit, and its score; ``fit_score`` is the score without the prior p(m′).

    It holds no rows: a search keeps hundreds of fits, and cells of all rows take bags × N numbers
    each. ``Scorer.posterior`` counts them again where they are needed, which is about as quick as
    one gradient.
    """

    structure: EmbeddedStructure
    design: Design
    prior: NormalPrior
    solution: Solution
    factor: Factor
    fit_score: float
    score: float

    @property
    def dimension(self) -> int:
        """d of the structure."""
        return self.design.dimension


class Scorer:
    """Fits and scores structures over the inputs of ``cases``.

    Parameters
    ----------
    cases : Parts
        Cases in memory, or in parts.
    kind : {"laplace", "bic"}
        The score.
    scales : sequence of float or None
        Fixed σ by order; None chooses σ by evidence.
    structure_prior : bool
        Whether log p(m′) is part of the score.

    Attributes
    ----------
    n_fits : int
        Full fits so far; each scale that is tried is one.
    """

    def __init__(
        self,
        cases: Parts,
        kind: str = "laplace",
        scales: Sequence[float] | None = None,
        structure_prior: bool = True,
    ) -> None:
        self.cases, self.kind = cases, kind
        self.scales = None if scales is None else tuple(scales)
        self.structure_prior = structure_prior
        self.n_fits = 0
        self._memory: dict[tuple[frozenset[frozenset[str]], tuple[float, ...] | None], Scored] = {}
        if isinstance(cases, Cases):
            self._projected = lru_cache(MOST_PROJECTED)(cases.projected)

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
        self, asked: Sequence[tuple[EmbeddedStructure, tuple[float, ...]]], near: Scored
    ) -> list[Scored]:
        """``at_scales`` of several structures and scales, on several threads.

        Cases in parts are passed over by one fit at a time: a pass uses all threads.
        """
        new = {
            (structure.cluster_key, scales): structure
            for structure, scales in asked
            if (structure.cluster_key, scales) not in self._memory
        }
        if isinstance(self.cases, Cases):
            jobs = [(structure, scales) for (_, scales), structure in new.items()]
            fits = in_parallel(lambda job: self._fit(*job, near)[0], jobs)
            self._memory |= zip(new, fits, strict=True)
            self.n_fits += len(new)
        return [self.at_scales(structure, scales, near) for structure, scales in asked]

    def cases_of(self, structure: EmbeddedStructure) -> Parts:
        """The cases with the inputs of a structure alone, where that makes them fewer."""
        names = structure.markov_blanket
        if not isinstance(self.cases, Cases) or len(names) == len(self.cases.inputs):
            return self.cases
        return self._projected(names)

    def posterior(self, scored: Scored) -> Posterior:
        """The posterior of a fit, with its rows."""
        counts = count_cells(scored.design, self.cases_of(scored.structure))
        return Posterior(scored.design, counts, scored.prior)

    def optimum(self, scored: Scored) -> Optimum:
        """A fit, with its rows."""
        return Optimum(self.posterior(scored), scored.solution, scored.factor)

    def _remember(
        self,
        structure: EmbeddedStructure,
        scales: tuple[float, ...] | None,
        make: Callable[[], tuple[Scored, int]],
    ) -> Scored:
        key = (structure.cluster_key, scales)
        if key not in self._memory:
            self._memory[key], n_fits = make()
            self.n_fits += n_fits
        return self._memory[key]

    def _likelihood(self, structure: EmbeddedStructure) -> Posterior:
        """The posterior of a structure; its prior is replaced by that of a fit."""
        design = Design(Basis(structure, self.cases.domain))
        counts = count_cells(design, self.cases_of(structure))
        return Posterior(design, counts, NormalPrior((1.0,)))

    def _tune(self, structure: EmbeddedStructure, near: Scored | None) -> tuple[Scored, int]:
        """A fit with σ by evidence, and the number of fits that it took."""
        likelihood = self._likelihood(structure)
        start: FloatArray | Optimum | None = None
        if near is not None and near.structure == structure:
            start = Optimum(likelihood.with_prior(near.prior), near.solution, near.factor)
        elif near is not None:
            start = start_from(near, likelihood.design)
        scales = () if near is None else near.prior.scales
        found = maximise_evidence(likelihood, tolerance=1e-2, scales=scales, start=start)
        fit = Optimum(found.posterior, found.solution, found.factor)
        return self._scored(structure, fit, found.total), found.n_fits

    def _fit(
        self, structure: EmbeddedStructure, scales: Sequence[float], near: Scored | None
    ) -> tuple[Scored, int]:
        """A fit with these σ; 1, the number of fits."""
        likelihood = self._likelihood(structure)
        orders = int(likelihood.design.order_of_interaction.max())
        filled = [*scales, *[math.exp(HYPER_MEAN)] * (orders - len(scales))]
        used = tuple(filled[:orders]) or tuple(scales)
        posterior = likelihood.with_prior(NormalPrior(used))
        start = None if near is None else start_from(near, posterior.design)
        fit = find_optimum(posterior, start)
        if self.kind == "bic":
            log_likelihood = posterior.log_likelihood(fit.solution.phi)
            value = bic(log_likelihood, posterior.design.dimension, self.cases.total_weight)
        else:
            value = laplace_log_evidence(log_joint(posterior, fit.solution.phi), fit.factor)
            if self.tunes_scales:
                z = (np.log(used[:orders]) - HYPER_MEAN) / HYPER_SPREAD
                value -= 0.5 * float(z @ z)
        return self._scored(structure, fit, value), 1

    def _scored(self, structure: EmbeddedStructure, fit: Optimum, value: float) -> Scored:
        posterior, solution, factor = fit
        score = value + self.log_structure_prior(structure)
        return Scored(structure, posterior.design, posterior.prior, solution, factor, value, score)


def _log_choices(n: int, k: int) -> float:
    """log C(n, k)."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def start_from(near: Scored, design: Design) -> FloatArray:
    """φ̃ of a similar structure as a start for another design."""
    old = near.design
    return design.from_basis(transfer(old.to_basis(near.solution.phi), old.basis, design.basis))
