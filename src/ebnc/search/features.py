"""Feature selection as a result (§5): what was selected, and what each input is worth."""

from typing import NamedTuple

from ebnc.search.scorer import Scored, Scorer
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["FeatureWorth", "feature_worths", "without_input"]


class FeatureWorth(NamedTuple):
    """An input that was selected, and by how much the score falls without it (refitted)."""

    feature: str
    worth: float


def feature_worths(scorer: Scorer, scored: Scored) -> tuple[FeatureWorth, ...]:
    """The selected inputs, the most valuable first."""
    scales = scored.posterior.prior.scales
    found = []
    for x in scored.structure.markov_blanket:
        less = scorer.at_scales(without_input(scored.structure, x), scales, scored)
        found.append(FeatureWorth(x, scored.fit_score - less.fit_score))
    return tuple(sorted(found, key=lambda worth: (-worth.worth, worth.feature)))


def without_input(structure: EmbeddedStructure, name: str) -> EmbeddedStructure:
    """The structure with one input isolated."""
    families = {
        x: () if x == name else tuple(p for p in parents if p != name)
        for x, parents in structure.families
    }
    return EmbeddedStructure(structure.target, tuple(families.items()))
