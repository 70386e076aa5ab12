"""Scores of structures on one set of cases, with a cache: equal clusters are scored once.

    score = value of the criterion + log p(m′)

The criterion is Laplace's evidence or BIC (``score.criterion``); ``structure_prior`` defines p(m′).
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ebnc.data.cases import Cases
from ebnc.data.parts import Parts, varying_inputs
from ebnc.fitting.fit import Fit
from ebnc.fitting.optimum import likelihood_of
from ebnc.likelihood.class_form import factor_size, separates_classes
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.phi import Basis, transfer
from ebnc.score.criterion import Criterion, Laplace
from ebnc.score.fit_memory import LARGEST_WITH_PAIRS, MOST_IN_PAIRS, may_have_pairs
from ebnc.score.scales import maximise_evidence
from ebnc.search.structure_prior import log_cluster_prior, log_number_of_effects
from ebnc.structure.clusters import Cluster
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.threads import in_parallel
from ebnc.typing import FloatArray

LAPLACE = Laplace()
ROUGHLY = 0.3  # nats: the scales of a model that only predicts need not be exact
HESSIANS, GRADIENTS = 3, 15  # in a typical fit, the gradient of evidence counted as a Hessian
MOST_PROJECTED = 16  # size of the cache of projected cases


@dataclass(frozen=True, eq=False)
class Scored:
    """A structure with its fit and its score, including the prior p(m′).

    ``work``: approximate nanoseconds that the fit took, from counts of operations.
    """

    structure: EmbeddedStructure
    fit: Fit
    score: float
    work: float

    def lighter(self, below: float) -> "Scored":
        """This, without its Hessian if the score is lower: hundreds of them fill memory."""
        if self.score >= below or self.fit.factor is None:
            return self
        return replace(self, fit=replace(self.fit, factor=None))


class Scorer:
    """Fits and scores structures over the inputs of ``cases``.

    ``n_inputs``: n of the structure prior, the number of candidate inputs, if none was discretised
    with the target in view; None counts the inputs of the cases, and their cuts. ``n_fits``: number
    of full fits so far, one for each scale that was tried; ``work``: their work. ``separate``:
    whether the curvature of the fits has one block for each class (``likelihood.class_form``), by
    the size of the naive structure, so that all scores compare.
    """

    def __init__(
        self,
        cases: Parts,
        criterion: Criterion = LAPLACE,
        structure_prior: bool = True,
        n_inputs: int | None = None,
    ) -> None:
        self.cases, self.criterion, self.structure_prior = cases, criterion, structure_prior
        self.n_inputs = len(varying_inputs(cases)) if n_inputs is None else n_inputs
        self._log_effects = log_number_of_effects(cases) if n_inputs is None else None
        levels = [cases.domain.levels(x) for x in cases.inputs if x != cases.target]
        columns = 1 + sum(each.n_columns for each in levels)
        self.separate = self._separates(columns * cases.domain.levels(cases.target).n_columns)
        self.n_fits, self.work = 0, 0.0
        self._memory: dict[tuple[frozenset[frozenset[str]], NormalPrior | None], Scored] = {}
        if isinstance(cases, Cases):
            self._projected = lru_cache(MOST_PROJECTED)(cases.projected)

    def log_structure_prior(self, clusters: Collection[Cluster]) -> float:
        """Return log p(m′) of a structure with these clusters; 0 if the score does not use it."""
        if not self.structure_prior:
            return 0.0
        return log_cluster_prior(self.n_inputs, clusters, self._log_effects)

    def tuned(self, structure: EmbeddedStructure, near: Scored | None = None) -> Scored:
        """Score a structure with tuned scales, or with a fixed prior if the criterion has one.

        ``near``: a similar fit to start from.
        """
        if not self.criterion.tunes_scales:
            return self.at_prior(structure, self.criterion.prior, near)
        return self._remember(structure, None, lambda: self._tune(structure, near))

    def at_prior(
        self, structure: EmbeddedStructure, prior: NormalPrior | None, near: Scored | None = None
    ) -> Scored:
        """Score a structure with this prior; BIC ignores it."""
        return self._remember(structure, prior, lambda: self._fit(structure, prior, near))

    def all_at_priors(
        self, asked: Sequence[tuple[EmbeddedStructure, NormalPrior | None]], near: Scored
    ) -> list[Scored]:
        """Score several structures by ``at_prior``, on several threads.

        If the cases are in parts, fits run one after another, because each pass uses all threads.
        """
        new = {
            (structure.cluster_key, prior): structure
            for structure, prior in asked
            if (structure.cluster_key, prior) not in self._memory
        }
        if isinstance(self.cases, Cases):
            jobs = [(structure, prior) for (_, prior), structure in new.items()]
            fits = in_parallel(lambda job: self._fit(*job, near), jobs)
            self._memory |= zip(new, fits, strict=True)
            self.n_fits += len(new)
            self.work += math.fsum(scored.work for scored in fits)
        return [self.at_prior(structure, prior, near) for structure, prior in asked]

    def with_weak_pairs(self, structure: EmbeddedStructure, near: Scored) -> Scored | None:
        """Score a structure with weak pairs, or without them if they are too many.

        None if the result would be too large, or ``near``, a similar fit. Scales are chosen by
        evidence, also that of the weak pairs.
        """
        if not self.criterion.tunes_scales:
            return None
        domain, n_inputs = self.cases.domain, len(structure.markov_blanket)
        basis = Basis(structure, domain, weak_pairs=n_inputs <= MOST_IN_PAIRS)
        of_target = domain.levels(self.cases.target)
        if not may_have_pairs(n_inputs, of_target, basis.dimension, self.cases.total_weight):
            basis = Basis(structure, domain)
        is_large = factor_size(of_target, basis.dimension) > LARGEST_WITH_PAIRS
        if is_large or basis.terms == near.fit.design.basis.terms:
            return None
        separate = self._separates(basis.dimension)
        likelihood = likelihood_of(basis, self.cases_of(structure), separate=separate)
        start = start_from(near.fit, likelihood.design)
        prior = near.fit.prior
        fit = maximise_evidence(likelihood, tolerance=ROUGHLY, near=prior, start=start)
        return self._scored(structure, likelihood, fit)

    def cases_of(self, structure: EmbeddedStructure) -> Parts:
        """Return the cases with only the inputs of a structure, if they are in memory."""
        names = structure.markov_blanket
        if not isinstance(self.cases, Cases) or len(names) == len(self.cases.inputs):
            return self.cases
        return self._projected(names)

    def lighten(self, below: float) -> None:
        """Forget the Hessians of structures with lower scores."""
        self._memory = {key: scored.lighter(below) for key, scored in self._memory.items()}

    def posterior(self, scored: Scored) -> Posterior:
        """Return the posterior of a fit, by counting its rows again (cost: about one gradient)."""
        design = scored.fit.design
        counts = count_cells(design, self.cases_of(scored.structure))
        return Posterior(design, counts, scored.fit.prior, scored.fit.form.separate)

    def _remember(
        self,
        structure: EmbeddedStructure,
        prior: NormalPrior | None,
        make: Callable[[], Scored],
    ) -> Scored:
        key = (structure.cluster_key, prior)
        if key not in self._memory:
            self._memory[key] = make()
            self.n_fits += self._memory[key].fit.n_fits
            self.work += self._memory[key].work
        return self._memory[key]

    def _likelihood(self, structure: EmbeddedStructure) -> Posterior:
        basis = Basis(structure, self.cases.domain)
        return likelihood_of(basis, self.cases_of(structure), separate=self.separate)

    def _separates(self, dimension: int) -> bool:
        return separates_classes(self.cases.domain.levels(self.cases.target), dimension)

    def _tune(self, structure: EmbeddedStructure, near: Scored | None) -> Scored:
        """Fit with σ chosen by evidence."""
        likelihood = self._likelihood(structure)
        start: FloatArray | Fit | None = None
        if near is not None and near.structure == structure and near.fit.factor is not None:
            start = near.fit
        elif near is not None:
            start = start_from(near.fit, likelihood.design)
        prior = None if near is None else near.fit.prior
        fit = maximise_evidence(likelihood, tolerance=1e-2, near=prior, start=start)
        return self._scored(structure, likelihood, fit)

    def _fit(
        self, structure: EmbeddedStructure, prior: NormalPrior | None, near: Scored | None
    ) -> Scored:
        """Fit with this prior."""
        likelihood = self._likelihood(structure)
        start = None if near is None else start_from(near.fit, likelihood.design)
        return self._scored(structure, likelihood, self.criterion.fit(likelihood, prior, start))

    def _scored(self, structure: EmbeddedStructure, likelihood: Posterior, fit: Fit) -> Scored:
        score = self.criterion.value(fit) + self.log_structure_prior(structure.cluster_key)
        of_fit = HESSIANS * likelihood.hessian_price + GRADIENTS * likelihood.gradient_price
        return Scored(structure, fit, score, fit.n_fits * of_fit)


def start_from(near: Fit, design: Design) -> FloatArray:
    """Return φ̃ of a similar structure as a start for another design."""
    return design.from_basis(transfer(near.phi, near.design.basis, design.basis))
