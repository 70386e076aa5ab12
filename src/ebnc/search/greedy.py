"""Greedy search over embedded structures by score (§5: select models and input features).

At every step all moves are screened, the most promising ones refitted, and the best one taken if
it raises the score. Moves grow and shrink the structure, so features and arcs that lost their
worth go again. Deterministic: ties are broken by the words of the move.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ebnc.search.limits import Limits
from ebnc.search.moves import Move, moves
from ebnc.search.scorer import Scored, Scorer
from ebnc.search.screening import screen
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["SearchResult", "SearchTrace", "Step", "greedy_search"]

ENOUGH = 1e-6  # nats by which a move must raise the score
SURE = 3.0  # a move that raises it by more is taken without tuning the scales of others
REFITS, REFITS_BACK = 4, 2  # moves refitted at every step: that grow, that shrink the structure
TUNED = 3  # of them, the best ones whose scales are tuned
HOPELESS = -10.0  # estimated gains below this are not refitted


@dataclass(frozen=True)
class Step:
    """One accepted move, with the score, dimension and seconds after it."""

    move: str
    score: float
    dimension: int
    seconds: float


@dataclass
class SearchTrace:
    """Every accepted move, and what the search cost: candidates screened, structures fitted."""

    steps: list[Step] = field(default_factory=list)
    n_screened: int = 0
    n_fits: int = 0
    interrupted: bool = False

    def __str__(self) -> str:
        lines = [f"{'score':>12}  {'d':>5}  {'seconds':>8}  move"]
        lines += [
            f"{step.score:>12.3f}  {step.dimension:>5}  {step.seconds:>8.2f}  {step.move}"
            for step in self.steps
        ]
        end = "interrupted; " if self.interrupted else ""
        return "\n".join([*lines, f"({end}{self.n_screened} screened, {self.n_fits} fitted)"])


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The best structure found, with its fit, the trace, and all models met on the way."""

    best: Scored
    trace: SearchTrace
    met: tuple[Scored, ...]


def greedy_search(
    scorer: Scorer,
    start: EmbeddedStructure,
    limits: Limits | None = None,
    *,
    max_steps: int = 1000,
    report: Callable[[Step], None] | None = None,
) -> SearchResult:
    """Climb from ``start`` until no move that is refitted raises the score.

    Ctrl-C ends the search with the best structure so far.
    """
    limits = limits or Limits()
    limits.check_names(start.inputs)
    n_states = {x: scorer.cases.domain.n_states(x) for x in start.inputs}
    trace = SearchTrace()
    began = time.perf_counter()
    here = scorer.tuned(start)
    met = {here.structure.cluster_key: here}

    def note(description: str, scored: Scored) -> None:
        seconds = time.perf_counter() - began
        step = Step(description, scored.score, scored.dimension, seconds)
        trace.steps.append(step)
        if report is not None:
            report(step)

    note("start", here)
    try:
        while len(trace.steps) <= max_steps:
            candidates = moves(here.structure, n_states, limits)
            trace.n_screened += len(candidates)
            taken = _best_move(scorer, here, candidates, met)
            if taken is None:
                break
            move, here = taken
            note(move.description, here)
    except KeyboardInterrupt:
        trace.interrupted = True
    trace.n_fits = scorer.n_fits
    return SearchResult(here, trace, tuple(met.values()))


def _best_move(
    scorer: Scorer,
    here: Scored,
    candidates: Sequence[Move],
    met: dict[frozenset[frozenset[str]], Scored],
) -> tuple[Move, Scored] | None:
    """The best of the moves that were refitted, with its scales tuned; None if none is better."""
    ranked = [s.move for s in screen(scorer, here, candidates) if s.gain > HOPELESS]
    growing = [move for move in ranked if move.grows][:REFITS]
    shrinking = [move for move in ranked if not move.grows][:REFITS_BACK]
    scales = here.posterior.prior.scales
    chosen = growing + shrinking
    fits = scorer.all_at_scales([move.structure for move in chosen], scales, here)
    refitted = list(zip(fits, chosen, strict=True))
    for scored, _ in refitted:
        met.setdefault(scored.structure.cluster_key, scored)
    refitted.sort(key=lambda pair: (-pair[0].score, pair[1].description))
    tuned = []
    for scored, move in refitted[:TUNED]:
        best = scorer.tuned(move.structure, scored)
        met[best.structure.cluster_key] = best
        tuned.append((best, move))
        if best.score > here.score + SURE:  # no need to look further at this step
            break
    if not tuned:
        return None
    best, move = max(tuned, key=lambda pair: pair[0].score)
    return (move, best) if best.score > here.score + ENOUGH else None
