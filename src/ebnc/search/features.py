"""Feature selection as a result (§5): what was selected, when, and what each input is worth."""

from collections.abc import Collection, Mapping

from ebnc.search.moves import isolated
from ebnc.search.scorer import Scored, Scorer
from ebnc.search.screening import worth_of_terms
from ebnc.search.trace import FeatureWorth
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["NEAR", "feature_worths", "without_each", "without_inputs"]

MOST_WORK = 5e10  # about the operations of a minute of refits
NEAR = 1.0  # nats by which tuning the scales may raise a score


def feature_worths(
    scorer: Scorer, scored: Scored, entered: Mapping[str, int] | None = None
) -> tuple[FeatureWorth, ...]:
    """The selected inputs, the most valuable first.

    Worth is the difference of the scores that a search compares, the structure prior among them.
    The structure is fitted again without each input (``without_each``). Where that would take
    minutes, with hundreds of inputs or thousands of parameters, the more valuable inputs have the
    worth of the quadratic approximation.
    """
    inputs = scored.structure.markov_blanket
    less = without_each(scorer, scored)
    estimated = {} if len(less) == len(inputs) else _estimates(scorer, scored)
    worths = {x: scored.score - less[x].score if x in less else estimated[x] for x in inputs}
    steps = entered or {}
    found = [FeatureWorth(x, worths[x], steps.get(x, 0)) for x in inputs]
    return tuple(sorted(found, key=lambda worth: (-worth.worth, worth.feature)))


def without_each(scorer: Scorer, scored: Scored) -> dict[str, Scored]:
    """The structure fitted without each input; of many, without each of the least valuable ones.

    Scales are tuned where that could bring the score above ``scored``.
    """
    inputs = scored.structure.markov_blanket
    most = int(MOST_WORK / scored.fit.design.dimension**3)
    if len(inputs) > most:
        estimated = _estimates(scorer, scored)
        inputs = tuple(sorted(inputs, key=lambda x: (estimated[x], x))[:most])
    asked = [(without_inputs(scored.structure, [x]), scored.fit.prior) for x in inputs]
    fitted = scorer.all_at_priors(asked, scored)
    return {
        x: scorer.tuned(less.structure, less) if less.score + NEAR > scored.score else less
        for x, less in zip(inputs, fitted, strict=True)
    }


def _estimates(scorer: Scorer, scored: Scored) -> dict[str, float]:
    """Worths by the quadratic approximation."""
    covariance = scored.fit.curvature.inverse()
    terms = [t.inputs for t in scored.fit.design.basis.terms]
    prior = scorer.log_structure_prior(scored.structure.cluster_key)
    found = {}
    for x in scored.structure.markov_blanket:
        lost = [term for term in terms if x in term]
        less = scorer.log_structure_prior(without_inputs(scored.structure, [x]).cluster_key)
        found[x] = worth_of_terms(scorer, scored, lost, covariance) + prior - less
    return found


def without_inputs(structure: EmbeddedStructure, names: Collection[str]) -> EmbeddedStructure:
    """The structure with these inputs isolated."""
    families = isolated(dict(structure.families), names)
    return EmbeddedStructure(structure.target, tuple(families.items()))
