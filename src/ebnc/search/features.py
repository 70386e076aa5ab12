"""Feature selection as a result (§5): what was selected, when, and what each input is worth."""

from collections.abc import Mapping
from typing import NamedTuple

from ebnc.search.scorer import Scored, Scorer
from ebnc.search.screening import worth_of_terms
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["FeatureWorth", "feature_worths", "without_input"]

MOST_WORK = 5e10  # about the operations of a minute of refits


class FeatureWorth(NamedTuple):
    """An input that was selected, by how much the score falls without it, and the step of the
    search that took it in: 0 is the start."""

    feature: str
    worth: float
    entered: int = 0


def feature_worths(
    scorer: Scorer, scored: Scored, entered: Mapping[str, int] | None = None
) -> tuple[FeatureWorth, ...]:
    """The selected inputs, the most valuable first.

    The structure is fitted again without each of them. Where that would take minutes, with hundreds
    of inputs or thousands of parameters, worths are those of the quadratic approximation.
    """
    inputs = scored.structure.markov_blanket
    if len(inputs) * scored.dimension**3 <= MOST_WORK:
        asked = [(without_input(scored.structure, x), scored.prior) for x in inputs]
        less = scorer.all_at_priors(asked, scored)
        worths = [scored.fit_score - without.fit_score for without in less]
    else:
        covariance, terms = scored.factor.inverse(), [t.inputs for t in scored.design.basis.terms]
        lost = [[term for term in terms if x in term] for x in inputs]
        worths = [worth_of_terms(scorer, scored, some, covariance) for some in lost]
    steps = entered or {}
    found = [FeatureWorth(x, w, steps.get(x, 0)) for x, w in zip(inputs, worths, strict=True)]
    return tuple(sorted(found, key=lambda worth: (-worth.worth, worth.feature)))


def without_input(structure: EmbeddedStructure, name: str) -> EmbeddedStructure:
    """The structure with one input isolated."""
    families = {
        x: () if x == name else tuple(p for p in parents if p != name)
        for x, parents in structure.families
    }
    return EmbeddedStructure(structure.target, tuple(families.items()))
