"""Feature selection as a result (§5): what was selected, when, and what each input is worth."""

from collections.abc import Mapping
from typing import NamedTuple

from ebnc.search.scorer import Scored, Scorer
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["FeatureWorth", "feature_worths", "without_input"]


class FeatureWorth(NamedTuple):
    """An input that was selected, by how much the score falls without it (refitted), and the step
    of the search that took it in: 0 is the start."""

    feature: str
    worth: float
    entered: int = 0


def feature_worths(
    scorer: Scorer, scored: Scored, entered: Mapping[str, int] | None = None
) -> tuple[FeatureWorth, ...]:
    """The selected inputs, the most valuable first."""
    scales = scored.posterior.prior.scales
    found = []
    for x in scored.structure.markov_blanket:
        less = scorer.at_scales(without_input(scored.structure, x), scales, scored)
        step = 0 if entered is None else entered.get(x, 0)
        found.append(FeatureWorth(x, scored.fit_score - less.fit_score, step))
    return tuple(sorted(found, key=lambda worth: (-worth.worth, worth.feature)))


def without_input(structure: EmbeddedStructure, name: str) -> EmbeddedStructure:
    """The structure with one input isolated."""
    families = {
        x: () if x == name else tuple(p for p in parents if p != name)
        for x, parents in structure.families
    }
    return EmbeddedStructure(structure.target, tuple(families.items()))
