"""Scores of structures on one set of cases, with a memory: equal clusters are scored once.

    score = log p(D | m′) + log p(m′)      or      BIC + log p(m′)

p(D | m′): Laplace evidence at the scales that maximise it, times their hyperprior
(``score.scales``), or at fixed scales. BIC: eq. 9, with the likelihood at its maximum or, where
the classes are separated and there is none, at its supremum. p(m′): ``structure_prior``.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ebnc.data.cases import Cases
from ebnc.data.parts import Parts, varying_inputs
from ebnc.fitting.cholesky import Cholesky
from ebnc.fitting.optimum import Optimum, find_optimum
from ebnc.fitting.solution import Solution
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.phi import Basis, transfer
from ebnc.score.bic import bic, likelihood_supremum
from ebnc.score.laplace import laplace_log_evidence, log_joint
from ebnc.score.scales import log_hyperprior, maximise_evidence
from ebnc.search.structure_prior import log_cluster_prior, log_number_of_effects
from ebnc.structure.clusters import Cluster
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.threads import in_parallel
from ebnc.typing import FloatArray

__all__ = ["Scored", "Scorer"]

MOST_PROJECTED = 16  # projections of the cases that are kept


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
    factor: Cholesky
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
    prior : NormalPrior or None
        A fixed prior of φ; None chooses its scales by evidence. BIC needs none.
    structure_prior : bool
        Whether log p(m′) is part of the score.
    n_inputs : int or None
        n of the structure prior: how many inputs there are to choose from, none of them cut with
        the target in view. None counts the inputs of the cases, and their cuts.

    Attributes
    ----------
    n_fits : int
        Full fits so far; each scale that is tried is one.
    """

    def __init__(
        self,
        cases: Parts,
        kind: str = "laplace",
        prior: NormalPrior | None = None,
        structure_prior: bool = True,
        n_inputs: int | None = None,
    ) -> None:
        self.cases, self.kind, self.prior = cases, kind, prior
        self.structure_prior = structure_prior
        self.n_inputs = len(varying_inputs(cases)) if n_inputs is None else n_inputs
        self._log_effects = log_number_of_effects(cases) if n_inputs is None else None
        self.n_fits = 0
        self._memory: dict[tuple[frozenset[frozenset[str]], NormalPrior | None], Scored] = {}
        if isinstance(cases, Cases):
            self._projected = lru_cache(MOST_PROJECTED)(cases.projected)

    @property
    def tunes_scales(self) -> bool:
        """Whether σ is chosen by evidence."""
        return self.kind == "laplace" and self.prior is None

    def log_structure_prior(self, clusters: Collection[Cluster]) -> float:
        """log p(m′) of a structure with these clusters; 0 where it is not part of the score."""
        if not self.structure_prior:
            return 0.0
        return log_cluster_prior(self.n_inputs, clusters, self._log_effects)

    def tuned(self, structure: EmbeddedStructure, near: Scored | None = None) -> Scored:
        """The score with the prior's scales by evidence (or as given), started at a similar fit."""
        if not self.tunes_scales:
            return self.at_prior(structure, self.prior, near)
        return self._remember(structure, None, lambda: self._tune(structure, near))

    def at_prior(
        self, structure: EmbeddedStructure, prior: NormalPrior | None, near: Scored | None = None
    ) -> Scored:
        """The score with this prior; BIC does not use it."""
        return self._remember(structure, prior, lambda: self._fit(structure, prior, near))

    def all_at_priors(
        self, asked: Sequence[tuple[EmbeddedStructure, NormalPrior | None]], near: Scored
    ) -> list[Scored]:
        """``at_prior`` of several structures, on several threads.

        Cases in parts are passed over by one fit at a time: a pass uses all threads.
        """
        new = {
            (structure.cluster_key, prior): structure
            for structure, prior in asked
            if (structure.cluster_key, prior) not in self._memory
        }
        if isinstance(self.cases, Cases):
            jobs = [(structure, prior) for (_, prior), structure in new.items()]
            fits = in_parallel(lambda job: self._fit(*job, near)[0], jobs)
            self._memory |= zip(new, fits, strict=True)
            self.n_fits += len(new)
        return [self.at_prior(structure, prior, near) for structure, prior in asked]

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
        prior: NormalPrior | None,
        make: Callable[[], tuple[Scored, int]],
    ) -> Scored:
        key = (structure.cluster_key, prior)
        if key not in self._memory:
            self._memory[key], n_fits = make()
            self.n_fits += n_fits
        return self._memory[key]

    def _likelihood(self, structure: EmbeddedStructure) -> Posterior:
        """The posterior of a structure; its prior is replaced by that of a fit."""
        design = Design.of(Basis(structure, self.cases.domain))
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
        prior = None if near is None else near.prior
        found = maximise_evidence(likelihood, tolerance=1e-2, near=prior, start=start)
        fit = Optimum(found.posterior, found.solution, found.factor)
        return self._scored(structure, fit, found.total), found.n_fits

    def _fit(
        self, structure: EmbeddedStructure, prior: NormalPrior | None, near: Scored | None
    ) -> tuple[Scored, int]:
        """A fit with this prior, or at maximum likelihood for BIC; 1, the number of fits."""
        likelihood = self._likelihood(structure)
        start = None if near is None else start_from(near, likelihood.design)
        if self.kind == "bic":
            fit = likelihood_supremum(likelihood, start)
            log_likelihood = likelihood.log_likelihood(fit.solution.phi)
            value = bic(log_likelihood, likelihood.design.dimension, self.cases.total_weight)
        else:
            assert prior is not None
            posterior = likelihood.with_prior(prior)
            fit = find_optimum(posterior, start)
            value = laplace_log_evidence(log_joint(posterior, fit.solution.phi), fit.factor)
            if self.tunes_scales:
                value += log_hyperprior(posterior.design, prior)
        return self._scored(structure, fit, value), 1

    def _scored(self, structure: EmbeddedStructure, fit: Optimum, value: float) -> Scored:
        posterior, solution, factor = fit
        score = value + self.log_structure_prior(structure.cluster_key)
        return Scored(structure, posterior.design, posterior.prior, solution, factor, value, score)


def start_from(near: Scored, design: Design) -> FloatArray:
    """φ̃ of a similar structure as a start for another design."""
    old = near.design
    return design.from_basis(transfer(old.to_basis(near.solution.phi), old.basis, design.basis))
