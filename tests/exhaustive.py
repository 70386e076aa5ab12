"""Exhaustive search: every set of clusters that moves can reach, for few inputs only.

The reference that the greedy search is tested against.
"""

from collections.abc import Iterator
from itertools import count

from ebnc.errors import SearchError
from ebnc.search.limits import Limits
from ebnc.search.moves import moves
from ebnc.search.scorer import Scored, Scorer
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["all_structures", "exhaustive_search"]

MOST_INPUTS = 5


def all_structures(
    start: EmbeddedStructure, n_states: dict[str, int], limits: Limits | None = None
) -> Iterator[EmbeddedStructure]:
    """Structures with different clusters that a sequence of moves reaches from ``start``."""
    if len(start.inputs) > MOST_INPUTS:
        raise SearchError(
            f"{len(start.inputs)} inputs have too many structures to try them all; "
            f"search greedily, or keep to {MOST_INPUTS}"
        )
    limits = limits or Limits()
    known = {start.cluster_key}
    waiting = [start]
    for place in count():
        if place == len(waiting):
            return
        structure = waiting[place]
        yield structure
        for move in moves(structure, n_states, limits):
            if move.structure.cluster_key not in known:
                known.add(move.structure.cluster_key)
                waiting.append(move.structure)


def exhaustive_search(
    scorer: Scorer, start: EmbeddedStructure, limits: Limits | None = None
) -> Scored:
    """The structure with the highest score of all; the first one found, where scores are equal."""
    n_states = {x: scorer.cases.domain.n_states(x) for x in start.inputs}
    scored = (scorer.tuned(structure) for structure in all_structures(start, n_states, limits))
    return max(scored, key=lambda found: found.score)
