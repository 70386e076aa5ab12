"""Results of feature selection (§5): selected inputs, their importance, when each was added."""

from collections.abc import Collection, Mapping

from ebnc.search.moves import isolated
from ebnc.search.scorer import Scored, Scorer
from ebnc.search.screening import worth_of_terms
from ebnc.search.trace import FeatureWorth
from ebnc.structure.embedded import EmbeddedStructure

MOST_WORK = 5e10  # maximum operations of all refits: about a minute
NEAR = 1.0  # assumed maximum rise of a score, in nats, by tuning the scales


def feature_worths(
    scorer: Scorer,
    scored: Scored,
    entered: Mapping[str, int] | None = None,
    *,
    most_work: float = MOST_WORK,
) -> tuple[FeatureWorth, ...]:
    """Return the selected inputs with their worth (importance), the most important first.

    The worth of an input is the fall of the search's score, structure prior included, without it.
    The structure is refitted without each input (``without_each``). If that would take minutes
    (hundreds of inputs or thousands of parameters: more than ``most_work`` operations), the worth
    of the more important inputs comes from the quadratic approximation.
    """
    inputs = scored.structure.markov_blanket
    less = without_each(scorer, scored, most_work)
    estimated = {} if len(less) == len(inputs) else _estimates(scorer, scored)
    worths = {x: scored.score - less[x].score if x in less else estimated[x] for x in inputs}
    steps = entered or {}
    features = [FeatureWorth(x, worths[x], steps.get(x, 0)) for x in inputs]
    return tuple(sorted(features, key=lambda worth: (-worth.worth, worth.feature)))


def without_each(scorer: Scorer, scored: Scored, most_work: float = MOST_WORK) -> dict[str, Scored]:
    """Refit the structure without each input, or only the least important ones if it has many.

    Scales are tuned if that could raise the score above that of ``scored``.
    """
    inputs = scored.structure.markov_blanket
    most = int(most_work / scored.fit.design.dimension**3)
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
    """Return the worth of each input by the quadratic approximation."""
    covariances = [block.inverse() for block in scored.fit.curvature.blocks]
    terms = [t.inputs for t in scored.fit.design.basis.terms]
    prior = scorer.log_structure_prior(scored.structure.cluster_key)
    worths = {}
    for x in scored.structure.markov_blanket:
        lost = [term for term in terms if x in term]
        less = scorer.log_structure_prior(without_inputs(scored.structure, [x]).cluster_key)
        worths[x] = worth_of_terms(scorer, scored, lost, covariances) + prior - less
    return worths


def without_inputs(structure: EmbeddedStructure, names: Collection[str]) -> EmbeddedStructure:
    """Return the structure with these inputs isolated."""
    families = isolated(dict(structure.families), names)
    return EmbeddedStructure(structure.target, tuple(families.items()))
