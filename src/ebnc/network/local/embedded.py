"""EBNCs as a kind of node: the embedded structure follows the parents and is then refined.

All kinds share the same intercept, the distribution of the node without parents. The intercept of
an EBNC has a very wide prior, which helps prediction but lowers the evidence. For the comparison
with other kinds, Jeffreys' prior Dirichlet(½, …, ½) replaces it; the correction is the ratio of the
evidences without parents, which are both known:

    log p(D | parents, EBNC) = log p_EBNC(D | parents) + log p_Jeffreys(D | ∅) − log p_EBNC(D | ∅)

The intercept of a node with many ordered states is a curve with fewer columns than a table has
parameters. It keeps its normal prior, with the scale of highest evidence instead of Jeffreys'
prior. BIC has no prior, and its correction is 0.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ebnc.data.cases import Cases
from ebnc.domain import Domain
from ebnc.errors import ParameterError
from ebnc.fitted import FittedEBNC
from ebnc.fitting.optimum import find_optimum, likelihood_of
from ebnc.learn import fit_likelihood
from ebnc.likelihood.prior import INTERCEPT_SCALE, NormalPrior
from ebnc.network.local.configurations import (
    count_cells,
    distinct_configurations,
    largest_log_likelihood,
)
from ebnc.network.local.node import Kind, LocalFit, Node, NodeState
from ebnc.network.local.plain import FieldType
from ebnc.network.local.tree_growth import JEFFREYS
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.dimension import count_terms
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.phi import Basis
from ebnc.score.dirichlet import dirichlet_log_evidence
from ebnc.score.laplace import laplace_log_evidence
from ebnc.search.limits import Limits
from ebnc.search.moves import Move, moves
from ebnc.search.scorer import Scored, Scorer
from ebnc.search.screening import screen
from ebnc.structure.embedded import EmbeddedStructure

INTERCEPT_SCALES = (0.03, 0.1, 0.3, 1.0, 3.0, INTERCEPT_SCALE)
"""Scales of an intercept that is a curve, for the comparison with other kinds."""


class _Intercept(NamedTuple):
    """The scores of a node without parents, under one prior."""

    log_evidence: float
    log_likelihood: float
    dimension: int


class EmbeddedLearner:
    """Fits EBNCs to a node; the model of a fit is the ``Scored`` structure."""

    is_table_without_parents = False

    def __init__(self, node: Node) -> None:
        self.node = node

    def learn(self, parents: tuple[str, ...], near: LocalFit | None = None) -> LocalFit:
        """Fit the naive structure, or the structure of ``near`` changed to these parents."""
        if near is None:
            return self.learn_structure(EmbeddedStructure.naive(self.node.target, parents))
        return self.learn_structure(with_parents(near.model.structure, parents), near)

    def learn_structure(
        self, structure: EmbeddedStructure, near: LocalFit | None = None
    ) -> LocalFit:
        """Fit a structure to the distinct rows of its parents, starting from a similar fit.

        A score depends on where its fit started, so every fit has its own scorer.
        """
        scorer = self._scorer(self._distinct(structure))
        scored = scorer.tuned(structure, None if near is None else near.model)
        return LocalFit(scored.score + self.intercept_correction, scored)

    def gains(self, state: NodeState, names: Sequence[str]) -> dict[str, float]:
        """Estimate the gains of ``names``, each as one more child of the target."""
        node = self.node
        if not state.parents and node.has_every_function(node.target):
            # With one such parent an EBNC equals a table, whose gains are exact.
            names = [x for x in names if not node.has_every_function(x)]
        if not names:
            return {}
        here, target = state.fits["ebnc"].model, node.target
        families = dict(here.structure.families)
        steps = [Move(x, target, families | {x: (target,)}, frozenset([x])) for x in names]
        behind = state.scores["ebnc"] - state.score
        screened = screen(self._scorer(node.cases), here, steps)
        return {step.move.description: step.gain + behind for step in screened}

    def refinements(self, state: NodeState) -> list[tuple[float, Move]]:
        """Return moves inside the embedded structure that keep its parents, with their gains."""
        here, settings = state.fits["ebnc"].model, self.node.settings
        if len(state.parents) < 2 or "ebnc" not in settings.kinds:
            return []
        limits = Limits(max_cluster_cells=settings.most_cells)
        allowed = [
            move
            for move in moves(here.structure, self.node.n_states, limits)
            if set(move.structure.markov_blanket) == set(state.parents)
        ]
        behind = state.scores["ebnc"] - state.score
        screened = screen(self._scorer(self._distinct(here.structure)), here, allowed)
        return [(step.gain + behind, step.move) for step in screened]

    def local(self, fit: LocalFit) -> FittedEBNC:
        """Return the EBNC of a fit."""
        scored: Scored = fit.model
        if scored.fit.log_evidence is not None:
            return FittedEBNC(scored.fit)
        # BIC compares likelihoods without a prior; predictions need one.
        distinct = self._distinct(scored.structure)
        basis = Basis(scored.structure, self.node.cases.domain)
        return FittedEBNC(fit_likelihood(likelihood_of(basis, distinct), distinct))

    @cached_property
    def intercept_correction(self) -> float:
        """log p_Jeffreys(D | ∅) − log p_EBNC(D | ∅); see the docstring of the module."""
        node, criterion = self.node, self.node.settings.criterion
        alone = EmbeddedStructure.naive(node.target, ())
        likelihood = likelihood_of(Basis(alone, node.cases.domain), self._distinct(alone))

        def log_evidence(scale: float) -> float:
            prior = NormalPrior((1.0,), intercept_scale=scale)
            return laplace_log_evidence(find_optimum(likelihood.with_prior(prior)))

        counts = count_cells(node.cases, ())
        dimension = likelihood.design.n_outputs
        own = _Intercept(log_evidence(INTERCEPT_SCALE), largest_log_likelihood(counts), dimension)
        if node.has_every_function(node.target):
            best = dirichlet_log_evidence(counts, JEFFREYS)
        else:
            best = max(map(log_evidence, INTERCEPT_SCALES))
        n_cases = node.cases.total_weight
        replaced = own._replace(log_evidence=best)
        return criterion.of_local(replaced, n_cases) - criterion.of_local(own, n_cases)

    def _distinct(self, structure: EmbeddedStructure) -> Cases:
        return distinct_configurations(self.node.cases, structure.markov_blanket)

    def _scorer(self, cases: Cases) -> Scorer:
        node = self.node
        return Scorer(
            cases,
            node.settings.criterion,
            structure_prior=node.settings.structure_prior,
            n_inputs=len(node.candidates),
        )


def with_parents(structure: EmbeddedStructure, parents: Sequence[str]) -> EmbeddedStructure:
    """Return the structure changed to exactly these parents.

    New parents become children of the target. So do inputs that only a removed parent connected to
    the target.
    """
    target = structure.target
    names = {target, *parents}
    families = [
        (x, tuple(p for p in above if p in names)) for x, above in structure.families if x in names
    ]
    families += [(x, (target,)) for x in parents if x not in structure.inputs]
    changed = EmbeddedStructure(target, tuple(families))
    loose = set(parents) - set(changed.markov_blanket)
    if loose:
        families = [(x, (*above, target) if x in loose else above) for x, above in families]
        changed = EmbeddedStructure(target, tuple(families))
    return changed


def _to_plain(local: EBNC) -> dict[str, Any]:
    structure, target = local.structure, local.structure.target
    is_naive = all(above == ((target,) if x != target else ()) for x, above in structure.families)
    plain: dict[str, Any] = (
        {"naive": structure.inputs} if is_naive else {"families": structure.families}
    )
    plain["phi"] = local.phi
    if local.coding != ORTHONORMAL:
        plain["coding"] = local.coding.name
    return plain


def _from_plain(target: str, domain: Domain, plain: Mapping[str, Any]) -> EBNC:
    if ("naive" in plain) == ("families" in plain):
        raise ParameterError("must have one of 'naive' and 'families'")
    if "naive" in plain:
        structure = EmbeddedStructure.naive(target, plain["naive"])
    else:
        structure = EmbeddedStructure(target, tuple(plain["families"]))
    basis, size = Basis(structure, domain), plain["phi"].size
    # Every term has a column at least; this is checked before any term is allocated.
    expected = basis.n_outputs * count_terms(
        basis.structure.clusters, dict.fromkeys(structure.inputs, 2)
    )
    if expected > size:
        raise ParameterError(f"phi has {size} numbers; the structure has at least {expected}")
    if basis.dimension != size:
        raise ParameterError(f"phi has {size} numbers; the structure has {basis.dimension}")
    return EBNC(structure, domain, plain["phi"], plain.get("coding", ORTHONORMAL.name))


EMBEDDED = Kind(
    name="ebnc",
    words="embedded network",
    fields={
        "naive": FieldType.VARIABLES,
        "families": FieldType.FAMILIES,
        "phi": FieldType.PARAMETERS,
        "coding": FieldType.WORD,
    },
    optional=frozenset(["naive", "families", "coding"]),
    to_plain=_to_plain,
    from_plain=_from_plain,
    learner=EmbeddedLearner,
)
